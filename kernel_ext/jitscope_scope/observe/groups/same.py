"""What makes equations equal: the primitive with its parameters, the avals, the literals; and how the values flow inside a
block."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from jitscope.backend.signature import is_hashable
from jitscope.core.hashing import structural_hash
from jitscope.core.jaxpr import ClosedJaxpr, JaxprEqn, Var


class Numbers:
    """A number for each thing; equal things have equal numbers."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def of(self, thing: Hashable) -> int:
        return self._known.setdefault(thing, len(self._known))


class Kinds:
    """A number for each equation, the same for those that do the same to values of the same types."""

    def __init__(self) -> None:
        self.numbers = Numbers()
        self._programs: dict[int, tuple[ClosedJaxpr, bytes]] = {}

    def of(self, eqn: JaxprEqn) -> int:
        reads = tuple([a.aval if type(a) is Var else _literal(a) for a in eqn.invars])
        gives = tuple([v.aval for v in eqn.outvars])
        primitive = eqn.primitive
        params = eqn.params and tuple([(k, self._param(v)) for k, v in primitive.program_params(eqn.params).items()])
        return self.numbers.of((primitive, reads, gives, params or ()))

    def _param(self, value: Any) -> Hashable:
        if type(value) in (int, str, bool, float, type(None)):
            return type(value), value
        if isinstance(value, (tuple, list)):
            return type(value), tuple(map(self._param, value))
        if isinstance(value, ClosedJaxpr):
            return self._program(value)
        if isinstance(value, np.ndarray):
            return str(value.dtype), value.shape, value.tobytes()
        return value if is_hashable(value) else id(value)

    def _program(self, closed: ClosedJaxpr) -> Hashable:
        if id(closed) not in self._programs:
            self._programs[id(closed)] = (closed, structural_hash(closed).digest)
        return self._programs[id(closed)][1], tuple(map(id, closed.consts))


def _literal(literal: Any) -> Hashable:
    item = literal.value
    if type(item) in (int, bool):
        return literal.aval, type(item), item
    if type(item) is float:
        return literal.aval, float, item.hex()  # 0.0 is not -0.0
    value = item if isinstance(item, np.generic) else np.asarray(item)
    return literal.aval, value.dtype, value.tobytes()


class Wiring:
    """Which equation gives each value that others read, by number."""

    def __init__(self, eqns: Sequence[JaxprEqn]):
        self.eqns = eqns
        self.made = {var: (i, j) for i, eqn in enumerate(eqns) for j, var in enumerate(eqn.outvars)}

    def inside(self, block: range) -> list[tuple[int, int, int, int]]:
        """Which operands a block's equations have from inside it: (number in the block, operand, number in the block that
        gives it, as which result)."""
        made, first, found = self.made, block.start, []
        for leaf in block:
            for operand, atom in enumerate(self.eqns[leaf].invars):
                if type(atom) is Var and (maker := made.get(atom)) is not None and maker[0] >= first:
                    found.append((leaf - first, operand, maker[0] - first, maker[1]))
        return found

    def from_outside(self, block: range) -> dict[tuple[int, int], Var]:
        """The variables a block reads that are not made in it, by (number, operand)."""
        return {
            (leaf - block.start, operand): atom
            for leaf in block
            for operand, atom in enumerate(self.eqns[leaf].invars)
            if type(atom) is Var and self.made.get(atom, (-1,))[0] < block.start
        }
