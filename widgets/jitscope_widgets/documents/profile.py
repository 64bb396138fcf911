"""What each kernel of a program takes, measured by XLA's profiler, and what bounds it.

The time of a kernel of several lines is not measured by line: a line has at least the kernels that come from it alone, and at most all
that it has a part in. What it comes to where each kernel is split by the work of its operations is an estimate between the two.
"""

from typing import Literal, NotRequired, TypedDict

from .parts import KernelKind, Position, ProgramBlock, Quantity


class Bounds(TypedDict):
    """The least and the most of a share of `busy`."""

    least: float
    most: float
    estimate: NotRequired[float]
    """What it comes to where kernels are split by an estimate."""
    low: NotRequired[float]
    """The 10th percentile of the same in single calls, where several were recorded."""
    high: NotRequired[float]
    """The 90th percentile of the same in single calls."""


Nearest = Literal["memory", "arithmetic"]
Bound = Literal["memory", "arithmetic", "overhead", "neither", "unknown"]


class KernelSeconds(TypedDict):
    """The times of a kernel in seconds, and what bounds it."""

    name: str
    called: str
    kind: KernelKind
    opcode: str
    label: NotRequired[str]
    """What all views call a loop, where more than its opcode is known: `while of scan × 40`."""
    operations: int
    type: str
    loop: str | None
    """The name of the loop that repeats it."""
    runs: float
    """Its runs in one call."""
    median: float
    """Of single runs."""
    low: float
    """The 10th percentile of single runs."""
    high: float
    """The 90th percentile of single runs."""
    fast: float
    """Of a run that nothing disturbs; kernels that do the same have one in common."""
    total: float
    """Of all runs in a call."""
    share: float | None
    """Of the time of all kernels; a loop of listed kernels has none."""
    flops: float | None
    """Modelled, of one run."""
    bytes: float | None
    """Modelled, of one run."""
    needs: float | None
    """Seconds that these take at the machine's rates."""
    nearest: Nearest | None
    """Which of the two takes that."""
    bound: Bound | None
    """What explains half of the time of its fast runs or more: moving its bytes, its arithmetic, or ("overhead") what a kernel of one
    element takes; "neither" of these otherwise."""
    why: str


class KernelLines(TypedDict):
    """Whose time it is."""

    lines: list[int]
    """Places in `lines`: where what it computes was written."""
    split: NotRequired[list[float]]
    """The estimated part of its time that belongs to each of `lines`."""
    equations: NotRequired[dict[str, float]]
    """The estimated part of its time that each of its equations takes, by path, as far as there is any; not there where it is of one alone."""
    block: NotRequired[int | None]
    """The place in `blocks` of the innermost one that all of it stems from."""


class TimedKernel(KernelSeconds, KernelLines):
    """A kernel with its times."""


class ProfileLine(TypedDict):
    """A line of the source with its share."""

    position: Position
    own: Bounds | None
    """Of what was written in it."""
    whole: Bounds
    """With what it calls."""


class ProfileScope(Bounds):
    """A named scope with its share."""

    name: str


class RecordedCall(TypedDict):
    """One recorded call on a time axis, a column for each field: what ran, on which thread, when."""

    seconds: float
    """What the call took."""
    threads: list[str]
    thread: list[int]
    """Places in `threads`."""
    kernel: list[int]
    """Places in the kernels of the document."""
    start: list[float]
    """Seconds since the call began."""
    length: list[float]
    """Seconds."""
    left_out: int
    """Shorter runs that are not listed."""
    busy: NotRequired[list[float]]
    """The part of each of so many equal stretches of the call in which a kernel ran."""


class Bandwidth(TypedDict):
    """How fast memory is read and written when so many bytes are."""

    bytes: int
    rate: Quantity


class PeakRate(TypedDict):
    """The most operations in a second."""

    dtype: str
    rate: Quantity


class Hardware(TypedDict):
    """The rates of the machine."""

    device: NotRequired[str]
    """What it is called where it is not the CPU: "NVIDIA H200"."""
    measured: str
    seconds: Quantity
    bandwidth: list[Bandwidth]
    fresh: Quantity
    """Memory that the operating system hands out for large results."""
    dispatch: Quantity
    """A kernel of one element."""
    peaks: list[PeakRate]


class CallSeconds(TypedDict):
    """What a call takes, and how that is made up while it is recorded."""

    wall: Quantity
    """A call that was not recorded: the median."""
    low: Quantity
    """A call that was not recorded: the 5th percentile."""
    high: Quantity
    """A call that was not recorded: the 95th percentile."""
    recorded: Quantity
    """A call that was: `busy` - `together` + `between` + `held_up`."""
    busy: Quantity
    """The sum of all kernels."""
    together: Quantity
    """What of it ran at the same time."""
    between: Quantity
    """What is no kernel."""
    held_up: NotRequired[Quantity]
    """What kernels took beyond their medians, as they do on a machine that has other things to do."""


class FreshMemory(TypedDict):
    """Memory that the operating system hands out anew in each call."""

    faults: int
    """Page faults of a call."""
    size: Quantity
    """Their pages."""
    seconds: Quantity
    """What handing them out takes, an estimate."""
    tunables: str
    """What GLIBC_TUNABLES has to be when Python starts, so that it comes in larger pages; "" where that changes nothing."""


class Fresh(TypedDict):
    """That memory, where it takes a good part of a call."""

    fresh: NotRequired[FreshMemory]


class RecordedHow(TypedDict):
    """How a call was recorded, where that has to be said."""

    recorded_how: NotRequired[str]
    """In what the calls that were recorded differ from others, and what of them is not known."""


class ProfileDocument(CallSeconds, Fresh, RecordedHow):
    """Where the time of a call goes."""

    kind: Literal["profile"]
    version: Literal[1]
    title: str
    on: str
    """What it ran on, in words."""
    runs: int
    """Calls that were recorded."""
    count: int
    """Kernels of the program, also those of which nothing was recorded."""
    call: NotRequired[str]
    """What the user's call takes, where something wraps the jitted function."""
    kernels: list[TimedKernel]
    lines: list[ProfileLine]
    scopes: list[ProfileScope]
    blocks: NotRequired[list[ProgramBlock]]
    """The program in blocks, each after the one that it is part of."""
    estimated: NotRequired[str]
    """How the time of kernels of several lines is split, and what that was calibrated on."""
    timeline: NotRequired[RecordedCall]
    machine: Hardware
    times: str
    """How the times of kernels were obtained."""
    work: str
    """How the work of kernels was obtained."""
    cost: Quantity
