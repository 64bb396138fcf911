"""Short axes written out: large arrays whose last axis has a few elements become so many separate values.

Positions (N, 3) whose differences (N, N, 3) are combined elementwise and reduced make XLA run loops of three steps, and write every array of
three out. Where such arrays are made only by broadcasting (of much smaller ones), elementwise operations and products, and are read
only by these and by reductions, nothing needs their last axis: each of its elements is a value, lowered in the place of its equation.

Results have the same bits where sums are taken in the same order: over the short axis alone elements are added first to last, as XLA's own
loops do (but for the sign of a sum of negative zeros). Where XLA adds in another order (sums over several axes, or in its library),
results differ by the rounding of a sum of n terms: at most 2 n eps times the sum of their magnitudes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..core.avals import ShapedArray
from ..core.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var
from ..named_tuple import NamedTuple
from ..ops.families import Elementwise, add_any_p
from ..ops.linear import convert_element_type_p, copy_p
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import SHORT_AXES


Parts = list[Any]
"""The elements of the last axis of a value, each a value without that axis."""

_FEWER = 4
"""What is broadcast has to be this many times smaller than what it becomes."""
_SUMS = {"reduce_sum": "add", "reduce_max": "maximum", "reduce_min": "minimum", "reduce_prod": "multiply"}
_REDUCTIONS = frozenset((*_SUMS, "argmin", "argmax"))
_DTYPES = frozenset(("float32", "float64", "int32", "bool"))


class Plan(NamedTuple):
    """The variables of a jaxpr that are held in parts, and those that are kept apart from the loops that read them."""

    variables: frozenset[Var]
    apart: frozenset[Var]

    def concerns(self, eqn: JaxprEqn) -> bool:
        """Whether an equation makes such a variable, or reads one."""
        held = self.variables
        return any(v in held for v in eqn.outvars) or any(type(a) is Var and a in held for a in eqn.invars)


def plan_of(jaxpr: Jaxpr, platform: str) -> Plan | None:
    """What of a jaxpr is written out; None where nothing is."""
    if not SHORT_AXES.holds(platform):
        return None
    equations = [eqn for _, eqn in jaxpr.live()[0]]
    if not any([len(v.aval.shape) > 1 and _is_large(v.aval) for eqn in equations for v in eqn.outvars]):
        return None
    held: set[Var] = set()
    for eqn in equations:
        large = [v for v in eqn.outvars if len(v.aval.shape) > 1 and _is_large(v.aval)]
        held.update(large)
        if large and _kind(eqn, held) is None:  # they are made as they are, and may be read as such
            held.difference_update(large)
    if not held:
        return None
    groups, makers = _Groups(held), {v: eqn for eqn in equations for v in eqn.outvars}
    for eqn in equations:
        _look(eqn, held, groups, makers)
    for atom in jaxpr.outvars:
        if type(atom) is Var and atom in held:
            groups.refuse(atom)
    chosen = frozenset(v for v in held if groups.is_worth_it(v))
    return Plan(chosen, _reduced(equations)) if chosen else None


def _reduced(equations: Sequence[JaxprEqn]) -> frozenset[Var]:
    """The variables that elementwise operations alone lead from to a reduction. (XLA would compute them within its loop, which takes long to
    compile; for an argmin or argmax it runs element by element.)"""
    found: set[Var] = set()
    for eqn in reversed(equations):
        on_the_way = isinstance(eqn.primitive, Elementwise) and eqn.outvars[0] in found
        if on_the_way or eqn.primitive.name in _REDUCTIONS:
            found.update(a for a in eqn.invars if type(a) is Var)
    return frozenset(found)


def _is_large(aval: ShapedArray) -> bool:
    shape, limits = aval.shape, SHORT_AXES.value
    if not is_static(shape[-1:]) or not 2 <= shape[-1] <= limits["longer"]:
        return False
    least = limits["elements of longer" if _is_long(aval) else "elements"]
    return is_static(shape) and math.prod(shape) >= least and aval.dtype.name in _DTYPES


def _is_long(aval: ShapedArray) -> bool:
    return aval.shape[-1] > SHORT_AXES.value["length"]


class _Groups:
    """Variables that can only be written out together; which of these groups cannot be, and which reduce something."""

    def __init__(self, held: set[Var]):
        self.parent = {v: v for v in held}
        self.refused: set[Var] = set()
        self.reduced: set[Var] = set()

    def root(self, v: Var) -> Var:
        while self.parent[v] is not v:
            self.parent[v] = self.parent[self.parent[v]]
            v = self.parent[v]
        return v

    def join(self, some: Sequence[Var]) -> None:
        for v in some[1:]:
            self.parent[self.root(v)] = self.root(some[0])

    def refuse(self, v: Var) -> None:
        self.refused.add(v)

    def is_worth_it(self, v: Var) -> bool:
        root = self.root(v)
        return root in {self.root(r) for r in self.reduced} and root not in {self.root(r) for r in self.refused}


def _look(eqn: JaxprEqn, held: set[Var], groups: _Groups, makers: Mapping[Var, JaxprEqn]) -> None:
    """Put what an equation reads and makes into groups."""
    mine = [v for v in [*eqn.invars, *eqn.outvars] if type(v) is Var and v in held]
    if not mine:
        return
    groups.join(mine)
    kind = _kind(eqn, held)
    if kind is None or (kind in ("reduce", "dot") and _is_long(mine[0].aval) and not _is_for_long(eqn, makers)):
        groups.refuse(mine[0])
    elif kind in ("reduce", "dot"):
        groups.reduced.add(mine[0])


def _is_for_long(eqn: JaxprEqn, makers: Mapping[Var, JaxprEqn]) -> bool:
    """Whether writing a longer axis out pays for what reduces it: not where it is left, a loop for each of its elements; nor for the sum of
    a product of what was broadcast, which XLA makes a product of matrices."""
    x = eqn.invars[0]
    if eqn.primitive.name not in _SUMS or x.aval.ndim - 1 not in eqn.params["axes"]:
        return False
    maker = makers.get(x) if type(x) is Var else None
    factors = maker.invars if maker is not None and maker.primitive.name == "mul" else ()
    broadcast = [type(f) is Var and f in makers and makers[f].primitive.name == "broadcast_in_dim" for f in factors]
    return eqn.primitive.name != "reduce_sum" or not (broadcast and all(broadcast))


def _kind(eqn: JaxprEqn, held: Collection[Var]) -> str | None:
    """How an equation is written out; None: it cannot be."""
    primitive, name = eqn.primitive, eqn.primitive.name
    if primitive.lowerings or len(eqn.outvars) != 1:
        return None
    out = eqn.outvars[0]
    if isinstance(primitive, Elementwise) or primitive in (add_any_p, convert_element_type_p, copy_p):
        return "elementwise" if out in held and all(_fits(a, held) for a in eqn.invars) else None
    if name == "broadcast_in_dim":
        return "broadcast" if out in held and len(eqn.invars) == 1 and _is_broadcast(eqn, held) else None
    if name in _SUMS:
        last = eqn.invars[0].aval.ndim - 1  # a result without this axis is made as it is
        return "reduce" if out not in held or (eqn.invars[0] in held and last not in eqn.params["axes"]) else None
    if name == "dot_general":
        return "dot" if out not in held and _is_product_of_vectors(eqn, held) else None
    return None


def _fits(atom: Atom, held: Collection[Var]) -> bool:
    """Whether an operand of an elementwise operation is there in parts, or a number."""
    return isinstance(atom, Literal) or atom in held or not atom.aval.shape


def _is_broadcast(eqn: JaxprEqn, held: Collection[Var]) -> bool:
    """Whether a result in parts is made of one in parts, of one element for all, or of something much smaller."""
    x, out, dims = eqn.invars[0], eqn.outvars[0].aval, eqn.params["broadcast_dimensions"]
    if type(x) is Var and x in held:
        return bool(dims) and dims[-1] == out.ndim - 1
    along = bool(dims) and dims[-1] == out.ndim - 1 and x.aval.shape[-1] > 1
    return not along or x.aval.size * _FEWER <= out.size


def _is_product_of_vectors(eqn: JaxprEqn, held: Collection[Var]) -> bool:
    """Whether a product has one operand in parts, with no axis but the last left free, and the other has none."""
    p = eqn.params
    if (
        p["precision"] is not None
        or p.get("unreduced")
        or p["preferred_element_type"] not in (None, eqn.invars[0].aval.dtype)
    ):
        return False
    if eqn.invars[0].aval.dtype.name not in ("float32", "float64"):
        return False
    within = [type(a) is Var and a in held for a in eqn.invars]
    if sum(within) != 1:
        return False
    (contracting, batch), one = p["dimension_numbers"], within.index(True)
    avals = [a.aval for a in eqn.invars]
    taken = [{*contracting[i], *batch[i]} for i in (0, 1)]
    return taken[one] == set(range(avals[one].ndim - 1)) and len(taken[1 - one]) == avals[1 - one].ndim


# Lowering -------------------------------------------------------------------------------------------------------------


def lower_in_parts(ctx: Any, eqn: JaxprEqn, values: Sequence[Any], plan: Plan) -> Any:
    """The result of an equation that the plan concerns, in parts if it is held so. `values` are MLIR values, or parts."""
    ctx.rewritten("the last axis is written out: an array for each of its elements", SHORT_AXES)
    rule = _RULES[_kind(eqn, plan.variables) or ""]
    made = rule(ctx, eqn, values)
    out = eqn.outvars[0]
    if type(made) is not list:
        return ctx.hlo.OptimizationBarrierOp([made]).results[0] if out in plan.apart else made
    return made if out in plan.variables else _joined(ctx, made, out.aval)


def _without_last(aval: ShapedArray) -> ShapedArray:
    return aval.update(shape=aval.shape[:-1])


def _elementwise(ctx: Any, eqn: JaxprEqn, values: Sequence[Any]) -> Parts:
    out = eqn.outvars[0].aval
    ins = [_without_last(a.aval) if type(v) is list else a.aval for a, v in zip(eqn.invars, values)]
    parts = []
    for i in range(out.shape[-1]):
        ctx.avals_in, ctx.avals_out = list(ins), [_without_last(out)]
        parts.append(eqn.primitive.lower(ctx, *[v[i] if type(v) is list else v for v in values], **eqn.params))
    return parts


def _broadcast(ctx: Any, eqn: JaxprEqn, values: Sequence[Any]) -> Parts:
    x, aval, out = values[0], eqn.invars[0].aval, eqn.outvars[0].aval
    dims, one = list(eqn.params["broadcast_dimensions"]), _without_last(out)
    along = bool(dims) and dims[-1] == out.ndim - 1
    if not along:
        return [ctx.broadcast_in_dim(x, one, dims)] * out.shape[-1]
    inner, dims = _without_last(aval), dims[:-1]
    if aval.shape[-1] == 1:
        x = x[0] if type(x) is list else _element(ctx, x, aval, 0)
        return [ctx.broadcast_in_dim(x, one, dims)] * out.shape[-1]
    parts = x if type(x) is list else [_element(ctx, x, aval, i) for i in range(aval.shape[-1])]
    return [p if inner.shape == one.shape else ctx.broadcast_in_dim(p, one, dims) for p in parts]


def _element(ctx: Any, x: Any, aval: ShapedArray, i: int) -> Any:
    """`x[..., i]`."""
    starts, limits = [*[0] * (aval.ndim - 1), i], [*aval.shape[:-1], i + 1]
    part = ctx.hlo.slice(x, ctx.ints(starts), ctx.ints(limits), ctx.ints([1] * aval.ndim))
    return ctx.hlo.reshape(ctx.type(_without_last(aval)), part)


def _joined(ctx: Any, parts: Parts, aval: ShapedArray) -> Any:
    """The value of an aval whose last axis is in parts."""
    one = ctx.type(aval.update(shape=(*aval.shape[:-1], 1)))
    return ctx.hlo.concatenate([ctx.hlo.reshape(one, p) for p in parts], ctx.int(aval.ndim - 1))


def _reduce(ctx: Any, eqn: JaxprEqn, values: Sequence[Any]) -> Any:
    (parts,), aval = values, eqn.invars[0].aval
    axes, last = list(eqn.params["axes"]), aval.ndim - 1
    others, one = tuple(a for a in axes if a != last), _without_last(aval)
    left = one.update(shape=tuple(n for i, n in enumerate(one.shape) if i not in others))
    combine = getattr(ctx.hlo, _SUMS[eqn.primitive.name])
    if last in axes:  # first over the short axis, then over the others, in one loop
        total = parts[0]
        for part in parts[1:]:
            total = combine(total, part)
        parts = [total]
    made = []
    for part in parts:
        ctx.avals_in, ctx.avals_out = [one], [left]
        made.append(eqn.primitive.lower(ctx, part, **{**eqn.params, "axes": others}) if others else part)
    if last in axes:
        return made[0]
    return made


def _dot(ctx: Any, eqn: JaxprEqn, values: Sequence[Any]) -> Parts:
    (_, batch), out = eqn.params["dimension_numbers"], eqn.outvars[0].aval
    one = 0 if type(values[0]) is list else 1
    avals = [_without_last(a.aval) if i == one else a.aval for i, a in enumerate(eqn.invars)]
    left = out.update(shape=tuple(avals[0].shape[a] for a in batch[0]))
    parts = []
    for part in values[one]:
        ctx.avals_in, ctx.avals_out = list(avals), [left]
        operands = (part, values[1]) if one == 0 else (values[0], part)
        parts.append(eqn.primitive.lower(ctx, *operands, **eqn.params))
    return parts


_RULES: dict[str, Callable[[Any, JaxprEqn, Sequence[Any]], Any]] = {
    "elementwise": _elementwise,
    "broadcast": _broadcast,
    "reduce": _reduce,
    "dot": _dot,
}
