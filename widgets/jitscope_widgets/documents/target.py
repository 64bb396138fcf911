"""What the compiler of a chip that is not here makes of a program. Nothing in it was measured: XLA compiled for a description of the chip,
and times are its model's, or arithmetic on the chip's data sheet."""

from typing import Literal, NotRequired, TypedDict

from .graph import GraphDocument
from .parts import KernelKind, Position, Quantity


TargetBound = Literal["memory", "arithmetic", "unknown"]


class TargetChip(TypedDict):
    """The chip, with what its data sheet says."""

    name: str
    """As it was asked for."""
    title: str
    told: str
    """As sentences call it."""
    platform: Literal["cuda", "tpu"]
    devices: int
    """That the program is for."""
    memory: Quantity
    bandwidth: Quantity
    rates: dict[str, float]
    """Operations a second, by the kind of arithmetic."""
    source: str


class TargetKernel(TypedDict):
    """A kernel of the optimised program."""

    name: str
    kind: KernelKind
    what: str
    """What kind of code it is: "loop", "reduction", "Triton product" …"""
    label: NotRequired[str]
    """What all views call a loop, where more than its opcode is known: `while of scan × 40`."""
    members: int
    """Operations in it."""
    paths: list[str]
    bytes: Quantity
    """Read and written, by XLA's count."""
    flops: Quantity
    seconds: Quantity
    """By the roofline of the data sheet; once."""
    bound: TargetBound
    cycles: Quantity
    """That XLA estimates, where it does."""
    runs: int | None
    """None where it depends on values."""
    blocks: int | None
    threads: int | None
    registers: int | None
    shared: int | None
    stack: int | None
    """Bytes of a thread that are not in registers."""
    function: str
    """Its name in PTX."""
    note: str


class TargetDecision(TypedDict):
    """A decision of XLA's fusion passes."""

    producer: str
    consumer: str
    fused: bool
    reason: str
    """In XLA's words."""
    producer_paths: list[str]
    consumer_paths: list[str]
    fused_seconds: Quantity
    apart_seconds: Quantity


class TargetBoundary(TypedDict):
    """Two kernels of which one reads what the other gives."""

    giver: str
    reader: str
    decision: int | None
    """The place in `decisions`; None where XLA says nothing."""
    seen: str
    """What can be seen in the program, where XLA says nothing."""


class TargetCollective(TypedDict):
    """An exchange between devices."""

    name: str
    what: str
    bytes: Quantity
    seconds: Quantity
    devices: int | None
    runs: int | None
    paths: list[str]


class TargetMemory(TypedDict):
    """What XLA reserves on each device."""

    argument: Quantity
    result: Quantity
    temporary: Quantity
    aliased: Quantity
    code: Quantity
    peak: Quantity
    total: Quantity
    fits: bool | None


class TargetStep(TypedDict):
    """A step of the schedule."""

    kernel: str
    inside: str
    """The loop or conditional that it is a part of; "" for the program itself."""
    ends: str
    """What ends it, where it only begins here; "" for what is over before the next begins."""
    beside: list[str]
    """The kernels that run between its beginning and its end."""
    waits: bool
    """Whether XLA waits for its end before it goes on."""
    queue: str
    """The stream that XLA puts it on, by number; "" where it tells none."""


class TargetCode(TypedDict):
    """The code of a kernel."""

    kernel: str
    function: str
    ptx: str
    llvm: str
    cut: bool
    """Whether it is longer than what is kept here."""


class TargetDocument(TypedDict):
    """A program as compiled for a chip that is not here."""

    kind: Literal["target"]
    version: Literal[1]
    title: str
    chip: TargetChip
    sentence: str
    remarks: list[str]
    """What is to be known of how far it is true."""
    kernels: list[TargetKernel]
    decisions: list[TargetDecision]
    decisions_left_out: int
    boundaries: list[TargetBoundary]
    collectives: list[TargetCollective]
    memory: TargetMemory
    steps: NotRequired[list[TargetStep]]
    """In the order in which they start."""
    schedule: list[str]
    """XLA's thunks, a line each, as it writes them."""
    code: list[TargetCode]
    graph: GraphDocument | None
    """After optimisation; None where it is too large."""
    seconds: Quantity
    """Of all kernels, by the roofline."""
    cost: Quantity
    """Of compiling."""
    positions: dict[str, Position]
    shows: NotRequired[Literal["memory", "code", "collectives"]]
    """The part that was asked for alone."""
