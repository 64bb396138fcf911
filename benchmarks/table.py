"""The table of a run: rows, their ratios and verdicts, as text, Markdown and JSON."""

import os
import platform
import re
import statistics
from pathlib import Path
from typing import Any, NamedTuple

from ratios import Pairs, Ratio, ratio_of


class Row(NamedTuple):
    """A line of the table. `series`: the pairs of each program that counts in. `upper`: the budget is for the upper end of
    the interval. `least`: the ratio is to be at least the budget."""

    group: str
    what: str
    series: list[Pairs]
    budget: float | None = None
    upper: bool = False
    least: bool = False

    @property
    def ratio(self) -> Ratio:
        return ratio_of(self.series)

    @property
    def met(self) -> str:
        """yes, no, or unclear (the interval holds the budget)."""
        if self.budget is None:
            return ""
        ratio = self.ratio
        if self.least:
            return "yes" if ratio.median >= self.budget else "unclear" if ratio.high >= self.budget else "no"
        if (ratio.high if self.upper else ratio.median) <= self.budget:
            return "yes"
        return "unclear" if ratio.low <= self.budget else "no"

    @property
    def budget_text(self) -> str:
        return "" if self.budget is None else f"{'≥' if self.least else '≤'} {self.budget:.4g}"


def line(row: Row) -> str:
    """The row as a line of text."""
    ratio = row.ratio
    interval = f"[{ratio.low:.3f}, {ratio.high:.3f}]"
    return f"{row.group:<13} {row.what:<38} {ratio.median:7.3f}  {interval:<18} {row.budget_text:<8}{row.met}".rstrip()


def failure(group: str, what: str, error: object) -> str:
    """The line of a measure that failed."""
    return f"{group:<13} {what:<38} failed: {error}"


def markdown(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| | what | ratio | 95 % interval | budget | met |", "| --- | --- | ---: | --- | --- | --- |"]
    group = ""
    for row in rows:
        shown, group = ("" if row.group == group else row.group), row.group
        ratio = row.ratio
        what = f"`{row.what}`" if row.group == "eager" else row.what
        budget = row.budget_text + (" (upper end)" if row.upper else "")
        interval = f"{ratio.low:.2f} … {ratio.high:.2f}"
        lines.append(f"| {shown} | {what} | {ratio.median:.2f} | {interval} | {budget} | {row.met} |")
    return "\n".join(lines) + "\n"


def write_into(document: Path, rows: list[Row], description: str) -> None:
    """Put the table between the marks of a Markdown file."""
    begin, end = "<!-- table -->\n", "<!-- end of table -->"
    head, rest = document.read_text().split(begin)
    document.write_text(f"{head}{begin}{description}\n\n{markdown(rows)}{end}{rest.split(end)[1]}")


def as_json(rows: list[Row], failures: list[tuple[str, str]], description: str) -> dict[str, Any]:
    """Everything that was measured, in seconds."""
    found = []
    for row in rows:
        entry = {
            "group": row.group,
            "what": row.what,
            "ratio": row.ratio._asdict(),
            "budget": row.budget,
            "met": row.met,
        }
        if len(row.series) == 1:
            ours, theirs = row.series[0]
            entry |= {"medians": [statistics.median(ours), statistics.median(theirs)], "ours": ours, "theirs": theirs}
        found.append(entry)
    return {"machine": description, "rows": found, "failures": failures}


def machine() -> str:
    """The processor in words."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists() and (models := re.findall(r"model name\s*: (.+)", cpuinfo.read_text())):
        model = models[0]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{model}, {cores} cores, {platform.system()}"
