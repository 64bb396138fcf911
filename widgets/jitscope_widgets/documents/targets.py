"""One function, or two versions of it, on several targets side by side: the same lines, different kernels. What is said of chips that are not
here was modelled; nothing of this document was measured."""

from typing import Literal, TypedDict

from .parts import Position, Quantity


class TargetsKernel(TypedDict):
    """A kernel of one side."""

    name: str
    what: str
    """What kind of code it is: "loop", "reduction", "library call" …"""
    members: int
    """Operations in it."""
    seconds: Quantity
    """By the roofline of the chip's data sheet, once; of the CPU, not known here."""
    runs: int | None


class TargetsSide(TypedDict):
    """A program on a target."""

    title: str
    """`softmax on H100`"""
    told: str
    """As sentences call the target."""
    here: bool
    """Whether it is the CPU of this machine."""
    kernels: list[TargetsKernel]
    seconds: Quantity
    memory: Quantity
    """Arguments, results and temporaries, on each device."""
    room: Quantity
    """The memory of the chip."""
    fits: bool | None
    compile: Quantity
    remarks: list[str]


class TargetsLine(TypedDict):
    """A line of the source with the kernels that stem from it; lines of other versions are the same where their text is."""

    text: str
    positions: list[Position | None]
    """By side; None where it has no such line."""
    kernels: list[list[int]]
    """By side: places in its `kernels`."""


class TargetsPair(TypedDict):
    """Two lines that share a kernel on some sides and on others are in kernels of which one reads what the other gives."""

    lines: list[int]
    """Two places in `lines`."""
    together: list[int]
    """Sides."""
    apart: list[int]
    reasons: list[str]
    """One for each of `apart`: in XLA's words, where it keeps a record and says something."""


class TargetsDocument(TypedDict):
    """Programs on several targets."""

    kind: Literal["targets"]
    version: Literal[1]
    title: str
    sentence: str
    sides: list[TargetsSide]
    lines: list[TargetsLine]
    pairs: list[TargetsPair]
    pairs_left_out: int
    nameless: list[int]
    """By side: kernels that stem from no known line."""
