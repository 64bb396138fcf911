"""What was compiled or traced again, and why; docs/recompilations.md tells the causes and their fixes."""

from typing import Literal, NotRequired, TypedDict

from .parts import Fix, Position, Quantity


Cause = Literal[
    "shape", "dtype", "weak type", "static value", "static object", "tree structure", "none", "call form", "kind",
    "function", "closure", "redefined", "device", "sharding", "donation", "option", "x64", "cache", "stale",
    "outside jit",
]  # fmt: skip


class RecompilationSite(TypedDict):
    """A call of the user's that paid."""

    position: Position | None
    led: NotRequired[list[Position]]
    """The lines that led to it, where another one stands in between."""
    compilations: int
    retraces: int
    seconds: float


class MatrixColumn(TypedDict):
    """A program, in the order of the session."""

    label: str
    what: Literal["compiled", "reused"]
    calls: int | None


class MatrixRow(TypedDict):
    """A part of the key: an argument's path, a captured value, an option."""

    path: str
    cells: list[str]
    changed: list[bool]
    """What differs from the program before it."""


class Matrix(TypedDict):
    """The keys of a function's programs side by side; the first program is what the others are compared with."""

    columns: list[MatrixColumn]
    rows: list[MatrixRow]
    columns_left: int
    """So many programs are left out after the first `columns_left_after` columns."""
    columns_left_after: int
    rows_left: int
    """So many rows are left out at the end."""
    alike_left: NotRequired[int]
    """So many of these are the same in all programs."""


class RecompilationCard(TypedDict):
    """One function and one cause."""

    function: str
    cause: Cause
    compilations: int
    """How often it was compiled again."""
    retraces: int
    """How often it was traced again for a program that was known."""
    because: str
    """One sentence."""
    seconds: Quantity
    """What was lost: to trace, lower and compile again."""
    definition: Position | None
    sites: list[RecompilationSite]
    """The calls that paid, those that cost most first."""
    sites_left: int
    """How many calls are left out."""
    matrix: Matrix
    fix: Fix | None
    quiet: bool
    """The user wanted it so (a cell that was run again), and nobody is told unasked."""


class RecompilationsDocument(TypedDict):
    """One card for each function and cause, those that cost most first."""

    kind: Literal["recompilations"]
    version: Literal[1]
    title: str
    cards: list[RecompilationCard]
