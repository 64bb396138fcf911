"""The programs before and after each transformation that a trace went through."""

from typing import Literal, TypedDict

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
