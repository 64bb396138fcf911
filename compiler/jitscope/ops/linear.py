"""The closed set of linear operations whose rules name each other: all other operations build on these.

broadcast_in_dim, reshape, squeeze, transpose, reduce_sum, slice, pad, rev, concatenate, convert_element_type, select_n,
copy, neg, add, sub, mul.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, exact, physical
from ..core.part_types import sums_of
from ..core.varying import as_said
from ..symbolic.dimension import Dim, reach
from .families import (
    Bilinear,
    Elementwise,
    Linear,
    Reduce,
    Structural,
    add_tangents,
    broadcast_shapes,
    check_kind,
    is_linear,
    is_zero,
    pure,
    same_dtype,
    zero_of,
)
from .short_sums import of_short_rows


# Moving elements -----------------------------------------------------------------------------------------------------


class BroadcastInDim(Structural):
    """Operand axis i becomes result axis `broadcast_dimensions[i]`; size-1 axes are repeated."""

    repeats = True

    def abstract(self, x, /, *, shape, broadcast_dimensions):
        fits = len(broadcast_dimensions) == x.ndim and list(broadcast_dimensions) == sorted(set(broadcast_dimensions))
        fits = fits and all(0 <= d < len(shape) and n in (1, shape[d]) for n, d in zip(x.shape, broadcast_dimensions))
        if not fits:
            raise ValueError(
                f"{x.short()} cannot be broadcast to shape {shape} with its axes at {broadcast_dimensions}"
            )
        return pure(ShapedArray(tuple(shape), x.dtype, x.weak_type))

    def lower(self, ctx, x, /, *, shape, broadcast_dimensions):
        if sums_of(aval := ctx.avals_in[0]).unreduced:
            # XLA makes several operations of one that repeats elements of an axis, and knows of the last alone that it gives terms.
            kept = [i for i, d in enumerate(broadcast_dimensions) if aval.shape[i] == shape[d]]
            x = ctx.reshape(x, ShapedArray(tuple(aval.shape[i] for i in kept), aval.dtype))
            broadcast_dimensions = tuple(broadcast_dimensions[i] for i in kept)
        return ctx.broadcast_in_dim(x, ctx.avals_out[0], broadcast_dimensions)

    def transpose_to(self, ct, aval, /, *, shape, broadcast_dimensions):
        new = [d for d in range(len(shape)) if d not in broadcast_dimensions]
        stretched = [d for n, d in zip(aval.shape, broadcast_dimensions) if n != shape[d]]
        summed = reduce_sum_p(ct, axes=tuple(sorted(new + stretched))) if new or stretched else ct
        return reshape(summed, aval.shape)

    def batch(self, axis, args, dims, /, *, shape, broadcast_dimensions):
        x = axis.move(args[0], dims[0], 0)
        return broadcast_in_dim_p(
            x, shape=(axis.size, *shape), broadcast_dimensions=(0, *[d + 1 for d in broadcast_dimensions])
        ), 0

    def shown_params(self, params):
        return {"broadcast_dimensions": params["broadcast_dimensions"]} if params["broadcast_dimensions"] else {}


broadcast_in_dim_p = BroadcastInDim("broadcast_in_dim")


def broadcast_in_dim(x: Any, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]) -> Any:
    """`x` with its axis i at `broadcast_dimensions[i]` of `shape`; itself where that changes nothing."""
    if aval_of(x).shape == tuple(shape) and not isinstance(x, (int, float, complex)):
        return x
    return broadcast_in_dim_p(x, shape=tuple(shape), broadcast_dimensions=tuple(broadcast_dimensions))


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """NumPy's broadcasting: axes aligned from the right. Raises ValueError if the shapes do not fit."""
    shape, own = tuple(shape), aval_of(x).shape
    offset = len(shape) - len(own)
    return broadcast_in_dim(x, shape, tuple(range(offset, len(shape))))


def full(shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
    """An array of `shape` with all elements `value` (a number or a size), of `dtype`."""
    value = number_of(value, dtype)
    return broadcast_in_dim_p(value, shape=tuple(shape), broadcast_dimensions=())


def zeros(aval: ShapedArray) -> Any:
    """Zeros of an aval, weak if it is."""
    if aval.mark is not None:
        return as_said(zeros(aval.update(sharding=None)), aval)
    kind = {"i": int, "f": float, "c": complex}.get(dtypes.kind(aval.dtype)) if aval.weak_type else None
    if kind is None or dtypes.python_dtype(kind) != aval.dtype:
        return full(aval.shape, 0, aval.dtype)
    return broadcast_in_dim_p(kind(0), shape=aval.shape, broadcast_dimensions=())


def instantiate(x: Any) -> Any:
    """A tangent or cotangent as a value: Zero becomes an array of zeros (float0: a NumPy array)."""
    if not is_zero(x):
        return x
    return np.zeros(x.aval.shape, dtypes.float0) if x.aval.dtype == dtypes.float0 else zeros(x.aval)


class Reshape(Structural):
    """The same elements in row-major order under another shape, `new_sizes`."""

    def abstract(self, x, /, *, new_sizes):
        if math.prod(new_sizes) != x.size or any(n < 0 for n in new_sizes):
            raise TypeError(
                f"cannot reshape {x.short()}, {x.size} elements, into shape {new_sizes}, "
                f"{math.prod(new_sizes)} elements"
            )
        return pure(ShapedArray(tuple(new_sizes), x.dtype, x.weak_type))

    def lower(self, ctx, x, /, *, new_sizes):
        return ctx.reshape(x, ctx.avals_out[0])

    def transpose_to(self, ct, aval, /, *, new_sizes):
        return reshape(ct, aval.shape)

    def batch(self, axis, args, dims, /, *, new_sizes):
        return reshape_p(axis.move(args[0], dims[0], 0), new_sizes=(axis.size, *new_sizes)), 0

    def shown_params(self, params):
        return {"dimensions": None, **params}


reshape_p = Reshape("reshape")


def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` under `shape`; itself where that changes nothing."""
    return x if aval_of(x).shape == tuple(shape) else reshape_p(x, new_sizes=tuple(shape))


class Squeeze(Structural):
    """Without the size-1 axes in `dimensions`."""

    def abstract(self, x, /, *, dimensions):
        if any(not 0 <= d < x.ndim or x.shape[d] != 1 for d in dimensions):
            raise ValueError(f"cannot squeeze axes {dimensions} of {x.short()}: only axes of size 1 can go")
        return pure(ShapedArray(tuple(n for i, n in enumerate(x.shape) if i not in dimensions), x.dtype, x.weak_type))

    def lower(self, ctx, x, /, *, dimensions):
        return ctx.reshape(x, ctx.avals_out[0])

    def transpose_to(self, ct, aval, /, *, dimensions):
        return reshape(ct, aval.shape)

    def batch(self, axis, args, dims, /, *, dimensions):
        x = axis.move(args[0], dims[0], 0)
        return squeeze_p(x, dimensions=tuple(d + 1 for d in dimensions)), 0


squeeze_p = Squeeze("squeeze")


class Transpose(Structural):
    """Result axis i is operand axis `permutation[i]`."""

    def abstract(self, x, /, *, permutation):
        if sorted(permutation) != list(range(x.ndim)):
            raise TypeError(f"transpose: {permutation} is not a permutation of the axes of {x.short()}")
        return pure(ShapedArray(tuple(x.shape[p] for p in permutation), x.dtype, x.weak_type))

    def lower(self, ctx, x, /, *, permutation):
        return ctx.transpose(x, permutation)

    def transpose_to(self, ct, aval, /, *, permutation):
        return transpose_p(ct, permutation=tuple(int(i) for i in np.argsort(permutation)))

    def batch(self, axis, args, dims, /, *, permutation):
        (x,), (dim,) = args, dims
        return transpose_p(x, permutation=(dim, *[p + (p >= dim) for p in permutation])), 0


transpose_p = Transpose("transpose")


def transpose(x: Any, permutation: tuple[int, ...]) -> Any:
    """`x` with its axes permuted; itself where that changes nothing."""
    permutation = tuple(int(p) for p in permutation)
    return x if permutation == tuple(range(len(permutation))) else transpose_p(x, permutation=permutation)


def divided(x: Any, at: int, parts: int) -> Any:
    """The axis `at` as two: `parts`, and the rest."""
    shape = aval_of(x).shape
    return reshape(x, (*shape[:at], parts, shape[at] // parts, *shape[at + 1:]))  # fmt: skip


def moveaxis(x: Any, source: int, destination: int) -> Any:
    """`x` with one axis moved."""
    order = [i for i in range(aval_of(x).ndim) if i != source]
    order.insert(destination, source)
    return transpose(x, tuple(order))


class Slice(Structural):
    """Elements start, start + stride, … before limit, along every axis. `strides` None: all 1."""

    def abstract(self, x, /, *, start_indices, limit_indices, strides):
        steps = strides or (1,) * x.ndim
        ok = len(start_indices) == len(limit_indices) == len(steps) == x.ndim
        ok = ok and all(0 <= a <= b <= n and s > 0 for a, b, s, n in zip(start_indices, limit_indices, steps, x.shape))
        if not ok:
            raise TypeError(f"slice from {start_indices} to {limit_indices} by {steps} does not fit {x.short()}")
        shape = tuple((b - a + s - 1) // s for a, b, s in zip(start_indices, limit_indices, steps))
        return pure(ShapedArray(shape, x.dtype, x.weak_type))

    def lower(self, ctx, x, /, *, start_indices, limit_indices, strides):
        return ctx.slice(x, start_indices, limit_indices, strides)

    def transpose_to(self, ct, aval, /, *, start_indices, limit_indices, strides):
        steps, out = strides or (1,) * aval.ndim, aval_of(ct).shape
        config = tuple((a, n - a - reach(m, s), s - 1) for a, s, n, m in zip(start_indices, steps, aval.shape, out))
        return pad_p(ct, scalar_zero(aval.dtype), padding_config=config)

    def batch(self, axis, args, dims, /, *, start_indices, limit_indices, strides):
        (x,), (dim,) = args, dims

        def add(values, value):
            return (*values[:dim], value, *values[dim:])

        return slice_p(
            x,
            start_indices=add(start_indices, 0),
            limit_indices=add(limit_indices, axis.size),
            strides=strides and add(strides, 1),
        ), dim


slice_p = Slice("slice")


def slice_in_dim(x: Any, start: int, stop: int, stride: int = 1, axis: int = 0) -> Any:
    """`x[..., start:stop:stride, ...]` along one axis, with 0 <= start <= stop <= its size."""
    shape = aval_of(x).shape
    starts, stops, steps = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis], stops[axis], steps[axis] = start, stop, stride
    return slice_p(
        x, start_indices=tuple(starts), limit_indices=tuple(stops), strides=None if stride == 1 else tuple(steps)
    )


def number_of(size: Any, dtype: Any) -> Any:
    """A size as a scalar of a dtype."""
    if isinstance(size, Dim):
        return convert(size.dimension_as_value(), dtype)
    return exact(np.asarray(size).astype(dtype)[()])


def scalar_zero(dtype: Any) -> Any:
    """A NumPy scalar 0 of a dtype."""
    return exact(np.asarray(0).astype(dtype)[()])


class Pad(Linear):
    """`padding_value` before, after and between the elements: one (low, high, interior) for each axis; negative low
    and high cut."""

    def abstract(self, x, value, /, *, padding_config):
        dtype = same_dtype("pad", (x, value))
        if len(padding_config) != x.ndim or value.shape or any(i < 0 for _, _, i in padding_config):
            raise ValueError(
                f"pad: configuration {padding_config} does not fit {x.short()} with padding {value.short()}"
            )
        shape = tuple(reach(n, i + 1) + lo + hi for n, (lo, hi, i) in zip(x.shape, padding_config))
        if any(n < 0 for n in shape):
            raise ValueError(f"pad: configuration {padding_config} cuts more from {x.short()} than it has")
        return pure(ShapedArray(shape, dtype, x.weak_type and value.weak_type))

    def lower(self, ctx, x, value, /, *, padding_config):
        return ctx.pad(x, value, padding_config)

    def jvp(self, primals, tangents, /, *, padding_config):
        out = pad_p(*primals, padding_config=padding_config)
        if all(map(is_zero, tangents)):
            return out, zero_of(out)
        return out, pad_p(*map(instantiate, tangents), padding_config=padding_config)

    def transpose(self, ct, x, value, /, *, padding_config):
        operand = _unpad(ct, padding_config) if is_linear(x) or is_linear(value) else None
        if is_linear(value):
            axes = tuple(range(len(padding_config)))
            rest = sub_p(reduce_sum_p(ct, axes=axes), reduce_sum_p(operand, axes=axes))
            return [operand if is_linear(x) else None, rest]
        return [operand, None]

    def batch(self, axis, args, dims, /, *, padding_config):
        (x, value), (dim, value_dim) = args, dims
        if value_dim is None:
            return pad_p(x, value, padding_config=(*padding_config[:dim], (0, 0, 0), *padding_config[dim:])), dim
        # A padding value of its own for each element of the axis: pad a mask of what is operand, then choose.
        x, config = axis.move(x, dim, 0), ((0, 0, 0), *padding_config)
        padded = pad_p(x, scalar_zero(aval_of(x).dtype), padding_config=config)
        mask = pad_p(full(aval_of(x).shape, True, dtypes.bool_), np.False_, padding_config=config)
        filler = broadcast_in_dim(value, aval_of(padded).shape, (0,))
        return select_n_p(mask, filler, padded), 0


def _unpad(ct: Any, padding_config: tuple) -> Any:
    shape = aval_of(ct).shape
    config = tuple((-lo, -hi, 0) for lo, hi, _ in padding_config)
    cut = pad_p(ct, scalar_zero(aval_of(ct).dtype), padding_config=config)
    strides = tuple(i + 1 for _, _, i in padding_config)
    if all(s == 1 for s in strides):
        return cut
    shape = aval_of(cut).shape
    return slice_p(cut, start_indices=(0,) * len(shape), limit_indices=shape, strides=strides)


pad_p = Pad("pad")


class Rev(Structural):
    """Order reversed along the axes in `dimensions`."""

    def abstract(self, x, /, *, dimensions):
        if any(not 0 <= d < x.ndim for d in dimensions) or len(set(dimensions)) != len(dimensions):
            raise TypeError(f"rev: {dimensions} do not name distinct axes of {x.short()}")
        return pure(x)

    def lower(self, ctx, x, /, *, dimensions):
        return ctx.hlo.reverse(x, ctx.ints(dimensions))

    def transpose_to(self, ct, aval, /, *, dimensions):
        return rev_p(ct, dimensions=dimensions)

    def batch(self, axis, args, dims, /, *, dimensions):
        (x,), (dim,) = args, dims
        return rev_p(x, dimensions=tuple(d + (d >= dim) for d in dimensions)), dim


rev_p = Rev("rev")


class Concatenate(Linear):
    """Operands one after another along the axis `dimension`."""

    sums = "all"

    def abstract(self, /, *avals, dimension):
        dtype = same_dtype("concatenate", avals)
        first = avals[0]
        fits = 0 <= dimension < first.ndim and all(
            a.ndim == first.ndim and _without(a.shape, dimension) == _without(first.shape, dimension) for a in avals
        )
        if not fits:
            raise TypeError(
                f"concatenate along axis {dimension}: {', '.join(a.short() for a in avals)} "
                "do not agree in the other axes"
            )
        shape = (*first.shape[:dimension], sum(a.shape[dimension] for a in avals), *first.shape[dimension + 1 :])
        return pure(ShapedArray(shape, dtype, all(a.weak_type for a in avals)))

    def lower(self, ctx, /, *values, dimension):
        return ctx.hlo.concatenate(values, ctx.int(dimension))

    def jvp(self, primals, tangents, /, *, dimension):
        out = concatenate_p(*primals, dimension=dimension)
        if all(map(is_zero, tangents)):
            return out, zero_of(out)
        return out, concatenate_p(*map(instantiate, tangents), dimension=dimension)

    def transpose(self, ct, /, *args, dimension):
        cts, start = [], 0
        for x in args:
            size = aval_of(x).shape[dimension]
            part = slice_in_dim(ct, start, start + size, axis=dimension) if is_linear(x) else None
            cts.append(part)
            start += size
        return cts

    def batch(self, axis, args, dims, /, *, dimension):
        to = next(d for d in dims if d is not None)
        moved = [axis.move(x, d, to) for x, d in zip(args, dims)]
        return concatenate_p(*moved, dimension=dimension + (dimension >= to)), to


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


concatenate_p = Concatenate("concatenate")


class Copy(Structural):
    """The same values in memory of their own."""

    def abstract(self, x, /):
        return pure(x)

    def lower(self, ctx, x, /):
        return x

    def transpose_to(self, ct, aval, /):
        return ct

    def batch(self, axis, args, dims, /):
        return copy_p(args[0]), dims[0]


copy_p = Copy("copy")


# Sums ----------------------------------------------------------------------------------------------------------------


class ReduceSum(Reduce, Structural):
    """The sum over `axes`."""

    accepts = "iufc"

    def lower(self, ctx, x, /, *, axes):
        return of_short_rows(ctx, x, axes) or ctx.reduce(x, 0, ctx.hlo.add, axes)

    def transpose_to(self, ct, aval, /, *, axes):
        kept = tuple(i for i in range(aval.ndim) if i not in axes)
        return broadcast_in_dim(ct, aval.shape, kept)


reduce_sum_p = ReduceSum("reduce_sum")


def unbroadcast(ct: Any, aval: ShapedArray) -> Any:
    """The cotangent of an elementwise operand: a scalar that met an array gets the sum."""
    shape = aval_of(ct).shape
    return reduce_sum_p(ct, axes=tuple(range(len(shape)))) if shape and not aval.shape else ct


# Arithmetic ----------------------------------------------------------------------------------------------------------


class LinearElementwise(Elementwise):
    """Elementwise and linear in all operands at once."""

    sums = "all"

    def __init__(self, name: str, *signs: int, **options: Any):
        super().__init__(name, **options)
        self.signs = signs

    def jvp(self, primals, tangents, /, **params):
        out = self.bind(*primals, **params)
        total: Any = zero_of(out)
        for sign, t in zip(self.signs, tangents):
            if not is_zero(t):
                t = broadcast_to(t, aval_of(out).shape)
                total = add_tangents(total, t if sign > 0 else neg_p(t))
        return out, total

    def transpose(self, ct, /, *args, **params):
        return [
            unbroadcast(ct if sign > 0 else neg_p(ct), x.aval) if is_linear(x) else None
            for sign, x in zip(self.signs, args)
        ]


neg_p = LinearElementwise("neg", -1, accepts="iufc", hlo="negate")
add_p = LinearElementwise("add", 1, 1, accepts="biufc", of_booleans="or_")
sub_p = LinearElementwise("sub", 1, -1, accepts="iufc", hlo="subtract")


class Mul(Bilinear, Elementwise):
    """The product, element by element."""

    sums = "product"

    def transpose_left(self, ct, aval, y, /):
        return unbroadcast(mul_p(ct, y), aval)

    def transpose_right(self, ct, x, aval, /):
        return unbroadcast(mul_p(x, ct), aval)


mul_p = Mul("mul", accepts="biufc", hlo="multiply")


class ConvertElementType(Structural):
    """Conversion to `new_dtype`. A complex number loses its imaginary part on the way to a dtype of real numbers."""

    converts = True

    def abstract(self, x, /, *, new_dtype, weak_type):
        if dtypes.is_extended(x.dtype) or dtypes.is_extended(new_dtype):
            raise TypeError(
                f"{x.short()} cannot be converted to {new_dtype}: keys are not numbers (random.key_data(key))"
            )
        return pure(ShapedArray(x.shape, new_dtype, weak_type))

    def lower(self, ctx, x, /, *, new_dtype, weak_type):
        old = ctx.avals_in[0].dtype
        if new_dtype == dtypes.bool_:
            return ctx.compare(x, ctx.full(0, ShapedArray(ctx.avals_in[0].shape, old)), "NE")
        if dtypes.is_complex(old) and not dtypes.is_complex(new_dtype):
            x = ctx.hlo.real(x)
        return ctx.hlo.convert(ctx.type(ctx.avals_out[0]), x)

    def jvp(self, primals, tangents, /, **params):
        (x,), (t,) = primals, tangents
        out = convert_element_type_p(x, **params)
        smooth = dtypes.is_inexact(params["new_dtype"])
        return out, convert_element_type_p(t, **params) if smooth and not is_zero(t) else zero_of(out)

    def transpose_to(self, ct, aval, /, *, new_dtype, weak_type):
        return convert_element_type_p(ct, new_dtype=aval.dtype, weak_type=aval.weak_type)

    def batch(self, axis, args, dims, /, **params):
        return convert_element_type_p(args[0], **params), dims[0]


convert_element_type_p = ConvertElementType("convert_element_type")


def convert(x: Any, dtype: Any, weak_type: bool = False) -> Any:
    """`x` in `dtype`; itself where that changes nothing."""
    aval = aval_of(x)
    if aval.dtype == dtype and aval.weak_type == weak_type and hasattr(x, "aval"):
        return x
    return convert_element_type_p(x, new_dtype=dtype, weak_type=weak_type)


class SelectN(Elementwise):
    """`cases[which]` element by element; `which` is boolean for two cases, else int32, and may be a scalar."""

    sums = "choice"

    def abstract(self, which, case, /, *others):
        cases = (case, *others)
        if not ((which.dtype == dtypes.bool_ and len(cases) <= 2) or dtypes.is_integer(which.dtype)):
            raise TypeError(f"select_n chooses by booleans (two cases) or integers, not by {which.short()}")
        dtype = same_dtype("select_n", cases)
        check_kind("select_n", case, self.accepts)
        shape = broadcast_shapes("select_n", cases)
        if which.shape and which.shape != shape and shape:
            raise TypeError(f"select_n: {which.short()} does not have the shape of the cases, {shape}")
        weak = all(c.weak_type for c in cases)
        return pure(ShapedArray(shape or which.shape, dtype, weak))

    def lower(self, ctx, which, /, *cases):
        which, *cases = ctx.broadcast_scalars((which, *cases))
        out = ctx.avals_out[0]
        below = ShapedArray(physical(out).shape, ctx.avals_in[0].dtype)
        if len(cases) == 1:
            return cases[0]
        if below.ndim > out.ndim:  # keys: one choice for all words
            which = ctx.broadcast_in_dim(which, below, range(out.ndim))
        if below.dtype == dtypes.bool_:
            return ctx.hlo.select(which, cases[1], cases[0])
        return self._choose(ctx, which, below, list(cases), 0)

    def _choose(self, ctx, which, aval, cases, offset):
        if len(cases) == 1:
            return cases[0]
        mid = len(cases) // 2
        bound = ctx.full(offset + mid, aval)
        return ctx.hlo.select(
            ctx.compare(which, bound, "LT"),
            self._choose(ctx, which, aval, cases[:mid], offset),
            self._choose(ctx, which, aval, cases[mid:], offset + mid),
        )

    def jvp(self, primals, tangents, /):
        which, *cases = primals
        out, ts = select_n_p(which, *cases), tangents[1:]
        if all(map(is_zero, ts)):
            return out, zero_of(out)
        shape = aval_of(out).shape
        return out, select_n_p(which, *[broadcast_to(instantiate(t), shape) for t in ts])

    def transpose(self, ct, which, /, *cases):
        nothing = zeros(aval_of(ct))
        picked = [
            select_n_p(which, *[ct if i == j else nothing for j in range(len(cases))]) if is_linear(c) else None
            for i, c in enumerate(cases)
        ]
        return [None, *[p if p is None else unbroadcast(p, c.aval) for p, c in zip(picked, cases)]]


select_n_p = SelectN("select_n", accepts="biufck")


def where(condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds, else `y`; all of one shape, `x` and `y` of one dtype."""
    return select_n_p(condition, y, x)
