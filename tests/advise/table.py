"""The table of docs/sharp-bits.md: `python -m tests.advise.table --write` brings it up to date.

For each id: what finds it, and how many of the programs in `cases/` it is found in, at the right line, and how many look-alikes
raise an alarm.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from collections import defaultdict
from pathlib import Path

import jitscope
from jitscope.advise import CATALOGUE
from jitscope.advise.program import read
from jitscope_kernel.check import check
from tests.advise.programs import programs


PAGE = Path(__file__).parents[2] / "docs" / "sharp-bits.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"


def table() -> str:
    """The rows, made by checking every program."""
    due: dict[str, int] = defaultdict(int)
    by_look: dict[str, int] = defaultdict(int)
    by_run: dict[str, int] = defaultdict(int)
    false, clean = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for program in programs():
            checked = read(str(program.write(Path(folder))))
            with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
                looked = {(one.one.id, program.line(one.cell, one.line)) for one in check(checked)}
                ran = {(one.one.id, program.line(one.cell, one.line)) for one in check(checked, run=True)}
            clean += not program.wanted
            false += len(ran - program.wanted)
            for id, line in program.wanted:
                due[id] += 1
                by_look[id] += (id, line) in looked
                by_run[id] += (id, line) in ran
    rows = ["| id | severity | what | programs | by a look | by a run |", "| --- | --- | --- | --: | --: | --: |"]
    for id, bit in CATALOGUE.items():
        rows.append(f"| `{id}` | {bit.severity} | {bit.title} | {due[id]} | {by_look[id]} | {by_run[id]} |")
    total = f"| together | | | {sum(due.values())} | {sum(by_look.values())} | {sum(by_run.values())} |"
    words = f"{clean} programs that look alike and are fine: {false} false alarms."
    return "\n".join([*rows, total, "", words]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    jitscope.config.update("num_cpu_devices", 2)
    found = table()
    if parser.parse_args().write:
        head, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, tail = rest.partition(END)
        PAGE.write_text(head + BEGIN + found + END + tail)
    else:
        print(found)


if __name__ == "__main__":
    main()
