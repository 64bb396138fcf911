"""Loops that read what they carry at neighbouring places, as steps of finite differences do: XLA can write a new state over the old one only where each
element is read once, and copies it back otherwise. With two iterations in a turn the second writes where the first has read.

Where an iteration writes a part of the state at a known place, and leaves the border as it is, the state before has the same border, and the part is written into
that one: no element is chosen, which a processor without vectors of 512 bits did one by one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray
from ..core.jaxpr import ClosedJaxpr, JaxprEqn, Literal, Var
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


def beside_the_states_before(jaxpr: ClosedJaxpr, num_consts: int, num_carry: int) -> tuple[ClosedJaxpr, list[int]]:
    """The body of a scan that carries, last of all, the states before, into which it writes; and which of what it carries these are. The body
    as it is, and none, where it writes no state at a known place, or hands the state on."""
    key = ("states before", num_consts, num_carry)
    if key not in jaxpr.derived:
        jaxpr.derived[key] = _beside_the_states_before(jaxpr, num_consts, num_carry)
    return jaxpr.derived[key]


def _beside_the_states_before(jaxpr: ClosedJaxpr, num_consts: int, num_carry: int) -> tuple[ClosedJaxpr, list[int]]:
    body, eqns, before = jaxpr.jaxpr, list(jaxpr.jaxpr.eqns), dict[int, Var]()
    states = dict(zip(body.invars[num_consts:], body.outvars[:num_carry]))
    for at, eqn in enumerate(body.eqns):
        state = eqn.invars[0] if eqn.invars else None
        if not isinstance(state, Var) or states.get(state) is not eqn.outvars[0] or state in body.outvars:
            continue
        if _writes_a_known_part(eqn):
            place = body.invars.index(state) - num_consts
            before[place] = Var(state.aval)
            eqns[at] = eqn.replace(invars=[before[place], *eqn.invars[1:]])
    if not before:
        return jaxpr, []
    end = num_consts + num_carry
    invars = [*body.invars[:end], *before.values(), *body.invars[end:]]
    kept = [body.invars[num_consts + place] for place in before]
    outvars = [*body.outvars[:num_carry], *kept, *body.outvars[num_carry:]]
    return ClosedJaxpr(body.replace(invars=invars, outvars=outvars, eqns=eqns), jaxpr.consts), [*before]


def _writes_a_known_part(eqn: JaxprEqn) -> bool:
    if eqn.primitive.name != "dynamic_update_slice" or not all(isinstance(i, Literal) for i in eqn.invars[2:]):
        return False
    whole, part = (a.aval.shape for a in eqn.invars[:2])
    starts = np.array([i.value for i in eqn.invars[2:] if isinstance(i, Literal)], int)
    if not is_static((*whole, *part)) or not whole or whole[-1] < STENCILS_IN_TWO_TURNS.value["row"]:
        return False
    return bool(np.all((starts >= 0) & (starts <= np.subtract(whole, part))))


def _is_large(aval: Any, elements: int) -> bool:
    return isinstance(aval, ShapedArray) and is_static(aval.shape) and math.prod(aval.shape) >= elements


def between_iterations(ctx: Any, carry: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    """The state between both iterations, in memory: the second would else compute the first again at each place that it reads."""
    return list(ctx.inline(lambda *values: list(optimization_barrier_p(*values)), *carry, avals=avals))
