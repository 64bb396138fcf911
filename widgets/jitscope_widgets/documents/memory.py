"""The buffers of a program over its schedule, from XLA's buffer assignment and live ranges.

Bytes in use are those that hold something which the instruction at a step reads or writes, or a later one reads; bytes that two values
share count once.
"""

from typing import Literal, NotRequired, TypedDict

from .parts import Edit, Position, Quantity


BufferKind = Literal["argument", "constant", "result", "temporary"]


class KindBytes(TypedDict):
    """Bytes by kind of buffer."""

    argument: int
    constant: int
    result: int
    temporary: int


class MemoryShare(TypedDict):
    """What one line holds at a step, in all its buffers; bytes that two of them share count once."""

    path: str | None
    """An equation of the line; None for what the caller gives and what is of no line."""
    given: bool
    """By the caller."""
    buffers: int
    bytes: int
    saved: int
    """Bytes that the forward pass made and the backward pass reads last."""


class KeptForBackward(TypedDict):
    """The step at which most bytes wait for the backward pass."""

    position: int
    bytes: int
    buffers: int
    lines: list[MemoryShare]
    """The largest first."""


class MemoryPeak(TypedDict):
    """The step at which most bytes are in use."""

    position: int
    bytes: int
    instruction: str
    kernel: str | None
    paths: list[str]
    kinds: KindBytes
    buffers: list[int]
    """Places in `buffers`, the largest first."""
    count: int
    """How many are alive."""
    lines: NotRequired[list[MemoryShare]]
    """What each line holds then, the largest first: together they are `bytes`."""


class ReservedMemory(TypedDict):
    """What XLA reserves for a run."""

    argument: Quantity
    constant: Quantity
    result: Quantity
    temporary: Quantity
    aliased: Quantity
    """Arguments whose memory results take."""
    total: Quantity


class MemoryCurve(TypedDict):
    """Bytes in use from each of some steps on, by kind."""

    positions: list[int]
    instructions: list[str]
    argument: list[int]
    constant: list[int]
    result: list[int]
    temporary: list[int]


class MemoryScope(TypedDict):
    """A stretch of the schedule that is the body of a loop, a branch or a call."""

    instruction: str
    text: str
    iterations: int | None
    start: int
    end: int
    paths: list[str]


class MemoryBuffer(TypedDict):
    """One value, or the carry of a loop with all values that stand for it in turn. Steps count from 0."""

    label: str
    kind: BufferKind
    bytes: int
    offset: int
    allocation: int
    born: int
    dies: int
    type: str
    instruction: str
    values: int
    argument: int | None
    kernel: str | None
    path: str | None
    """The equation whose value it holds."""
    paths: list[str]
    saved: NotRequired[bool]
    """Whether the forward pass made it and the backward pass reads it last."""


class TriedChange(TypedDict):
    """What a change did when the program was compiled with it."""

    peak: int
    reserved: int
    temporary: int
    aliased: int
    flops: Quantity
    flops_before: Quantity
    seconds: Quantity
    note: str


ChangeKind = Literal["donation", "checkpoint"]


class MemoryChange(TypedDict):
    """A change that may save memory."""

    id: str
    text: str
    what: ChangeKind
    edits: list[Edit]
    position: Position | None
    tried: TriedChange | None
    """None until it was compiled: nothing is said of it before."""


class BuffersLeftOut(TypedDict):
    """How many buffers are left out, and their bytes."""

    buffers: int
    bytes: int


class MemoryDocument(TypedDict):
    """What a program holds in memory, step by step."""

    kind: Literal["memory"]
    version: Literal[1]
    title: str
    sentence: str
    devices: NotRequired[int]
    """All bytes are those of each of so many devices; absent where there is one."""
    length: int
    """Steps of the schedule; each loop's body once, where the loop is."""
    peak: MemoryPeak
    kept: NotRequired[KeptForBackward]
    """Without it, nothing is kept for a backward pass."""
    reserved: ReservedMemory
    curve: MemoryCurve
    scopes: list[MemoryScope]
    buffers: list[MemoryBuffer]
    left_out: BuffersLeftOut
    """Smaller ones that are not in `buffers`."""
    changes: list[MemoryChange]
    positions: dict[str, Position]
    """Of equations, by path."""
    cost: Quantity
