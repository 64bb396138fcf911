"""Positions as documents, and the map from equation paths to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import source
from ..core.jaxpr import Jaxpr, walk
from ..core.source import Position


CellOf = Callable[[str], tuple[str, str | None] | None]
"""From a file name to (label such as "In [3]", cell id), or None if the file is no notebook cell."""


def no_cell(_: str) -> None:
    return None


def position_document(position: Position | None, cell_of: CellOf = no_cell) -> dict[str, Any] | None:
    """A position as a document (see docs/documents.md), or None."""
    if position is None:
        return None
    label, cell_id = cell_of(position.file) or (None, None)
    return {
        "file": cell_id or position.file,
        "cell": label,
        "line": position.line,
        "end_line": position.end_line,
        "column": position.column,
        "end_column": position.end_column,
        "function": position.function,
        "text": position.text,
    }


def positions_of(jaxpr: Jaxpr, cell_of: CellOf = no_cell) -> dict[str, dict[str, Any]]:
    """The position of each equation that has one, by path."""
    found = {}
    for path, eqn in walk(jaxpr):
        position = source.user_position(eqn.traceback)
        if position is not None:
            found[path] = position_document(position, cell_of)
    return found
