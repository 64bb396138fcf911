"""What one cell did: the one document behind its output."""

from typing import Literal, NotRequired, TypedDict

from .compilation import CompilationDocument
from .diagnostics import DiagnosticsDocument
from .parts import Position
from .recompilations import RecompilationsDocument
from .stopped import StoppedDocument


class ReusedProgram(TypedDict):
    """A function that was called and had its program already."""

    function: str
    calls: int
    at_least: NotRequired[bool]
    """It may have been called more often."""


class LeftAlone(TypedDict):
    """A definition of the cell that stays Python."""

    name: str
    reason: str


class CellError(TypedDict):
    """The error that ended the cell."""

    type: str
    message: str
    """Its first line."""
    position: Position | None
    stopped: NotRequired[StoppedDocument]
    """The trace that it ended."""


class CellDocument(TypedDict):
    """What was compiled in a cell, what it stepped on, and what was said of the rest."""

    kind: Literal["cell"]
    version: Literal[1]
    cell: str
    cell_id: str | None
    compilations: list[CompilationDocument]
    recompilations: NotRequired[RecompilationsDocument]
    """Of all of the cell."""
    diagnostics: NotRequired[DiagnosticsDocument]
    """What the cell steps on and nothing else in the document tells."""
    reused: list[ReusedProgram]
    left_alone: list[LeftAlone]
    error: CellError | None
    note: str
    """One plain sentence when nothing was compiled (and why); else ""."""
