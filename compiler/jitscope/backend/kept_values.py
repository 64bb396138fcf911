"""Values that are written to memory, so that they are computed once.

XLA on the CPU fuses elementwise operations into every loop that reads their result, however many operations these are. (A value that is
made of several arrays is spared, if something reads it that is not fused.) Where values lead from one to the next, as the gradient that runs
back through the layers of a residual network does, the loops of each layer compute the sum again from its first term: the time to compile and
the time to run grow with the square of the number of layers. Where several products of matrices
read a value, and one of them contracts several of its axes, XLA computes it again in the order that this one wants.

Such a value becomes the result of a call that XLA does not look into, which copies it. Nothing else is computed, and in the same order; as
XLA may take a product and a sum in one loop for one operation that is rounded once, results differ by such roundings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.jaxpr import Jaxpr, JaxprEqn, Var
from ..ops import elementwise as ew
from ..ops.conv import conv_general_dilated_p
from ..ops.conv_forms import elements_summed
from ..ops.families import Elementwise, add_any_p
from ..ops.linear import convert_element_type_p, copy_p, select_n_p
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import IN_ONE_PIECE, VALUES_KEPT


_COMPUTED = frozenset((add_any_p, convert_element_type_p, copy_p, select_n_p))
"""Elementwise operations of other families."""
_COSTLY = frozenset(
    (ew.erf_p, ew.erfc_p, ew.exp_p, ew.expm1_p, ew.log_p, ew.log1p_p, ew.logistic_p, ew.pow_p, ew.tanh_p, ew.sin_p, ew.cos_p)
)  # fmt: skip
MOVED = frozenset("broadcast_in_dim concatenate iota pad reshape rev slice squeeze transpose".split())
"""Operations that only move elements: XLA fuses them as well."""
_OF_ELEMENT = 4
"""Operations for each element of a window that is summed up: what it sees is read from memory, too."""
_SPREAD = ("broadcast_in_dim", "iota")
_SAME_ELEMENTS = ("reshape", "transpose")


def kept_values(jaxpr: Jaxpr, platform: str) -> Mapping[Var, str]:
    """The variables of a jaxpr that are written to memory, each with the reason in words."""
    if not VALUES_KEPT.holds(platform):
        return {}
    limits = VALUES_KEPT.value
    equations = [eqn for _, eqn in jaxpr.live()[0]]
    # Without a function: this is for every equation of every program.
    fused = [
        isinstance(eqn.primitive, Elementwise) or eqn.primitive in _COMPUTED or eqn.primitive.name in MOVED
        for eqn in equations
    ]
    windows = {
        i: _OF_ELEMENT * n
        for i, eqn in enumerate(equations)
        if eqn.primitive is conv_general_dilated_p and (n := elements_summed(eqn, platform))
    }
    for i in windows:
        fused[i] = True
    many = sum(fused) + sum(windows.values()) > limits["operations"]
    apart = _read_apart(jaxpr, equations, fused) if many else set()
    products = [eqn for eqn in equations if eqn.primitive.name == "dot_general"]
    in_products = _read_by_products(equations) if any(map(_contracts_several, products)) else frozenset()
    if not apart and not in_products:
        return {}
    read_whole = {a for eqn, inside in zip(equations, fused) if not inside for a in eqn.invars if type(a) is Var}
    spread: set[Var] = set()  # one element for many
    again: dict[Var, int] = {}  # the operations that are computed wherever a value is read, as the bits of a number
    costly, summed, kept, shift = 0, 0, {}, 0
    for i, eqn in enumerate(equations):
        out = eqn.outvars[0]
        if not fused[i] or not is_static(out.aval.shape):
            continue
        own = 0
        for atom in eqn.invars:
            if type(atom) is Var:
                own |= again.get(atom, 0)
        if eqn.primitive.name in _SPREAD:
            spread.add(out)
        size = math.prod(out.aval.shape)
        if size >= limits["elements"] and (i in windows or computes(eqn)):
            number = windows.get(i, 1)
            mask = ((1 << number) - 1) << shift
            own |= mask
            if eqn.primitive in _COSTLY:
                costly |= mask
            elif i in windows:
                summed |= mask
            shift += number
            if out in in_products and size >= limits["in products"] and own & costly:
                kept[out] = "several products read it, and for one it would be computed again with its axes turned"
                continue
            if out in read_whole and i not in windows and _combines(eqn, spread):
                continue
            if out in apart and own.bit_count() > limits["operations" if size <= limits["large"] else "of large"]:
                what = "the sum over a window" if own & summed else f"{own.bit_count()} operations"
                kept[out] = f"several loops read it, and {what} would be computed again in each"
                continue
        again[out] = own
    return kept


def keep(ctx: Any, eqn: JaxprEqn, value: Any, why: str) -> Any:
    """A value of an equation as the result of a call that XLA leaves as it is."""
    ctx.rewritten(f"written to memory: {why}", VALUES_KEPT)
    aval = eqn.outvars[0].aval
    return ctx.call_apart("kept", [aval], aval, lambda x: x, [value], IN_ONE_PIECE)


def _read_apart(jaxpr: Jaxpr, equations: Sequence[JaxprEqn], fused: Sequence[bool]) -> set[Var]:
    """The variables whose readers do not all end in the same loops."""
    # For each variable the loops that its readers end in, as the bits of a number.
    ends = {a: 1 << i for i, a in enumerate(jaxpr.outvars) if type(a) is Var}
    count, found = len(jaxpr.outvars), set()
    for eqn, inside in zip(reversed(equations), reversed(fused)):
        read_in = ends.get(eqn.outvars[0], 0) if inside else 0
        if not read_in:
            read_in, count = 1 << count, count + 1
        for atom in eqn.invars:
            if type(atom) is Var:
                before = ends.get(atom, 0)
                if before and before != read_in:
                    found.add(atom)
                ends[atom] = before | read_in
    return found


def _read_by_products(equations: Sequence[JaxprEqn]) -> set[Var]:
    """The variables that several products of matrices read, as they are or in another shape, one of them contracting several axes."""
    same: dict[Var, Var] = {}
    counts: Counter[Var] = Counter()
    turned: set[Var] = set()
    for eqn in equations:
        if eqn.primitive.name in _SAME_ELEMENTS and type(x := eqn.invars[0]) is Var:
            same[eqn.outvars[0]] = same.get(x, x)
        elif eqn.primitive.name == "dot_general":
            read = [same.get(a, a) if type(a) is Var else None for a in eqn.invars]
            counts.update({v for v in read if v is not None})
            turned.update(v for v, axes in zip(read, eqn.params["dimension_numbers"][0]) if v and len(axes) > 1)
    return {var for var in turned if counts[var] > 1}


def _contracts_several(eqn: JaxprEqn) -> bool:
    return len(eqn.params["dimension_numbers"][0][0]) > 1


def _combines(eqn: JaxprEqn, spread: set[Var]) -> bool:
    """Whether an operation has several operands as large as its result: XLA keeps that in memory, if something reads it that is not fused."""
    whole = [a for a in eqn.invars if type(a) is Var and a not in spread and a.aval.ndim == eqn.outvars[0].aval.ndim]
    return len(whole) > 1


def computes(eqn: JaxprEqn) -> bool:
    """Whether an equation is an elementwise operation."""
    return isinstance(eqn.primitive, Elementwise) or eqn.primitive in _COMPUTED
