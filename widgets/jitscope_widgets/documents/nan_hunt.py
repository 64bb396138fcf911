"""Where the first NaN or infinity in the results of a call comes from."""

from typing import Literal, NotRequired, TypedDict

from .graph import GraphDocument
from .parts import Fix, Position, Quantity, Transform


class Numbers(TypedDict):
    """A value in numbers."""

    name: str
    type: str
    text: str
    smallest: float | None
    """Of the finite elements."""
    largest: float | None
    """Of the finite elements."""
    nans: int
    infinities: int
    size: int
    index: list[int] | None
    """The first bad element; of an operand, the one that the first bad element of the result is made of."""
    element: str


class Iteration(TypedDict):
    """An iteration of a loop round an equation."""

    number: int
    """From 0."""
    count: int | None
    position: Position | None


class HuntStep(TypedDict):
    """An equation in an iteration of its loops."""

    path: str
    primitive: str
    position: Position | None
    transforms: list[Transform]
    iterations: list[Iteration]
    """Outer loops first."""


class HuntInfinity(TypedDict):
    """What made the infinity that became the NaN."""

    step: HuntStep
    values: list[Numbers]


class HuntGraph(TypedDict):
    """The program as a graph, where it is small enough."""

    graph: NotRequired[GraphDocument]
    """The program, if it has up to 1,000 equations. The first bad operation has the mark "stop", the way from it "path"."""


class NanHuntDocument(HuntGraph):
    """The first bad operation (good operands, a bad result that reaches a result of the program), and what follows from it."""

    kind: Literal["nan-hunt"]
    version: Literal[1]
    title: str
    what: Literal["NaN", "infinity"]
    found: bool
    """Whether the results of the compiled program have one."""
    sentence: str
    """What happened, in words."""
    cause: str
    """Why, in words; begins small and has no full stop."""
    sharp_bit: str
    """The id of the diagnostic; "" if nothing was found."""
    operation: HuntStep | None
    where: Position | None
    """The `where` that does not take the value whose derivative is bad."""
    values: list[Numbers]
    """The operands and results of the operation, in that iteration."""
    infinity: HuntInfinity | None
    given: list[Numbers]
    """Arguments and captured values that were bad already."""
    route: list[HuntStep]
    """The equations that carry it from there to the result."""
    left_out: int
    """So many of them in the middle are not told."""
    differs: str
    """How the program with flags and the compiled one differ; "" if bit by bit they do not."""
    seconds: Quantity
    fixes: list[Fix]
