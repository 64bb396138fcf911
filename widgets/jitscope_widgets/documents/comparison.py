"""Two programs, A and B, against each other."""

from typing import Literal, NotRequired, TypedDict

from .graph import GraphDocument
from .parts import KernelKind, Position, Quantity
from .source import SourceDocument


class ComparedSide(TypedDict):
    """One of the two programs."""

    title: str
    on: str
    donated: NotRequired[list[str]]
    """The arguments that are donated."""
    wall: Quantity
    compile: Quantity
    memory: Quantity
    flops: Quantity
    bytes: Quantity


class ComparedKernel(TypedDict):
    """A kernel of one program alone."""

    name: str
    kind: KernelKind
    opcode: str
    operations: int
    type: str
    positions: NotRequired[list[Position]]
    """The lines that it stems from."""
    details: NotRequired[str]
    """What it computes, or of what and how."""
    times: NotRequired[int]
    """So many such kernels."""


class ComparedEquation(TypedDict):
    """An equation of one program alone."""

    text: str
    position: Position | None
    times: NotRequired[int]
    """So many of which the same is said."""


class ComparedChange(TypedDict):
    """An equation that both have at the same place, with other types, parameters or numbers."""

    before: str
    """As it is in A."""
    after: str
    position: Position | None
    """In B."""
    before_position: NotRequired[Position | None]
    """In A."""
    times: NotRequired[int]


class ComparedEquations(TypedDict):
    """Equations aligned by structure, in their order."""

    common: int
    rewired: NotRequired[int]
    """How many of those in both read other operands."""
    changes: NotRequired[int]
    """How many have other types, parameters or numbers; they count neither as common nor as in one alone."""
    changed: NotRequired[list[ComparedChange]]
    """The first of them."""
    a: list[ComparedEquation]
    """The first of those in A alone."""
    b: list[ComparedEquation]
    only_a: int
    only_b: int


class ComparedKernels(TypedDict):
    """Kernels aligned by what they compute."""

    common: int
    a: list[ComparedKernel]
    b: list[ComparedKernel]
    only_a: int
    only_b: int


class ComparedSources(TypedDict):
    """The code of both, with the equations as they are called in the joint graph."""

    a: SourceDocument | None
    b: SourceDocument | None


class JointGraph(TypedDict):
    """Both programs as one graph, what both have once. `mark` says what differs: removed (only in A), added (only in B), rewired, changed; an edge
    that is `gone` is in A alone. Equations have the paths of B, those of A alone an A in the name; groups are calls and named scopes of
    both, or of one with all in them."""

    graph: GraphDocument
    left_out: int
    """Equations that are not drawn: of large programs the first that differ are."""
    sources: ComparedSources


class ComparedResults(TypedDict):
    """What both give for the same arguments."""

    absolute: Quantity
    """The largest difference."""
    relative: Quantity
    where: str
    equal: bool
    why: str
    """Why they were not compared, or ""."""


class ComparisonDocument(TypedDict):
    """Which of two programs is faster, and in what they differ."""

    kind: Literal["comparison"]
    version: Literal[1]
    title: str
    a: ComparedSide
    b: ComparedSide
    ratio: float
    """The time of B to that of A."""
    low: float
    """The lower end of the 99 % interval of the ratio."""
    high: float
    pairs: int
    method: str
    verdict: Literal["faster", "slower", "no difference found"]
    """Of B; the last where the interval includes 1."""
    equations: ComparedEquations
    joint: NotRequired[JointGraph]
    kernels: ComparedKernels
    results: ComparedResults
    cost: Quantity
