"""Which loops and stretches of array operations of some cells could be compiled, what that costs, and how."""

from typing import Literal, NotRequired, TypedDict

from .parts import Fix


class RegionCut(TypedDict):
    """A line at which a stretch ends, and why."""

    line: int
    why: str
    """In one of few words: "value read by Python", "random", "input or output", "effect", "object", …"""
    note: str


class RegionSame(TypedDict):
    """How far the compiled results may be from the plain ones on values like those that were tried, and how far they were on these."""

    max_abs: float
    max_rel: float
    bits: bool
    """Whether all bits were equal in each comparison."""
    ulp: float
    """The largest difference seen, in units of the last place."""
    seen_abs: NotRequired[float]
    """The largest difference seen."""


class Region(TypedDict):
    """Lines of a cell, and whether to compile them. Times in seconds, None where nothing was measured."""

    cell: int
    line: int
    end_line: int
    verdict: Literal["compile", "not worth it", "cannot"]
    reason: str
    cuts: list[RegionCut]
    eager_s: float | None
    compiled_s: float | None
    compile_s: float | None
    break_even_runs: int | None
    same: RegionSame | None
    reads: list[str]
    """The names whose values go in."""
    edit: str | None
    """Python in place of the lines."""
    fix: NotRequired[Fix]
    """The same as an edit of the cell."""


class RegionsDocument(TypedDict):
    """What was found in one cell, or in all of a session or file."""

    kind: Literal["regions"]
    version: Literal[1]
    title: str
    note: str
    """How the cells were run; may be empty."""
    regions: list[Region]
