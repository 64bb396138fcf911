"""Positions as documents, and the map from equation paths to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jitscope.core import call_sites
from jitscope.core.jaxpr import Jaxpr, JaxprEqn, running, subpath
from jitscope.core.source import Position, as_typed

from ..annotations import Position as PositionDocument
from .stacks import Frame, Stacks


__all__ = ["place_document", "position_document", "positions_of"]


CellOf = Callable[[str], tuple[str, str | None] | None]
"""From a file name to (label such as "In [3]", cell id), or None if the file is no notebook cell."""


def no_cell(_: str) -> None:
    """Of no file it is known to be a cell."""
    return None


def position_document(position: Position | None, cell_of: CellOf = no_cell) -> PositionDocument | None:
    """A position as a document (see docs/documents.md), or None."""
    if position is None:
        return None
    label, cell_id = cell_of(position.file) or (None, None)
    position = as_typed(position)
    span = position.line, position.column, position.end_line, position.end_column
    return place_document(cell_id or position.file, label, span, position.text, position.function)


def place_document(
    file: str, cell: str | None, span: tuple[int, int, int, int], text: str, function: str = ""
) -> PositionDocument:
    """A stretch of a file, or of a cell with this label, from a line and column to a line and column, as the document of a position."""
    line, column, end_line, end_column = span
    return {
        "file": sendable(file),
        "cell": cell,
        "line": line,
        "end_line": end_line,
        "column": column,
        "end_column": end_column,
        "function": sendable(function),
        "text": sendable(text),
    }


def sendable(text: str) -> str:
    """The text as UTF-8 can have it: half a surrogate pair, which Python allows in names, is written out."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def positions_of(
    jaxpr: Jaxpr | None, cell_of: CellOf = no_cell, stacks: Stacks | None = None
) -> dict[str, PositionDocument]:
    """The position of each equation that has one, by path, that of an equation without one inside another being the other's; with
    the named scopes it is in, if there are any. Equations of one place have the same document. None where the program is gone."""
    found = _Positions(cell_of, stacks or Stacks())
    if jaxpr is not None:
        found.level(jaxpr, "", (), None)
    return found.by_path


class _Positions:
    def __init__(self, cell_of: CellOf, stacks: Stacks):
        self.cell_of, self.stacks = cell_of, stacks
        self.by_path: dict[str, PositionDocument] = {}
        self.documents: dict[tuple[Frame, tuple[str, ...]], PositionDocument | None] = {}

    def level(self, jaxpr: Jaxpr, prefix: str, around: tuple[str, ...], holder: Frame | None) -> None:
        """`around` are the named scopes of the equation that holds the jaxpr, `holder` is where that was written."""
        known: dict[int, PositionDocument | None] = {}
        for i, (eqn, written) in enumerate(zip(jaxpr.eqns, self.stacks.all(jaxpr.eqns))):
            if id(written) not in known:
                known[id(written)] = self.document(written.frame or holder, (*around, *written.scopes))
            document = known[id(written)]
            if document is not None:
                self.by_path[f"{prefix}e{i}"] = document
            if eqn.params:
                for segment, sub in running(eqn):
                    inside = (*around, *written.scopes)
                    self.level(sub.jaxpr, subpath(f"{prefix}e{i}", segment), inside, written.frame or holder)

    def document(self, frame: Frame | None, names: tuple[str, ...]) -> PositionDocument | None:
        if frame is None:
            return None
        if (frame, names) not in self.documents:
            document = position_document(frame.position, self.cell_of)
            self.documents[frame, names] = (
                {**document, "named_scope": "/".join(names)} if document and names else document
            )
        return self.documents[frame, names]


def equations_of(jaxpr: Jaxpr) -> Iterator[tuple[str, JaxprEqn]]:
    """All equations that can run, with their paths."""
    for path, eqn, _ in _walk(jaxpr, "", ()):
        yield path, eqn


def scopes_of(jaxpr: Jaxpr) -> dict[str, str]:
    """The named scopes of all equations by path, as `layer/attention`; "" outside of any."""
    return {path: "/".join(names) for path, _, names in _walk(jaxpr, "", ())}


def _walk(jaxpr: Jaxpr, prefix: str, around: tuple[str, ...]) -> Iterator[tuple[str, JaxprEqn, tuple[str, ...]]]:
    """All equations with their paths and the named scopes they are in, those of the equations that hold them first."""
    for i, eqn in enumerate(jaxpr.eqns):
        path = f"{prefix}e{i}"
        names = call_sites.names_of(eqn.traceback)
        inside = (*around, *names) if names else around
        yield path, eqn, inside
        if eqn.params:
            for segment, sub in running(eqn):
                yield from _walk(sub.jaxpr, subpath(path, segment), inside)
