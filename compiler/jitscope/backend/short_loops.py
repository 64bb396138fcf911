"""Whether XLA's compiler writes short loops out (`xla.cpu_tuning.SHORT_LOOPS_KEPT`): an option of XLA's that holds for the whole of a program.

A loop along a last axis of some ten to sixty elements is written out, element by element, before anybody looks for vectors in it: adding a row to an array of
16 columns and a `maximum` take three times as long. Where most of what a program computes are such loops, they are kept. Reductions that XLA
compiles itself, stencils and small products gain from being written out."""

from __future__ import annotations

import math
from typing import Any

from ..core.jaxpr import Jaxpr, JaxprEqn, subjaxprs
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import SHORT_LOOPS_KEPT
from .kept_values import computes
from .vector_width import turns_of


_REDUCTIONS = frozenset(
    "argmax argmin cumlogsumexp cummax cummin cumprod cumsum reduce reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_window "
    "reduce_window_max reduce_window_min reduce_window_sum sort".split()
)
_MOVED = frozenset("concatenate dynamic_slice dynamic_update_slice pad rev slice".split())
_WORTH = 2
"""So many times as many elements have to gain as may lose."""


def short_loops(jaxpr: Jaxpr) -> dict[str, Any]:
    """The flag of XLA's for a program; none where its default is best."""
    if not SHORT_LOOPS_KEPT.holds():
        return {}
    gain, loss = _elements(jaxpr, {})
    name, said = SHORT_LOOPS_KEPT.value["flag"]
    return {name: said} if gain >= max(SHORT_LOOPS_KEPT.value["elements"], _WORTH * loss) else {}


def _elements(jaxpr: Jaxpr, known: dict[Jaxpr, tuple[float, float]]) -> tuple[float, float]:
    """How many elements at all levels are computed in loops that are better kept, and in what may be better written out."""
    if jaxpr not in known:
        gain = loss = 0.0
        for _, eqn in jaxpr.live()[0]:
            loss += _lost(eqn)
            gain += _gained(eqn)
            times = turns_of(eqn)
            for _, inner in subjaxprs(eqn.params):
                inside = _elements(inner.jaxpr, known)
                gain, loss = gain + times * inside[0], loss + times * inside[1]
        known[jaxpr] = gain, loss
    return known[jaxpr]


def _gained(eqn: JaxprEqn) -> float:
    shape = eqn.outvars[0].aval.shape if eqn.outvars else ()
    if len(shape) < 2 or not is_static(shape):
        return 0.0
    size, length = math.prod(shape), shape[-1]
    if computes(eqn):
        return size if 8 < length <= 16 else 0.5 * size if 16 < length <= 32 else 0.0
    if eqn.primitive.name == "gather" and 16 <= length <= 64:
        return size if eqn.params["slice_sizes"][-1] == length == math.prod(eqn.params["slice_sizes"]) else 0.0
    return 0.0


def _lost(eqn: JaxprEqn) -> float:
    name = eqn.primitive.name
    reduces = name in _REDUCTIONS or name == "reduce_sum"
    atoms = eqn.invars if reduces else eqn.outvars
    if not atoms or not is_static(atoms[0].aval.shape):
        return 0.0
    size = float(math.prod(atoms[0].aval.shape))
    if reduces:
        in_library = name == "reduce_sum" and atoms[0].aval.dtype.name in ("float32", "float64")
        return (0.5 if in_library else 2) * size
    if name == "dot_general" and eqn.params["dimension_numbers"][1][0]:
        return 2 * size
    return size if name in _MOVED else 0.0
