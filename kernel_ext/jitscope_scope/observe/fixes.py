"""A fix as a document: words, edits of a cell, and the lines that they change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..annotations import Edit as EditDocument, Fix, Position
from .positions import sendable


__all__ = ["fix_document"]


Edit = tuple[int, int, int, int, str]
"""(line, column, end line, end column, new text): lines from 1, columns from 0 in characters, the end exclusive."""


def fix_document(
    text: str,
    edits: Iterable[Edit] = (),
    position: Position | None = None,
    lines: Sequence[str] | None = None,
    checked: str = "",
) -> Fix:
    """What to do, as plain data (see docs/documents.md). `edits` are of the cell or file at `position` (a position document),
    whose `lines` are given as they were run; `checked` says how the fix was proved."""
    made: list[EditDocument] = [
        {"line": line, "column": column, "end_line": end_line, "end_column": end_column, "text": sendable(new)}
        for line, column, end_line, end_column, new in sorted(edits)
    ]
    found: Fix = {"text": sendable(text), "edits": made, "checked": sendable(checked), "position": position}
    if made and lines is not None:
        first, last = made[0]["line"], max(edit["end_line"] for edit in made)
        if last <= len(lines):
            found["before"] = [sendable(line.rstrip("\r\n")) for line in lines[first - 1 : last]]
    return found
