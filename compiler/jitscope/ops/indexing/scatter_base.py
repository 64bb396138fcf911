"""What all scatters share: shapes, lowering, `vmap`."""

from __future__ import annotations

from typing import Any

from ...core import dtypes
from ...core.avals import ShapedArray, aval_of, physical
from ...core.primitive import Primitive
from ..families import check_kind, pure, same_dtype
from ..linear import full, reshape
from .axes import (
    GatherScatterMode,
    ScatterDimensionNumbers,
    along_both,
    along_operand,
    check_numbers,
    greatest_indices,
    kept_axes,
    outer_axes,
    slice_shape,
    wide_indices,
)


__all__ = ["Scatter"]


class Scatter(Primitive):
    """The operand with updates combined into slices that start at computed indices.

    `unique_indices` and `indices_are_sorted` are promises about the indices. Subclasses say how the old and the new
    element are combined.
    """

    accepts = "biufck"
    builder = ""

    def abstract(self, x, indices, updates, /, *, dimension_numbers, indices_are_sorted, unique_indices, mode, **own):
        dtype = same_dtype(self.name, (x, updates))
        check_kind(self.name, x, self.accepts)
        check_numbers(self.name, x, indices, dimension_numbers, updates.ndim)
        _check_updates(self.name, x, indices, updates, dimension_numbers)
        return pure(ShapedArray(x.shape, dtype, x.weak_type))

    def lower(self, ctx, x, indices, updates, /, *, dimension_numbers, indices_are_sorted, unique_indices, mode, **own):
        x_aval, indices_aval, updates_aval = ctx.avals_in
        if not x_aval.size or not updates_aval.size:
            return x
        if not x_aval.ndim and updates_aval.ndim:  # XLA cannot scatter into a scalar
            return ctx.inline(
                lambda *args: self._into_scalar(*args, unique_indices=unique_indices, **own), x, indices, updates
            )
        indices, indices_aval = wide_indices(ctx, indices, indices_aval)
        if mode is GatherScatterMode.CLIP and dimension_numbers.scatter_dims_to_operand_dims:
            sizes = slice_shape(x_aval, updates_aval, dimension_numbers)
            limits = greatest_indices(
                ctx, indices_aval, x_aval.shape, sizes, dimension_numbers.scatter_dims_to_operand_dims
            )
            indices = ctx.hlo.clamp(ctx.full(0, indices_aval), indices, limits)
        inner = len(physical(x_aval).shape) - x_aval.ndim
        windows = [*dimension_numbers.update_window_dims, *range(updates_aval.ndim, updates_aval.ndim + inner)]
        numbers = ctx.hlo.ScatterDimensionNumbers.get(
            update_window_dims=windows,
            inserted_window_dims=dimension_numbers.inserted_window_dims,
            input_batching_dims=dimension_numbers.operand_batching_dims,
            scatter_indices_batching_dims=dimension_numbers.scatter_indices_batching_dims,
            scattered_dims_to_operand_dims=dimension_numbers.scatter_dims_to_operand_dims,
            index_vector_dim=indices_aval.ndim - 1,
        )
        operation = ctx.hlo.ScatterOp(
            [ctx.type(ctx.avals_out[0])],
            [x],
            indices,
            [updates],
            numbers,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
        )
        scalar = ShapedArray((), physical(x_aval).dtype)
        ctx.region(operation, 0, [scalar, scalar], lambda old, new: self.combine(ctx, old, new, **own))
        return operation.result

    def _into_scalar(self, x, indices, updates, /, *, unique_indices, **own):
        zeros = full((*aval_of(indices).shape[:-1], 1), 0, dtypes.int32)
        out = self.bind(
            reshape(x, (1,)),
            zeros,
            updates,
            dimension_numbers=ScatterDimensionNumbers((), (0,), (0,)),
            indices_are_sorted=True,
            unique_indices=unique_indices,
            mode=GatherScatterMode.PROMISE_IN_BOUNDS,
            **own,
        )
        return reshape(out, ())

    def combine(self, ctx: Any, old: Any, new: Any, /, **own: Any) -> Any:
        """The element that takes the place of `old`; `own` are parameters of the primitive's own."""
        return ctx.builder(self.builder)(old, new)

    def batch(self, axis, args, dims, /, *, dimension_numbers, **same):
        (x, indices, updates), (dim, indices_dim, updates_dim) = args, dims
        if dim is None:
            x, dim = axis.move(x, None, 0), 0
        if indices_dim is None:
            x_rank = aval_of(x).ndim - 1
            rank = aval_of(updates).ndim - (updates_dim is not None)
            numbers, at = along_operand(dimension_numbers, dim, x_rank, rank)
        else:
            numbers, at = along_both(dimension_numbers, dim), 0
            indices = axis.move(indices, indices_dim, 0)
        updates = axis.move(updates, updates_dim, at)
        return self.bind(x, indices, updates, dimension_numbers=numbers, **same), dim


def _check_updates(name: str, x: ShapedArray, indices: ShapedArray, updates: ShapedArray, numbers: Any) -> None:
    window = numbers.update_window_dims
    outer = tuple(updates.shape[a] for a in outer_axes(updates.ndim, window))
    said = f"{name} of updates {updates.short()} into {x.short()} at indices {indices.short()}"
    if outer != indices.shape[:-1]:
        raise TypeError(
            f"{said}: the axes of the updates that run along the indices have sizes {outer}, the indices "
            f"have {indices.shape[:-1]}"
        )
    for axis, at in zip(kept_axes(x.ndim, numbers), window):
        if updates.shape[at] > x.shape[axis]:
            raise TypeError(
                f"{said}: a slice of size {updates.shape[at]} does not fit axis {axis}, which has size {x.shape[axis]}"
            )
