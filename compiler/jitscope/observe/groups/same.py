"""What makes equations equal: the primitive with its parameters, the avals, the literals; and how the values flow inside a
block."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ...backend.signature import is_hashable
from ...core.hashing import structural_hash
from ...core.jaxpr import ClosedJaxpr, JaxprEqn, Var


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
    value = np.asarray(item)
    return literal.aval, value.dtype.str, value.tobytes()


class Wiring:
    """Which equation gives each value that others read, by number."""

    def __init__(self, eqns: Sequence[JaxprEqn]):
        self.eqns = eqns
        self.made = {var: (i, j) for i, eqn in enumerate(eqns) for j, var in enumerate(eqn.outvars)}

    def inside(self, block: Sequence[int]) -> list[tuple[int, int, tuple[int, int]]]:
        """Which operands a block's equations have from inside it: (number in the block, operand, (number in the block that
        gives it, as which result))."""
        places = {leaf: n for n, leaf in enumerate(block)}
        found = []
        for n, leaf in enumerate(block):
            for operand, atom in enumerate(self.eqns[leaf].invars):
                made = self.made.get(atom) if type(atom) is Var else None
                if made is not None and made[0] in places:
                    found.append((n, operand, (places[made[0]], made[1])))
        return found

    def from_outside(self, block: Sequence[int]) -> dict[tuple[int, int], Var]:
        """The variables a block reads that are not made in it, by (number, operand)."""
        own = {*block}
        found: dict[tuple[int, int], Var] = {}
        for n, leaf in enumerate(block):
            for operand, atom in enumerate(self.eqns[leaf].invars):
                if type(atom) is Var and self.made.get(atom, (-1,))[0] not in own:
                    found[n, operand] = atom
        return found
