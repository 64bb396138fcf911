"""What each equation of a program computes on the arguments of a call, evaluated one by one.

The results of calls and branches stand at the equations inside that make them. Statistics leave out what is not finite; of complex numbers
they are those of the absolute values. With the options `path`, `result` and `iteration` (of the innermost loop) the instrument answers
with the closer look at that value alone.
"""

from typing import Literal, NotRequired, TypedDict

from .parts import Position, Quantity


class DeviceCount(TypedDict):
    """Of how many devices a value is, and whether all have the same."""

    count: int
    alike: bool


class ValueOrigin(TypedDict):
    """Which result of which equation it is, and what is known of it without its numbers."""

    path: str
    """Of the equation; `in0`, `const0`: what the program is given."""
    result: int
    label: str
    type: str
    iterations: int | None
    """How many were looked at, in a loop."""
    devices: DeviceCount | None
    """Inside of shard_map: of how many devices, and whether all have the same."""
    first_bad: int | None
    """The iteration (0 outside of loops) since which it is not finite."""


class Statistics(TypedDict):
    """Of all elements, on all devices, in all iterations that were looked at."""

    size: int
    min: float | None
    """None, as the next three: no number is finite."""
    max: float | None
    mean: float | None
    std: float | None
    zeros: int
    nan: int
    inf: int


class ValueRow(ValueOrigin, Statistics):
    """A result of an equation, with its numbers."""

    line: int | None
    """In `lines`."""
    written: NotRequired[bool]
    """It is a copy of a NaN or infinity that the program has as a constant."""


class Histogram(TypedDict):
    """How often values are in each bin. A logarithmic one has bins of equal ratio of the absolute values of those that are not 0."""

    low: float
    high: float
    log: bool
    zeros: int
    counts: list[int]


class Picture(TypedDict):
    """One character for each cell, row by row: `0` to `f` for the mean of the elements it stands for, from `low` to `high`, `n` where one
    is NaN, `i` where one is infinite."""

    rows: int
    columns: int
    cells: str
    low: float
    high: float
    folded: str


class DevicePart(TypedDict):
    """The part of a device."""

    place: str
    min: float | None
    max: float | None
    mean: float | None
    nan: int
    inf: int


class ValueDetail(TypedDict):
    """A closer look at a value; in a loop at its last iteration."""

    path: str
    result: int
    iteration: int | None
    histogram: Histogram | None
    picture: Picture | None
    first: list[str]
    """The first elements; of several devices the first device's."""
    parts: list[DevicePart]
    """In the order of the mesh; none for one value or where all devices have the same."""


class LookedLoop(TypedDict):
    """Which iterations of a loop were looked at."""

    path: str
    count: int | None
    looked: str


class ValuesDocument(TypedDict):
    """The values in the order of evaluation."""

    kind: Literal["values"]
    version: Literal[1]
    title: str
    sentence: str
    rows: list[ValueRow]
    first_bad: int | None
    """The first row with NaN or infinity."""
    left_out: NotRequired[bool]
    """There is such a row, and the results are all finite."""
    details: list[ValueDetail]
    loops: list[LookedLoop]
    lines: list[Position]
    differs: str
    """How the results differ from the compiled program's."""
    remarks: list[str]
    """Such as why it stopped."""
    cost: Quantity
