"""What makes two kernels of different programs equal: what they compute, whatever XLA calls it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from jitscope.xla.hlo_module import Computation, Instruction


_NUMBERED = ("control-predecessors", "channel_id")
"""Attributes that name other instructions, or are numbers that programs give away."""


def details_of(does: Instruction, members: Sequence[str], types: Mapping[str, str]) -> str:
    """What there is to say of a kernel besides its opcode and type: the opcodes of its `members`, if there are several, else what the
    one operation takes, and its attributes."""
    if len(members) > 1:
        opcodes = Counter(members)
        return ", ".join(f"{count} {opcode}" if count > 1 else opcode for opcode, count in opcodes.items())
    takes = ", ".join(types.get(operand, "") for operand in does.operands)
    attributes = _without(does.attributes, {"kind", *_NUMBERED, *(role for role, _ in does.called)})
    return "; ".join(filter(None, [f"of {takes}" if takes else "", attributes]))


class Contents:
    """The contents of the instructions of a program, without the names of instructions and computations."""

    def __init__(self, computations: Sequence[Computation]):
        self._computations = {each.name: each for each in computations}
        self._known: dict[str, Hashable] = {}

    def of(self, i: Instruction) -> Hashable:
        """What an instruction does: opcode, type, number, attributes, and what the computations that it calls do."""
        called = tuple((role, self._computation(name)) for role, name in i.called)
        number = i.literal if i.opcode == "constant" else ""
        return i.opcode, i.type, number, _without(i.attributes, {*_NUMBERED, *(role for role, _ in i.called)}), called

    def _computation(self, name: str) -> Hashable:
        """What a computation does: its instructions with the places of their operands, from the first that its result needs on. The
        order in which XLA lists them, and in which it numbers parameters, tells nothing."""
        if name not in self._known:
            self._known[name] = self._from(self._computations[name])
        return self._known[name]

    def _from(self, computation: Computation) -> Hashable:
        named = {i.name: i for i in computation.instructions}
        places: dict[str, int] = {}
        found: list[Hashable] = []
        waiting = [computation.root]
        while waiting:
            i = waiting[-1]
            needed = [named[operand] for operand in reversed(i.operands) if operand not in places]
            waiting += needed
            if not needed:
                waiting.pop()
                if i.name not in places:
                    places[i.name] = len(places)
                    found.append((self.of(i), tuple(places[operand] for operand in i.operands)))
        return tuple(found)


def _without(attributes: str, names: set[str]) -> str:
    """Attributes but for those with these names."""
    pattern = rf"(?:^|, )(?:{'|'.join(map(re.escape, names))})=(?:\{{[^}}]*\}}|[^,\s]*)"
    return re.sub(pattern, "", attributes).removeprefix(", ")
