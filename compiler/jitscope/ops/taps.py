"""Windows axis by axis, element of the window by element: what XLA makes of it is one quick loop.

XLA's own reductions over windows go through the window for every result, with a test of each element for being there; the
way back of a maximum is a loop over single elements. Slices of the padded array, one for each element of the window along one
axis, are combined ten to a hundred times as fast, and a window of 3 × 3 needs 3 + 3 of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import WINDOWS_BY_SLICES
from .elementwise import eq_p, ge_p, le_p
from .families import scalar_like
from .linear import add_p, convert, full, pad_p, slice_in_dim, slice_p, where


def few(window_dimensions: Sequence[int], platform: str) -> bool:
    """Whether a window is small enough: programs stay small."""
    most = WINDOWS_BY_SLICES
    return most.holds(platform) and sum(window_dimensions) - len(window_dimensions) < most.value


def fold(
    xs: Sequence[Any], fillers: Sequence[Any], combine: Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]],
    window: dict[str, Any],
) -> Sequence[Any]:  # fmt: skip
    """The reduction of each window, of several arrays together; `combine` gets arrays, the earlier elements first."""
    xs = [_padded(x, filler, window) for x, filler in zip(xs, fillers)]
    for axis in _axes(window):
        xs = functools.reduce(combine, zip(*[_taps(x, axis, window) for x in xs]))
    return xs


def reduced(x: Any, identity: Any, combine: Callable[[Any, Any], Any], window: dict[str, Any]) -> Any:
    """The reduction of each window of one array by an operation."""
    return fold([x], [identity], lambda a, b: (combine(*a, *b),), window)[0]


def summed(x: Any, window: dict[str, Any]) -> Any:
    """The sum of each window; small floats are added up in float32."""
    dtype = aval_of(x).dtype
    wide = dtypes.float32 if dtypes.is_float(dtype) and dtype.itemsize < 4 else dtype
    return convert(reduced(convert(x, wide), scalar_like(np.zeros((), wide), 0), add_p, window), dtype)


def chosen(x: Any, key: Any, identity: Any, greatest: bool, window: dict[str, Any]) -> Any:
    """The element of `x` where `key` is greatest (or least) in each window; the first such."""
    key, x = _padded(key, identity, window), _padded(x, scalar_like(x, 0), window)
    for axis in _axes(window):
        keys, xs = _taps(key, axis, window), _taps(x, axis, window)
        key, x = keys[0], xs[0]
        for other_key, other in zip(keys[1:], xs[1:]):
            stays = (ge_p if greatest else le_p)(key, other_key)
            key, x = where(stays, key, other_key), where(stays, x, other)
    return x


def scattered(x: Any, key: Any, identity: Any, greatest: bool, window: dict[str, Any]) -> Any:
    """The transpose of `chosen` in `x`: each element added where `key` is greatest (or least) in its window."""
    shape = aval_of(key).shape
    key, steps = _padded(key, identity, window), []
    for axis in _axes(window):
        before = aval_of(key).shape[axis]
        key, which = _first(_taps(key, axis, window), greatest)
        steps.append((axis, before, which))
    for axis, size, which in reversed(steps):
        x = _put_back(x, which, axis, size, window)
    return _unpadded(x, shape, window)


def _axes(window: dict[str, Any]) -> list[int]:
    """The axes along which something happens, the last first, so that of equal elements the first one counts."""
    pairs = list(zip(window["window_dimensions"], window["window_strides"]))
    return [i for i in reversed(range(len(pairs))) if pairs[i] != (1, 1)]


def _padded(x: Any, filler: Any, window: dict[str, Any]) -> Any:
    config = tuple((low, high, d - 1) for (low, high), d in zip(window["padding"], window["base_dilation"]))
    return pad_p(x, filler, padding_config=config) if any(map(_some, config)) else x


def _some(widths: Sequence[Any]) -> bool:
    """Whether there is some padding, or may be."""
    return not is_static(widths) or any(widths)


def _unpadded(x: Any, shape: Sequence[int], window: dict[str, Any]) -> Any:
    """The elements that were there before padding."""
    pads, spread = window["padding"], window["base_dilation"]
    if any(map(_some, pads)):
        x = pad_p(x, scalar_like(x, 0), padding_config=tuple((-low, -high, 0) for low, high in pads))
    if all(d == 1 for d in spread):
        return x
    return slice_p(x, start_indices=(0,) * len(shape), limit_indices=aval_of(x).shape, strides=tuple(spread))


def _taps(x: Any, axis: int, window: dict[str, Any]) -> list[Any]:
    """For each element of the window along an axis, what it sees at all places."""
    k, stride, d = (window[name][axis] for name in ("window_dimensions", "window_strides", "window_dilation"))
    count = (aval_of(x).shape[axis] - (k - 1) * d - 1) // stride + 1
    return [slice_in_dim(x, j * d, j * d + (count - 1) * stride + 1, stride, axis) for j in range(k)]


def _first(keys: Sequence[Any], greatest: bool) -> tuple[Any, Any]:
    """The greatest (or least) of some arrays, element by element, and the number of the first that has it."""
    key, shape = keys[0], aval_of(keys[0]).shape
    numbers = dtypes.int8 if len(keys) < 128 else dtypes.int32
    which = full(shape, 0, numbers)
    for j, other in enumerate(keys[1:], 1):
        stays = (ge_p if greatest else le_p)(key, other)
        key, which = where(stays, key, other), where(stays, which, full(shape, j, numbers))
    return key, which


def _put_back(x: Any, which: Any, axis: int, size: int, window: dict[str, Any]) -> Any:
    """Elements back where they were chosen along one axis, which has `size` again."""
    k, stride, d = (window[name][axis] for name in ("window_dimensions", "window_strides", "window_dilation"))
    count, rank, total = aval_of(x).shape[axis], aval_of(x).ndim, None
    pads = ((k - 1) * d, size - (count - 1) * stride - 1, stride - 1)
    config = tuple(pads if i == axis else (0, 0, 0) for i in range(rank))
    x = pad_p(x, scalar_like(x, 0), padding_config=config)
    which = pad_p(which, scalar_like(which, -1), padding_config=config)
    for j in range(k):
        start = (k - 1 - j) * d
        own = eq_p(slice_in_dim(which, start, start + size, 1, axis), scalar_like(which, j))
        part = slice_in_dim(x, start, start + size, 1, axis)
        part = where(own, part, full(aval_of(part).shape, 0, aval_of(part).dtype))
        total = part if total is None else add_p(total, part)
    return total
