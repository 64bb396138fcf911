"""`jitscope.inspect(f)(x).on("h100")`: what the compiler of a chip that is not here makes of a program, as an object; `jitscope.targets()`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from jitscope.core.errors import Unavailable
from jitscope.xla.dumps import CompilationDump
from jitscope_scope import jaxwatch, observe, targets as compiling
from jitscope_scope.observe.fusion import Kernels
from jitscope_scope.targets.beside import Beside, of_cpu, of_target, targets_document
from jitscope_scope.targets.helper import CompilerLost
from jitscope_scope.targets.target_modules import target_text
from jitscope_widgets.documents.annotations import (
    PassesDocument,
    Position,
    TargetDocument,
    TargetMemory,
    TargetsDocument,
)
from jitscope_widgets.words import reason

from . import output
from .document_views import DocumentView, Graph, Program


if TYPE_CHECKING:
    from jitscope_scope.targets.asking import TargetProgram

    from .inspection import Inspection


Part = Literal["", "hlo", "passes", "memory", "code", "collectives"]
"""What of a target is shown; "" for all."""


@dataclass(frozen=True)
class TargetKernel:
    """A kernel: its name in the HLO, what kind of code it is ("loop", "reduction", "Triton product"), the numbers of the lines that it stems
    from, the bytes that it reads and writes by XLA's count (None: not known), the seconds by the roofline of the data sheet, and what takes
    these ("memory", "arithmetic", "unknown"). `members` are the opcodes of the operations in it."""

    name: str
    kind: str
    lines: tuple[int, ...]
    bytes: int | None
    seconds: float | None
    bound: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class FusionDecision:
    """Why two operations were fused, or not: their names, the lines that each stems from, the kernels that came of them where they stayed
    apart ("" where that is not known), XLA's reason, and the seconds that its model gives for both ways where it says so."""

    producer: str
    consumer: str
    fused: bool
    reason: str
    lines: tuple[tuple[int, ...], tuple[int, ...]]
    kernels: tuple[str, str] = ("", "")
    fused_seconds: float | None = None
    apart_seconds: float | None = None


class OnTarget(DocumentView["TargetDocument"]):
    """A program compiled for a chip that is not here. Modelled by XLA; nothing was run."""

    document: TargetDocument

    def __init__(self, row: observe.Row, target: str) -> None:
        wanted = compiling.target_of(target)
        self._row, self._made = row, compiling.compiled_for(row, wanted, teller(row.function, target))
        super().__init__(compiling.target_document(row, wanted))

    @property
    def hlo(self) -> Program:
        """The program after the passes of the chip's compiler."""
        return Program(jaxwatch.readable(self._made.hlo))

    @property
    def kernels(self) -> list[TargetKernel]:
        """What runs one after the other."""
        return [
            TargetKernel(
                one["name"],
                one["what"],
                self._lines(one["paths"]),
                _whole(one["bytes"]["value"]),
                one["seconds"]["value"],
                one["bound"],
                self._members[one["name"]],
            )
            for one in self.document["kernels"]
        ]

    @cached_property
    def _members(self) -> dict[str, tuple[str, ...]]:
        """The opcodes in each kernel."""
        found = Kernels(self._made.flow, {}, {}).all()
        return {one["name"]: tuple(member["opcode"] for member in one["members"]) for one in found}

    @property
    def fusion_decisions(self) -> list[FusionDecision]:
        """XLA's decisions with its reasons, in their order; empty for TPUs, whose compiler keeps no record."""
        between = {one["decision"]: (one["giver"], one["reader"]) for one in self.document["boundaries"]}
        return [
            FusionDecision(
                one["producer"],
                one["consumer"],
                one["fused"],
                one["reason"],
                (self._lines(one["producer_paths"]), self._lines(one["consumer_paths"])),
                between.get(number, ("", "")),
                one["fused_seconds"]["value"],
                one["apart_seconds"]["value"],
            )
            for number, one in enumerate(self.document["decisions"])
        ]

    @property
    def llvm(self) -> Program:
        """LLVM's IR of the kernels, as LLVM's passes leave it. Raises Unavailable for a TPU, whose compiler writes none."""
        return self._code(self._made.llvm, "LLVM's IR")

    @property
    def ptx(self) -> Program:
        """PTX of the kernels. Raises Unavailable for a TPU, which has none."""
        return self._code(self._made.ptx, "PTX")

    def _code(self, found: dict[str, str], what: str) -> Program:
        if not found:
            raise Unavailable(f"XLA's compiler for {self._made.target.told} wrote no {what} of this program")
        return Program("\n".join(found.values()))

    @property
    def memory(self) -> TargetMemory:
        """Bytes of arguments, results and temporaries on each device, as XLA plans them, and whether they fit the chip."""
        return self.document["memory"]

    @property
    def passes(self) -> DocumentView[PassesDocument]:
        """What each pass changed, from the texts that the compiler wrote between them; how long passes took is not known. Raises Unavailable
        for a TPU, whose compiler writes no such texts."""
        return DocumentView(_passes(self._made, self._row.positions()))

    @property
    def graph(self) -> Graph:
        """The program after optimisation as a graph. Raises Unavailable where it is too large to be drawn."""
        graph = self.document["graph"]
        if graph is None:
            raise Unavailable("the optimised program is too large to be drawn as a graph; .hlo has its text")
        return Graph(graph)

    def compare(self, *others: OnTarget | Inspection) -> DocumentView[TargetsDocument]:
        """This program beside others: the same lines, different kernels. An inspection stands for the CPU.

        seen = inspect(f)(x)
        seen.on("h100").compare(seen, seen.on("v5e"))

        Raises TypeError for anything else, and without any.
        """
        from .inspection import Inspection

        if not others or not all(isinstance(one, (OnTarget, Inspection)) for one in others):
            raise TypeError("compare takes other results of .on(…), or inspections for the CPU")
        sides = [side_of(one._row, one if isinstance(one, OnTarget) else "cpu") for one in (self, *others)]
        return DocumentView(beside(self.document["title"], sides))

    def _lines(self, paths: Sequence[str]) -> tuple[int, ...]:
        known = self.document["positions"]
        return tuple(sorted({known[path]["line"] for path in paths if path in known}))


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _passes(made: TargetProgram, positions: dict[str, Position]) -> PassesDocument:
    from jitscope_scope.observe.passes.document import passes_document

    states = [file for file in made.files if file.number is not None]
    if not states:
        raise Unavailable(f"XLA's compiler for {made.target.told} writes no states of the program between its passes")
    try:
        return passes_document(
            CompilationDump("", tuple(states), (), made.seconds), f"{made.function} for {made.target.told}", positions
        )
    except (ValueError, KeyError, IndexError) as problem:
        raise Unavailable(f"the states between the passes cannot be read ({problem}); .hlo has the last one") from None


class Targets(list[compiling.ListedChip]):
    """The chips that are known; shows as a table."""

    def __repr__(self) -> str:
        return "\n".join(self._rows())

    def _rows(self) -> Iterator[str]:
        for one in self:
            yield f"{one.name:8} {one.title:26} {'ready' if one.ready else 'not ready':10} also {one.several:11} {one.source}"
        for todo in dict.fromkeys(one.todo for one in self if one.todo):
            yield f"\nFor {', '.join(one.name for one in self if one.todo == todo)}: {todo}"
        yield "\nA GPU of your own: the path of a text proto with gpu_device_info (XLA's target files are such)."


def targets() -> Targets:
    """Every chip that a program can be compiled for without having it, whether its compiler is ready here, and what makes it so."""
    return Targets(compiling.targets())


def teller(function: str, target: str) -> Callable[[float], None]:
    """What tells somebody who waits, now and again."""
    said: list[float] = []

    def waiting(seconds: float) -> None:
        if not said or seconds < said[-1] or seconds >= said[-1] + _AGAIN:
            said.append(seconds)
            output.say(f"jitscope: compiling {function} for {target} … {seconds:.0f} s so far; Ctrl-C ends it")

    return waiting


_AGAIN = 15.0
"""Seconds after which it is told again."""


def show_for(row: observe.Row, asked: str, part: Part = "") -> None:
    """What `--target` asked for: a view of each target (or of a part of what is known), before them what differs between several; or a
    sentence on why there is none."""
    wanted = _targets_in(asked, f"{row.title} cannot be shown")
    with interruptible(row.function):
        made = [one for name in wanted if (one := attempt(row, name)) is not None]
        if len(made) > 1 and not part:
            _show_beside(row, made)
        for one in made:
            _show(row, one, part)
        for name in wanted:
            if isinstance(name, str) and name != "cpu":
                output.show_text(target_text(row, name))


def _show_beside(row: observe.Row, made: Sequence[OnTarget | str]) -> None:
    try:
        output.show(beside(row.function, [side_of(row, one) for one in made]))
    except Unavailable as problem:
        output.say(f"jitscope: the targets cannot be compared: {problem}")


def _show(row: observe.Row, one: OnTarget | str, part: Part) -> None:
    if not isinstance(one, OnTarget):
        if part:
            output.say(f"jitscope: {row.function} on the CPU is what this shows without --target")
        return
    try:
        match part:
            case "hlo":
                output.show_text(one.hlo)
            case "passes":
                output.show(one.passes.document)
            case "":
                output.show(one.document)
            case "memory" | "code" | "collectives":
                output.show({**one.document, "shows": part})
    except Unavailable as problem:
        output.say(f"jitscope: {row.title} cannot be shown for {one.document['chip']['name']}: {problem}")


def show_versus(earlier: observe.Row, row: observe.Row, title: str, asked: str) -> None:
    """What `--vs` and `--target` asked for together: an earlier program beside a row's, on each of some targets."""
    with interruptible(row.function):
        for name in _targets_in(asked, f"{row.function} cannot be compared"):
            if isinstance(name, str):
                continue  # of the CPU, --vs measures
            made = [attempt(one, name) for one in (earlier, row)]
            sides = [side_of(r, one, t) for r, one, t in zip((earlier, row), made, (title, "")) if one is not None]
            if len(sides) == 2:
                output.show(beside(f"{title} and {row.function}", sides))


def _targets_in(asked: str, failed: str) -> Sequence[compiling.Target | str]:
    """The targets of a text; none, with a sentence, where it names others."""
    try:
        return compiling.targets_in(asked)
    except ValueError as problem:
        output.say(f"jitscope: {failed} for {asked}: {problem}")
        return ()


@contextlib.contextmanager
def interruptible(function: str) -> Iterator[None]:
    """Ctrl-C ends what is asked, and not the cell."""
    try:
        yield
    except KeyboardInterrupt:
        output.say(f"jitscope: compiling {function} for other chips was stopped")


def attempt(row: observe.Row, target: compiling.Target | str) -> OnTarget | str | None:
    """A row's program on a target, "cpu" for the CPU; None, with a sentence, where it cannot be had, and for GPUs in general."""
    if isinstance(target, str):
        return "cpu" if target == "cpu" else None
    try:
        return OnTarget(row, target.name)
    except (Unavailable, ValueError, NotImplementedError, CompilerLost) as problem:
        output.say(f"jitscope: {row.title} cannot be shown for {target.name}: {problem}")
    except Exception as problem:
        output.say(f"jitscope: {row.title} cannot be shown for {target.name}: {reason(problem)}")
    return None


def side_of(row: observe.Row, one: OnTarget | str, title: str = "") -> Beside:
    """A side of a comparison; "cpu" is the CPU of this machine. Raises Unavailable where the CPU's kernels are not known."""
    if isinstance(one, OnTarget):
        return of_target(one.document, title)
    compilation = observe.compilation_document(row)
    if (fusion := compilation["fusion"]) is None:
        raise Unavailable(f"the kernels of {row.function} on the CPU are not known")
    return of_cpu(row, compilation, fusion, title)


def beside(title: str, sides: Sequence[Beside]) -> TargetsDocument:
    """What differs between several targets."""
    return targets_document(title, sides)
