"""What each of XLA's passes did to a program.

Counts are of operations: fusions, loops, branches and calls are none, and what a reduction applies to single elements is part of it. Operations that a pass fused into
several kernels count once in `counts`; the sentence tells the copies, and the fusions made.
"""

from typing import Literal, NotRequired, TypedDict

from .graph import GraphDocument
from .parts import Position, Quantity


Change = Literal["removed", "added", "changed", "rewired", "fused", "moved"]
"""Operations that were "rewired" do the same with other operands, "fused" ones went into the computation of a kernel, "moved" ones into
another computation."""


PassStageName = Literal["passes", "kernels", "machine code", "rest"]


class PassStage(TypedDict):
    """A part of XLA's work."""

    name: PassStageName
    does: str
    seconds: Quantity


class KernelWriting(TypedDict):
    """Writing a kernel as LLVM's IR."""

    name: str
    seconds: Quantity
    paths: list[str]
    """Of its equations."""


class CodeWriting(TypedDict):
    """What the code of kernels took, as far as XLA records it: of LLVM's own work it does not say which kernel it was for."""

    kernels: list[KernelWriting]
    """The dearest first."""
    count: int
    """All kernels that were written, listed or not."""
    total: Quantity
    parts: int
    """Tasks of LLVM's, which make machine code of all kernels."""
    longest: Quantity
    """The longest of them."""


class PassRun(TypedDict):
    """A run of a pass."""

    name: str
    does: str
    """In plain words, or ""."""
    pipelines: list[str]
    """The outermost first."""
    round: int
    rounds: int
    seconds: Quantity
    state: int | None
    """Its result, in `states`; None if it changed nothing that computes."""


_Computations = TypedDict("_Computations", {"from": str | None, "to": str | None})


class PassRow(_Computations):
    """An operation that a pass changed; `from` and `to` name computations."""

    kind: Change
    before: str | None
    after: str | None
    opcode: str
    paths: list[str]


class ChangeCounts(TypedDict):
    """How many operations a pass changed, by kind of change."""

    removed: int
    added: int
    changed: int
    rewired: int
    fused: int
    moved: int


class PassState(TypedDict):
    """The program after a pass; the first is the one before all passes."""

    operations: int
    kernels: int
    flops: Quantity
    bytes: Quantity
    counts: ChangeCounts
    sentence: str
    rows: list[PassRow]
    left_out: int
    also: list[str]
    """The paths of the changes that are left out of `rows`."""
    graph: GraphDocument | None
    """Up to 60 changed operations (`mark`), those first that are connected, as they are now or, where they are gone, as they were, and
    up to 60 unchanged ones that they read or are read by; values flow through the parameters of fusions. None in the first state, and
    where it was left out to keep an output small."""
    graph_left_out: int


class Fate(TypedDict):
    """What became of an equation."""

    path: str
    state: int
    what: Literal["fused", "library", "merged", "gone"]
    """"gone": no operation bears the equation's name any more: nothing needed its value, or it was rewritten into something without
    a name."""
    into: list[str]


class PassesDocument(TypedDict):
    """The passes in their order, and the states of the program between them."""

    kind: Literal["passes"]
    version: Literal[1]
    title: str
    stages: list[PassStage]
    """Empty where they are not known."""
    writing: NotRequired[CodeWriting]
    passes: list[PassRun]
    states: list[PassState]
    inlined: NotRequired[int]
    """Operations of the first state with those of a function once for each of its calls, where that is another number."""
    fates: list[Fate]
    positions: dict[str, Position]
    """Of equations, by path."""
    cost: Quantity
    """What finding this out took."""
