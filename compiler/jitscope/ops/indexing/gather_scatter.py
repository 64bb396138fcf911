"""Gather, and the scatters that are linear in their operands: each is the transpose of the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core import dtypes
from ...core.annotations import Array, ArrayLike
from ...core.avals import ShapedArray, aval_of, physical
from ...symbolic.dimension import is_symbolic_dim, min_dim, size
from ..elementwise import eq_p
from ..families import Linear, is_linear, is_zero, pure, zero_of
from ..linear import broadcast_in_dim, full, instantiate, neg_p, reshape, scalar_zero, where, zeros
from ..reduce import highest, lowest
from .axes import (
    GatherDimensionNumbers,
    GatherScatterMode,
    along_both,
    along_indices,
    along_operand,
    check_numbers,
    gather_numbers,
    greatest_indices,
    inserted,
    kept_axes,
    outer_axes,
    scatter_numbers,
    slice_shape,
    wide_indices,
)
from .counting import iota
from .scatter_base import Scatter


__all__ = ["Gather", "ScatterAdd", "ScatterSet", "fill_for", "gather", "gather_p", "scatter_add_p", "scatter_p",
           "scatter_sub_p"]  # fmt: skip


class Gather(Linear):
    """Slices of `slice_sizes` that start at computed indices.

    `unique_indices` and `indices_are_sorted` are promises about the indices. `fill_value` (None: NaN, the least integer,
    the greatest unsigned one, True) stands where mode FILL_OR_DROP finds nothing.
    """

    sums = "each"

    def abstract(self, x, indices, /, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, mode,
                 fill_value):  # fmt: skip
        rank = len(dimension_numbers.offset_dims) + max(indices.ndim, 1) - 1
        check_numbers("gather", x, indices, dimension_numbers, rank)
        _check_slices(x, indices, dimension_numbers, slice_sizes)
        sizes = iter(slice_sizes[a] for a in kept_axes(x.ndim, dimension_numbers))
        outer = iter(indices.shape[:-1])
        shape = tuple(next(sizes if i in dimension_numbers.offset_dims else outer) for i in range(rank))
        return pure(ShapedArray(shape, x.dtype, x.weak_type))

    def lower(self, ctx, x, indices, /, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, mode,
              fill_value):  # fmt: skip
        (x_aval, indices_aval), out = ctx.avals_in, ctx.avals_out[0]
        if not out.size:
            return ctx.full(0, physical(out))
        indices, indices_aval = wide_indices(ctx, indices, indices_aval)
        inner = physical(x_aval).shape[x_aval.ndim :]
        offsets = [*dimension_numbers.offset_dims, *range(out.ndim, out.ndim + len(inner))]
        numbers = ctx.hlo.GatherDimensionNumbers.get(
            offset_dims=offsets,
            collapsed_slice_dims=dimension_numbers.collapsed_slice_dims,
            operand_batching_dims=dimension_numbers.operand_batching_dims,
            start_indices_batching_dims=dimension_numbers.start_indices_batching_dims,
            start_index_map=dimension_numbers.start_index_map,
            index_vector_dim=indices_aval.ndim - 1,
        )
        result = ctx.gather(x, indices, numbers, [*slice_sizes, *inner], indices_are_sorted)
        if mode is not GatherScatterMode.FILL_OR_DROP or not dimension_numbers.start_index_map:
            return result
        found = _found(ctx, indices, indices_aval, x_aval.shape, slice_sizes, dimension_numbers.start_index_map)
        below = physical(out)
        outer = outer_axes(out.ndim, dimension_numbers.offset_dims)
        found = ctx.broadcast_in_dim(found, below.update(dtype=dtypes.bool_), outer)
        return ctx.hlo.select(found, result, ctx.full(fill_for(x_aval.dtype, fill_value), below))

    def jvp(self, primals, tangents, /, **params):
        out, (t, _) = gather_p(*primals, **params), tangents
        return out, zero_of(out) if is_zero(t) else gather_p(t, primals[1], **{**params, "fill_value": 0})

    def transpose(self, ct, x, indices, /, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, mode,
                  fill_value):  # fmt: skip
        return [
            scatter_add_p(
                zeros(x.aval),
                indices,
                ct,
                dimension_numbers=scatter_numbers(dimension_numbers),
                indices_are_sorted=indices_are_sorted,
                unique_indices=unique_indices,
                mode=mode,
            ),
            None,
        ]

    def batch(self, axis, args, dims, /, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, **same):
        (x, indices), (dim, indices_dim) = args, dims
        out = 0
        if indices_dim is None:
            x_rank, rank = aval_of(x).ndim - 1, len(dimension_numbers.offset_dims) + aval_of(indices).ndim - 1
            numbers, out = along_operand(dimension_numbers, dim, x_rank, rank)
            slice_sizes = inserted(slice_sizes, dim, axis.size)
        elif dim is None:
            numbers = along_indices(dimension_numbers)
            indices = axis.move(indices, indices_dim, 0)
            indices_are_sorted = unique_indices = False  # of one example, not of all together
        else:
            numbers = along_both(dimension_numbers, dim)
            indices = axis.move(indices, indices_dim, 0)
            slice_sizes = inserted(slice_sizes, dim, min_dim(axis.size, 1))
        return gather_p(
            x,
            indices,
            dimension_numbers=numbers,
            slice_sizes=slice_sizes,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            **same,
        ), out


gather_p = Gather("gather")


def _check_slices(x: ShapedArray, indices: ShapedArray, numbers: GatherDimensionNumbers, sizes: Sequence[int]) -> None:
    said = f"gather of slices {tuple(sizes)} from {x.short()}"
    if len(sizes) != x.ndim:
        raise TypeError(f"{said}: there must be one size for each of its {x.ndim} axes")
    if indices.size and any(not 0 <= s <= n for s, n in zip(sizes, x.shape)):
        raise TypeError(f"{said}: no slice can be longer than its axis, or of a negative size")
    wrong = [a for a in numbers.collapsed_slice_dims if sizes[a] != 1]
    wrong += [a for a in numbers.operand_batching_dims if is_symbolic_dim(sizes[a]) or sizes[a] > 1]
    if wrong:
        raise TypeError(f"{said}: the result leaves out axes {tuple(wrong)}, so slices must have size 1 there")


def _found(ctx: Any, indices: Any, aval: ShapedArray, shape, sizes, indexed) -> Any:
    """Whether each index vector is in bounds, for all its numbers."""
    if dtypes.kind(aval.dtype) == "u":
        inside = ctx.compare(indices, greatest_indices(ctx, aval, shape, sizes, indexed), "LE")
    else:
        inside = ctx.hlo.and_(
            ctx.compare(indices, ctx.full(0, aval), "GE"),
            ctx.compare(indices, greatest_indices(ctx, aval, shape, sizes, indexed), "LE"),
        )
    outer = ShapedArray(aval.shape[:-1], dtypes.bool_)
    if aval.shape[-1] == 1:
        return ctx.reshape(inside, outer)
    scalar = ShapedArray((), dtypes.bool_)
    every = ctx.hlo.ReduceOp([ctx.type(outer)], [inside], [ctx.full(True, scalar)], ctx.ints([aval.ndim - 1]))
    ctx.region(every, 0, [scalar, scalar], ctx.hlo.and_)
    return every.result


def fill_for(dtype: Any, fill_value: Any = None) -> Any:
    """What stands for an element that does not exist: `fill_value`, or the dtype's own where that is None."""
    if fill_value is not None:
        return fill_value
    if dtypes.is_extended(dtype):
        return highest(dtype.physical).item()
    if dtypes.is_inexact(dtype):
        return math.nan
    return (lowest(dtype) if dtypes.kind(dtype) == "i" else highest(dtype)).item()


def gather(operand: ArrayLike, start_indices: ArrayLike, dimension_numbers: GatherDimensionNumbers, slice_sizes: Sequence[int], *,
           unique_indices: bool = False, indices_are_sorted: bool = False, mode: str | GatherScatterMode | None = None,
           fill_value: ArrayLike | None = None) -> Array:  # fmt: skip
    """Slices of `operand` that start at `start_indices`; `mode` by name or GatherScatterMode (None: all are in
    bounds, by promise).

    Raises TypeError where axes, sizes and shapes do not fit, ValueError for an unknown mode.
    """
    mode = GatherScatterMode.PROMISE_IN_BOUNDS if mode is None else GatherScatterMode.from_any(mode)
    fill = None
    if mode is GatherScatterMode.FILL_OR_DROP:
        fill = fill_for(aval_of(operand).dtype, fill_value)
        fill = math.nan if fill != fill else fill  # one NaN object, so that equal parameters are equal
    return gather_p(
        operand,
        start_indices,
        dimension_numbers=dimension_numbers,
        slice_sizes=tuple(map(size, slice_sizes)),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=mode,
        fill_value=fill,
    )


def may_repeat(indices: Any, params: dict[str, Any]) -> bool:
    """Whether two index vectors can name the same place."""
    batching = params["dimension_numbers"].scatter_indices_batching_dims
    vectors = math.prod(n for i, n in enumerate(aval_of(indices).shape[:-1]) if i not in batching)
    return not params["unique_indices"] and (is_symbolic_dim(vectors) or vectors > 1)


def read_back(x: Any, indices: Any, updates: ShapedArray, params: dict[str, Any], fill_value: Any = 0) -> Any:
    """What stands in `x` where the scatter with these parameters writes its updates."""
    numbers = params["dimension_numbers"]
    return gather_p(
        x,
        indices,
        dimension_numbers=gather_numbers(numbers),
        slice_sizes=slice_shape(aval_of(x), updates, numbers),
        fill_value=fill_value,
        **{k: params[k] for k in ("indices_are_sorted", "unique_indices", "mode")},
    )


class ScatterSet(Scatter):
    """The updates take the place of the elements. Where indices repeat, one of them does: on the CPU the last."""

    def combine(self, ctx, old, new, /, **own):
        return new

    def jvp(self, primals, tangents, /, **params):
        out, (t, _, tu) = scatter_p(*primals, **params), tangents
        if is_zero(t) and is_zero(tu):
            return out, zero_of(out)
        return out, scatter_p(instantiate(t), primals[1], instantiate(tu), **params)

    def transpose(self, ct, x, indices, updates, /, **params):
        aval, cts = aval_of(updates), [None, None, None]
        if is_linear(x):
            cts[0] = scatter_p(ct, indices, full(aval.shape, 0, aval.dtype), **params)
        if is_linear(updates):
            cts[2] = read_back(ct, indices, aval, params)
            if may_repeat(indices, params):
                cts[2] = where(_stays(x, indices, aval, params), cts[2], scalar_zero(aval.dtype))
        return cts


def _stays(x: Any, indices: Any, updates: ShapedArray, params: dict[str, Any]) -> Any:
    """Which elements of the updates are in the result: write a number for each index vector, see which is left."""
    window = params["dimension_numbers"].update_window_dims
    outer = aval_of(indices).shape[:-1]
    numbers = reshape(iota(dtypes.int32, (math.prod(outer),)), outer)
    numbers = broadcast_in_dim(numbers, updates.shape, outer_axes(updates.ndim, window))
    left = scatter_p(full(aval_of(x).shape, -1, dtypes.int32), indices, numbers, **params)
    return eq_p(read_back(left, indices, updates, params, fill_value=-1), numbers)


class ScatterAdd(Scatter):
    """The updates are added to the elements (or subtracted), one after another where indices repeat."""

    def __init__(self, name: str, builder: str, accepts: str):
        super().__init__(name)
        self.builder, self.accepts = builder, accepts

    def jvp(self, primals, tangents, /, **params):
        (_, indices, _), (t, _, tu) = primals, tangents
        out = self.bind(*primals, **params)
        if is_zero(tu):
            return out, t if not is_zero(t) else zero_of(out)
        return out, self.bind(instantiate(t), indices, tu, **params)

    def transpose(self, ct, x, indices, updates, /, **params):
        cts = [ct if is_linear(x) else None, None, None]
        if is_linear(updates):
            read = read_back(ct, indices, updates.aval, params)
            cts[2] = neg_p(read) if self is scatter_sub_p else read
        return cts


scatter_p = ScatterSet("scatter")
scatter_add_p = ScatterAdd("scatter-add", "add", "biufc")
scatter_sub_p = ScatterAdd("scatter-sub", "subtract", "iufc")
