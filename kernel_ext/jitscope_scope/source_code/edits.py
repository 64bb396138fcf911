"""Edits of a text: stretches of it, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from jitscope.core.source import Position


class Span(NamedTuple):
    """A stretch of a file: lines from 1, columns from 0 in characters, the end exclusive (as in Python's tracebacks)."""

    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def of(cls, where: Position) -> Span:
        """The stretch that a position is."""
        return cls(where.line, where.column, where.end_line, where.end_column)

    @property
    def after(self) -> Span:
        """The place where it ends."""
        return Span(self.end_line, self.end_column, self.end_line, self.end_column)

    def moved(self, lines: int, columns: int = 0) -> Span:
        """It, so many lines further down and columns further right."""
        return Span(self.line + lines, self.column + columns, self.end_line + lines, self.end_column + columns)

    def meets(self, other: Span) -> bool:
        """Whether some of a file lies in both."""
        ends = (self.end_line, self.end_column), (other.end_line, other.end_column)
        return (self.line, self.column) < ends[1] and (other.line, other.column) < ends[0]


@dataclass(frozen=True)
class Edit:
    """The text that stands at `span` becomes `text`."""

    span: Span
    text: str

    @property
    def parts(self) -> tuple[int, int, int, int, str]:
        """As plain numbers and the text."""
        line, column, end_line, end_column = self.span
        return line, column, end_line, end_column, self.text


def applied(text: str, edits: Iterable[Edit]) -> str:
    """A text with edits, which do not overlap, made in it."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda one: one.span, reverse=True):
        span = edit.span
        head, tail = lines[span.line - 1][: span.column], lines[span.end_line - 1][span.end_column :]
        lines[span.line - 1 : span.end_line] = (head + edit.text + tail).split("\n")
    return "\n".join(lines)


def moved(line: int, edits: Iterable[Edit]) -> int:
    """Where a line stands after edits; one inside an edit's stretch keeps its place."""
    ends = [(edit.span.end_line, edit.text.count("\n") - (edit.span.end_line - edit.span.line)) for edit in edits]
    return line + sum(grown for end, grown in ends if end < line)
