"""The parts that documents of many kinds share: quantities, places in the source, fixes."""

from typing import Literal, NotRequired, TypedDict


Transform = Literal["jvp", "transpose", "vmap"]
"""What made an equation from the one that the user wrote."""

KernelKind = Literal["fusion", "library", "loop", "copy", "other"]
"""What a kernel is: several operations fused, a call of a library, a loop, a copy, or a single operation."""


QuantityOrigin = Literal["measured", "modelled", "unknown"]
"""How a number was obtained."""


class MeshAxis(TypedDict):
    """An axis of the mesh, with its number of devices."""

    name: str
    size: int


class Quantity(TypedDict):
    """A number with its unit and where it comes from. Times are in seconds ("s"), sizes in bytes ("B"); only a view rounds."""

    value: float | None
    """None exactly when the origin is "unknown"."""
    unit: str
    origin: QuantityOrigin
    note: str
    """How it was obtained; may be empty."""


class Cost(TypedDict):
    """What a run takes."""

    flops: Quantity
    bytes: Quantity
    memory: Quantity


class Position(TypedDict):
    """A place in the source, as Python's `co_positions` has it."""

    file: str
    """The file, or the id of the cell where that is known."""
    cell: str | None
    """A label such as "In [3]" if the file is a notebook cell."""
    line: int
    """From 1."""
    end_line: int
    column: int
    """From 0."""
    end_column: int
    function: str
    text: str
    """The source line."""
    named_scope: NotRequired[str]
    """The scope that the equation was written in ("layer/attention")."""


class ProgramBlock(TypedDict):
    """A function, a module, a loop, or equal ones of these together: what kernels stem from."""

    label: str
    """Such as "attention" or "block × 12"."""
    outer: int | None
    """The place in `blocks` of the one that it is part of, which stands before it."""
    positions: list[Position]
    """Where it is called, the first places."""


class Edit(TypedDict):
    """Text to put in the place of a stretch of a cell: lines from 1 as the editor shows them, columns from 0 in characters,
    the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Fix(TypedDict):
    """What to do about something: in words and, where editing is enough, as edits of one cell that do not overlap."""

    text: str
    edits: list[Edit]
    """None where it takes more than editing."""
    checked: str
    """How it was proved; "" if it was not."""
    position: Position | None
    """A place in the cell that the edits belong to."""
    before: NotRequired[list[str]]
    """The lines of that cell from the first edit's to the last edit's, as they were run. Views draw the difference from them;
    an editor makes the edits only where it still has these lines."""
