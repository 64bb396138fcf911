"""Two programs side by side as a table of static HTML: one row for each group of lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from .. import code
from ..escapes import escape
from ..words import plural
from .code_lines import runs_of
from .parts import Diff, Run


_Line = Mapping[str, Any]
_Mark = tuple[int, int]


def diff_forms(part: Diff, most: Sequence[int]) -> list[Callable[[], str]]:
    """The difference as a table: whole, and with so many groups of changes, without the unchanged lines between them."""
    table = _Table(part)
    return [table.whole, *(lambda count=count: table.brief(count) for count in most)]


class _Table:
    """The rows are put together by hand: there are thousands of them, in several forms."""

    def __init__(self, part: Diff) -> None:
        self.part = part

    @cached_property
    def groups(self) -> list[tuple[Run, str]]:
        """The runs with their rows."""
        marks = iter(self.part.marks)
        return [(run, "".join(_rows(run, rows, marks))) for run, rows in runs_of(self.part)]

    def whole(self) -> str:
        return self._table("".join(rows for _, rows in self.groups))

    def brief(self, most: int) -> str:
        shown = "".join(
            _across(plural(run.count, "unchanged line")) if _unchanged(run) else rows
            for run, rows in self.groups[:most]
        )
        more = sum(run.count for run in self.part.runs[most:] if not _unchanged(run))
        return self._table(shown + (_across(f"and {plural(more, 'more changed line')}") if more else ""))

    def _table(self, rows: str) -> str:
        head = "".join(f"<th>{escape(side)}</th>" for side in self.part.sides)
        return f'<table class="diff"><tbody><tr>{head}</tr>{rows}</tbody></table>'


def _unchanged(run: Run) -> bool:
    return run.kind in ("same", "folded")


def _across(said: str) -> str:
    return f'<tr><td colspan="2" class="dim">{escape(said)}</td></tr>'


def _rows(run: Run, rows: Sequence[_Line], marks: Iterator[tuple[int, int, int, int]]) -> Iterator[str]:
    if _unchanged(run):
        inside = _lines([row["left"] or row["right"] for row in rows])
        if run.kind == "folded":
            inside = f"<details><summary>{plural(run.count, 'unchanged line')}</summary>{inside}</details>"
        yield f'<tr><td colspan="2">{inside}</td></tr>'
    elif run.kind == "changed":
        for row in rows:
            mark = next(marks) if row["left"] and row["right"] else None
            yield _sides(run, [row], mark and (mark[:2], mark[2:]))
    else:
        yield _sides(run, rows)


def _sides(run: Run, rows: Sequence[_Line], marks: tuple[_Mark, _Mark] | None = None) -> str:
    left, right = ([row[side] for row in rows if row[side]] for side in ("left", "right"))
    was, now = _lines(left, "−", marks and marks[0]), _lines(right, "+", marks and marks[1])
    caption = f"<p>{escape(run.caption)}</p>" if run.caption else ""
    return f"<tr><td{_tint(was, 'was')}>{was}</td><td{_tint(now, 'is')}>{caption}{now}</td></tr>"


def _tint(side: str, name: str) -> str:
    return f' class="{name}"' if side else ""


def _lines(lines: Sequence[_Line], sign: str = "", mark: _Mark | None = None) -> str:
    if not lines:
        return ""
    return code.block((f"{sign} {line['number']}".strip(), _marked(line["text"], mark), "") for line in lines)


def _marked(text: str, mark: _Mark | None) -> str:
    if not mark or mark[0] == mark[1]:
        return code.highlight(text)
    start, end = mark
    inside = f"<mark>{code.highlight(text[start:end])}</mark>"
    return f"{code.highlight(text[:start])}{inside}{code.highlight(text[end:])}"
