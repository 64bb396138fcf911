"""Repeating, shifting and padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.avals import aval_of
from ..core.trace import Tracer
from ..ops.families import scalar_like
from ..ops.indexing import dynamic_slice_p
from ..ops.linear import (
    broadcast_in_dim,
    broadcast_in_dim_p,
    concatenate_p,
    pad_p,
    reshape,
    slice_in_dim,
    sub_p,
)
from ._fused import fused
from ._operands import broadcast, cast, checked, integer, one_axis
from .arithmetic import remainder
from .ranges import arange
from .running import cumsum
from .selecting import take
from .sorting import searchsorted
from .structure import array_operand, atleast_1d


@fused(static="reps")
def tile(A: Any, reps: Any) -> Any:
    """The whole array repeated `reps` times along each axis (an int, or one for each of the last axes)."""
    x = array_operand("tile", A)
    counts = [integer("tile", n, "every repeat") for n in (reps if isinstance(reps, (tuple, list)) else (reps,))]
    shape = aval_of(x).shape
    rank = max(len(shape), len(counts))
    shape, counts = (1,) * (rank - len(shape)) + shape, [1] * (rank - len(counts)) + counts
    kept = tuple(2 * i + 1 for i in range(rank - aval_of(x).ndim, rank))
    spread = tuple(n for pair in zip(counts, shape) for n in pair)
    return reshape(broadcast_in_dim(x, spread, kept), tuple(n * m for n, m in zip(counts, shape)))


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """The elements moved `shift` places along `axis` (ints or several; None: of the raveled array), around the end.

    A traced or array shift is an operand, a Python int part of the program.
    """
    if hasattr(shift, "aval") or isinstance(shift, np.ndarray):
        return _roll_by(a, shift, axis)
    return _roll(a, shift, axis)


def _roll_axes(shape: tuple[int, ...], count: int, axis: Any) -> list[int]:
    axes = [one_axis("roll", i, len(shape)) for i in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if len(axes) != count and 1 not in (len(axes), count):
        raise ValueError(f"roll: {count} shifts for {len(axes)} axes")
    return axes * (max(count, len(axes)) // len(axes))


@fused(static="shift axis")
def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    x = array_operand("roll", a)
    shape = aval_of(x).shape
    if axis is None:
        return reshape(_roll(reshape(x, (aval_of(x).size,)), shift, 0), shape)
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift]
    axes = _roll_axes(shape, len(shifts), axis)
    for i, by in zip(axes, shifts * (len(axes) // len(shifts))):
        by = integer("roll", by, "every shift") % max(shape[i], 1)
        if by:
            parts = slice_in_dim(x, shape[i] - by, shape[i], axis=i), slice_in_dim(x, 0, shape[i] - by, axis=i)
            x = concatenate_p(*parts, dimension=i)
    return x


@fused(static="axis")
def _roll_by(a: Any, shift: Any, axis: Any = None) -> Any:
    x, shift = array_operand("roll", a), array_operand("roll", shift)
    shape = aval_of(x).shape
    if axis is None:
        return reshape(_roll_by(reshape(x, (aval_of(x).size,)), shift, 0), shape)
    count = aval_of(shift).size
    axes = _roll_axes(shape, count, axis)
    shifts = reshape(shift, (count,))
    for k, i in enumerate(axes):
        if shape[i] < 2:
            continue
        by = reshape(slice_in_dim(shifts, k % count, k % count + 1), ())
        size = scalar_like(by, shape[i])
        start = sub_p(size, remainder(by, size))
        starts = [start if j == i else scalar_like(by, 0) for j in range(len(shape))]
        x = dynamic_slice_p(concatenate_p(x, x, dimension=i), *starts, slice_sizes=shape)
    return x


def repeat(a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None) -> Any:
    """Every element repeated along `axis` (None: of the raveled array): `repeats` times, or its own number of times.

    `total_repeat_length` fixes the size of the result, as it must where `repeats` is traced: what is over is cut off, what
    is missing is the last element again. Raises ValueError if the number of `repeats` is not the axis's size.
    """
    if isinstance(repeats, int) and total_repeat_length is None:
        return _repeat_alike(a, repeats, axis)
    if isinstance(repeats, Tracer) and total_repeat_length is None:
        repeats.__array__()
    if total_repeat_length is None:
        counts = np.asarray(repeats)
        size = checked("repeat", a)[1].size if axis is None else checked("repeat", a)[1].shape[axis]
        if counts.size not in (1, size):
            raise ValueError(f"repeat: {counts.size} numbers of repeats for {size} elements")
        source = np.repeat(np.arange(size), counts.ravel() if counts.size != 1 else int(counts.ravel()[0]))
        return _take_static(a, source, axis)
    return _repeat_by(a, repeats, axis, total_repeat_length)


@fused(static="repeats axis")
def _repeat_alike(a: Any, repeats: int, axis: int | None) -> Any:
    x = atleast_1d(a)
    if axis is None:
        x, axis = reshape(x, (aval_of(x).size,)), 0
    shape = aval_of(x).shape
    axis = one_axis("repeat", axis, len(shape))
    if repeats < 0:
        raise ValueError(f"repeat: the number of repeats must not be negative, it is {repeats}")
    wide = (*shape[: axis + 1], repeats, *shape[axis + 1 :])
    kept = tuple(i + (i > axis) for i in range(len(shape)))
    return reshape(
        broadcast_in_dim_p(x, shape=wide, broadcast_dimensions=kept),
        (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]),
    )


@fused(static="axis")
def _take_static(a: Any, source: Any, axis: int | None) -> Any:
    x = array_operand("repeat", a)
    return take(reshape(x, (aval_of(x).size,)) if axis is None else x, source, 0 if axis is None else axis, mode="clip")


@fused(static="axis total")
def _repeat_by(a: Any, repeats: Any, axis: int | None, total: int) -> Any:
    x, counts = array_operand("repeat", a), array_operand("repeat", repeats)
    if axis is None:
        x, axis = reshape(x, (aval_of(x).size,)), 0
    axis = one_axis("repeat", axis, aval_of(x).ndim)
    size = aval_of(x).shape[axis]
    if aval_of(counts).size not in (1, size):
        raise ValueError(f"repeat: {aval_of(counts).size} numbers of repeats for {size} elements")
    counts = broadcast(reshape(counts, (aval_of(counts).size,)), (aval_of(counts).size,), (size,))
    ends = cumsum(counts)
    source = searchsorted(ends, arange(total, dtype=aval_of(ends).dtype), side="right")
    return take(x, source, axis, mode="clip")


# Padding -------------------------------------------------------------------------------------------------------------


def _pairs(name: str, width: Any, rank: int) -> list[tuple[Any, Any]]:
    """(before, after) for every axis from a number, a pair, or a sequence of pairs."""
    if isinstance(width, dict):
        pairs: list[tuple[Any, Any]] = [(0, 0)] * rank
        for axis, pair in width.items():
            pairs[one_axis(name, axis, rank)] = (pair, pair) if not isinstance(pair, (tuple, list)) else tuple(pair)
        return pairs
    if not isinstance(width, (tuple, list, np.ndarray)) or getattr(width, "ndim", 1) == 0:
        return [(width, width)] * rank
    if not any(isinstance(w, (tuple, list, np.ndarray)) and np.ndim(w) for w in width):
        if len(width) == 1:
            return [(width[0], width[0])] * rank
        if len(width) == 2:
            return [(width[0], width[1])] * rank
    rows = [tuple(w) if isinstance(w, (tuple, list, np.ndarray)) else (w, w) for w in width]
    rows = [(w[0], w[0]) if len(w) == 1 else w for w in rows]
    rows = rows * rank if len(rows) == 1 else rows
    if len(rows) != rank or any(len(w) != 2 for w in rows):
        raise ValueError(f"{name}: {width!r} is no pair for each of {rank} axes")
    return rows


@fused(static="pad_width mode reflect_type")
def _pad(array: Any, pad_width: Any, mode: str, constant_values: Any, reflect_type: str) -> Any:
    x = array_operand("pad", array)
    rank = aval_of(x).ndim
    widths = [
        (integer("pad", low, "every width"), integer("pad", high, "every width"))
        for low, high in _pairs("pad", pad_width, rank)
    ]
    if any(n < 0 for pair in widths for n in pair):
        raise ValueError(f"pad: widths must not be negative, they are {pad_width}")
    if mode == "constant":
        return _pad_constant(x, widths, constant_values)
    for axis, (low, high) in enumerate(widths):
        if low or high:
            size = aval_of(x).shape[axis]
            if size == 0:
                raise ValueError(f"pad: axis {axis} is empty and cannot be continued in mode {mode!r}")
            places = _continued(size, low, high, mode)
            x = take(x, places, axis, mode="clip")
            if reflect_type == "odd":
                raise NotImplementedError("pad: reflect_type='odd'")
    return x


def _continued(size: int, low: int, high: int, mode: str) -> np.ndarray:
    """Where the elements of a continued axis come from."""
    at = np.arange(-low, size + high)
    if mode == "edge":
        return np.clip(at, 0, size - 1)
    if mode == "wrap":
        return at % size
    if mode == "symmetric":
        at = at % (2 * size)
        return np.where(at < size, at, 2 * size - 1 - at)
    period = max(2 * (size - 1), 1)
    at = at % period
    return np.where(at < size, at, period - at)


def _pad_constant(x: Any, widths: list[tuple[int, int]], values: Any) -> Any:
    dtype, rank = aval_of(x).dtype, aval_of(x).ndim
    pairs = _pairs("pad", values, rank) if isinstance(values, (tuple, list)) else [(values, values)] * rank
    if all(low is high for low, high in pairs) and all(pair[0] is pairs[0][0] for pair in pairs) and rank:
        value = cast(*checked("pad", pairs[0][0]), dtype)
        return pad_p(x, reshape(value, ()), padding_config=tuple((low, high, 0) for low, high in widths))
    for axis, ((low, high), pair) in enumerate(zip(widths, pairs)):
        for value, width in zip(pair, ((low, 0, 0), (0, high, 0))):
            config = tuple(width if i == axis else (0, 0, 0) for i in range(rank))
            x = pad_p(x, reshape(cast(*checked("pad", value), dtype), ()), padding_config=config)
    return x


def pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Any:
    """`array` with elements added before and after each axis: `pad_width` is a number, a pair, a pair for each axis, or
    a dict from axes to pairs.

    `mode`: "constant" (`constant_values`, default 0), "edge", "wrap", "reflect", "symmetric" or "empty". Raises ValueError for
    negative widths and unknown arguments, NotImplementedError for other modes.
    """
    allowed = {
        "constant": {"constant_values"},
        "reflect": {"reflect_type"},
        "symmetric": {"reflect_type"},
        "edge": set(),
        "wrap": set(),
        "empty": set(),
    }
    if mode not in allowed:
        raise NotImplementedError(f"pad: mode {mode!r}; there are {', '.join(map(repr, allowed))}")
    if unknown := set(kwargs) - allowed[mode]:
        raise ValueError(f"pad: mode {mode!r} does not take {', '.join(sorted(unknown))}")
    if hasattr(pad_width, "__array__"):
        pad_width = np.asarray(pad_width).tolist()
    return _pad(
        array,
        pad_width,
        "constant" if mode == "empty" else mode,
        kwargs.get("constant_values", 0),
        kwargs.get("reflect_type", "even"),
    )
