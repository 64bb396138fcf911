"""`jitscope.scipy.ndimage`: values between the pixels of an image of any number of axes."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from .. import lax, numpy as jnp
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..numpy.operands import operand_and_aval


__all__ = [
    "map_coordinates",
]


def _mirrored(index: Any, size: int) -> Any:
    """A triangular wave of the pixels' numbers: the last one is not repeated."""
    last = size - 1
    return jnp.abs((index + last) % (2 * last) - last) if last else jnp.zeros_like(index)


_INSIDE: dict[str, Callable[[Any, int], Any]] = {
    "constant": lambda index, size: index,
    "nearest": lambda index, size: jnp.clip(index, 0, size - 1),
    "wrap": lambda index, size: index % size,
    "mirror": _mirrored,
    "reflect": lambda index, size: (_mirrored(2 * index + 1, 2 * size + 1) - 1) // 2,
}
"""The pixel that stands for one outside of the image, by mode."""


def map_coordinates(
    input: ArrayLike,
    coordinates: Sequence[ArrayLike] | ArrayLike,
    order: int,
    mode: str = "constant",
    cval: ArrayLike = 0.0,
) -> Array:
    """The values of `input` [n, m, ...] at places between its pixels, in its dtype (integers rounded).

    `coordinates` is one array for each axis of `input`, of shapes that broadcast to that of the result, or an array of them.
    `order` 0 takes the nearest pixel, 1 interpolates linearly. `mode` says what lies outside: "constant" (`cval`), "nearest",
    "wrap" (the image repeated), "mirror" (mirrored about the centre of the last pixel) or "reflect" (about its edge).
    Differentiable in `input`, `cval` and, for order 1, `coordinates`.

    Raises ValueError for another number of coordinates than axes, TypeError for a scalar `input`, NotImplementedError for other orders
    and modes. SciPy's
    orders from 2 on and its prefilter are not here, and its "wrap" and "constant" are its "grid-wrap" and "grid-constant".
    """
    if mode not in _INSIDE:
        raise NotImplementedError(f"map_coordinates: mode is one of {', '.join(map(repr, _INSIDE))}, not {mode!r}")
    if order not in (0, 1):
        raise NotImplementedError(f"map_coordinates: order is 0 (nearest) or 1 (linear), not {order!r}")
    _, aval = operand_and_aval("map_coordinates", input)
    if not aval.ndim:
        raise TypeError("map_coordinates: input must have axes, it is a scalar")
    along: Any = coordinates
    if len(along) != aval.ndim:
        raise ValueError(
            f"map_coordinates: coordinates has {len(along)} parts; input {aval.short()} needs one for each axis"
        )
    return _mapped(input, coordinates, cval, int(order), mode)


@eager_jit(static="order mode", nested=True)
def _mapped(input: Any, coordinates: Any, cval: Any, order: int, mode: str) -> Any:
    x = jnp.asarray(input)
    outside = jnp.asarray(cval, x.dtype)
    along = []
    for coordinate, size in zip(map(jnp.asarray, coordinates), x.shape):
        nodes = _linear(coordinate) if order else [(_nearest(coordinate), None)]
        along.append([(_INSIDE[mode](i, size), (i >= 0) & (i < size), weight) for i, weight in nodes])
    terms = []
    for corner in itertools.product(*along):
        indices, inside, weights = zip(*corner)
        value = pixels(x, indices)
        if mode == "constant":
            value = jnp.where(functools.reduce(operator.and_, inside), value, outside)
        terms.append(functools.reduce(operator.mul, weights) * value if order else value)
    total = functools.reduce(operator.add, terms)
    if dtypes.is_integer(x.dtype) and not dtypes.is_integer(total.dtype):
        total = lax.round(total)
    return total.astype(x.dtype)


def _nearest(coordinate: Any) -> Any:
    rounded = coordinate if dtypes.is_integer(coordinate.dtype) else lax.round(coordinate)
    return rounded.astype("int32")


def _linear(coordinate: Any) -> list[tuple[Any, Any]]:
    """The pixels before and after, each with its weight."""
    before = jnp.floor(coordinate)
    share = coordinate - before
    index = before.astype("int32")
    return [(index, 1 - share), (index + 1, share)]


def pixels(x: Any, indices: Any) -> Any:
    """Elements of `x` by index arrays for its first axes, with all of the other axes; one outside counts as the last or first."""
    places = jnp.stack(jnp.broadcast_arrays(*indices), -1)
    shape, axes = aval_of(x).shape, tuple(range(len(indices)))
    rest = tuple(range(places.ndim - 1, places.ndim - 1 + len(shape) - len(axes)))
    numbers = lax.GatherDimensionNumbers(rest, axes, axes)
    return lax.gather(x, places, numbers, (*[1] * len(axes), *shape[len(axes) :]), mode="clip")
