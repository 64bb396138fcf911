"""Which device has which part of an array."""

from typing import Literal, TypedDict

from .parts import MeshAxis


class ArrayAxis(TypedDict):
    """An axis of the array, and the axes of the mesh that it is cut along."""

    size: int
    parts: int
    along: list[str]


class Tile(TypedDict):
    """A part of the array: its place among the parts, `"0:4"` of each axis, and the devices that have it."""

    at: list[int]
    index: list[str]
    devices: list[str]


class ShardingDocument(TypedDict):
    """How one array lies."""

    kind: Literal["sharding"]
    version: Literal[1]
    title: str
    type: str
    spec: str | None
    """None for layouts that are none of a mesh."""
    mesh: list[MeshAxis]
    memory: str | None
    devices: int
    axes: list[ArrayAxis]
    part: str
    """The type of what each device has (the largest part)."""
    bytes: int | None
    copies: int | None
    """Devices that have each part; None where that differs."""
    drawn: bool
    """Not where more than two axes are cut."""
    rows: int | None
    """The axis of the array that is drawn downwards."""
    columns: int | None
    """The axis of the array that is drawn to the right."""
    drawing: list[str]
    """The lines of the picture in plain text, or none."""
    tiles: list[Tile]
    left_out: int
    """How many more parts there are."""
