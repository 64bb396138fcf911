"""Greatest elements that need no look for NaN: those of a softmax, or of the logarithm of a sum of exponentials, that a program writes out.

XLA's library may give a number where an array has a NaN (`xla.cpu_tuning.NAN_OF_MAX`). Such a level does no harm where it is subtracted
from its array, and what becomes of the difference meets a sum of it along the same axes before anything else reads it: where a row has a
NaN, the difference and its exponential have one, so the sum is NaN, and with it each element of the row.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence

from ..core.jaxpr import Atom, Jaxpr, JaxprEqn, Var
from ..named_tuple import NamedTuple
from ..ops.nan_of_max import loses_nan
from ..ops.reduce import reduce_max_p


LEVEL, PARTLY, WHOLLY = range(3)
"""What a value is in the rows that have a NaN, though it ought to be NaN everywhere there: a number, NaN in some places, NaN everywhere."""

_STRICT = frozenset(
    "exp exp2 expm1 log log1p log2 neg stop_gradient copy name convert_element_type add sub mul div add_any".split()
)
"""Operations by elements whose result is NaN where an operand is."""
_DTYPES = frozenset(("float16", "bfloat16", "float32", "float64"))
_FAR = 64
"""So many equations are looked at for one level."""


class _Known(NamedTuple):
    """What is known of a variable: its kind, and for each axis that the reduction keeps where it is there."""

    kind: int
    places: tuple[int, ...]


def levels_of(jaxpr: Jaxpr, platform: str, divided: bool = False) -> frozenset[Var]:
    """The results of `reduce_max` for which nobody has to look for NaN. `divided`: XLA divides what is computed among devices."""
    equations = [eqn for _, eqn in jaxpr.live()[0]]
    found = [
        (i, eqn)
        for i, eqn in enumerate(equations)
        if eqn.primitive is reduce_max_p and loses_nan(eqn.invars[0].aval, platform, divided)
    ]
    if not found:
        return frozenset()
    readers: defaultdict[Var, list[int]] = defaultdict(list)
    for i, eqn in enumerate(equations):
        for atom in eqn.invars:
            if type(atom) is Var:
                readers[atom].append(i)
    returned = {atom for atom in jaxpr.outvars if type(atom) is Var}
    return frozenset(eqn.outvars[0] for i, eqn in found if _comes_out(i, equations, readers, returned))


def _comes_out(start: int, equations: Sequence[JaxprEqn], readers: dict[Var, list[int]], returned: set[Var]) -> bool:
    """Whether NaN comes out of everything that is made of a level, wherever its array has one."""
    maximum = equations[start]
    array, axes = maximum.invars[0], maximum.params["axes"]
    kept = tuple(i for i in range(array.aval.ndim) if i not in axes)
    known = {maximum.outvars[0]: _Known(LEVEL, tuple(range(len(kept))))}
    todo = list(readers.get(maximum.outvars[0], ()))
    open_ends, seen = set(todo), set[int]()
    if maximum.outvars[0] in returned:
        return False
    while open_ends:
        i = heapq.heappop(todo)
        if i in seen:
            continue
        seen.add(i)
        made = _made(equations[i], known, array, _Known(PARTLY, kept))
        if len(seen) > _FAR or (made is None and i in open_ends):
            return False
        open_ends.discard(i)
        if made is None:
            continue
        (out,) = equations[i].outvars
        known[out] = made
        for reader in readers.get(out, ()):
            heapq.heappush(todo, reader)
        if made.kind != WHOLLY:
            if out in returned:
                return False
            open_ends.update(r for r in readers.get(out, ()))
    return True


def _made(eqn: JaxprEqn, known: dict[Var, _Known], array: Atom, as_array: _Known) -> _Known | None:
    """What is known of an equation's result; None: nothing."""
    if len(eqn.outvars) != 1 or eqn.outvars[0].aval.dtype.name not in _DTYPES or eqn.primitive.lowerings:
        return None
    name, out = eqn.primitive.name, eqn.outvars[0].aval
    given = [known.get(a) if type(a) is Var else None for a in eqn.invars]
    if name in _STRICT:
        if any(a.aval.shape not in ((), out.shape) for a, k in zip(eqn.invars, given) if k):
            return None
        all_known = [*filter(None, given), *(as_array for a in eqn.invars if a is array)]
        if len({k.places for k in all_known}) != 1:
            return None
        return _Known(max(k.kind for k in all_known), all_known[0].places)
    one = given[0]
    if one is None:
        return None
    if name == "reduce_sum" and one.kind == PARTLY:
        axes = eqn.params["axes"]
        left = [i for i in range(eqn.invars[0].aval.ndim) if i not in axes]
        if sorted(one.places) == left:
            return _Known(WHOLLY, tuple(left.index(i) for i in one.places))
    if name == "broadcast_in_dim" and len(eqn.invars) == 1 and one.kind != PARTLY:
        dims, shape = eqn.params["broadcast_dimensions"], eqn.invars[0].aval.shape
        if all(shape[i] == out.shape[dims[i]] for i in one.places):
            return _Known(one.kind, tuple(dims[i] for i in one.places))
    return None
