"""The programs before and after each transformation that a trace went through."""

from typing import Literal, NotRequired, TypedDict

from .parts import Position, Quantity, Transform


class ProgramLine(TypedDict):
    """A line of a program's text."""

    text: str
    origin: int | None
    """Its place in `origins`: lines with the same one stem from what was written there."""
    transforms: list[Transform]
    """What made it from the one that was written."""


class CodeProgram(TypedDict):
    """A program as text."""

    title: str
    lines: list[ProgramLine]
    left_out: int


StepTransform = Literal["jvp", "linearize", "transpose", "vmap"]


How = Literal["shared", "one", "products", "after", "others", "branches", "last", "loop"]
"""How an operation is done for all examples: `shared`: once, it is the same for all; `one`: it is one operation still; `products`: a
product for each example, in one operation; `after`: one operation, after others that move or repeat its operands; `others`: by operations
of other kinds; `branches`: all branches are computed for each example, and one is chosen; `last`: one loop, until the last example is
done; `loop`: example by example."""


class BatchedOperation(TypedDict):
    """An operation of one example, and what vmap made of it."""

    operation: str
    origin: int | None
    """Its place in `origins`."""
    one: str
    """The type of a result for one example: of the first that is not the same for all."""
    all: str
    """The same for all examples, "" where it is not known."""
    axis: int | None
    """The axis of `all` along which the examples lie; None: the result is the same for all."""
    how: How
    made: list[str]
    """The operations that do it."""


class TransformationStep(TypedDict):
    """One transformation of one function."""

    transform: StepTransform
    """`linearize` is the partial evaluation that splits the program of values and tangents: what depends on values alone, and what is
    linear in the tangents."""
    function: str
    depth: int
    """How many transformations are round it."""
    before: CodeProgram
    after: list[CodeProgram]
    batched: NotRequired[list[BatchedOperation]]
    """Of a vmap, in the order of the program before."""
    batched_left_out: NotRequired[int]


class Origin(TypedDict):
    """A place where something was written, and the equations of the compiled program that stem from it."""

    position: Position
    paths: list[str]


class TransformationsDocument(TypedDict):
    """The transformations of a trace in their order, those inside of others first."""

    kind: Literal["transformations"]
    version: Literal[1]
    title: str
    steps: list[TransformationStep]
    left_out: int
    missed: list[str]
    """Functions that could not be traced apart from their values, and why."""
    origins: list[Origin]
    cost: Quantity
