"""The code that wrote a program, for the pane beside the graph."""

from typing import Literal, TypedDict


class SourceFunction(TypedDict):
    """A function with its lines."""

    name: str
    label: str
    """The name of its cell or file."""
    file: str
    cell: str | None
    first_line: int
    lines: list[str]


class SourceCall(TypedDict):
    """A call of a function of the document. Calls of one function from one line of one call are one (a loop's iterations);
    of recursive calls, three."""

    function: int
    """Its place in `functions`."""
    parent: int | None
    """The call that called it, which comes earlier; None for call 0, of the traced function."""
    line: int | None
    """Where the call stands in the parent's function."""


class SourceMark(TypedDict):
    """A line of a call that wrote equations."""

    call: int
    line: int
    nodes: list[str]
    """Ids of the graph's nodes."""
    forward: int
    """Equations written there."""
    backward: int
    """Equations of the backward pass that stem from it."""


class SourceDocument(TypedDict):
    """The functions that wrote the program, in any files and cells, and who called them. Code of installed libraries is left out:
    what it computes counts as written where it was called. What was written outside of the traced function has no mark."""

    kind: Literal["source"]
    version: Literal[1]
    functions: list[SourceFunction]
    calls: list[SourceCall]
    marks: list[SourceMark]
