"""The reading of elements at a parsed index, by slices where that will do, else by a gather."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from ..ops.elementwise import lt_p
from ..ops.indexing import GatherDimensionNumbers, GatherScatterMode, dynamic_slice_p, gather
from ..ops.linear import (
    add_p,
    broadcast_in_dim_p,
    concatenate_p,
    convert,
    full,
    number_of,
    reshape,
    rev_p,
    slice_p,
    squeeze_p,
    where as choose,
)
from ..symbolic.dimension import Dim, reach
from ._index import ARRAY, INT, NEW, SCALAR, SLICE, Index
from .operands import broadcast_shape


def read(
    x: Any,
    index: Index,
    mode: GatherScatterMode = GatherScatterMode.PROMISE_IN_BOUNDS,
    fill_value: Any = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
) -> Any:
    """The elements of `x` at a parsed index."""
    if index.added:
        x = reshape(x, index.shape)
    filled = mode is GatherScatterMode.FILL_OR_DROP and any(i.clipped or i.kind == SCALAR for i in index.items)
    if not filled and not any(item.kind == ARRAY for item in index.items):
        gone = tuple(item.axis for item in index.items if item.kind in (INT, SCALAR))
        x = window(x, index)
        return with_new(squeeze_p(x, dimensions=gone) if gone else x, index, 0)
    x = window(x, index, only_slices=True)
    return _gathered(x, index, mode, fill_value, unique_indices, indices_are_sorted)


def places_of_new(index: Index, extra: int) -> list[int]:
    """Where the new axes of an index are in its result, in which index arrays have `extra` axes."""
    kept = [item for item in index.items if item.kind in (NEW, SLICE)]
    return [j + (extra if j >= index.arrays_at else 0) for j, item in enumerate(kept) if item.kind == NEW]


def with_new(x: Any, index: Index, extra: int) -> Any:
    """A result without the new axes of the index, with them."""
    places = places_of_new(index, extra)
    if not places:
        return x
    rank = aval_of(x).ndim + len(places)
    sizes = iter(aval_of(x).shape)
    shape = tuple(1 if i in places else next(sizes) for i in range(rank))
    return broadcast_in_dim_p(x, shape=shape, broadcast_dimensions=tuple(i for i in range(rank) if i not in places))


def slices_before_arrays(index: Index) -> int:
    """How many axes of slices come before those of index arrays in the result."""
    kept = [item for item in index.items if item.kind in (NEW, SLICE)]
    return sum(item.kind == SLICE for item in kept[: index.arrays_at])


def _gathered(x: Any, index: Index, mode: GatherScatterMode, fill_value: Any, unique: bool, ordered: bool) -> Any:
    vectors, axes, outer = index_vectors(index, mode)
    shape = aval_of(x).shape
    before, slices = slices_before_arrays(index), len(shape) - len(axes)
    offsets = tuple(i + (len(outer) if i >= before else 0) for i in range(slices))
    if 0 in outer:
        rest = [n for i, n in enumerate(shape) if i not in axes]
        empty = (*rest[:before], *outer, *rest[before:])
        return with_new(full(empty, 0, aval_of(x).dtype), index, len(outer))
    if empty_axes := [a for a in axes if shape[a] == 0]:
        raise IndexError(f"an index of axis {empty_axes[0]}, which has size 0, is out of bounds")
    numbers = GatherDimensionNumbers(offsets, tuple(sorted(axes)), axes)
    sizes = tuple(1 if i in axes else n for i, n in enumerate(shape))
    out = gather(
        x, vectors, numbers, sizes, unique_indices=unique, indices_are_sorted=ordered, mode=mode, fill_value=fill_value
    )
    return with_new(out, index, len(outer))


def index_vectors(index: Index, mode: GatherScatterMode) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """The numbers and arrays of an index as one array of index vectors, the axes its columns are for, and the common
    shape of the index arrays."""
    items = [item for item in index.items if item.kind in (INT, SCALAR, ARRAY)]
    drops = mode is GatherScatterMode.FILL_OR_DROP
    columns = []
    for item in items:
        size = index.shape[item.axis]
        outside = drops and item.clipped
        value = size if outside else item.value
        columns.append(
            np.asarray(value, np.int32)
            if isinstance(value, int)
            else number_of(value, dtypes.int32)
            if isinstance(value, Dim)
            else from_front(value, size)
            if item.kind != INT
            else value
        )
    outer = broadcast_shape(*[aval_of(c).shape for c in columns])
    axes = tuple(item.axis for item in items)
    if all(isinstance(c, np.ndarray) for c in columns):
        return np.stack([np.broadcast_to(c, outer) for c in columns], -1), axes, outer
    to = dtypes.int64 if any(aval_of(c).dtype.itemsize == 8 for c in columns) else dtypes.int32
    wide = (*outer, 1)
    columns = [_column(convert(c, to) if hasattr(c, "aval") else c.astype(to), wide) for c in columns]
    return columns[0] if len(columns) == 1 else concatenate_p(*columns, dimension=len(outer)), axes, outer


def _column(x: Any, wide: tuple[int, ...]) -> Any:
    own = aval_of(x).shape
    first = len(wide) - 1 - len(own)
    return broadcast_in_dim_p(x, shape=wide, broadcast_dimensions=tuple(range(first, len(wide) - 1)))


def window(x: Any, index: Index, only_slices: bool = False) -> Any:
    """The part of `x` that slices and numbers pick, with axes of size 1 for the numbers, and steps and order applied
    unless `only_slices`, which leaves numbers alone."""
    starts: list[Any] = [0] * len(index.shape)
    sizes: list[Any] = list(index.shape)
    steps = [1] * len(index.shape)
    turned = []
    for item in index.items:
        if item.kind == SLICE:
            start, size, step = item.value
            if step < 0:
                turned.append(item.axis)
                start, step = start + (size - 1) * step, -step
            start = start if isinstance(size, Dim) or size else 0
            starts[item.axis], sizes[item.axis], steps[item.axis] = start, size, step
        elif item.kind in (INT, SCALAR) and not only_slices:
            start = item.value
            starts[item.axis] = from_front(start, index.shape[item.axis]) if item.kind == SCALAR else start
            sizes[item.axis] = 1
    moving = [hasattr(s, "aval") and not isinstance(s, Dim) for s in starts]
    if any(moving):
        now = [m or s == 1 for m, s in zip(moving, steps)]
        taken = [reach(n, s) if m else whole for m, n, s, whole in zip(now, sizes, steps, index.shape)]
        x = _dynamic_window(x, [a if m else 0 for m, a in zip(now, starts)], taken)
        starts = [0 if m else a for m, a in zip(now, starts)]
    stops = [a + reach(n, s) for a, n, s in zip(starts, sizes, steps)]
    if tuple(sizes) != aval_of(x).shape:
        x = slice_p(
            x,
            start_indices=tuple(starts),
            limit_indices=tuple(stops),
            strides=None if all(s == 1 for s in steps) else tuple(steps),
        )
    turned = tuple(axis for axis in turned if isinstance(sizes[axis], Dim) or sizes[axis] > 1)
    return rev_p(x, dimensions=turned) if turned else x


def _dynamic_window(x: Any, starts: list[Any], sizes: list[int]) -> Any:
    kinds = {aval_of(s).dtype for s in starts if hasattr(s, "aval") and not isinstance(s, Dim)}
    to = kinds.pop() if len(kinds) == 1 else dtypes.int32
    places = [convert(s, to) if hasattr(s, "aval") else number_of(s, to) for s in starts]
    return dynamic_slice_p(x, *places, slice_sizes=tuple(sizes))


def narrowed(value: np.ndarray) -> np.ndarray:
    """A NumPy index as int32; what does not fit is out of bounds all the same."""
    limits = np.iinfo(np.int32)
    wide = value if value.dtype == np.uint64 else value.astype(np.int64)
    return np.clip(wide, 0 if value.dtype == np.uint64 else limits.min, limits.max).astype(np.int32)


def from_front(i: Any, size: int) -> Any:
    """An integer array of indices counted from the front, at least 32 bits wide."""
    if isinstance(i, np.ndarray):
        narrow = narrowed(i)
        if isinstance(size, Dim):
            return (
                choose(narrow < 0, add_p(narrow, number_of(size, dtypes.int32)), narrow)
                if (narrow < 0).any()
                else narrow
            )
        return np.where(narrow < 0, narrow + np.int32(size), narrow)
    aval = aval_of(i)
    to = dtypes.int64 if aval.dtype.itemsize == 8 else dtypes.int32
    i = convert(i, to)
    if dtypes.kind(aval.dtype) == "u":
        return i
    zero, whole = number_of(0, to), number_of(size, to)
    return choose(lt_p(i, zero), add_p(i, whole), i)
