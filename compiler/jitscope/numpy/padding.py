"""Padding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import ShapedArray, aval_of
from ..core.trace import Tracer
from ..eager.functions import eager_jit
from ..ops.linear import concatenate_p, convert_element_type_p, pad_p, reshape, slice_in_dim
from ..symbolic.dimension import is_static, max_dim
from .applying import apply_along_axis
from .operands import broadcast, cast, integer, number_like, one_axis, operand_and_aval
from .quantiles import median
from .ranges import arange, linspace
from .reductions import max as largest, min as smallest
from .rounding import clip, round as rounded
from .selecting import take, where
from .statistics import mean
from .structure import array_operand, broadcast_to, flip


__all__ = ["pad"]


def _pairs(name: str, width: Any, rank: int) -> list[tuple[Any, Any]]:
    """(before, after) for every axis from a number, a pair, or a sequence of pairs."""
    if isinstance(width, dict):
        pairs: list[tuple[Any, Any]] = [(0, 0)] * rank
        for axis, pair in width.items():
            pairs[one_axis(name, axis, rank)] = (pair, pair) if not isinstance(pair, (tuple, list)) else tuple(pair)
        return pairs
    if not isinstance(width, (tuple, list, np.ndarray)) or getattr(width, "ndim", 1) == 0:
        return [(width, width)] * rank
    if not any(isinstance(w, (tuple, list)) or getattr(w, "ndim", 0) for w in width):
        if len(width) == 1:
            return [(width[0], width[0])] * rank
        if len(width) == 2:
            return [(width[0], width[1])] * rank
    rows = [tuple(w) if isinstance(w, (tuple, list, np.ndarray)) else (w, w) for w in width]
    rows = [(w[0], w[0]) if len(w) == 1 else w for w in rows]
    rows = rows * rank if len(rows) == 1 else rows
    if len(rows) != rank or any(len(w) != 2 for w in rows):
        raise ValueError(f"{name}: {width!r} is not a pair for each of {rank} axes")
    return rows


@eager_jit(static="pad_width mode stat_length end_values reflect_type")
def _pad(
    array: Any, pad_width: Any, mode: str, constant_values: Any, stat_length: Any, end_values: Any, reflect_type: str
) -> Any:
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
    ends = _pairs("pad", end_values, rank)
    lengths = [(None, None)] * rank if stat_length is None else _pairs("pad", stat_length, rank)
    for axis, width in enumerate(widths):
        if not any(width):
            continue
        if aval_of(x).shape[axis] == 0:
            raise ValueError(f"pad: axis {axis} is empty and cannot be continued in mode {mode!r}")
        if mode == "linear_ramp":
            x = _between(x, axis, *_ramps(x, axis, width, ends[axis]))
        elif mode in _STATISTICS:
            x = _between(x, axis, *_statistics(x, axis, width, lengths[axis], _STATISTICS[mode]))
        elif reflect_type == "odd":
            for before in (True, False):
                x = _odd(x, axis, width[not before], mode, before, aval_of(array).shape[axis])
        else:
            x = take(x, _continued(aval_of(x).shape[axis], *width, mode), axis, mode="clip")
    return x


def _between(x: Any, axis: int, before: Any, after: Any) -> Any:
    """`x` between two others, in its own dtype."""
    aval = aval_of(x)
    parts = [convert_element_type_p(v, new_dtype=aval.dtype, weak_type=aval.weak_type) for v in (before, after)]
    return concatenate_p(parts[0], x, parts[1], dimension=axis)


def _edge(x: Any, axis: int, first: bool, count: int = 1) -> Any:
    size = aval_of(x).shape[axis]
    return slice_in_dim(x, *((0, count) if first else (size - count, size)), axis=axis)


def _ramps(x: Any, axis: int, width: tuple[int, int], ends: tuple[Any, Any]) -> list[Any]:
    """From the given ends, evenly to the edges."""
    shape, dtype = aval_of(x).shape, aval_of(x).dtype
    edges = [reshape(_edge(x, axis, first), shape[:axis] + shape[axis + 1 :]) for first in (True, False)]
    ramps = [linspace(v, e, n, endpoint=False, dtype=dtype, axis=axis) for v, e, n in zip(ends, edges, width)]
    return [ramps[0], flip(ramps[1], axis)]


_STATISTICS: dict[str, Callable[..., Any]] = {"maximum": largest, "minimum": smallest, "mean": mean, "median": median}


def _statistics(x: Any, axis: int, width: tuple[int, int], lengths: tuple[Any, Any], function: Any) -> list[Any]:
    """What a function says of the elements at either edge (None: of all), repeated."""
    shape, dtype = aval_of(x).shape, aval_of(x).dtype
    if 0 in lengths:
        raise ValueError("pad: stat_length must be positive: of no elements there is no value to pad with")
    found = []
    for first, count, length in zip((True, False), width, lengths):
        part = x if length is None else _edge(x, axis, first, min(integer("pad", length, "stat_length"), shape[axis]))
        value = function(part, axis=axis, keepdims=True)
        value = rounded(value) if dtypes.is_integer(dtype) else value
        found.append(broadcast(value, aval_of(value).shape, (*shape[:axis], count, *shape[axis + 1 :])))
    return found


def _odd(x: Any, axis: int, width: int, mode: str, before: bool, size: int) -> Any:
    """One side continued by its reflection in a point: 2 edge - x, over and over, at most one axis's length at a time."""
    if aval_of(x).dtype == dtypes.bool_:
        raise TypeError("pad: reflect_type='odd' subtracts, which booleans cannot")
    edge, skipped = _edge(x, axis, before), int(mode == "reflect" and size > 1)
    while width > 0:
        count = min(width, size - skipped)
        width -= count
        part = _edge(_edge(x, axis, before, count + skipped), axis, not before, count)
        part = number_like(x, 2) * edge - flip(part, axis)
        edge = _edge(part, axis, before) if size > 1 else edge
        x = concatenate_p(*((part, x) if before else (x, part)), dimension=axis)
    return x


class _TracedNumPy:
    """The functions of NumPy that `_continued` uses, for traced values."""

    arange, clip, where = staticmethod(arange), staticmethod(clip), staticmethod(where)


def _continued(size: Any, low: Any, high: Any, mode: str) -> Any:
    """Where the elements of a continued axis come from: an array of NumPy's, or a traced one for symbolic sizes."""
    xp, largest_of = (np, max) if is_static((size, low, high)) else (_TracedNumPy, max_dim)
    at = xp.arange(-low, size + high)
    if mode == "edge":
        return xp.clip(at, 0, size - 1)
    if mode == "wrap":
        return at % size
    if mode == "symmetric":
        at = at % (2 * size)
        return xp.where(at < size, at, 2 * size - 1 - at)
    period = largest_of(2 * (size - 1), 1)
    at = at % period
    return xp.where(at < size, at, period - at)


def _pad_constant(x: Any, widths: list[tuple[int, int]], values: Any) -> Any:
    aval = aval_of(x)
    rank = aval.ndim
    pairs = _each_side(values, rank)
    if all(low is high for low, high in pairs) and all(pair[0] is pairs[0][0] for pair in pairs) and rank:
        value = _value_like(aval, pairs[0][0])
        return pad_p(x, value, padding_config=tuple((low, high, 0) for low, high in widths))
    for axis, ((low, high), pair) in enumerate(zip(widths, pairs)):
        for value, width in zip(pair, ((low, 0, 0), (0, high, 0))):
            config = tuple(width if i == axis else (0, 0, 0) for i in range(rank))
            x = pad_p(x, _value_like(aval, value), padding_config=config)
    return x


def _value_like(aval: ShapedArray, value: Any) -> Any:
    """A scalar of the dtype of what is padded, weak where that is."""
    return reshape(cast(*operand_and_aval("pad", value), aval.dtype, aval.weak_type), ())


def _each_side(values: Any, rank: int) -> list[tuple[Any, Any]]:
    """The values before and after every axis from what broadcasts to [rank, 2]."""
    if isinstance(values, (tuple, list)):
        values = [list(v) if isinstance(v, (tuple, list)) else v for v in values]
        return _pairs("pad", values, rank)
    shape = operand_and_aval("pad", values)[1].shape
    if not shape:
        return [(values, values)] * rank
    every = broadcast_to(values, (rank, 2))
    return [(every[i, 0], every[i, 1]) for i in range(rank)]


_ALLOWED: dict[str, set[str]] = {
    "constant": {"constant_values"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    "linear_ramp": {"end_values"},
    "edge": set(),
    "wrap": set(),
    "empty": set(),
    **{name: {"stat_length"} for name in _STATISTICS},
}


def pad(
    array: ArrayLike,
    pad_width: int | ArrayLike | Sequence[int | Sequence[int]] | Mapping[int, int | Sequence[int]],
    mode: str | Callable[..., Any] = "constant",
    **kwargs: object,
) -> Array:
    """`array` with elements added before and after each axis: `pad_width` is a number, a pair, a pair for each axis, or
    a dict from axes to pairs.

    `mode`: "constant" (`constant_values`, default 0), "edge", "wrap", "reflect" and "symmetric" (`reflect_type` "even" or
    "odd"), "linear_ramp" (to `end_values`, default 0), "maximum", "minimum", "mean" and "median" (of the `stat_length`
    elements at the edge, default all), "empty" (0), or a function that is called with every padded vector, its pair of
    widths, the axis, and the other arguments as a dict, and gives the vector (NumPy's changes it in place).

    Raises ValueError for negative widths, unknown arguments, and empty axes that cannot be continued; NotImplementedError
    for other modes.
    """
    if isinstance(pad_width, Tracer):
        pad_width = integer("pad", pad_width, "every width")
    elif hasattr(pad_width, "__array__"):
        pad_width = np.asarray(pad_width).tolist()
    if callable(mode):
        x = _pad(array, pad_width, "constant", 0, None, 0, "even")
        for axis, width in enumerate(_pairs("pad", pad_width, aval_of(x).ndim)):
            x = apply_along_axis(mode, axis, x, width, axis, kwargs)
        return x
    if mode not in _ALLOWED:
        raise NotImplementedError(
            f"pad: there is no mode {mode!r}; there are {', '.join(map(repr, _ALLOWED))}, and functions"
        )
    if unknown := set(kwargs) - _ALLOWED[mode]:
        raise ValueError(f"pad: mode {mode!r} does not take {', '.join(sorted(unknown))}")
    reflect_type = kwargs.get("reflect_type", "even")
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type is 'even' or 'odd', not {reflect_type!r}")
    return _pad(
        array,
        pad_width,
        "constant" if mode == "empty" else mode,
        kwargs.get("constant_values", 0),
        kwargs.get("stat_length"),
        kwargs.get("end_values", 0),
        reflect_type,
    )
