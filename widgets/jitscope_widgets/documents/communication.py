"""What the devices of a program exchange, and how its arguments and results lie; read from the optimised program."""

from typing import Literal, NotRequired, TypedDict

from .parts import MeshAxis, Position


CollectiveKind = Literal[
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast",
    "ragged-all-to-all",
]  # fmt: skip


class CollectiveSeconds(TypedDict):
    """Of one device in all its runs in one run of the program, over devices and runs."""

    median: float
    low: float
    high: float
    least: float
    """Of the device that waits least."""


class Collective(TypedDict):
    """An exchange."""

    name: str
    what: CollectiveKind
    types: list[str]
    """Of what one device gives."""
    gives: int
    """Bytes of one device, in one run of the collective."""
    gets: int
    groups: list[list[int]] | None
    """The devices that exchange with each other, by their place in the mesh; of a collective-permute pairs (from, to)."""
    axes: list[str] | None
    """The axes that the groups are along; None where they are not those of axes of the mesh."""
    runs: int | None
    """In one run of the program; None where that depends on values."""
    paths: list[str]
    seconds: NotRequired[CollectiveSeconds | None]


ValueRole = Literal["argument", "result"]


class LaidValue(TypedDict):
    """How an argument or a result lies."""

    role: ValueRole
    name: str
    type: str
    asked: str | None
    """The sharding that was given or asked for."""
    asked_known: NotRequired[bool]
    """Whether it is known that none was asked for, where `asked` is None."""
    lies: str | None
    """The program's."""
    differs: bool
    part: str
    """What each device has."""
    bytes: int


class CollectiveTotal(TypedDict):
    """All collectives of a kind in one run."""

    what: CollectiveKind
    count: int
    runs: int | None
    gives: int | None


class CommunicationLeftOut(TypedDict):
    """How many more there are."""

    collectives: int
    values: int


class MeasuredRuns(TypedDict):
    """How often the program was run to measure, and on what."""

    runs: int
    on: str


class CommunicationDocument(TypedDict):
    """A compilation over several devices has this document from the start: it costs nothing."""

    kind: Literal["communication"]
    version: Literal[1]
    title: str
    devices: int
    mesh: list[MeshAxis]
    """Empty where it is not known."""
    collectives: list[Collective]
    values: list[LaidValue]
    """Arguments, then results; empty for programs of other libraries."""
    left_out: CommunicationLeftOut
    """How many more there are."""
    totals: list[CollectiveTotal]
    positions: dict[str, Position]
    """Of equations, by path."""
    backward: list[str]
    """Which of the collectives' paths are of a backward pass."""
    measured: NotRequired[MeasuredRuns]
    """How often the program was run to measure, and on what."""
