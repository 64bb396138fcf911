"""The session's list, for the side panel and `%ledger`."""

from typing import Literal, NotRequired, TypedDict

from .recompilations import RecompilationsDocument


class StepSeconds(TypedDict):
    """Seconds of each step."""

    trace: float
    lower: float
    compile: float


RowState = Literal["compiled", "recompiled", "reused", "loaded", "failed"]


class LedgerRow(TypedDict):
    """A program: a trace and what became of it."""

    id: int
    function: str
    signature: str
    cell: str | None
    cell_id: str | None
    what: RowState
    because: str
    seconds: StepSeconds
    equations: int
    calls: int | None
    """None where nobody counts: those of jax's programs."""


class SmallOperation(TypedDict):
    """An operation outside of jit at a line, and the programs that it was compiled to."""

    operation: str
    programs: int
    seconds: float
    library: str
    """Empty for jitscope's own."""
    cell: str | None
    """The cell that the line stands in, or the name of its file."""
    line: int | None
    text: str
    said: str
    """All of it in words."""


class SmallPrograms(TypedDict):
    """The programs that operations outside of jit were compiled to, each by itself."""

    programs: int
    seconds: float
    sentence: str
    operations: list[SmallOperation]
    """The dearest first."""


class LedgerDocument(TypedDict):
    """What the session compiled."""

    kind: Literal["ledger"]
    version: Literal[1]
    rows: list[LedgerRow]
    small: NotRequired[SmallPrograms]
    recompilations: NotRequired[RecompilationsDocument]
    """For the side panel."""
