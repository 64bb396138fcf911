"""`jitscope.scipy.interpolate`: values between those given on a grid."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import numpy as jnp, tree
from ..core.annotations import Array, ArrayLike
from ..eager.functions import eager_jit
from ..numpy.operands import operand, operand_and_aval
from .ndimage import pixels


__all__ = [
    "RegularGridInterpolator",
]


_METHODS = ("linear", "nearest")


def _method(method: Any) -> str:
    if method not in _METHODS:
        raise ValueError(f"RegularGridInterpolator: method is 'linear' or 'nearest', not {method!r}")
    return method


class RegularGridInterpolator:
    """Interpolation between values on a grid of right angles, whose lines may stand at any distances.

    `points` holds a strictly increasing vector for each of the first axes of `values` [n, m, ..., *rest]; integers become
    floats. `method` is "linear" or "nearest"; what lies outside of the grid is `fill_value` (NaN), or extrapolated where
    that is None. The object is a tree of its arrays, so it may be passed to compiled functions and differentiated.

    Raises ValueError for another method, more points than axes, and a `fill_value` that does not fit the values' dtype;
    NotImplementedError for `bounds_error`, since a compiled program cannot raise. SciPy's decreasing axes and its splines
    are not here.
    """

    def __init__(
        self,
        points: Sequence[ArrayLike],
        values: ArrayLike,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: ArrayLike | None = np.nan,
    ):
        self.method = _method(method)
        self.bounds_error = bounds_error
        if bounds_error:
            raise NotImplementedError(
                "RegularGridInterpolator: a compiled program cannot raise; leave bounds_error False"
            )
        values, aval = operand_and_aval("RegularGridInterpolator", values, 1)
        if len(points) > aval.ndim:
            raise ValueError(
                f"RegularGridInterpolator: {len(points)} vectors of points for values of {aval.ndim} axes, {aval.short()}"
            )
        values = jnp.asarray(operand("RegularGridInterpolator", values, inexact=True))
        if fill_value is not None:
            fill_value = jnp.asarray(operand_and_aval("RegularGridInterpolator", fill_value, 4)[0])
            if not np.can_cast(fill_value.dtype, values.dtype, "same_kind"):
                raise ValueError(
                    f"RegularGridInterpolator: fill_value {fill_value.dtype} does not fit values of {values.dtype}"
                )
        self.fill_value = fill_value
        self.grid = tuple(jnp.asarray(operand_and_aval("RegularGridInterpolator", p)[0]) for p in points)
        self.values = values

    def __call__(self, xi: ArrayLike | tuple[ArrayLike, ...], method: str | None = None) -> Array:
        """The values at the places `xi` [..., n], or at the places whose n coordinates are the arrays of a tuple, which
        broadcast; the result has the shape [..., *rest]. Raises ValueError for places of another number of coordinates."""
        method = self.method if method is None else _method(method)
        places: Any = xi[0] if isinstance(xi, tuple) and len(xi) == 1 else xi
        places = list(places) if isinstance(places, tuple) else operand_and_aval("RegularGridInterpolator", places)[0]
        return _interpolated(list(self.grid), self.values, self.fill_value, places, method)


tree.register_pytree_node(
    RegularGridInterpolator,
    lambda x: ((x.grid, x.values, x.fill_value), (x.method, x.bounds_error)),
    lambda aux, parts: _rebuilt(*parts, *aux),
)


def _rebuilt(grid: Any, values: Any, fill_value: Any, method: str, bounds_error: bool) -> RegularGridInterpolator:
    """One of the same parts, unchecked: trees are also built of what is not an array."""
    made = object.__new__(RegularGridInterpolator)
    made.grid, made.values, made.fill_value = grid, values, fill_value
    made.method, made.bounds_error = method, bounds_error
    return made


@eager_jit(static="method", nested=True)
def _interpolated(grid: Any, values: Any, fill_value: Any, xi: Any, method: str) -> Any:
    values = jnp.asarray(values)
    lines = [jnp.asarray(line) for line in grid]
    along, outside = [], []
    for line, x in zip(lines, _coordinates(xi, len(lines))):
        index = jnp.clip(jnp.searchsorted(line, x) - 1, 0, max(line.size - 2, 0))
        before = pixels(line, [index])
        share = (x - before) / (pixels(line, [index + 1]) - before)
        along.append((index, share))
        outside += [x < line[0], x > line[-1]]
    out = _between(values, along) if method == "linear" else _nearest(values, along)
    if fill_value is None or not outside:
        return out
    beyond = functools.reduce(operator.or_, outside)
    return jnp.where(beyond.reshape(*beyond.shape, *[1] * (out.ndim - beyond.ndim)), fill_value, out)


def _coordinates(xi: Any, axes: int) -> list[Any]:
    """The coordinates along each axis, of one shape."""
    if isinstance(xi, list):
        parts = jnp.broadcast_arrays(*[jnp.asarray(x).astype(float) for x in xi])
    else:
        x = jnp.asarray(xi)
        x = x.reshape(-1, axes) if x.ndim == 1 else x
        parts = [x[..., i] for i in range(x.shape[-1])] if x.ndim else []
    if len(parts) != axes:
        raise ValueError(f"RegularGridInterpolator: xi has {len(parts)} coordinates, the grid {axes} axes")
    return list(parts)


def _between(values: Any, along: list[tuple[Any, Any]]) -> Any:
    """The sum over the corners of a cell, each weighted by the part of the cell opposite to it."""
    ends = [[(index, 1 - share), (index + 1, share)] for index, share in along]
    terms = []
    for corner in itertools.product(*ends):
        indices, weights = zip(*corner)
        weight = functools.reduce(operator.mul, weights)
        weight = weight.reshape(*weight.shape, *[1] * (values.ndim - len(along)))
        terms.append(pixels(values, indices) * weight)
    return functools.reduce(operator.add, terms)


def _nearest(values: Any, along: list[tuple[Any, Any]]) -> Any:
    return pixels(values, [jnp.where(share <= 0.5, index, index + 1) for index, share in along])
