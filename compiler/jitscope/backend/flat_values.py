"""Elementwise operations on arrays whose last axis is short, computed along one axis.

XLA runs loops along the last axis, however short it is: of a column (n, 1) it computes a logarithm in a sixth of its speed. Its library, which
sums what such operations give, needs some nanoseconds for every row and operation. What a gather of single elements or a product with a vector gives
is such a column to XLA, too.

Values that only such operations make, with operands of their own shape or of one element, are held as arrays of one axis, where one of
the operations is costly or where they end in a sum, a greatest or least element over all axes or all but the last. What they are made of, and what others
read, passes between the shapes behind a barrier: XLA would move the change of shape to where it does harm.
Every element is computed as before; as XLA may take a product and a sum in one loop for one operation that is rounded once, results differ by such roundings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..core.avals import ShapedArray
from ..core.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import FLAT_VALUES
from .kept_values import MOVED, computes


_DTYPES = frozenset(("float32", "float64", "int32", "bool"))
_COSTLY = frozenset(
    "acosh asinh atanh cbrt cosh digamma erf erf_inv erfc exp exp2 expm1 lgamma log log1p log2 logistic pow rsqrt sinh sqrt tanh".split()
)
_REDUCTIONS = frozenset(("reduce_sum", "reduce_max", "reduce_min"))


class FlatValue:
    """A value along one axis, and, once it was asked for, in its shape."""

    __slots__ = ("flat", "whole")

    def __init__(self, flat: Any):
        self.flat, self.whole = flat, None


class FlatValues:
    """The variables of a jaxpr that are held along one axis, and how their equations and what reads them are lowered."""

    def __init__(self, variables: Collection[Var]):
        self.variables = variables
        self.entries: dict[Var, Any] = {}

    def concerns(self, eqn: JaxprEqn) -> bool:
        """Whether an equation makes such a variable, or reads one."""
        return any(v in self.variables for v in eqn.outvars) or any(
            type(a) is Var and a in self.variables for a in eqn.invars
        )

    def lower(self, ctx: Any, eqn: JaxprEqn, values: Sequence[Any], lower: Any) -> Any:
        """What an equation gives that makes such a variable, or reads one."""
        out = eqn.outvars[0]
        if out in self.variables:
            ctx.rewritten("computed along one axis", FLAT_VALUES)
            return FlatValue(self._made(ctx, eqn, values))
        value = values[0]
        if type(value) is FlatValue and _is_reduced(eqn):
            return self._reduced(ctx, eqn, value.flat)
        return lower(eqn, [self.whole(ctx, a, v) for a, v in zip(eqn.invars, values)])

    def whole(self, ctx: Any, atom: Atom, value: Any) -> Any:
        """A value in the shape of its aval."""
        if type(value) is not FlatValue:
            return value
        if value.whole is None:
            value.whole = ctx.reshape(_barrier(ctx, value.flat), atom.aval)
        return value.whole

    def _made(self, ctx: Any, eqn: JaxprEqn, values: Sequence[Any]) -> Any:
        flat = _flat(eqn.outvars[0].aval)
        if eqn.primitive.name == "broadcast_in_dim":
            return ctx.broadcast_in_dim(ctx.reshape(values[0], eqn.invars[0].aval.update(shape=())), flat, ())
        operands = [self._operand(ctx, a, v) for a, v in zip(eqn.invars, values)]
        ctx.avals_in, ctx.avals_out = [_flat(a.aval) for a in eqn.invars], [flat]
        return eqn.primitive.lower(ctx, *operands, **eqn.params)

    def _operand(self, ctx: Any, atom: Atom, value: Any) -> Any:
        if type(value) is FlatValue:
            return value.flat
        if isinstance(atom, Literal) or not atom.aval.shape:
            return value
        if atom not in self.entries:
            self.entries[atom] = _barrier(ctx, ctx.reshape(value, _flat(atom.aval)))
        return self.entries[atom]

    def _reduced(self, ctx: Any, eqn: JaxprEqn, flat: Any) -> Any:
        """A reduction over all axes, or all but the last."""
        aval, out = eqn.invars[0].aval, eqn.outvars[0].aval
        if len(eqn.params["axes"]) == aval.ndim or aval.shape[-1] == 1:
            of, given = _flat(aval), out.update(shape=())
        else:
            of, given = aval.update(shape=(aval.size // aval.shape[-1], aval.shape[-1])), out
            flat = ctx.reshape(flat, of)
        ctx.avals_in, ctx.avals_out = [of], [given]
        return ctx.reshape(eqn.primitive.lower(ctx, flat, **{**eqn.params, "axes": (0,)}), out)


def flat_values(jaxpr: Jaxpr, platform: str, others: Collection[Var]) -> FlatValues | None:
    """What of a jaxpr is computed along one axis; None where nothing is. `others` are variables that are held in another way."""
    if not FLAT_VALUES.holds(platform):
        return None
    equations = [eqn for _, eqn in jaxpr.live()[0] if len(eqn.outvars) == 1]
    length = FLAT_VALUES.value["length"]
    shapes = [(eqn, eqn.outvars[0].aval.shape) for eqn in equations]
    # Most equations of most programs are done with after the first comparison.
    if not any([s and (s[-1] <= length or e.primitive.name in _SHORT_INSIDE) and _starts(e) for e, s in shapes]):
        return None
    candidates = _candidates(equations, others)
    if not candidates:
        return None
    in_memory = _in_memory(equations, candidates)
    wanted: set[Var] = set()
    for eqn in reversed(equations):
        out = eqn.outvars[0]
        if out not in candidates:
            if eqn.invars and type(x := eqn.invars[0]) is Var and x in candidates and _is_reduced(eqn):
                wanted.add(x)
        elif out in wanted or (out in in_memory and _is_costly(eqn, candidates[out])):
            wanted.add(out)
            wanted.update(a for a in eqn.invars if type(a) is Var and a in candidates)
    for eqn in equations:  # what goes on from there
        if eqn.outvars[0] in candidates and _goes_on(eqn, wanted, in_memory):
            wanted.add(eqn.outvars[0])
    return FlatValues(wanted) if any([eqn.outvars[0] in wanted and computes(eqn) for eqn in equations]) else None


def _in_memory(equations: Sequence[JaxprEqn], candidates: Collection[Var]) -> set[Var]:
    """The candidates that lead back to nothing that XLA would fuse with them, and have to write to memory instead."""
    fused: set[Var] = set()
    for eqn in equations:
        out = eqn.outvars[0]
        if out in candidates:
            if any(type(a) is Var and a in fused and a.aval.shape for a in eqn.invars):
                fused.add(out)
        elif computes(eqn) or eqn.primitive.name in MOVED:
            fused.add(out)
    return {v for v in candidates if v not in fused}


def _goes_on(eqn: JaxprEqn, wanted: Collection[Var], in_memory: Collection[Var]) -> bool:
    atoms = [a for a in eqn.invars if type(a) is Var]
    return eqn.outvars[0] in in_memory and any(a in wanted for a in atoms)


def _is_costly(eqn: JaxprEqn, length: int) -> bool:
    return eqn.primitive.name in _COSTLY and length <= FLAT_VALUES.value["costly"]


def _candidates(equations: Sequence[JaxprEqn], others: Collection[Var]) -> dict[Var, int]:
    """The variables that can be held along one axis, each with the length of the last axis XLA gives them."""
    lengths: dict[Var, int] = {}
    found: dict[Var, int] = {}
    for eqn in equations:
        out = eqn.outvars[0]
        if eqn.primitive.lowerings:
            continue
        if eqn.primitive.name in _SHORT_INSIDE:
            if elements := _inside(eqn):
                lengths[out] = elements
        elif out not in others and _is_large(out.aval) and (own := _length(eqn, lengths)):
            lengths[out] = found[out] = own
    return found


def _elements_gathered(eqn: JaxprEqn) -> int:
    sizes = eqn.params["slice_sizes"]
    return math.prod(sizes) if is_static(sizes) else 0


def _of_vectors(eqn: JaxprEqn) -> int:
    """1 for a product with a vector, or a column."""
    made = eqn.outvars[0].aval.shape
    if len(made) > 1 and 1 not in made:
        return 0
    ((x_axes, y_axes), batch), (x, y) = eqn.params["dimension_numbers"], [a.aval.shape for a in eqn.invars]
    if batch[0] or not is_static((*x, *y)):
        return 0
    return int(any(math.prod(shape) == math.prod(shape[a] for a in axes) for shape, axes in ((x, x_axes), (y, y_axes))))


_SHORT_INSIDE: dict[str, Callable[[JaxprEqn], int]] = {"gather": _elements_gathered, "dot_general": _of_vectors}
"""Operations whose results XLA gives a short last axis while it compiles, whatever shape they have: how long it is, or 0."""


def _starts(eqn: JaxprEqn) -> bool:
    """Whether what XLA gives a short last axis may begin with an equation."""
    aval = eqn.outvars[0].aval
    return bool(_inside(eqn)) if eqn.primitive.name in _SHORT_INSIDE else _is_short(aval.shape) and _is_large(aval)


def _inside(eqn: JaxprEqn) -> int:
    """The short last axis that XLA gives a large result, if it does; otherwise 0."""
    if not _is_large(eqn.outvars[0].aval):
        return 0
    elements = _SHORT_INSIDE[eqn.primitive.name](eqn)
    return elements if elements <= FLAT_VALUES.value["length"] else 0


def _length(eqn: JaxprEqn, lengths: dict[Var, int]) -> int:
    """The length of the last axis along which XLA computes what an equation gives, if that is short and its operands fit; otherwise 0."""
    shape = eqn.outvars[0].aval.shape
    if eqn.primitive.name == "broadcast_in_dim":
        return shape[-1] if eqn.invars[0].aval.size == 1 and len(eqn.invars) == 1 and _is_short(shape) else 0
    if not computes(eqn):
        return 0
    known = 0
    for atom in eqn.invars:
        if isinstance(atom, Literal) or not atom.aval.shape:
            continue
        if atom.aval.shape != shape or atom.aval.dtype.name not in _DTYPES:
            return 0
        known = known or lengths.get(atom, 0)
    return known or (shape[-1] if _is_short(shape) else 0)


def _is_short(shape: Sequence[int]) -> bool:
    return len(shape) > 1 and shape[-1] <= FLAT_VALUES.value["length"]


def _is_large(aval: ShapedArray) -> bool:
    shape = aval.shape
    return is_static(shape) and math.prod(shape) >= FLAT_VALUES.value["elements"] and aval.dtype.name in _DTYPES


def _is_reduced(eqn: JaxprEqn) -> bool:
    """Whether an equation is a reduction of its operand over all axes, or all but the last."""
    if eqn.primitive.name not in _REDUCTIONS or eqn.primitive.lowerings:
        return False
    axes, rank = sorted(eqn.params["axes"]), eqn.invars[0].aval.ndim
    return axes == list(range(rank)) or (rank > 1 and axes == list(range(rank - 1)))


def _flat(aval: ShapedArray) -> ShapedArray:
    """The aval along one axis; that of one element as it is."""
    return aval.update(shape=(math.prod(aval.shape),)) if aval.shape else aval


def _barrier(ctx: Any, value: Any) -> Any:
    return ctx.hlo.OptimizationBarrierOp([value]).results[0]
