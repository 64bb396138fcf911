"""Taking a straight line, or the mean, out of a signal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ... import lax, numpy as jnp
from ...core import dtypes
from ...core.annotations import Array, ArrayLike
from ...eager.functions import eager_jit
from ...numpy.operands import lenient, one_axis


__all__ = ["detrend"]


@lenient
def detrend(
    data: ArrayLike,
    axis: int = -1,
    type: str = "linear",
    bp: int | Sequence[int] | np.ndarray = 0,
    overwrite_data: None = None,
) -> Array:
    """What is left of `data` [..., n, ...] along `axis` without its mean (`type` "constant") or its straight line of
    least squares ("linear"); with break points `bp`, each stretch between them without its own line. Integers become
    floats.

    Raises ValueError for another `type`, an axis that is not there and break points outside of the axis,
    NotImplementedError for `overwrite_data`.
    """
    if overwrite_data is not None:
        raise NotImplementedError("detrend: overwrite_data is not supported, arrays cannot be written to")
    if type not in ("constant", "linear"):
        raise ValueError(f"detrend: type is 'linear' or 'constant', not {type!r}")
    points = tuple(int(p) for p in np.unique(np.asarray(bp))) if type == "linear" else ()
    return detrended(jnp.asarray(data), axis, type, points)


@eager_jit(static="axis type points", nested=True)
def detrended(x: Any, axis: int | None, type: str, points: tuple[int, ...] = ()) -> Any:
    x = x.astype(dtypes.to_inexact(x.dtype))
    if type == "constant":
        return x - jnp.mean(x, axis, keepdims=True)
    axis = one_axis("detrend", axis, x.ndim)
    n = x.shape[axis]
    if points and (points[0] < 0 or points[-1] > n):
        raise ValueError(f"detrend: break points {points} do not all lie in 0 … {n}")
    ends = sorted({0, n, *points})
    if len(ends) < 3:
        return _levelled(x, axis)
    parts = [_levelled(lax.slice_in_dim(x, i, j, axis=axis), axis) for i, j in pairwise(ends)]
    return jnp.concatenate(parts, axis)


def _levelled(x: Any, axis: int) -> Any:
    """x without its line. The mean and a line through the middle stand at right angles: each is taken out on its own."""
    n = x.shape[axis]
    x = x - jnp.mean(x, axis, keepdims=True)
    if n < 2:
        return x
    line = np.arange(n) - (n - 1) / 2
    line = (line / np.linalg.norm(line)).astype(x.dtype).reshape(-1, *[1] * (x.ndim - 1 - axis))
    return x - line * jnp.sum(x * line, axis, keepdims=True)
