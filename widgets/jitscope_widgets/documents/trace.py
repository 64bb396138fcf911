"""The trace of a function, line by line: Python's frames, and the tape that grows."""

from typing import Literal, TypedDict

from .parts import Position


class TraceName(TypedDict):
    """A name of a frame, and what it stands for."""

    name: str
    text: str
    """A variable of a tape with its type (`c:f32[3]`), or a value that Python knows."""
    traced: bool
    changed: bool
    """It is new, or stands for something else than at the step before in this frame."""


class TraceCode(TypedDict):
    """The source of a function that was entered."""

    function: str
    position: Position
    """Its first line."""
    lines: list[str]


class SkippedLines(TypedDict):
    """Lines that one call did not run."""

    first: int
    """In the file or cell, from 1."""
    last: int
    why: Literal["not taken", "not reached"]
    """The other branch was taken; or an error, a return or a loop without iterations came before."""


class TraceCall(TypedDict):
    """One call of a function."""

    code: int
    """The number of its source."""
    depth: int
    """How many calls of the user's functions it is inside of."""
    skipped: list[SkippedLines]


class Tape(TypedDict):
    """What one trace recorded: of the function itself, or of a loop's body, a branch, a compiled function that is called."""

    name: str
    takes: str
    lines: list[str]


class TapeSoFar(TypedDict):
    """How long a tape is at a step."""

    tape: int
    length: int


class TraceStep(TypedDict):
    """A line that ran, a call that begins in the middle of a line, a call that ends, the error that ends all."""

    kind: Literal["line", "call", "return", "error"]
    call: int
    line: int
    names: list[TraceName]
    """The frame after it; after "return" empty."""
    tapes: list[TapeSoFar]
    """Those that are recorded now, the outermost first."""
    told: str
    """What is given back, which function is called, or the error."""
    printed: str


class TraceDocument(TypedDict):
    """What happened while a function was traced, in the order in which it did."""

    kind: Literal["trace"]
    version: Literal[1]
    function: str
    library: Literal["jitscope", "jax"]
    codes: list[TraceCode]
    calls: list[TraceCall]
    tapes: list[Tape]
    steps: list[TraceStep]
    left_out: int
    """So many further steps are not kept."""
    error: str
    """The error that ended the trace (its type and first line), or empty."""
