"""The code of a program's kernels: the processor's, and LLVM's IR.

A document holds at most a million characters of code; the option `function` of the instrument asks for one function's whole.
"""

from typing import Literal, NotRequired, TypedDict

from .parts import Position, Quantity


class Mix(TypedDict):
    """What instructions there are."""

    total: int
    counts: dict[str, int]
    reads: int
    writes: int
    bits: int | None
    """The width of the widest vectors that arithmetic is done on; None where it is done on single numbers."""
    lanes: str
    """What they hold (`8 × f32`)."""


class CodeText(TypedDict):
    """A text of code."""

    text: str
    left_out: int
    nesting: list[list[int]]
    """Pairs of a line, from 0, and the depth in loops that holds from there."""


class CodeLoop(TypedDict):
    """A loop of a function's blocks."""

    header: int
    blocks: list[int]
    parent: int | None
    depth: int
    innermost: bool
    mix: Mix
    sentence: str


class CalledFunction(TypedDict):
    """A function that is called, and how often its call is written."""

    name: str
    count: int


class CodeBlock(TypedDict):
    """Instructions that run one after the other. A line of `code` is address (hexadecimal), name, operands and remark with tabs between."""

    code: str
    depth: int
    ways: list[int]
    """The blocks that may run next."""


MachineName = Literal["x86-64", "arm64"]
CodeRole = Literal["kernel", "comparator", "helper", "unknown"]


class CodeFunction(TypedDict):
    """A function of the processor's code."""

    name: str
    machine: MachineName
    module: int | None
    role: CodeRole
    """A comparator is what XLA's runtime calls on elements, a helper what functions call."""
    note: str
    kernels: list[str]
    lines: list[int]
    share: float | None
    written: Quantity
    bytes: int
    mix: Mix
    undecoded: int
    """Bytes that the disassembler does not know."""
    loops: list[CodeLoop]
    hot: int | None
    """The loop that most likely takes the time: chosen, not measured."""
    sentence: str
    calls: list[CalledFunction]
    blocks: list[CodeBlock] | None
    """None: not kept."""
    left_out: int
    """Instructions of its last blocks that are not kept."""


class MachineModule(TypedDict):
    """A module of LLVM's."""

    name: str
    emitter: str
    """Which part of XLA made it; "" where it does not say."""
    values: list[str]
    """HLO instructions whose names LLVM's values bear."""
    before: CodeText | None
    """The IR before LLVM's passes; None: not kept."""
    after: CodeText | None


class MachineKernel(TypedDict):
    """A kernel and its code."""

    name: str
    function: str | None
    """None: no code of its own, or unknown; the note says which."""
    note: str
    share: float | None
    lines: list[int]


class MachineDocument(TypedDict):
    """The code of all kernels."""

    kind: Literal["machine"]
    version: Literal[1]
    title: str
    opens: NotRequired[Literal["llvm", "code"]]
    """What a view shows first."""
    triple: str
    """What the code is for, as LLVM calls it; "" where unknown."""
    processor: str
    sentence: str
    notes: list[str]
    """What is not certain."""
    functions: list[CodeFunction]
    """Those first that take most time, else those that write most."""
    modules: list[MachineModule]
    kernels: list[MachineKernel]
    positions: list[Position]
    """One for each line; `lines` are places in this list."""
    cost: Quantity
