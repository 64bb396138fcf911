"""The states that a program goes through, in a form in which what did not change is the same object."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from jitscope.xla import hlo_module
from jitscope.xla.hlo_module import Computation, Instruction

from ..hlo_flow import paths_in, unique


NOTHING_COMPUTED = ("parameter", "constant", "tuple", "get-tuple-element")
"""Opcodes that bring values along and compute none."""
HOLDERS = ("while", "conditional", "call")
"""Opcodes that hold operations and are none."""


@dataclass(frozen=True)
class State:
    """The computations of a program between two passes, by name; `text` is XLA's own."""

    text: str
    computations: dict[str, Computation]

    @cached_property
    def fused(self) -> dict[str, str]:
        """The computations that are bodies of fusions, with the names of the fusions (of a fusion in another, the outer one's)."""
        inside = {i.calls[0]: (c.name, i.name) for c, i in self.instructions() if i.opcode == "fusion" and i.calls}

        def kernel(body: str) -> str:
            around, name = inside[body]
            return kernel(around) if around in inside else name

        return {body: kernel(body) for body in inside}

    @cached_property
    def callers(self) -> dict[str, tuple[Computation, Instruction]]:
        """For each computation that is called, who calls it (the last of several) and where that stands."""
        return {name: (c, i) for c, i in self.instructions() if i.called for name in i.calls}

    @cached_property
    def _prefixes(self) -> dict[str, tuple[str, ...]]:
        """What stands in front of the paths in computations that are functions of the program's, not yet put in their callers'
        place: the paths of the calls."""
        found: dict[str, tuple[str, ...]] = {}
        for name in reversed(self.computations):  # callers stand after what they call
            outer = found.get(name, ())
            for i in self.computations[name].instructions:
                own = paths_in(i.op_name) if _calls_function(i) else ()
                inner = unique(f"{o}/{p}" for o in outer for p in own) if outer and own else own or outer
                for called in i.calls if inner else ():
                    found[called] = unique((*found.get(called, ()), *inner))
        return found

    def paths(self, computation: str, i: Instruction) -> tuple[str, ...]:
        """The paths of the equations that an instruction of a computation stems from."""
        outer, own = self._prefixes.get(computation), paths_in(i.op_name)
        return unique(f"{o}/{p}" for o in outer for p in own) if outer else own

    @cached_property
    def applied(self) -> set[str]:
        """The computations that others apply to single elements: of reductions, sorts, scatters."""
        return {name for _, i in self.instructions() for role, name in i.called if _applies(i, role)}

    def instructions(self) -> Iterator[tuple[Computation, Instruction]]:
        for computation in self.computations.values():
            for instruction in computation.instructions:
                yield computation, instruction

    def computing(self) -> Iterator[tuple[Computation, Instruction]]:
        """Operations, loops, branches and calls that XLA made, each where it stands; what is applied to single elements is part of another."""
        for computation, i in self.instructions():
            if self.counts(computation.name, i) or (i.opcode in HOLDERS and not _calls_function(i)):
                yield computation, i

    def counts(self, computation: str | None, i: Instruction | None) -> bool:
        """Whether an instruction of this state is one of its operations: it computes by itself and holds no others."""
        return (
            i is not None
            and i.opcode not in (*NOTHING_COMPUTED, *HOLDERS, "fusion")
            and computation not in self.applied
        )

    def operations(self, inlined: bool = False) -> int:
        """How many there are; `inlined`: those of a function once for each of its calls, as a program runs that has no functions."""
        times = self._calls if inlined else {}
        return sum(times.get(c.name, 1) for c, i in self.instructions() if self.counts(c.name, i))

    @cached_property
    def _calls(self) -> dict[str, int]:
        """From how many places each computation is called, counted from the program's beginning."""
        found: dict[str, int] = defaultdict(int)
        for name in reversed(self.computations):  # callers stand after what they call
            found[name] += self.computations[name].is_entry
            for called in (called for i in self.computations[name].instructions for called in i.calls):
                found[called] += found[name]
        return found

    def kernels(self) -> int:
        """What would run one after the other: operations and fusions that are in no fusion, each loop's once, but loops
        themselves and bitcasts."""
        free = (*NOTHING_COMPUTED, *HOLDERS, "bitcast")
        return sum(
            c.name not in self.fused and c.name not in self.applied and i.opcode not in free
            for c, i in self.instructions()
        )


def _calls_function(i: Instruction) -> bool:
    """Whether it calls a function of the program's own, which the lowering numbers; XLA makes calls, too."""
    return i.opcode == "call" and _NUMBERED.search(i.op_name or "") is not None


_NUMBERED = re.compile(r"\(\d+\)(?![^;]*/e)")


def _applies(i: Instruction, role: str) -> bool:
    return (role == "to_apply" and i.opcode != "call") or role in _APPLYING


_APPLYING = ("select", "scatter", "update_computations", "called_computations")


def states_of(texts: Iterable[str]) -> Iterator[State]:
    """The states of texts, one after the other; lines that were there before are the same instructions as then."""
    known: hlo_module.Lines = {}
    for text in texts:
        yield State(text, _called({c.name: c for c in hlo_module.parse(text, known)}))


def _called(computations: dict[str, Computation]) -> dict[str, Computation]:
    """Those that run: a pass may leave others behind for a later one to remove."""
    asked = [c.name for c in computations.values() if c.is_entry]
    found: set[str] = set()
    while asked:
        name = asked.pop()
        if name not in found:
            found.add(name)
            asked += [called for i in computations[name].instructions for called in i.calls]
    return {name: c for name, c in computations.items() if name in found}


_LAYOUT = re.compile(r"(?<=\])\{([\d,]*)\}")


def shown(i: Instruction) -> str:
    """An instruction as it is shown: without metadata and backend configuration, and of layouts only those that are not the
    usual one (the last axis together in memory)."""
    kind = _LAYOUT.sub(lambda found: "" if _usual(found.group(1)) else found.group(), i.type)
    line = f"{i.name} = {kind} {i.opcode}({i.literal or ', '.join(i.operands)})"
    return line + (f", {i.attributes}" if i.attributes else "")


def _usual(order: str) -> bool:
    axes = [int(axis) for axis in order.split(",") if axis]
    return axes == sorted(axes, reverse=True)
