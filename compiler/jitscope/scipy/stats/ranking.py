"""The most frequent value, ranks, and the standard error of a mean: statistics along an axis.

NaN counts as one value, the greatest, in `mode`, and makes all ranks NaN. `nan_policy`: "propagate"; "omit" is there for `sem`
only, "raise" nowhere, since values are not known while a program is made. All raise ValueError for other words and axes that
are not there, TypeError for what is not an array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import lax, numpy as jnp
from ...core import dtypes
from ...core.annotations import Array, ArrayLike
from ...eager.functions import eager_jit
from ...named_tuple import NamedTuple
from ...numpy.operands import axes_of, lenient, one_axis, promoted
from ...numpy.structure import array_operand


__all__ = ["mode", "rankdata", "sem"]


class ModeResult(NamedTuple):
    """What `mode` gives."""

    mode: Any
    count: Any


def _check_policy(name: str, nan_policy: Any) -> None:
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError(f"{name}: nan_policy is 'propagate', 'omit' or 'raise', not {nan_policy!r}")
    if nan_policy != "propagate":
        raise NotImplementedError(
            f"{name}: nan_policy is 'propagate' here; {nan_policy!r} depends on values: look for NaN before"
        )


def _along(name: str, a: Any, axis: Any) -> tuple[Any, int]:
    """An array of an axis at least, all of it in one for None, and the axis."""
    x = jnp.atleast_1d(jnp.asarray(array_operand(name, a)))
    return (jnp.ravel(x), 0) if axis is None else (x, one_axis(name, axis, x.ndim))


def _first_of_runs(ordered: Any, axis: int) -> Any:
    """Whether an element of a sorted array differs from the one before; NaN does not from NaN."""
    n = ordered.shape[axis]
    later, before = (lax.slice_in_dim(ordered, i, n - 1 + i, axis=axis) for i in (1, 0))
    new = later != before
    if jnp.issubdtype(ordered.dtype, jnp.inexact):
        new = new & ~(jnp.isnan(later) & jnp.isnan(before))
    return jnp.concatenate([jnp.ones_like(lax.slice_in_dim(ordered, 0, 1, axis=axis), bool), new], axis)


def _places(x: Any, axis: int) -> Any:
    return lax.broadcasted_iota(dtypes.default_int(), x.shape, axis)


@eager_jit(static="axis nan_policy keepdims", nested=True)
def mode(a: ArrayLike, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False) -> ModeResult:
    """The most frequent value along `axis` (None: of all), the least one of several, and how often it is there: [...,
    n, ...] to two arrays [...]. Of no elements: NaN and 0, both floats. Raises NotImplementedError for other policies
    than "propagate"."""
    x, along = _along("mode", a, axis)
    _check_policy("mode", nan_policy)
    thin = [1 if i == along else n for i, n in enumerate(x.shape)]
    if not x.shape[along]:
        value, count = (jnp.full(thin, v, dtypes.default_float()) for v in (np.nan, 0))
    else:
        ordered, places = jnp.sort(x, along), _places(x, along)
        start = lax.cummax(jnp.where(_first_of_runs(ordered, along), places, 0), along)
        lengths = places - start + 1
        count = jnp.max(lengths, along, keepdims=True)
        best = jnp.argmax(lengths, along, keepdims=True) - count + 1
        value = jnp.take_along_axis(ordered, best, along)
    if axis is None and keepdims:
        whole = [1] * max(1, jnp.ndim(a))
        return ModeResult(value.reshape(whole), count.reshape(whole))
    return ModeResult(value, count) if keepdims else ModeResult(jnp.squeeze(value, along), jnp.squeeze(count, along))


_METHODS = ("average", "min", "max", "dense", "ordinal")


@lenient
@eager_jit(static="method axis nan_policy", nested=True)
def rankdata(a: ArrayLike, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate") -> Array:
    """The ranks, from 1, of the elements among all (axis None: a vector) or along an axis, in the shape of `a` [...],
    as floats of the usual width. `method`: equal ones get the "average" of the ranks they take together, the least
    ("min"), the greatest ("max"), one rank without leaving any out ("dense"), or each its own in their order
    ("ordinal"). Raises NotImplementedError for other policies than "propagate", ValueError for other methods."""
    x, along = _along("rankdata", a, axis)
    _check_policy("rankdata", nan_policy)
    if method not in _METHODS:
        raise ValueError(f"rankdata: method is one of {', '.join(_METHODS)}, not {method!r}")
    if not x.size:
        return jnp.zeros(x.shape, dtypes.default_float())
    places = _places(x, along)
    ordered, order = lax.sort_key_val(x, places, along)
    ranks = _ranks(ordered, places, method, along).astype(dtypes.default_float())
    out = jnp.put_along_axis(jnp.zeros_like(ranks), order, ranks, along, inplace=False)
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return out
    return jnp.where(jnp.any(jnp.isnan(x), along, keepdims=True), np.nan, out)


def _ranks(ordered: Any, places: Any, method: str, axis: int) -> Any:
    """The ranks of the elements of a sorted array."""
    if method == "ordinal":
        return places + 1
    first = _first_of_runs(ordered, axis)
    if method == "dense":
        return jnp.cumsum(first, axis)
    n = ordered.shape[axis]
    least = lax.cummax(jnp.where(first, places, 0), axis) + 1
    if method == "min":
        return least
    last = jnp.concatenate([lax.slice_in_dim(first, 1, n, axis=axis), lax.slice_in_dim(first, 0, 1, axis=axis)], axis)
    greatest = lax.cummin(jnp.where(last, places, n), axis, reverse=True) + 1
    return greatest if method == "max" else 0.5 * (least + greatest)


@eager_jit(static="axis ddof nan_policy keepdims", nested=True)
def sem(
    a: ArrayLike, axis: int | None = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False
) -> Array:
    """The standard error of the mean along `axis` (None: of all), the standard deviation over sqrt(n), n - `ddof` being
    its divisor: [..., n, ...] to floats [...]. `nan_policy` "omit": of the elements that are not NaN. Raises ValueError
    for other policies."""
    (x,), _, _, _ = promoted("sem", [a], inexact=True)
    x = jnp.asarray(array_operand("sem", x))
    if axis is not None:
        axis = one_axis("sem", axis, x.ndim)
    if nan_policy == "propagate":
        count = np.prod([x.shape[i] for i in axes_of("sem", axis, x.ndim)])
        return jnp.std(x, axis, ddof=ddof, keepdims=keepdims) / jnp.asarray(np.sqrt(count), x.dtype)
    if nan_policy != "omit":
        raise ValueError(f"sem: nan_policy is 'propagate' or 'omit', not {nan_policy!r}")
    count = jnp.sum(~jnp.isnan(x), axis, keepdims=keepdims)
    return jnp.nanstd(x, axis, ddof=ddof, keepdims=keepdims) / jnp.sqrt(count).astype(x.dtype)
