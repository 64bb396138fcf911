"""Slices that start at computed places, one scalar for each axis: they are moved into bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import dtypes
from ...core.avals import ShapedArray, aval_of, physical
from ...core.primitive import Primitive
from ...xla.cpu_tuning import STENCILS_AS_CHOICES
from ..families import Linear, is_linear, is_zero, pure, same_dtype, zero_of
from ..linear import broadcast_in_dim_p, concatenate_p, convert, full, instantiate, scalar_zero, zeros
from .axes import GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers, inserted
from .gather_scatter import gather_p, scatter_p
from .stencils import chosen_by_place, is_stencil, known_places


__all__ = ["DynamicSlice", "DynamicUpdateSlice", "dynamic_slice_p", "dynamic_update_slice_p"]


class DynamicSlice(Linear):
    """The slice of `slice_sizes` that starts at computed indices, one scalar for each axis; it is moved into bounds."""

    sums = "each"

    def abstract(self, x, /, *starts, slice_sizes):
        _check_starts("dynamic_slice", x, starts)
        if len(slice_sizes) != x.ndim or any(not 0 <= s <= n for s, n in zip(slice_sizes, x.shape)):
            raise TypeError(f"dynamic_slice: a slice of shape {tuple(slice_sizes)} does not fit into {x.short()}")
        return pure(ShapedArray(tuple(slice_sizes), x.dtype, x.weak_type))

    def lower(self, ctx, x, /, *starts, slice_sizes):
        if not starts:
            return x
        aval = ctx.avals_in[0]
        starts = _same_starts(ctx, starts, physical(aval).ndim)
        return ctx.dynamic_slice(x, physical(aval), starts, [*slice_sizes, *physical(aval).shape[aval.ndim :]])

    def transpose(self, ct, x, /, *starts, slice_sizes):
        return [dynamic_update_slice_p(zeros(x.aval), ct, *starts), *[None] * len(starts)]

    def batch(self, axis, args, dims, /, *, slice_sizes):
        (x, *starts), (dim, *start_dims) = args, dims
        if all(d is None for d in start_dims):
            zero = scalar_zero(aval_of(starts[0]).dtype if starts else dtypes.int32)
            sizes = inserted(slice_sizes, dim, axis.size)
            return dynamic_slice_p(x, *inserted(starts, dim, zero), slice_sizes=sizes), dim
        shape = _without_axis(aval_of(x).shape, dim)
        indices, indexed = _index_vectors(axis, starts, start_dims, shape, slice_sizes)
        numbers = GatherDimensionNumbers(tuple(range(len(shape))), (), indexed)
        return gather_p.batch(
            axis,
            (x, indices),
            (dim, 0),
            dimension_numbers=numbers,
            slice_sizes=slice_sizes,
            indices_are_sorted=True,
            unique_indices=True,
            mode=GatherScatterMode.CLIP,
            fill_value=None,
        )


dynamic_slice_p = DynamicSlice("dynamic_slice")


class DynamicUpdateSlice(Primitive):
    """The operand with `update` in place of the slice that starts at computed indices; it is moved into bounds."""

    def abstract(self, x, update, /, *starts):
        dtype = same_dtype("dynamic_update_slice", (x, update))
        _check_starts("dynamic_update_slice", x, starts)
        if update.ndim != x.ndim or any(s > n for s, n in zip(update.shape, x.shape)):
            raise TypeError(f"dynamic_update_slice: {update.short()} does not fit into {x.short()}")
        return pure(ShapedArray(x.shape, dtype))

    def lower(self, ctx, x, update, /, *starts):
        if not starts:
            return update
        places = known_places(ctx, starts)
        if places is not None and is_stencil(ctx, x, update, places):
            ctx.rewritten("written as a choice of old and new elements by their place", STENCILS_AS_CHOICES)
            return chosen_by_place(ctx, x, update, places)
        return ctx.hlo.dynamic_update_slice(x, update, _same_starts(ctx, starts, physical(ctx.avals_in[0]).ndim, 2))

    def jvp(self, primals, tangents, /):
        (_, _, *starts), (t, tu, *_) = primals, tangents
        out = dynamic_update_slice_p(*primals)
        if is_zero(t) and is_zero(tu):
            return out, zero_of(out)
        return out, dynamic_update_slice_p(instantiate(t), instantiate(tu), *starts)

    def transpose(self, ct, x, update, /, *starts):
        aval = aval_of(update)
        nothing = full(aval.shape, 0, aval.dtype) if is_linear(x) else None
        return [
            dynamic_update_slice_p(ct, nothing, *starts) if is_linear(x) else None,
            dynamic_slice_p(ct, *starts, slice_sizes=aval.shape) if is_linear(update) else None,
            *[None] * len(starts),
        ]

    def batch(self, axis, args, dims, /):
        (x, update, *starts), (dim, update_dim, *start_dims) = args, dims
        if all(d is None for d in start_dims):
            to = 0 if dim is None else dim
            zero = scalar_zero(aval_of(starts[0]).dtype if starts else dtypes.int32)
            x, update = axis.move(x, dim, to), axis.move(update, update_dim, to)
            return dynamic_update_slice_p(x, update, *inserted(starts, to, zero)), to
        shape, sizes = (_without_axis(aval_of(v).shape, d) for v, d in ((x, dim), (update, update_dim)))
        indices, indexed = _index_vectors(axis, starts, start_dims, shape, sizes)
        numbers = ScatterDimensionNumbers(tuple(range(len(shape))), (), indexed)
        return scatter_p.batch(
            axis,
            (x, indices, update),
            (dim, 0, update_dim),
            dimension_numbers=numbers,
            indices_are_sorted=True,
            unique_indices=True,
            mode=GatherScatterMode.CLIP,
        )


dynamic_update_slice_p = DynamicUpdateSlice("dynamic_update_slice")


def _check_starts(name: str, x: ShapedArray, starts: Sequence[ShapedArray]) -> None:
    if len(starts) != x.ndim:
        raise TypeError(f"{name} of {x.short()} needs one start for each of its {x.ndim} axes; it got {len(starts)}")
    for start in starts:
        if start.shape or dtypes.kind(start.dtype) not in "iu":
            raise TypeError(f"{name} of {x.short()} starts at integers; one of its starts is {start.short()}")


def _same_starts(ctx: Any, starts: Sequence[Any], rank: int, first: int = 1) -> list[Any]:
    """Starts in one dtype of at least 32 bits, and zeros for the axes below a key."""
    avals = ctx.avals_in[first:]
    dtype = _start_dtype([a.dtype for a in avals])
    starts = [ctx.convert(s, a.dtype, dtype) for s, a in zip(starts, avals)]
    return starts + [ctx.full(0, ShapedArray((), dtype))] * (rank - len(starts))


def _start_dtype(found: Sequence[Any]) -> Any:
    if all(d == found[0] for d in found) and found[0].itemsize >= 4:
        return found[0]
    wide = any(d.itemsize == 8 or d == dtypes.uint32 for d in found)
    return dtypes.int64 if wide and not all(d.itemsize < 4 for d in found) else dtypes.int32


def _index_vectors(axis, starts, dims, shape, sizes) -> tuple[Any, tuple[int, ...]]:
    """The starts of all examples as one array, a row for each, and the axes its columns are for: those that slices do
    not span from end to end."""
    indexed = tuple(i for i, (n, s) in enumerate(zip(shape, sizes)) if n != s) or (0,)
    dtype = _start_dtype([aval_of(starts[i]).dtype for i in indexed])
    dtype = dtypes.int32 if dtypes.canonicalize(dtype) != dtype else dtype
    columns = [
        broadcast_in_dim_p(
            convert(starts[i], dtype), shape=(axis.size, 1), broadcast_dimensions=() if dims[i] is None else (0,)
        )
        for i in indexed
    ]
    return columns[0] if len(columns) == 1 else concatenate_p(*columns, dimension=1), indexed


def _without_axis(shape: tuple[int, ...], dim: int | None) -> tuple[int, ...]:
    return shape if dim is None else shape[:dim] + shape[dim + 1 :]
