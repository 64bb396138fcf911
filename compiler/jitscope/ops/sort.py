"""Sorting, and the greatest elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.config import enable_x64
from ..core.primitive import Primitive
from ..symbolic.dimension import is_static, min_dim
from ..xla.cpu_tuning import RADIX_SORT, SORTED_AS_INTEGERS, SORTED_BY_NETWORKS, SORTED_PACKED
from .elementwise import bitcast_convert_type_p, or_p, shift_left_p, shift_right_arithmetic_p, xor_p
from .families import check_kind, is_zero, pure, zero_of
from .indexing import GatherDimensionNumbers, GatherScatterMode, gather_p, iota
from .linear import convert, reshape, transpose
from .radix_sort import in_runs, sorted_words, sorts_by_digits
from .sort_keys import flip, from_unsigned, ordered, parts, signed, unsigned, with_one_zero
from .sort_networks import by_a_network, has_rows_for_networks, sorts_by_a_network


def take_along(x: Any, indices: Any, axis: int) -> Any:
    """`x` at `indices`, all in bounds, along one axis; the other axes of both run together."""
    shape, rank = aval_of(indices).shape, aval_of(x).ndim
    others = tuple(i for i in range(rank) if i != axis)
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    return gather_p(x, reshape(indices, (*shape, 1)), dimension_numbers=numbers, indices_are_sorted=False,
                    slice_sizes=tuple(min_dim(n, 1) if i != axis else 1 for i, n in enumerate(aval_of(x).shape)),
                    unique_indices=True, mode=GatherScatterMode.PROMISE_IN_BOUNDS, fill_value=None)  # fmt: skip


class Sort(Primitive):
    """The operands, all of one shape, reordered alike along `dimension`: ascending by the first `num_keys` of them, the
    first one first. NaN comes last; -0.0 and 0.0 are equal, and so are all NaNs; complex numbers go by their real, then
    their imaginary part. `is_stable`: equal elements stay in order (zeros sorted alone may change places)."""

    multiple_results = True

    def abstract(self, /, *avals, dimension, is_stable, num_keys):
        shape = avals[0].shape
        if any(a.shape != shape for a in avals):
            raise TypeError(f"sort reorders arrays of one shape; it got {', '.join(a.short() for a in avals)}")
        if not 0 <= dimension < len(shape):
            raise ValueError(f"sort: {avals[0].short()} has no axis {dimension}")
        if not 1 <= num_keys <= len(avals):
            raise ValueError(f"sort by {num_keys} of {len(avals)} arrays: it must be at least one and at most all")
        for aval in avals:
            check_kind("sort", aval, "biufc")
        return pure(list(avals))

    def lower(self, ctx, /, *values, dimension, is_stable, num_keys):
        key = ctx.avals_in[0]
        kind = dtypes.kind(key.dtype)
        if not key.size:
            return list(values)
        if any(a.dtype in _ODD for a in ctx.avals_in):
            params = {"dimension": dimension, "is_stable": is_stable, "num_keys": num_keys}
            return ctx.inline(lambda *xs: _sorted_otherwise(xs, params), *values)
        platform = ctx.module.platform
        if sorts_by_digits(ctx, dimension):
            ctx.rewritten("written as a sort by digits (radix sort)", RADIX_SORT)
            with enable_x64():
                return _sorted_by_digits(ctx, values, dimension, num_keys)
        if len(values) == 1 and kind in "bf" and SORTED_AS_INTEGERS.holds(platform):
            ctx.rewritten("written as a sort of integers in the same order", SORTED_AS_INTEGERS)
            return ctx.inline(lambda x: [_sorted_alone(x, dimension, is_stable)], *values)
        if len(values) == 1 and sorts_by_a_network(ctx, dimension):
            ctx.rewritten("written as a network of least and greatest elements", SORTED_BY_NETWORKS)
            return [by_a_network(ctx, *values, key.strong(), dimension, key.shape[dimension])]
        packs = SORTED_PACKED.holds(platform) and is_static(key.shape) and _can_be_packed(key)
        short = packs and key.size >= SORTED_PACKED.value and key.shape[dimension] < 2**31
        if len(values) > 1 and num_keys == 1 and short:
            ctx.rewritten("written as a sort of 64-bit integers, each a key and a place", SORTED_PACKED)
            counts = [_counts_along(v, dimension) for v in values]
            with enable_x64():
                return ctx.inline(lambda *xs: _sorted_packed(xs, counts, dimension), *values)
        return self._compare(ctx, values, dimension, is_stable, num_keys)

    def _compare(self, ctx, values, dimension, is_stable, num_keys):
        operation = ctx.hlo.SortOp([v.type for v in values], list(values), dimension=dimension, is_stable=is_stable)
        scalars = [ShapedArray((), a.dtype) for a in ctx.avals_in for _ in range(2)]

        def before(*elements):
            pairs = [pair for i in range(num_keys)
                     for pair in _compared(ctx, ctx.avals_in[i].dtype, *elements[2 * i: 2 * i + 2])]  # fmt: skip
            result = None
            for dtype, x, y in reversed(pairs):
                less = _less(ctx, dtype, x, y)
                equal = None if result is None else _equal(ctx, dtype, x, y)
                result = less if equal is None else ctx.hlo.or_(less, ctx.hlo.and_(equal, result))
            return result

        ctx.region(operation, 0, scalars, before)
        return list(operation.results)

    def jvp(self, primals, tangents, /, *, dimension, is_stable, num_keys):
        numbers = iota(dtypes.int32, aval_of(primals[0]).shape, dimension)
        *outs, order = sort_p(*primals, numbers, dimension=dimension, is_stable=is_stable, num_keys=num_keys)
        return outs, [zero_of(out) if is_zero(t) else take_along(t, order, dimension) for out, t in zip(outs, tangents)]

    def batch(self, axis, args, dims, /, *, dimension, **same):
        to = next(d for d in dims if d is not None)
        moved = [axis.move(x, d, to) for x, d in zip(args, dims)]
        return sort_p(*moved, dimension=dimension + (dimension >= to), **same), [to] * len(moved)


sort_p = Sort("sort")


_ODD = frozenset((*dtypes.WIDER, dtypes.float8_e8m0fnu))
"""Less than a byte, which XLA's sort does not take; and floats without a sign, whose bits are in their order."""


def _sorted_otherwise(xs, params):
    """Sorted with elements of odd dtypes as others."""
    own = [aval_of(x).dtype for x in xs]
    there = [_other_form(x, dtype, dtypes.WIDER.get(dtype, dtypes.uint8)) for x, dtype in zip(xs, own)]
    outs = sort_p(*there, **params)
    return [_other_form(out, dtype, dtype) for out, dtype in zip(outs, own)]


def _other_form(x, dtype, to):
    if dtype == dtypes.float8_e8m0fnu:
        return bitcast_convert_type_p(x, new_dtype=to)
    return convert(x, to) if dtype in dtypes.WIDER else x


def _compared(ctx, dtype, x, y):
    """The real numbers that decide, most significant first: (dtype, one, other)."""
    if not dtypes.is_complex(dtype):
        return [(dtype, x, y)]
    part = dtypes.real_part(dtype)
    return [(part, ctx.hlo.real(x), ctx.hlo.real(y)), (part, ctx.hlo.imag(x), ctx.hlo.imag(y))]


def _less(ctx, dtype, x, y):
    less = ctx.compare(x, y, "LT")
    if not dtypes.is_float(dtype):
        return less
    return ctx.hlo.or_(less, ctx.hlo.and_(ctx.compare(y, y, "NE"), ctx.compare(x, x, "EQ")))


def _equal(ctx, dtype, x, y):
    equal = ctx.compare(x, y, "EQ")
    if not dtypes.is_float(dtype):
        return equal
    return ctx.hlo.or_(equal, ctx.hlo.and_(ctx.compare(x, x, "NE"), ctx.compare(y, y, "NE")))


def _counts_along(value, dimension):
    """Whether an MLIR value is 0, 1, … along the axis, as in argsort."""
    owner = value.owner
    return getattr(owner, "name", None) == "stablehlo.iota" and int(owner.attributes["iota_dimension"]) == dimension


def _sorted_alone(x, dimension, is_stable):
    dtype = aval_of(x).dtype
    (bits,) = sort_p(ordered(x), dimension=dimension, is_stable=is_stable, num_keys=1)
    return convert(bits, dtype) if dtype == dtypes.bool_ else bitcast_convert_type_p(flip(bits), new_dtype=dtype)


def _sorted_packed(xs, counts, dimension):
    """All operands, moved to where `_places_packed` says."""
    return _moved(xs, _places_packed(xs[0], dimension), counts, dimension)


def _places_packed(key, dimension):
    """The places of the elements of `key` in their order (int32), by a sort with the key in the upper half of a 64-bit number and the
    place in the lower. All numbers differ, so equal keys stay in order."""
    upper = shift_left_p(convert(ordered(with_one_zero(key)), dtypes.int64), np.int64(32))
    packed = or_p(upper, iota(dtypes.int64, aval_of(key).shape, dimension))
    (packed,) = sort_p(packed, dimension=dimension, is_stable=False, num_keys=1)
    return convert(packed, dtypes.int32)


def _moved(xs, places, counts, dimension):
    return [convert(places, aval_of(x).dtype) if c else take_along(x, places, dimension) for x, c in zip(xs, counts)]


# By digits -----------------------------------------------------------------------------------------------------------


def _sorted_by_digits(ctx, values, dimension, num_keys):
    """Sorted by `radix_sort`: the key itself where it is all there is; else its places, from which the operands are taken."""
    key, keys = ctx.avals_in[0], ctx.avals_in[:num_keys]
    last = tuple(i for i in range(key.ndim) if i != dimension) + (dimension,)
    bits = max(8 * (a.dtype.itemsize >> dtypes.is_complex(a.dtype)) for a in keys)
    word = ShapedArray((key.size,), np.dtype(f"uint{max(32, bits)}"))
    alone = len(values) == 1 and not dtypes.is_complex(key.dtype)

    def words(*xs):
        all_parts = [part if alone else with_one_zero(part) for x in xs[:num_keys] for part in parts(x)]
        return [reshape(transpose(unsigned(part, word.dtype), last), word.shape) for part in all_parts]

    def back(x):
        return transpose(reshape(x, tuple(key.shape[i] for i in last)), tuple(map(int, np.argsort(last))))

    vectors = ctx.inline(words, *values)

    def by_digits():
        return sorted_words(ctx, vectors, word, bits, key.shape[dimension], not alone)

    if alone:
        return ctx.inline(lambda x: [from_unsigned(back(x), key.dtype)], by_digits(), avals=[word])
    found, there = word.update(dtype=np.dtype(np.uint32)), key.update(dtype=dtypes.int32)
    ways = [lambda: ctx.inline(lambda x: [convert(back(x), dtypes.int32)], by_digits(), avals=[found])]
    if num_keys == 1 and _can_be_packed(key) and SORTED_PACKED.holds(ctx.module.platform):
        ways.append(lambda: ctx.inline(lambda *xs: [_places_packed(xs[0], dimension)], *values))
        (places,) = ctx.case(in_runs(ctx, vectors[0], word), [there], ways)
    else:
        (places,) = ways[0]()
    counts = [_counts_along(v, dimension) for v in values]
    moved = lambda *xs: _moved(xs[:-1], xs[-1], counts, dimension)
    return ctx.inline(moved, *values, places, avals=[*ctx.avals_in, there])


def _can_be_packed(key):
    return not dtypes.is_complex(key.dtype) and key.dtype.itemsize <= 4


# The greatest --------------------------------------------------------------------------------------------------------


class TopK(Primitive):
    """The `k` greatest elements along `axis`, greatest first, and their indices (int32). The order is that of the bits: NaN
    comes before all numbers (after them if its sign bit is set), 0.0 before -0.0. Of equal elements the first comes first."""

    multiple_results = True

    def abstract(self, x, /, *, k, axis, is_stable=True):
        check_kind("top_k", x, "biuf")
        if not 0 <= axis < x.ndim:
            raise ValueError(f"top_k: {x.short()} has no axis {axis}")
        if not 0 <= k <= x.shape[axis]:
            raise ValueError(f"top_k of {x.short()} along axis {axis}: k is {k}, it must be from 0 to {x.shape[axis]}")
        shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
        return pure([ShapedArray(shape, dtype, x.weak_type) for dtype in (x.dtype, dtypes.int32)])

    def lower(self, ctx, x, /, *, k, axis, is_stable=True):
        aval, (values, indices) = ctx.avals_in[0], ctx.avals_out
        if not values.size:
            return [ctx.full(0, values), ctx.full(0, indices)]
        if aval.dtype != dtypes.float32 and aval.dtype.itemsize <= 4:
            return ctx.inline(lambda x: _by_floats(x, k, axis), x)
        if (
            aval.dtype == dtypes.float32
            and axis == aval.ndim - 1
            and is_static((k,))
            and has_rows_for_networks(ctx, axis)
        ):
            ctx.rewritten("written as a network of least and greatest elements", SORTED_BY_NETWORKS)
            with enable_x64():
                wide = aval.update(dtype=np.dtype(np.int64), weak_type=False)
                first = by_a_network(ctx, ctx.inline(_packed_falling, x), wide, axis, k)
                return ctx.inline(_unpacked, first, avals=[wide.update(shape=values.shape)])
        order = [i for i in range(aval.ndim) if i != axis] + [axis]
        if axis != aval.ndim - 1:
            x = ctx.hlo.transpose(x, ctx.ints(order))
        if is_static((k,)):
            results = ctx.chlo.TopKOp(x, k).results
        else:
            results = ctx.sizes.top_k(x, k, [v.update(shape=tuple(v.shape[i] for i in order)) for v in ctx.avals_out])
        if axis == aval.ndim - 1:
            return list(results)
        return [ctx.hlo.transpose(r, ctx.ints(np.argsort(order))) for r in results]

    def jvp(self, primals, tangents, /, *, k, axis, is_stable=True):
        (x,), (t,) = primals, tangents
        values, indices = top_k_p(x, k=k, axis=axis, is_stable=is_stable)
        tangent = zero_of(values) if is_zero(t) else take_along(t, indices, axis)
        return [values, indices], [tangent, zero_of(indices)]

    def batch(self, axis_data, args, dims, /, *, k, axis, is_stable=True):
        (x,), (dim,) = args, dims
        return top_k_p(x, k=k, axis=axis + (axis >= dim), is_stable=is_stable), [dim, dim]


top_k_p = TopK("top_k")


def _packed_falling(x):
    """64-bit integers whose least are the greatest floats of a row, and of equal ones the first: the bits in falling order, then the place."""
    bits = xor_p(flip(bitcast_convert_type_p(x, new_dtype=dtypes.int32)), np.int32(-1))
    upper = shift_left_p(convert(bits, dtypes.int64), np.int64(32))
    return or_p(upper, iota(dtypes.int64, aval_of(x).shape, aval_of(x).ndim - 1))


def _unpacked(packed):
    """The floats and their places."""
    bits = convert(shift_right_arithmetic_p(packed, np.int64(32)), dtypes.int32)
    values = bitcast_convert_type_p(flip(xor_p(bits, np.int32(-1))), new_dtype=dtypes.float32)
    return [values, convert(packed, dtypes.int32)]


def _by_floats(x, k, axis):
    """XLA has a quick routine for float32, which compares bits, and sorts everything else: small numbers are converted,
    32-bit integers become the floats whose bits are in their order."""
    dtype = aval_of(x).dtype
    if dtype.itemsize <= 2:
        values, indices = top_k_p(convert(x, dtypes.float32), k=k, axis=axis)
        return [convert(values, dtype), indices]
    bits = bitcast_convert_type_p(flip(signed(x)), new_dtype=dtypes.float32)
    values, indices = top_k_p(bits, k=k, axis=axis)
    values = flip(bitcast_convert_type_p(values, new_dtype=dtypes.int32))
    if dtype == dtypes.uint32:
        values = xor_p(bitcast_convert_type_p(values, new_dtype=dtype), dtype.type(1 << 31))
    return [values, indices]
