"""Repeating and shifting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend.placement import laying
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Axes, PartitionSpec, Sharding
from ..core.avals import aval_of
from ..core.errors import ShapeError, ShardingTypeError
from ..eager.functions import eager_jit
from ..ops.families import scalar_like
from ..ops.indexing import dynamic_slice_p
from ..ops.linear import (
    broadcast_in_dim,
    broadcast_in_dim_p,
    concatenate_p,
    convert,
    reshape,
    slice_in_dim,
    sub_p,
)
from ..symbolic.dimension import is_static, is_symbolic_dim, max_dim
from ._ufunc import kind_of
from .arithmetic import remainder
from .joining import stack
from .operands import broadcast, check_whole, integer, listed, one_axis, operand_and_aval, operands
from .ranges import arange
from .running import cumsum
from .selecting import concrete_value, is_traced, needs_size, take
from .sorting import searchsorted
from .structure import array_operand, atleast_1d


__all__ = ["repeat", "roll", "tile"]

_COPIES, _LONG_ROW = 64, 16
"""How many copies of a row are written side by side, and of how many elements at least."""


@eager_jit(static="reps")
def tile(A: ArrayLike, reps: int | Sequence[int] | ArrayLike) -> Array:
    """The whole array repeated `reps` times along each axis (an int, or one for each of the last axes): [n, m] and (2,
    3) give [2 n, 3 m]. Raises ShapeError for negative ones."""
    x = array_operand("tile", A)
    counts = [
        integer("tile", int(n) if isinstance(n, float) and n == int(n) else n, "every repeat", TypeError)
        for n in listed(reps)
    ]
    if any(n < 0 for n in counts):
        raise ShapeError(f"tile: repeats must not be negative, they are {reps}")
    if counts and aval_of(x).ndim:
        x, counts[-1] = _side_by_side(x, counts[-1])
    shape = aval_of(x).shape
    rank = max(len(shape), len(counts))
    if set(counts) == {1}:
        return reshape(x, (1,) * (rank - len(shape)) + shape)
    shape, counts = (1,) * (rank - len(shape)) + shape, [1] * (rank - len(counts)) + counts
    kept = tuple(2 * i + 1 for i in range(rank - aval_of(x).ndim, rank))
    spread = tuple(n for pair in zip(counts, shape) for n in pair)
    return reshape(broadcast_in_dim(x, spread, kept), tuple(n * m for n, m in zip(counts, shape)))


def _side_by_side(x: Any, count: int) -> tuple[Any, int]:
    """Rows that are long enough to be copied, so many times side by side, and the repeats that are left.
    (Where axes are merged, XLA divides to find each element.)"""
    if not 1 < count <= _COPIES or not is_static(aval_of(x).shape) or aval_of(x).shape[-1] < _LONG_ROW:
        return x, count
    return concatenate_p(*[x] * count, dimension=aval_of(x).ndim - 1), 1


def roll(a: ArrayLike, shift: ArrayLike | Sequence[int], axis: Axes = None) -> Array:
    """The elements moved `shift` places along `axis` (ints or several; None: of the raveled array), around the end, in
    the shape of `a`.

    A traced or array shift is an operand, an int part of the program. A float shift is cut off. Raises ValueError for
    numbers of shifts and axes that differ.
    """
    if isinstance(shift, (tuple, list)):
        fixed = all(isinstance(n, (int, np.integer)) for n in shift)
        return _roll(a, shift, axis) if fixed else _roll_by(a, stack(operands("roll", *shift)), axis)
    return _roll(a, shift, axis) if isinstance(shift, (int, np.integer)) else _roll_by(a, shift, axis)


def _roll_axes(shape: tuple[int, ...], count: int, axis: Any) -> list[int]:
    axes = [one_axis("roll", i, len(shape)) for i in listed(axis)]
    if not axes or not count:
        return []
    if len(axes) != count and 1 not in (len(axes), count):
        raise ValueError(f"roll: {count} shifts for {len(axes)} axes")
    return axes * (max(count, len(axes)) // len(axes))


@eager_jit(static="shift axis")
def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    x = array_operand("roll", a)
    shape = aval_of(x).shape
    if axis is None:
        return reshape(_roll(reshape(x, (aval_of(x).size,)), shift, 0), shape)
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift]
    axes = _roll_axes(shape, len(shifts), axis)
    for i, by in zip(axes, shifts * (len(axes) // len(shifts)) if axes else ()):
        by = integer("roll", by, "every shift") % max_dim(shape[i], 1)
        if is_symbolic_dim(by) or by:
            parts = slice_in_dim(x, shape[i] - by, shape[i], axis=i), slice_in_dim(x, 0, shape[i] - by, axis=i)
            x = concatenate_p(*parts, dimension=i)
    return x


@eager_jit(static="axis")
def _roll_by(a: Any, shift: Any, axis: Any = None) -> Any:
    x, shift = array_operand("roll", a), array_operand("roll", shift)
    shape = aval_of(x).shape
    if aval_of(shift).ndim > 1:
        raise ValueError(f"roll: the shifts must be a number or a vector, not {aval_of(shift).short()}")
    if axis is None:
        return reshape(_roll_by(reshape(x, (aval_of(x).size,)), shift, 0), shape)
    count, kind = aval_of(shift).size, kind_of(shift)
    if kind not in "iufb":
        raise TypeError(f"roll: shifts must be numbers of places, not {aval_of(shift).short()}")
    wide = dtypes.default_int()
    if kind in "fb" or aval_of(shift).dtype.itemsize != wide.itemsize:
        shift = convert(shift, wide)
    axes = _roll_axes(shape, count, axis)
    shifts = reshape(shift, (count,))
    for k, i in enumerate(axes):
        if is_static((shape[i],)) and shape[i] < 2:
            continue
        by = reshape(slice_in_dim(shifts, k % count, k % count + 1), ())
        size = scalar_like(by, shape[i])
        start = sub_p(size, remainder(by, size))
        starts = [start if j == i else scalar_like(by, 0) for j in range(len(shape))]
        x = dynamic_slice_p(concatenate_p(x, x, dimension=i), *starts, slice_sizes=shape)
    return x


@laying
def repeat(
    a: ArrayLike,
    repeats: ArrayLike,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Every element repeated along `axis` (None: of the raveled array): `repeats` times, or its own number of times.

    `total_repeat_length` fixes the size of the result, as it must where `repeats` is traced: what is over is cut off, what
    is missing is the last element again. Raises ShapeError (a TypeError and a ValueError) if the number of `repeats` is
    not the axis's size or is negative, TypeError for lists and for what is not an integer, ConcretizationTypeError for traced
    `repeats` without a length.
    """
    given = operand_and_aval("repeat", repeats, 1)[1]
    aval = aval_of(array_operand("repeat", a))
    try:
        check_whole("repeat", aval, None if axis is None else (one_axis("repeat", axis, max(aval.ndim, 1)),))
    except ShardingTypeError as error:
        raise ValueError(f"{error}; of repeat, out_sharding=spec") from None
    if not dtypes.is_integer(given.dtype) and given.dtype != dtypes.bool_:
        raise TypeError(f"repeat: the numbers of repeats must be integers, not {given.short()}")
    if isinstance(repeats, int) and total_repeat_length is None:
        return _repeat_alike(a, repeats, axis)
    if is_traced(repeats) and total_repeat_length is None:
        raise needs_size("repeat", "total_repeat_length")
    if total_repeat_length is None:
        counts = np.asarray(concrete_value(repeats))
        size = operand_and_aval("repeat", a)[1].size if axis is None else operand_and_aval("repeat", a)[1].shape[axis]
        if counts.size not in (1, size):
            raise ShapeError(f"repeat: {counts.size} numbers of repeats for {size} elements")
        source = np.repeat(np.arange(size), counts.ravel() if counts.size != 1 else int(counts.ravel()[0]))
        return _take_static(a, source, axis)
    return _repeat_by(a, repeats, axis, total_repeat_length)


@eager_jit(static="repeats axis")
def _repeat_alike(a: Any, repeats: int, axis: int | None) -> Any:
    x = atleast_1d(a)
    if axis is None:
        x, axis = reshape(x, (aval_of(x).size,)), 0
    shape = aval_of(x).shape
    axis = one_axis("repeat", axis, len(shape))
    if repeats < 0:
        raise ShapeError(f"repeat: the number of repeats must not be negative, it is {repeats}")
    wide = (*shape[: axis + 1], repeats, *shape[axis + 1 :])
    kept = tuple(i + (i > axis) for i in range(len(shape)))
    return reshape(
        broadcast_in_dim_p(x, shape=wide, broadcast_dimensions=kept),
        (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]),
    )


@eager_jit(static="axis")
def _take_static(a: Any, source: Any, axis: int | None) -> Any:
    x = array_operand("repeat", a)
    return take(reshape(x, (aval_of(x).size,)) if axis is None else x, source, 0 if axis is None else axis, mode="clip")


@eager_jit(static="axis total")
def _repeat_by(a: Any, repeats: Any, axis: int | None, total: int) -> Any:
    x, counts = array_operand("repeat", a), array_operand("repeat", repeats)
    if axis is None:
        x, axis = reshape(x, (aval_of(x).size,)), 0
    axis = one_axis("repeat", axis, aval_of(x).ndim)
    size = aval_of(x).shape[axis]
    if aval_of(counts).size not in (1, size):
        raise ShapeError(f"repeat: {aval_of(counts).size} numbers of repeats for {size} elements")
    # Small integers would not hold the sums of the counts.
    counts = convert(reshape(counts, (aval_of(counts).size,)), dtypes.default_int())
    counts = broadcast(counts, aval_of(counts).shape, (size,))
    ends = cumsum(counts)
    source = searchsorted(ends, arange(total, dtype=aval_of(ends).dtype), side="right")
    return take(x, source, axis, mode="clip")
