"""Sharp bits that code steps on; docs/sharp-bits.md lists their ids."""

from typing import Literal, NotRequired, TypedDict

from .parts import Fix, Position


class Diagnostic(TypedDict):
    """A sharp bit at its line."""

    id: str
    severity: Literal["error", "warning", "info"]
    title: str
    """What the id stands for, in some words."""
    message: str
    """What happens here."""
    why: str
    """What the id is about, in some sentences, and where its page is."""
    evidence: list[str]
    """Lines that show the cause: of the jaxpr, of the difference of two keys, or a value."""
    origin: Literal["look", "trace", "miss", "run"]
    """What found it: reading the code, a trace, a compilation, or a run."""
    position: Position | None
    """Its `text` is the line as it stands in the editor."""
    fix: Fix | None
    silence: Fix | None
    """The comment that silences the id in this line; None where none can stand there."""


class DiagnosticsDocument(TypedDict):
    """The sharp bits of a cell or a file."""

    kind: Literal["diagnostics"]
    version: Literal[1]
    items: list[Diagnostic]
    note: NotRequired[str]
    """What is said where there are no items."""
