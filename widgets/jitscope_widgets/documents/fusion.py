"""A program before and after XLA's optimisation passes: its kernels, and what became one."""

from typing import Literal, NotRequired, TypedDict

from .graph import GraphDocument
from .parts import KernelKind, Position, ProgramBlock


class Member(TypedDict):
    """An operation inside a kernel."""

    name: str
    opcode: str
    type: str
    paths: list[str]


ObservedKind = Literal[
    "library", "copy", "reduction", "broadcast", "result", "several users", "concatenation", "loop", "branch", "call",
]  # fmt: skip


class BoundaryObservation(TypedDict):
    """Something that can be seen between two kernels."""

    kind: ObservedKind
    text: str


_Ends = TypedDict("_Ends", {"from": str, "to": str})


class Boundary(_Ends):
    """Two kernels of which the second reads what the first gives, and what can be seen between them. None of it is proved to be why they
    are two: XLA's own reasons are another document (`reasons`)."""

    observed: list[BoundaryObservation]


class Kernel(TypedDict):
    """A kernel of the optimised program."""

    name: str
    kind: KernelKind
    opcode: str
    label: NotRequired[str]
    """What all views call it, where more than its opcode is known: a loop `while of scan × 40`, a custom call by its routine."""
    type: str
    members: list[Member]
    paths: list[str]
    positions: list[Position]
    text: str
    note: str
    """Such as why a dot is a library call."""
    share: NotRequired[float | None]
    """Of the measured time of all kernels that are no loops; None where it was not measured. Of a small loop that XLA runs in one piece
    only the whole is measured: there the loop has a share, the kernels in it none."""
    block: NotRequired[int]
    """The innermost block of the program that all of it stems from, its place in the document's `blocks`."""


class DiffLine(TypedDict):
    """An operation of the one program or the other."""

    number: int
    text: str
    name: str
    paths: list[str]


RowKind = Literal["same", "changed", "removed", "added", "fused"]


class DiffRow(TypedDict):
    """A row of the side-by-side difference, operations aligned by name, origin and operands. One side at least has a line."""

    kind: RowKind
    """Rows that are "fused" group the operations that became one kernel."""
    left: DiffLine | None
    right: DiffLine | None
    caption: str
    """Such as "13 operations became 1 kernel"."""


class UnknownOrigins(TypedDict):
    """The kernels of which no origin is known (copies that XLA added are none)."""

    kernels: int
    bytes: float | None
    """Their share of the bytes that kernels write, in all iterations of their loops; None where the number of these is not known."""
    time: float | None
    """Their share of the measured time."""


class FusionSummary(TypedDict):
    """The document in numbers, and in one sentence."""

    before: int
    after: int
    kernels: int
    fusions: int
    library: int
    sentence: str
    again: NotRequired[bool]
    """Compiling it once more would tell where its kernels stem from."""
    unknown: NotRequired[UnknownOrigins]


class Gpu(TypedDict):
    """The GPU that a program runs on."""

    name: str
    """What the driver calls it: "NVIDIA H200"."""
    tensor_float: int
    """Products of f32 that may be computed in TF32."""


class FusionDocument(TypedDict):
    """What XLA's passes made of a program."""

    kind: Literal["fusion"]
    version: Literal[1]
    title: str
    before: GraphDocument
    after: GraphDocument
    kernels: list[Kernel]
    boundaries: NotRequired[list[Boundary]]
    """Up to 1,000."""
    boundaries_left_out: NotRequired[int]
    """How many more there are."""
    blocks: NotRequired[list[ProgramBlock]]
    """The blocks of the program that kernels stem from."""
    rows: list[DiffRow]
    summary: FusionSummary
    gpu: NotRequired[Gpu]
    """Where it runs on one."""
    here: NotRequired[str]
    """The cell or file that its lines are in unless another is named, where a view of a compilation tells it."""
