"""The order in which a chip runs a program, from the optimised HLO, whose instructions stand in the order of their schedule: what begins here
and ends further down (a copy, an exchange) goes on beside the kernels between."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from jitscope.xla.hlo_module import Computation, Instruction

from ..annotations import TargetStep


_BEGIN, _UPDATE, _END = "-start", "-update", "-done"
_QUEUE = re.compile(r'"operation_queue_id":"(\d+)"')
_WAITS = re.compile(r'"is_sync":true')


def steps_of(hlo: str, computations: Sequence[Computation], kernels: Mapping[str, str]) -> list[TargetStep]:
    """What runs, in order; the steps of a loop, or of a conditional's branches, come after it. Nothing where the program has no schedule.

    `hlo`: the optimised program's text; `computations`: the same, parsed; `kernels`: the instructions that run as kernels,
    with the kernels' names.
    """
    if "is_scheduled=true" not in hlo.partition("\n")[0]:
        return []
    named = {computation.name: computation for computation in computations}
    entry = next(computation for computation in computations if computation.is_entry)
    return list(_Schedule(named, kernels).steps(entry, ""))


class _Schedule:
    def __init__(self, named: dict[str, Computation], kernels: Mapping[str, str]):
        self.named = named
        self.kernels = kernels

    def steps(self, computation: Computation, inside: str) -> Iterator[TargetStep]:
        begun = _begun(computation.instructions)
        for i in computation.instructions:
            if i.name in self.kernels and not i.opcode.endswith((_UPDATE, _END)):
                yield self._step(i, inside, *begun.get(i.name, ("", [])))
            if i.opcode in ("while", "conditional"):
                for inner in i.calls:
                    yield from self.steps(self.named[inner], self.kernels.get(i.name, ""))
            elif i.opcode in ("call", "async-start"):
                for inner in i.calls:
                    yield from self.steps(self.named[inner], inside)

    def _step(self, i: Instruction, inside: str, end: str, between: Sequence[Instruction]) -> TargetStep:
        found = _QUEUE.search(i.backend_config)
        return {
            "kernel": self.kernels[i.name],
            "inside": inside,
            "ends": end,
            "beside": [self.kernels[one.name] for one in between if one.name in self.kernels and not _is_part(one)],
            "waits": i.opcode.endswith(_BEGIN) and bool(_WAITS.search(i.backend_config)),
            "queue": found[1] if found else "",
        }


def _is_part(i: Instruction) -> bool:
    return i.opcode.endswith((_BEGIN, _UPDATE, _END))


def _begun(instructions: Sequence[Instruction]) -> dict[str, tuple[str, Sequence[Instruction]]]:
    """By what begins something: what ends it, and all that stands between."""
    places = {i.name: at for at, i in enumerate(instructions)}
    heads: dict[str, str] = {}
    found: dict[str, tuple[str, Sequence[Instruction]]] = {}
    for at, i in enumerate(instructions):
        if i.opcode.endswith((_UPDATE, _END)) and i.operands:
            heads[i.name] = head = heads.get(i.operands[0], i.operands[0])
            if i.opcode.endswith(_END) and head in places:
                found[head] = i.name, instructions[places[head] + 1 : at]
    return found
