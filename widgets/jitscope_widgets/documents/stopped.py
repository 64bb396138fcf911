"""A trace that an error ended at an operation on traced values: what was recorded up to it."""

from typing import Literal, TypedDict

from .graph import GraphDocument
from .parts import Fix, Position


StepKind = Literal["argument", "line", "stop"]


class StoppedStep(TypedDict):
    """A step of the way to the error, in words."""

    kind: StepKind
    text: str
    position: Position | None
    nodes: list[str]


class StoppedDocument(TypedDict):
    """Where a trace stopped, and how it came there. Shown by itself after a cell without `%%jit`."""

    kind: Literal["stopped"]
    version: Literal[1]
    function: str
    asked: str
    """The code that failed (`if total > limit`)."""
    graph: GraphDocument
    """The program so far; the nodes that the error depends on have the mark "path"."""
    stop: str
    """The node that stands for the code that failed; its mark is "stop"."""
    steps: list[StoppedStep]
    """The arguments, then each line, then where it stopped."""
    left_out: int
    """So many equations of a long program that the error does not depend on."""
    fixes: list[Fix]
    """Up to three rewrites of the user's code, each tried by tracing the function with it (`checked`)."""
