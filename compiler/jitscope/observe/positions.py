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
        "file": cell_id or sendable(position.file),
        "cell": label,
        "line": position.line,
        "end_line": position.end_line,
        "column": position.column,
        "end_column": position.end_column,
        "function": sendable(position.function),
        "text": sendable(position.text),
    }


def sendable(text: str) -> str:
    """The text as UTF-8 can have it: half a surrogate pair, which Python allows in names, is written out."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def positions_of(jaxpr: Jaxpr, cell_of: CellOf = no_cell) -> dict[str, dict[str, Any]]:
    """The position of each equation that has one, by path; with the named scopes it is in, if there are any."""
    found: dict[str, dict[str, Any]] = {}
    scopes = scopes_of(jaxpr)
    for path, eqn in walk(jaxpr):
        document = position_document(source.user_position(eqn.traceback), cell_of)
        if document is not None:
            found[path] = {**document, "named_scope": scopes[path]} if scopes[path] else document
    return found


def scopes_of(jaxpr: Jaxpr) -> dict[str, str]:
    """The named scopes of all equations by path, as `layer/attention`; "" outside of any."""
    scopes: dict[str, tuple[str, ...]] = {}
    for path, eqn in walk(jaxpr):
        scopes[path] = (*_names_around(path, scopes), *source.names_of(eqn.traceback))
    return {path: "/".join(names) for path, names in scopes.items()}


def _names_around(path: str, scopes: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The named scopes of the equation that holds the program of the equation at `path`."""
    while "/" in path:
        path = path.rpartition("/")[0]
        if path in scopes:
            return scopes[path]
    return ()
