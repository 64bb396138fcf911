"""Reductions and cumulative operations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.primitive import Primitive
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import (
    ARG_IN_TWO_STEPS,
    BOOLEANS_COUNTED,
    MAX_BY_CHOICES,
    NAN_OF_MAX,
    RUNNING_BY_ELEMENTS,
    RUNNING_BY_ROWS,
    SUMS_OF_SHORT_ROWS,
)
from .arg_places import found_in_two_steps, place_in_two_steps
from .choices import by_choices, by_chosen_rows, by_slices, is_by_choices, is_by_chosen_rows, is_by_slices
from .elementwise import abs_p, div_p, eq_p, exp_p, log_p, max_p, min_p, ne_p, not_p, real_p
from .families import Discrete, Reduce, Structural, check_kind, is_zero, pure, scalar_like, zero_of
from .linear import (
    add_p,
    broadcast_in_dim,
    concatenate_p,
    convert,
    full,
    mul_p,
    pad_p,
    reduce_sum_p,
    reshape,
    rev_p,
    scalar_zero,
    slice_in_dim,
    sub_p,
    transpose,
    where,
)
from .nan_of_max import loses_nan, lost_between_devices, of_integers
from .running import by_elements, by_rows, runs_by_elements, runs_by_rows
from .scanning import odd_even, recurrence
from .short_sums import in_longer_rows, side_by_side
from .small_floats import are_small, in_single


def lowest(dtype):
    """The identity of max: -inf (in both parts of a complex number), or the least number, or False."""
    dtypes.check_number(dtype)
    if dtypes.is_complex(dtype):
        return np.asarray(complex(-np.inf, -np.inf)).astype(dtype)[()]
    if dtypes.is_float(dtype):
        return _infinite(dtype, -np.inf, "min")
    return np.False_ if dtype == dtypes.bool_ else np.asarray(ml_dtypes.iinfo(dtype).min).astype(dtype)[()]


def highest(dtype):
    """The identity of min: inf (in both parts of a complex number), or the greatest number, or True."""
    dtypes.check_number(dtype)
    if dtypes.is_complex(dtype):
        return np.asarray(complex(np.inf, np.inf)).astype(dtype)[()]
    if dtypes.is_float(dtype):
        return _infinite(dtype, np.inf, "max")
    return np.True_ if dtype == dtypes.bool_ else np.asarray(ml_dtypes.iinfo(dtype).max).astype(dtype)[()]


def _infinite(dtype, value, instead):
    """An infinity; where the dtype has none it becomes NaN, and the number farthest out stands for it."""
    found = np.asarray(value).astype(dtype)[()]
    return dtype.type(getattr(ml_dtypes.finfo(dtype), instead)) if np.isnan(found) else found


def _restore(x, shape, axes):
    """A reduction's result spread over the operand's shape again."""
    return broadcast_in_dim(x, shape, tuple(i for i in range(len(shape)) if i not in axes))


class ReduceBy(Reduce):
    """A reduction over `axes` by one operation of StableHLO."""

    def __init__(self, name, builder, identity):
        super().__init__(name)
        self.builder, self.identity = builder, identity

    def lower(self, ctx, x, /, *, axes):
        return ctx.reduce(x, self.identity(ctx.avals_in[0].dtype), ctx.builder(self.builder), axes)


class ReduceChoose(ReduceBy):
    """Max or min over `axes`; the tangent is the mean of the tangents at the places where it is taken. One that is not `exact` may give
    a number where there is a NaN."""

    def __init__(self, name, builder, identity, exact=True):
        super().__init__(name, builder, identity)
        self.exact = exact

    def lower(self, ctx, x, /, *, axes):
        if not self.exact or ctx.is_level():
            return super().lower(ctx, x, axes=axes)
        if lost_between_devices(ctx, ctx.is_divided):
            return ctx.inline(of_integers(lambda x: self(x, axes=axes), self is reduce_max_p), x)
        if rows := side_by_side(ctx, axes):
            ctx.rewritten(f"written as that of rows of {rows[-1]} side by side", SUMS_OF_SHORT_ROWS)
            identity = self.identity(ctx.avals_in[0].dtype)
            return in_longer_rows(ctx, x, rows, identity, lambda x: self.lower(ctx, x, axes=(1,)))
        operand, out = ctx.avals_in[0], ctx.avals_out[0]
        loses = loses_nan(operand, ctx.module.platform)
        if loses and are_small(operand):
            return ctx.inline(in_single(lambda x: self(x, axes=axes)), x)
        choose = max_p if self is reduce_max_p else min_p
        if loses and is_by_slices(ctx, axes):
            ctx.rewritten("written as the slices' own, which keeps NaN", MAX_BY_CHOICES)
            return ctx.inline(lambda x: by_slices(x, axes, choose), x)
        if loses and is_by_chosen_rows(ctx, axes):
            ctx.rewritten("written as choices between rows, which keep NaN", MAX_BY_CHOICES)
            return ctx.inline(lambda x: by_chosen_rows(x, axes, choose), x)
        if loses and is_by_choices(ctx, axes):
            ctx.rewritten("written as choices that keep NaN, in vectors", MAX_BY_CHOICES)
            return by_choices(ctx, x, self.identity(operand.dtype), "GT" if self is reduce_max_p else "LT", axes)
        found = super().lower(ctx, x, axes=axes)
        if not loses:
            return found
        ctx.rewritten("with a look for NaN beside it", NAN_OF_MAX)
        ctx.avals_in = [operand, out]
        nan = out.dtype.type(math.nan)
        return ctx.inline(lambda x, found: where(_has_nan(x, axes), nan, found), x, found)

    def jvp(self, primals, tangents, /, *, axes):
        (x,), (t,) = primals, tangents
        out = self.bind(x, axes=axes)
        if is_zero(t):
            return out, zero_of(out)
        at = convert(eq_p(x, _restore(out, aval_of(x).shape, axes)), aval_of(x).dtype)
        return out, div_p(reduce_sum_p(mul_p(t, at), axes=axes), reduce_sum_p(at, axes=axes))


def _has_nan(x, axes):
    """Whether there is one along `axes`: counted where the last is among them, which XLA's library does in one call; of Booleans XLA makes a
    tree of windows there."""
    is_nan = ne_p(x, x)
    return _is_some(is_nan, axes) if aval_of(x).ndim - 1 in axes else reduce_or_p(is_nan, axes=axes)


reduce_max_p = ReduceChoose("reduce_max", "maximum", lowest)
reduce_min_p = ReduceChoose("reduce_min", "minimum", highest)
reduce_level_p = ReduceChoose("reduce_max", "maximum", lowest, exact=False)
"""The greatest element as a level that is subtracted before exponentials are summed: NaN comes out of that sum anyway."""


class ReduceProd(Reduce):
    """The product over `axes`. Its tangent uses products of all the other elements, so zeros are no trouble."""

    accepts = "iufc"

    def lower(self, ctx, x, /, *, axes):
        return ctx.reduce(x, 1, ctx.hlo.multiply, axes)

    def jvp(self, primals, tangents, /, *, axes):
        (x,), (t,) = primals, tangents
        out = reduce_prod_p(x, axes=axes)
        if is_zero(t):
            return out, zero_of(out)
        return out, reduce_sum_p(mul_p(t, _products_of_others(x, axes)), axes=axes)


def _products_of_others(x, axes):
    """At each element, the product over `axes` of all elements but it: products before times products after."""
    shape = aval_of(x).shape
    kept = [i for i in range(len(shape)) if i not in axes]
    order = (*kept, *axes)
    rows = reshape(transpose(x, order), (*[shape[i] for i in kept], math.prod(shape[a] for a in axes)))
    last, n = len(kept), aval_of(rows).shape[-1]
    ones = full((*aval_of(rows).shape[:-1], min(n, 1)), 1, aval_of(x).dtype)
    before = _shifted_products(rows, ones, n, last, reverse=False)
    after = _shifted_products(rows, ones, n, last, reverse=True)
    spread = reshape(mul_p(before, after), tuple(shape[i] for i in order))
    return transpose(spread, tuple(int(i) for i in np.argsort(order)))


def _shifted_products(rows, ones, n, last, reverse):
    if n == 0:
        return rows
    products = cumprod_p(rows, axis=last, reverse=reverse)
    if reverse:
        return concatenate_p(slice_in_dim(products, 1, n, axis=last), ones, dimension=last)
    return concatenate_p(ones, slice_in_dim(products, 0, n - 1, axis=last), dimension=last)


reduce_prod_p = ReduceProd("reduce_prod")


class ReduceBits(Discrete, ReduceBy):
    """And, or of booleans or bits over `axes`."""

    accepts = "biu"

    def abstract(self, x, /, *, axes):
        found, effects = super().abstract(x, axes=axes)
        return found.strong(), effects

    def lower(self, ctx, x, /, *, axes):
        aval = ctx.avals_in[0]
        if self is reduce_xor_p or not _is_counted(aval, axes, ctx.module) or ctx.module.meshes.group is not None:
            return super().lower(ctx, x, axes=axes)
        ctx.rewritten("written as a count, which is compared with none", BOOLEANS_COUNTED)
        if self is reduce_or_p:
            return ctx.inline(lambda x: _is_some(x, axes), x)
        return ctx.inline(lambda x: not_p(_is_some(not_p(x), axes)), x)


def _is_counted(aval, axes, module):
    if aval.dtype != dtypes.bool_ or len(axes) != aval.ndim or not BOOLEANS_COUNTED.holds(module.platform):
        return False
    return is_static(aval.shape) and aval.size >= BOOLEANS_COUNTED.value


def _is_some(x, axes):
    """Whether Booleans are true along `axes`, by their number: XLA's library finds it in one call."""
    return ne_p(reduce_sum_p(convert(x, dtypes.float32), axes=axes), np.float32(0))


def all_bits(dtype):
    return np.True_ if dtype == dtypes.bool_ else np.asarray(-1).astype(dtype)[()]


reduce_and_p = ReduceBits("reduce_and", "and_", all_bits)
reduce_or_p = ReduceBits("reduce_or", "or_", scalar_zero)
reduce_xor_p = ReduceBits("reduce_xor", "xor", scalar_zero)


_CHOOSING = {"GT": "maximum", "LT": "minimum"}


class ArgChoose(Discrete, Reduce):
    """Index (of `index_dtype`) of the first greatest or least element along the one axis in `axes`; a NaN counts as both."""

    accepts = "biuf"

    def __init__(self, name, direction, identity):
        super().__init__(name)
        self.direction, self.identity = direction, identity

    def abstract(self, x, /, *, axes, index_dtype):
        if len(axes) == 1 and 0 <= axes[0] < x.ndim and x.shape[axes[0]] == 0:
            raise ValueError(f"{self.name} of {x.short()} along axis {axes[0]}: there are no elements to choose from")
        found, effects = super().abstract(x, axes=axes, index_dtype=index_dtype)
        return found.strong(), effects

    def result_dtype(self, dtype, /, *, index_dtype):
        return index_dtype

    def lower(self, ctx, x, /, *, axes, index_dtype):
        aval, (axis,) = ctx.avals_in[0], axes
        identity = self.identity(aval.dtype)
        if ctx.module.meshes.group is None and found_in_two_steps(aval, axis, ctx.module.platform):
            ctx.rewritten("written as two reductions: the element, then the first place that has it", ARG_IN_TWO_STEPS)
            return place_in_two_steps(ctx, x, axis, identity, ctx.builder(_CHOOSING[self.direction]))
        index = ctx.iota(ShapedArray(aval.shape, index_dtype), axis)
        return ctx.reduce_pair(x, index, identity, self.direction, axis, aval.dtype, index_dtype)


argmax_p = ArgChoose("argmax", "GT", lowest)
argmin_p = ArgChoose("argmin", "LT", highest)


# Cumulative ----------------------------------------------------------------------------------------------------------


class Cumulative(Primitive):
    """Running reduction along `axis`, from the end if `reverse`."""

    def __init__(self, name, builder, identity, accepts):
        super().__init__(name)
        self.builder, self.identity, self.accepts = builder, identity, accepts

    def abstract(self, x, /, *, axis, reverse):
        check_kind(self.name, x, self.accepts)
        if not 0 <= axis < x.ndim:
            raise ValueError(f"{self.name}: {x.short()} has no axis {axis}")
        return pure(ShapedArray(x.shape, x.dtype, x.weak_type))

    def lower(self, ctx, x, /, *, axis, reverse):
        if are_small(*ctx.avals_in) and RUNNING_BY_ELEMENTS.holds(ctx.module.platform):
            return ctx.inline(in_single(lambda x: self(x, axis=axis, reverse=reverse)), x)
        identity, combine = self.identity(ctx.avals_in[0].dtype), ctx.builder(self.builder)
        if runs_by_rows(ctx.avals_in[0], axis, ctx.module.platform):
            ctx.rewritten("written as a loop over rows", RUNNING_BY_ROWS)
            return by_rows(ctx, x, identity, combine, axis, reverse)
        if runs_by_elements(ctx, axis):
            ctx.rewritten("written as a loop over elements", RUNNING_BY_ELEMENTS)
            return by_elements(ctx, x, identity, combine, axis, reverse)
        return ctx.cumulative(x, identity, combine, axis, reverse)

    def batch(self, axis_data, args, dims, /, *, axis, reverse):
        (x,), (dim,) = args, dims
        return self.bind(x, axis=axis + (axis >= dim), reverse=reverse), dim


class CumSum(Cumulative, Structural):
    """The running sum: linear; its transpose runs the other way."""

    def transpose_to(self, ct, aval, /, *, axis, reverse):
        return cumsum_p(ct, axis=axis, reverse=not reverse)


class CumOther(Cumulative):
    """A running reduction that is not linear: the tangent by a scan of pairs (value, tangent)."""

    def jvp(self, primals, tangents, /, *, axis, reverse):
        (x,), (t,) = primals, tangents
        if is_zero(t):
            out = self.bind(x, axis=axis, reverse=reverse)
            return out, zero_of(out)
        turned = (lambda v: rev_p(v, dimensions=(axis,))) if reverse else (lambda v: v)
        out, tangent = self.with_tangent(turned(x), turned(t), axis)
        return turned(out), turned(tangent)

    def with_tangent(self, x: Any, t: Any, axis: int, /) -> Sequence[Any]:
        """The result and its tangent, from the start."""
        return odd_even(lambda a, b: list(self.combine(*a, *b)), [x, t], [axis, axis])

    def combine(self, x, tx, y, ty):
        """Value and tangent of the operation on (x, tx) and (y, ty)."""
        raise self.missing("jvp")


class CumProd(CumOther):
    """The running product."""

    def combine(self, x, tx, y, ty):
        return mul_p(x, y), add_p(mul_p(tx, y), mul_p(x, ty))


class CumChoose(CumOther):
    """The running max or min."""

    def combine(self, x, tx, y, ty):
        half = mul_p(add_p(tx, ty), scalar_like(tx, 0.5))
        best = (max_p if self is cummax_p else min_p)(x, y)
        only = where(eq_p(best, y), ty, tx)
        return best, where(eq_p(x, y), half, only)


class CumLogSumExp(CumOther):
    """The logarithm of the running sum of exponentials, each taken relative to the greatest number so far."""

    def lower(self, ctx, x, /, *, axis, reverse):
        if not ctx.avals_in[0].size:
            return x
        turned = (lambda v: rev_p(v, dimensions=(axis,))) if reverse else (lambda v: v)
        return ctx.inline(lambda x: turned(self._forward(turned(x), axis)), x)

    def _forward(self, x, axis):
        dtype = aval_of(x).dtype
        greatest = cummax_p(real_p(x) if dtypes.is_complex(dtype) else x, axis=axis, reverse=False)
        level = where(eq_p(abs_p(greatest), scalar_like(greatest, np.inf)), full_like(greatest, 0), greatest)
        before = _previous(greatest, axis)
        nothing = eq_p(before, scalar_like(before, -np.inf))
        decay = where(nothing, full_like(before, 0), exp_p(sub_p(_previous(level, axis), level)))
        decay, level = convert(decay, dtype), convert(level, dtype)
        return add_p(log_p(recurrence(decay, exp_p(sub_p(x, level)), axis)), level)

    def with_tangent(self, x, t, axis, /):
        out = cumlogsumexp_p(x, axis=axis, reverse=False)
        share = where(eq_p(x, out), full_like(x, 1), exp_p(sub_p(x, out)))
        before = _previous(out, axis)
        decay = where(eq_p(before, out), full_like(x, 1), exp_p(sub_p(before, out)))
        return out, recurrence(decay, mul_p(share, t), axis)


def _previous(x, axis):
    """The element before along an axis; before the first, minus infinity."""
    config = tuple((1, -1, 0) if i == axis else (0, 0, 0) for i in range(aval_of(x).ndim))
    return pad_p(x, scalar_like(x, -np.inf), padding_config=config)


def full_like(x, value):
    aval = aval_of(x)
    return full(aval.shape, value, aval.dtype)


def one(dtype):
    return np.asarray(1).astype(dtype)[()]


cumsum_p = CumSum("cumsum", "add", scalar_zero, "iufc")
cumprod_p = CumProd("cumprod", "multiply", one, "iufc")
cummax_p = CumChoose("cummax", "maximum", lowest, "biufc")
cummin_p = CumChoose("cummin", "minimum", highest, "biufc")
cumlogsumexp_p = CumLogSumExp("cumlogsumexp", "", lowest, "fc")
