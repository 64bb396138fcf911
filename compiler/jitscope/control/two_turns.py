"""Loops that read what they carry at neighbouring places, as steps of finite differences do: XLA can write a new state over the old one only where each
element is read once, and copies it back otherwise. With two iterations in a turn the second writes where the first has read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.avals import ShapedArray
from ..core.jaxpr import ClosedJaxpr
from ..ops.marks import optimization_barrier_p
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import STENCILS_IN_TWO_TURNS


def in_two_turns(ctx: Any, jaxpr: ClosedJaxpr, carried: range, length: Any) -> bool:
    """Whether two iterations of a scan's body, whose operands number `carried` are its state, stand in one turn."""
    if not STENCILS_IN_TWO_TURNS.holds(ctx.module.platform) or ctx.module.meshes.group is not None:
        return False
    limits, body = STENCILS_IN_TWO_TURNS.value, jaxpr.jaxpr
    if not is_static((length,)) or length < limits["turns"] or jaxpr.effects or len(body.eqns) > limits["equations"]:
        return False
    state = {v: set() for v in (body.invars[i] for i in carried) if _is_large(v.aval, limits["elements"])}
    for eqn in body.eqns if state else ():
        read = eqn.invars[0] if eqn.primitive.name == "slice" else None
        if read in state and 2 * eqn.outvars[0].aval.size >= read.aval.size:
            state[read].add(eqn.params["start_indices"])
    return any(len(places) >= limits["slices"] for places in state.values())


def _is_large(aval: Any, elements: int) -> bool:
    return isinstance(aval, ShapedArray) and is_static(aval.shape) and math.prod(aval.shape) >= elements


def between_iterations(ctx: Any, carry: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    """The state between both iterations, in memory: the second would else compute the first again at each place that it reads."""
    return list(ctx.inline(lambda *values: list(optimization_barrier_p(*values)), *carry, avals=avals))
