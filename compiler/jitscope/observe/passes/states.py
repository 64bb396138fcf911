"""The states that a program goes through, in a form in which what did not change is the same object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from jitscope.xla import hlo_module
from jitscope.xla.hlo_module import Computation, Instruction


NOTHING_COMPUTED = ("parameter", "constant", "tuple", "get-tuple-element")
"""Opcodes that bring values along and compute none."""


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
    def applied(self) -> set[str]:
        """The computations that others apply to single elements: of reductions, sorts, scatters."""
        return {name for _, i in self.instructions() for role, name in i.called if _applies(i, role)}

    def instructions(self) -> Iterator[tuple[Computation, Instruction]]:
        for computation in self.computations.values():
            for instruction in computation.instructions:
                yield computation, instruction

    def operations(self) -> Iterator[tuple[Computation, Instruction]]:
        """Those that compute something, each counted where it stands; what is applied to single elements is part of another."""
        for computation, instruction in self.instructions():
            if computation.name not in self.applied and instruction.opcode not in (*NOTHING_COMPUTED, "fusion"):
                yield computation, instruction

    def kernels(self) -> int:
        """What would run one after the other: operations and fusions that are in no fusion, each loop's once, but loops
        themselves and bitcasts."""
        free = (*NOTHING_COMPUTED, "bitcast", "while", "conditional", "call")
        return sum(
            c.name not in self.fused and c.name not in self.applied and i.opcode not in free
            for c, i in self.instructions()
        )


def _applies(i: Instruction, role: str) -> bool:
    return (role == "to_apply" and i.opcode != "call") or role in ("select", "scatter", "update_computations")


def states_of(texts: Iterable[str]) -> Iterator[State]:
    """The states of texts, one after the other; lines that were there before are the same instructions as then."""
    known: hlo_module.Lines = {}
    for text in texts:
        yield State(text, {c.name: c for c in hlo_module.parse(text, known)})


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
