"""Reading and writing at computed places: iota, dynamic slices, gather, scatter.

An index is in bounds where the whole slice that starts there is. `GatherScatterMode` says what happens elsewhere. Dynamic
slices clip.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, physical
from ..core.primitive import Primitive
from ..symbolic.dimension import is_symbolic_dim, max_dim, min_dim, size
from .elementwise import div_p, eq_p
from .families import Linear, check_kind, is_linear, is_zero, pure, same_dtype, zero_of
from .linear import (
    add_p,
    broadcast_in_dim,
    broadcast_in_dim_p,
    concatenate_p,
    convert,
    full,
    instantiate,
    mul_p,
    neg_p,
    reshape,
    scalar_zero,
    where,
    zeros,
)
from .reduce import highest, lowest


# Numbers along an axis -----------------------------------------------------------------------------------------------


class Iota(Primitive):
    """0, 1, … along the axis `dimension` of an array of `shape` and `dtype`."""

    def abstract(self, /, *, dtype, shape, dimension):
        if not 0 <= dimension < len(shape):
            raise ValueError(f"iota of shape {tuple(shape)} has no axis {dimension}")
        out = ShapedArray(tuple(shape), dtype)
        check_kind("iota", out, "iufc")
        return pure(out)

    def lower(self, ctx, /, *, dtype, shape, dimension):
        return ctx.iota(ctx.avals_out[0], dimension)

    def shown_params(self, params):
        return {name: params[name] for name in ("dimension", "dtype", "shape")}


iota_p = Iota("iota")


def iota(dtype: Any, shape: Sequence[int], dimension: int = 0) -> Any:
    """0, 1, … along one axis of an array of the given dtype and shape."""
    return iota_p(dtype=dtypes.canonicalize(dtype), shape=tuple(map(size, shape)), dimension=dimension)


# What both ways of indexing share ------------------------------------------------------------------------------------


class GatherScatterMode(enum.Enum):
    """What happens to slices that are not wholly in bounds.

    CLIP: the index moves to the nearest one in bounds. FILL_OR_DROP: gather gives `fill_value`, scatter leaves the slice
    out. PROMISE_IN_BOUNDS: there are none; if there are, the result is unspecified.
    """

    CLIP = 0
    FILL_OR_DROP = 1
    PROMISE_IN_BOUNDS = 2

    @staticmethod
    def from_any(mode: GatherScatterMode | str | None) -> GatherScatterMode:
        """The mode of that name: "clip", "fill", "drop", "promise_in_bounds"; None is "fill". Raises ValueError."""
        if isinstance(mode, GatherScatterMode):
            return mode
        if mode is not None and mode not in _MODES:
            raise ValueError(f"there is no mode {mode!r} for indices out of bounds; there are {', '.join(_MODES)}")
        return _MODES[mode or "fill"]


_MODES = {"clip": GatherScatterMode.CLIP, "fill": GatherScatterMode.FILL_OR_DROP,
          "drop": GatherScatterMode.FILL_OR_DROP, "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS}  # fmt: skip


class GatherDimensionNumbers(NamedTuple):
    """Which axes do what in a gather. The last axis of the indices holds the index vectors.

    `offset_dims`: axes of the result that run along a slice. `collapsed_slice_dims`: axes of the operand, sliced to size
    1, that the result does not have. `start_index_map`: the operand axis that each number of an index vector is for.
    `operand_batching_dims` and `start_indices_batching_dims`: axes of operand and indices that run together.
    """

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which axes do what in a scatter: as in the gather that would read where it writes.

    `update_window_dims`: axes of the updates that run along a slice. `inserted_window_dims`: axes of the operand that the
    updates do not have. `scatter_dims_to_operand_dims`: the operand axis that each number of an index vector is for.
    `operand_batching_dims` and `scatter_indices_batching_dims`: axes of operand and indices that run together.
    """

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


def scatter_numbers(numbers: GatherDimensionNumbers) -> ScatterDimensionNumbers:
    """The axes of the scatter that writes where the gather reads."""
    return ScatterDimensionNumbers(*numbers)


def gather_numbers(numbers: ScatterDimensionNumbers) -> GatherDimensionNumbers:
    """The axes of the gather that reads where the scatter writes."""
    return GatherDimensionNumbers(*numbers)


def _check_numbers(name: str, operand: ShapedArray, indices: ShapedArray, numbers: Any, rank: int) -> None:
    """Raise TypeError unless the axes name what there is. `rank` is that of the result or updates."""
    said = f"{name} of {operand.short()} at indices {indices.short()}"
    if not indices.ndim:
        raise TypeError(f"{said}: the last axis of the indices holds the index vectors, so they need at least one axis")
    check_kind(f"{name} (as an index)", indices, "iu")
    # Axes of slices in the result or updates, missing there, indexed, shared by operand and indices.
    window, missing, indexed, shared, indices_shared = numbers
    names = numbers._fields
    limits = (rank, operand.ndim, operand.ndim, operand.ndim, indices.ndim - 1)
    for field, axes, limit in zip(names, numbers, limits):
        if len(set(axes)) != len(axes) or any(not 0 <= a < limit for a in axes):
            raise TypeError(f"{said}: {field}={axes} does not name distinct axes below {limit}")
    for field, axes in zip((names[0], names[1], names[3]), (window, missing, shared)):
        if list(axes) != sorted(axes):
            raise TypeError(f"{said}: {field}={axes} is not in order")
    if set(missing) & set(shared) or set(indexed) & set(shared):
        raise TypeError(
            f"{said}: axes {shared} run together with the indices, so they can neither be indexed nor "
            f"left out (indexed: {indexed}; left out: {missing})"
        )
    if len(window) + len(missing) + len(shared) != operand.ndim:
        raise TypeError(
            f"{said}: each axis of the operand is in a slice, left out, or shared with the indices; there "
            f"are {len(window)} + {len(missing)} + {len(shared)} such axes, not {operand.ndim}"
        )
    if len(indexed) != indices.shape[-1]:
        raise TypeError(
            f"{said}: the index vectors have {indices.shape[-1]} numbers, but {names[2]}={indexed} says "
            f"what {len(indexed)} are for"
        )
    if [operand.shape[a] for a in shared] != [indices.shape[a] for a in indices_shared]:
        raise TypeError(
            f"{said}: axes {shared} of the operand and {indices_shared} of the indices run together, but "
            "their sizes differ"
        )


def _kept(rank: int, numbers: Any) -> list[int]:
    """The operand axes that are in the result or the updates, in order."""
    _, missing, _, shared, _ = numbers
    return [a for a in range(rank) if a not in missing and a not in shared]


def _outer(rank: int, window: Sequence[int]) -> tuple[int, ...]:
    """The axes of the result or updates that run along the indices."""
    return tuple(a for a in range(rank) if a not in window)


def _slice_shape(operand: ShapedArray, updates: ShapedArray, numbers: ScatterDimensionNumbers) -> tuple[int, ...]:
    """The size along each operand axis of what one index vector writes."""
    sizes = [1] * operand.ndim
    for axis, at in zip(_kept(operand.ndim, numbers), numbers.update_window_dims):
        sizes[axis] = updates.shape[at]
    return tuple(sizes)


def _wide_indices(ctx: Any, value: Any, aval: ShapedArray) -> tuple[Any, ShapedArray]:
    """Indices as at least 32 bits: XLA clips in the indices' own dtype, which may not hold the size of the axis."""
    if aval.dtype.itemsize >= 4:
        return value, aval
    wide = aval.update(dtype=dtypes.int32)
    return ctx.convert(value, aval.dtype, wide.dtype), wide


def _limits(ctx: Any, aval: ShapedArray, shape: Sequence[int], sizes: Sequence[int], indexed: Sequence[int]) -> Any:
    """The greatest index in bounds for each number of the index vectors, in their shape."""
    row = ctx.vector([max_dim(shape[a] - sizes[a], 0) for a in indexed], aval.dtype)
    return ctx.broadcast_in_dim(row, aval, [aval.ndim - 1])


def _along_operand(numbers: Any, dim: int, rank: int, out_rank: int) -> tuple[Any, int]:
    """The numbers once the operand (of `rank`) has one more axis at `dim`, which all slices span; where it lies in the
    result or the updates (of `out_rank`)."""
    window, missing, indexed, shared, indices_shared = numbers
    before = sum(a < dim for a in _kept(rank, numbers))
    at = window[before] if before < len(window) else out_rank
    moved = tuple(sorted([*_moved(window, at), at]))
    return type(numbers)(moved, _moved(missing, dim), _moved(indexed, dim), _moved(shared, dim), indices_shared), at


def _along_indices(numbers: Any) -> Any:
    """The numbers once the indices, and the result or the updates, have one more axis in front."""
    window, missing, indexed, shared, indices_shared = numbers
    return type(numbers)(_moved(window, 0), missing, indexed, shared, _moved(indices_shared, 0))


def _along_both(numbers: Any, dim: int) -> Any:
    """The numbers once the indices, and the result or the updates, have one more axis in front, and the operand, which
    runs together with them, one at `dim`."""
    window, missing, indexed, shared, indices_shared = numbers
    pairs = sorted([(dim, 0), *zip(_moved(shared, dim), _moved(indices_shared, 0))])
    return type(numbers)(
        _moved(window, 0),
        _moved(missing, dim),
        _moved(indexed, dim),
        tuple(a for a, _ in pairs),
        tuple(b for _, b in pairs),
    )


def _moved(axes: Sequence[int], dim: int) -> tuple[int, ...]:
    """Where axes are once there is another one at `dim`."""
    return tuple(a + (a >= dim) for a in axes)


def _with(values: Sequence[Any], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at:])


# Gather --------------------------------------------------------------------------------------------------------------


class Gather(Linear):
    """Slices of `slice_sizes` that start at computed indices.

    `unique_indices` and `indices_are_sorted` are promises about the indices. `fill_value` (None: NaN, the least integer,
    the greatest unsigned one, True) stands where mode FILL_OR_DROP finds nothing.
    """

    def abstract(self, x, indices, /, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, mode,
                 fill_value):  # fmt: skip
        rank = len(dimension_numbers.offset_dims) + max(indices.ndim, 1) - 1
        _check_numbers("gather", x, indices, dimension_numbers, rank)
        _check_slices(x, indices, dimension_numbers, slice_sizes)
        sizes = iter(slice_sizes[a] for a in _kept(x.ndim, dimension_numbers))
        outer = iter(indices.shape[:-1])
        shape = tuple(next(sizes if i in dimension_numbers.offset_dims else outer) for i in range(rank))
        return pure(ShapedArray(shape, x.dtype, x.weak_type))

    def lower(self, ctx, x, indices, /, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, mode,
              fill_value):  # fmt: skip
        (x_aval, indices_aval), out = ctx.avals_in, ctx.avals_out[0]
        if not out.size:
            return ctx.full(0, physical(out))
        indices, indices_aval = _wide_indices(ctx, indices, indices_aval)
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
        outer = _outer(out.ndim, dimension_numbers.offset_dims)
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
            numbers, out = _along_operand(dimension_numbers, dim, x_rank, rank)
            slice_sizes = _with(slice_sizes, dim, axis.size)
        elif dim is None:
            numbers = _along_indices(dimension_numbers)
            indices = axis.move(indices, indices_dim, 0)
            indices_are_sorted = unique_indices = False  # of one example, not of all together
        else:
            numbers = _along_both(dimension_numbers, dim)
            indices = axis.move(indices, indices_dim, 0)
            slice_sizes = _with(slice_sizes, dim, min_dim(axis.size, 1))
        return gather_p(
            x,
            indices,
            dimension_numbers=numbers,
            slice_sizes=slice_sizes,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            **same,
        ), out

    def shown_params(self, params):
        return {name: params[name] for name in sorted(params)}


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
        inside = ctx.compare(indices, _limits(ctx, aval, shape, sizes, indexed), "LE")
    else:
        inside = ctx.hlo.and_(
            ctx.compare(indices, ctx.full(0, aval), "GE"),
            ctx.compare(indices, _limits(ctx, aval, shape, sizes, indexed), "LE"),
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


def gather(operand: Any, start_indices: Any, dimension_numbers: GatherDimensionNumbers, slice_sizes: Sequence[int], *,
           unique_indices: bool = False, indices_are_sorted: bool = False, mode: Any = None,
           fill_value: Any = None) -> Any:  # fmt: skip
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


# Scatter -------------------------------------------------------------------------------------------------------------


class Scatter(Primitive):
    """The operand with updates combined into slices that start at computed indices.

    `unique_indices` and `indices_are_sorted` are promises about the indices. Subclasses say how the old and the new
    element are combined.
    """

    accepts = "biufck"
    builder = ""

    def abstract(self, x, indices, updates, /, *, dimension_numbers, indices_are_sorted, unique_indices, mode, **held):
        dtype = same_dtype(self.name, (x, updates))
        check_kind(self.name, x, self.accepts)
        _check_numbers(self.name, x, indices, dimension_numbers, updates.ndim)
        _check_updates(self.name, x, indices, updates, dimension_numbers)
        return pure(ShapedArray(x.shape, dtype, x.weak_type))

    def lower(
        self, ctx, x, indices, updates, /, *, dimension_numbers, indices_are_sorted, unique_indices, mode, **held
    ):
        x_aval, indices_aval, updates_aval = ctx.avals_in
        if not x_aval.size or not updates_aval.size:
            return x
        if not x_aval.ndim and updates_aval.ndim:  # XLA cannot scatter into a scalar
            return ctx.inline(
                lambda *args: self._into_scalar(*args, unique_indices=unique_indices, **held), x, indices, updates
            )
        indices, indices_aval = _wide_indices(ctx, indices, indices_aval)
        if mode is GatherScatterMode.CLIP and dimension_numbers.scatter_dims_to_operand_dims:
            sizes = _slice_shape(x_aval, updates_aval, dimension_numbers)
            limits = _limits(ctx, indices_aval, x_aval.shape, sizes, dimension_numbers.scatter_dims_to_operand_dims)
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
        ctx.region(operation, 0, [scalar, scalar], lambda old, new: self.combine(ctx, old, new, **held))
        return operation.result

    def _into_scalar(self, x, indices, updates, /, *, unique_indices, **held):
        zeros = full((*aval_of(indices).shape[:-1], 1), 0, dtypes.int32)
        out = self.bind(
            reshape(x, (1,)),
            zeros,
            updates,
            dimension_numbers=ScatterDimensionNumbers((), (0,), (0,)),
            indices_are_sorted=True,
            unique_indices=unique_indices,
            mode=GatherScatterMode.PROMISE_IN_BOUNDS,
            **held,
        )
        return reshape(out, ())

    def combine(self, ctx: Any, old: Any, new: Any, /, **held: Any) -> Any:
        """The element that takes the place of `old`; `held` are parameters of the primitive's own."""
        return ctx.builder(self.builder)(old, new)

    def batch(self, axis, args, dims, /, *, dimension_numbers, **same):
        (x, indices, updates), (dim, indices_dim, updates_dim) = args, dims
        if dim is None:
            x, dim = axis.move(x, None, 0), 0
        if indices_dim is None:
            x_rank = aval_of(x).ndim - 1
            rank = aval_of(updates).ndim - (updates_dim is not None)
            numbers, at = _along_operand(dimension_numbers, dim, x_rank, rank)
        else:
            numbers, at = _along_both(dimension_numbers, dim), 0
            indices = axis.move(indices, indices_dim, 0)
        updates = axis.move(updates, updates_dim, at)
        return self.bind(x, indices, updates, dimension_numbers=numbers, **same), dim

    def shown_params(self, params):
        return {name: params[name] for name in sorted(params)}


def _check_updates(name: str, x: ShapedArray, indices: ShapedArray, updates: ShapedArray, numbers: Any) -> None:
    window = numbers.update_window_dims
    outer = tuple(updates.shape[a] for a in _outer(updates.ndim, window))
    said = f"{name} of updates {updates.short()} into {x.short()} at indices {indices.short()}"
    if outer != indices.shape[:-1]:
        raise TypeError(
            f"{said}: the axes of the updates that run along the indices have sizes {outer}, the indices "
            f"have {indices.shape[:-1]}"
        )
    for axis, at in zip(_kept(x.ndim, numbers), window):
        if updates.shape[at] > x.shape[axis]:
            raise TypeError(
                f"{said}: a slice of size {updates.shape[at]} does not fit axis {axis}, which has size {x.shape[axis]}"
            )


def _repeats(indices: Any, params: dict[str, Any]) -> bool:
    """Whether two index vectors can name the same place."""
    shared = params["dimension_numbers"].scatter_indices_batching_dims
    vectors = math.prod(n for i, n in enumerate(aval_of(indices).shape[:-1]) if i not in shared)
    return not params["unique_indices"] and (is_symbolic_dim(vectors) or vectors > 1)


def _read(x: Any, indices: Any, updates: ShapedArray, params: dict[str, Any], fill_value: Any = 0) -> Any:
    """What stands in `x` where the scatter with these parameters writes its updates."""
    numbers = params["dimension_numbers"]
    return gather_p(
        x,
        indices,
        dimension_numbers=gather_numbers(numbers),
        slice_sizes=_slice_shape(aval_of(x), updates, numbers),
        fill_value=fill_value,
        **{k: params[k] for k in ("indices_are_sorted", "unique_indices", "mode")},
    )


class ScatterSet(Scatter):
    """The updates take the place of the elements. Where indices repeat, one of them does: on the CPU the last."""

    def combine(self, ctx, old, new, /, **held):
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
            cts[2] = _read(ct, indices, aval, params)
            if _repeats(indices, params):
                cts[2] = where(_stays(x, indices, aval, params), cts[2], scalar_zero(aval.dtype))
        return cts


def _stays(x: Any, indices: Any, updates: ShapedArray, params: dict[str, Any]) -> Any:
    """Which elements of the updates are in the result: write a number for each index vector, see which is left."""
    window = params["dimension_numbers"].update_window_dims
    outer = aval_of(indices).shape[:-1]
    numbers = reshape(iota(dtypes.int32, (math.prod(outer),)), outer)
    numbers = broadcast_in_dim(numbers, updates.shape, _outer(updates.ndim, window))
    left = scatter_p(full(aval_of(x).shape, -1, dtypes.int32), indices, numbers, **params)
    return eq_p(_read(left, indices, updates, params, fill_value=-1), numbers)


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
            read = _read(ct, indices, updates.aval, params)
            cts[2] = neg_p(read) if self is scatter_sub_p else read
        return cts


class ScatterMul(Scatter):
    """The elements are multiplied by the updates. Differentiable in the updates only where no two of them meet."""

    accepts, builder = "biufc", "multiply"

    def jvp(self, primals, tangents, /, **params):
        (x, indices, updates), (t, _, tu) = primals, tangents
        out = scatter_mul_p(*primals, **params)
        total: Any = zero_of(out) if is_zero(t) else scatter_mul_p(t, indices, updates, **params)
        if not is_zero(tu):
            self._check_unique(indices, params)
            placed = scatter_add_p(zeros(aval_of(x)), indices, tu, **params)
            total = mul_p(x, placed) if is_zero(total) else add_p(total, mul_p(x, placed))
        return out, total

    def transpose(self, ct, x, indices, updates, /, **params):
        if is_linear(x):
            return [scatter_mul_p(ct, indices, updates, **params), None, None]
        self._check_unique(indices, params)
        return [None, None, _read(mul_p(ct, x), indices, updates.aval, params)]

    def _check_unique(self, indices: Any, params: dict[str, Any]) -> None:
        if _repeats(indices, params):
            raise NotImplementedError(
                "scatter-mul has a derivative in its updates only if no index repeats: promise it with "
                "unique_indices=True, e.g. x.at[i].multiply(y, unique_indices=True)"
            )


class ScatterChoose(Scatter):
    """The greater (or lesser) of element and updates. The tangent is the mean over those that reach it."""

    accepts = "biufc"

    def __init__(self, name: str, builder: str):
        super().__init__(name)
        self.builder = builder

    def jvp(self, primals, tangents, /, **params):
        (x, indices, updates), (t, _, tu) = primals, tangents
        out = self.bind(*primals, **params)
        if is_zero(t) and is_zero(tu):
            return out, zero_of(out)
        dtype, updates_aval = aval_of(x).dtype, aval_of(updates)
        reached = convert(eq_p(updates, _read(out, indices, updates_aval, params)), dtype)
        kept = convert(eq_p(x, out), dtype)
        count = scatter_add_p(kept, indices, reached, **params)
        total = mul_p(kept, instantiate(t))
        total = scatter_add_p(total, indices, mul_p(reached, instantiate(tu)), **params)
        return out, div_p(total, count)


scatter_p = ScatterSet("scatter")
scatter_add_p = ScatterAdd("scatter-add", "add", "biufc")
scatter_sub_p = ScatterAdd("scatter-sub", "subtract", "iufc")
scatter_mul_p = ScatterMul("scatter-mul")
scatter_min_p = ScatterChoose("scatter-min", "minimum")
scatter_max_p = ScatterChoose("scatter-max", "maximum")


def _scatter(primitive: Scatter, doing: str, refuses: str = "") -> Any:
    def function(operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: ScatterDimensionNumbers, *,
                 indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Any:  # fmt: skip
        if refuses and dtypes.kind(aval_of(operand).dtype) in refuses:
            raise TypeError(
                f"{primitive.name} does not work on {aval_of(operand).short()}: convert it with .astype(...)"
            )
        return primitive(operand, scatter_indices, updates, dimension_numbers=dimension_numbers,
                         indices_are_sorted=bool(indices_are_sorted), unique_indices=bool(unique_indices),
                         mode=GatherScatterMode.from_any(mode))  # fmt: skip

    function.__name__ = function.__qualname__ = primitive.name.replace("-", "_")
    function.__doc__ = f"""`operand` with `updates` {doing} the slices that start at `scatter_indices`; `mode` by name or
    GatherScatterMode (None: drop). `unique_indices` and `indices_are_sorted` are promises.

    Raises TypeError where axes, sizes and shapes do not fit, ValueError for an unknown mode."""
    return function


scatter = _scatter(scatter_p, "in place of")
scatter_add = _scatter(scatter_add_p, "added to", "b")
scatter_sub = _scatter(scatter_sub_p, "subtracted from")
scatter_mul = _scatter(scatter_mul_p, "multiplied into", "b")
scatter_min = _scatter(scatter_min_p, "where they are less than")
scatter_max = _scatter(scatter_max_p, "where they are greater than")


# Dynamic slices ------------------------------------------------------------------------------------------------------


class DynamicSlice(Linear):
    """The slice of `slice_sizes` that starts at computed indices, one scalar for each axis; it is moved into bounds."""

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
            sizes = _with(slice_sizes, dim, axis.size)
            return dynamic_slice_p(x, *_with(starts, dim, zero), slice_sizes=sizes), dim
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
            return dynamic_update_slice_p(x, update, *_with(starts, to, zero)), to
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


dynamic_slice_p = DynamicSlice("dynamic_slice")
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
