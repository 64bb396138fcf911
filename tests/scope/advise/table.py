"""The table of docs/sharp-bits.md: `python -m tests.scope.advise.table --write` brings it up to date; `--pages` what is said of each id.

For each id: whether a run alone finds it in its example, how many of the programs in `cases/` it is found in, at the right line, by a look and by a
look and a run together, and how many look-alikes raise an alarm.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from collections import defaultdict
from pathlib import Path

import jitscope
from jitscope_kernel.check import check
from jitscope_scope.advise import CATALOGUE
from jitscope_scope.advise.pages import page_of
from jitscope_scope.advise.program import read
from tests.scope.advise.programs import programs


PAGE = Path(__file__).parents[3] / "docs" / "sharp-bits.md"
TABLE, PAGES = ("<!-- table -->\n", "<!-- end of table -->\n"), ("<!-- pages -->\n", "<!-- end of pages -->\n")


BY_A_LOOK_ALONE = frozenset((
    "trace-time-mutation", "host-nondeterminism", "isinstance-on-tracer", "cond-runs-both", "key-not-threaded", "update-result-dropped",
    "numpy-alias-race", "misleading-timing", "loop-argument-order",
))  # fmt: skip
"""What a run by itself does not show in the example of its page (`test_why` runs each): nothing raises, has another value or compiles."""


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
    rows = [
        "| id | severity | what | programs | by a look | by a look and a run | a run alone |",
        "| --- | --- | --- | --: | --: | --: | --- |",
    ]
    for id, bit in CATALOGUE.items():
        alone = "no" if id in BY_A_LOOK_ALONE else "yes"
        rows.append(f"| `{id}` | {bit.severity} | {bit.title} | {due[id]} | {by_look[id]} | {by_run[id]} | {alone} |")
    total = f"| together | | | {sum(due.values())} | {sum(by_look.values())} | {sum(by_run.values())} | |"
    words = f"{clean} programs that look alike and are fine: {false} false alarms."
    return "\n".join([*rows, total, "", words]) + "\n"


def pages() -> str:
    """A section for each id."""
    return "".join(f"### {id}\n\n{page_of(id)}\n\n" for id in CATALOGUE)


def write(between: tuple[str, str], text: str) -> None:
    """Put a text between two marks of the page."""
    head, begin, rest = PAGE.read_text().partition(between[0])
    _, end, tail = rest.partition(between[1])
    PAGE.write_text(head + begin + text + end + tail)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--pages", action="store_true")
    options = parser.parse_args()
    if options.pages:
        write(PAGES, pages())
        return
    jitscope.config.update("num_cpu_devices", 2)
    found = table()
    if options.write:
        write(TABLE, found)
    else:
        print(found)


if __name__ == "__main__":
    main()
