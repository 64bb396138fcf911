"""Medians, quantiles and percentiles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.placement import laying
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Axes, PartitionSpec, Quantile, Sharding
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.elementwise import ceil_p, div_p, eq_p, floor_p, lt_p, max_p, min_p, ne_p, not_p, or_p
from ..ops.families import scalar_like
from ..ops.linear import (
    add_p,
    broadcast_in_dim_p,
    convert,
    full,
    mul_p,
    reduce_sum_p,
    reshape,
    slice_in_dim,
    sub_p,
    transpose,
    where as choose,
)
from ..ops.reduce import cumsum_p, reduce_or_p
from ..ops.sort import sort_p
from ..symbolic.dimension import is_static
from ._ufunc import describe, kind_of
from .operands import axes_of, number_like, operand, operand_and_aval, promoted
from .selecting import take_along_axis
from .structure import array_operand


__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]


_STATIC = "axis out overwrite_input method keepdims"
_METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf")


def _refuse(name: str, out: Any, overwrite_input: bool) -> None:
    if overwrite_input or out is not None:
        raise ValueError(f"{name}: out= and overwrite_input= are not supported, arrays cannot be written to")


def _rows(name: str, x: Any, axis: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """The array with the axes that are reduced merged into a last one; those axes; its shape."""
    shape = aval_of(x).shape
    axes = axes_of(name, axis, len(shape))
    kept = tuple(i for i in range(len(shape)) if i not in axes)
    x = transpose(x, (*kept, *axes))
    size = math.prod(shape[i] for i in axes)
    return reshape(x, (*[shape[i] for i in kept], size)), axes, shape


def _kept_dims(x: Any, leading: tuple[int, ...], axes: tuple[int, ...], shape: tuple[int, ...], keepdims: bool) -> Any:
    if not keepdims:
        return x
    return reshape(x, (*leading, *[1 if i in axes else n for i, n in enumerate(shape)]))


def _quantile(name: str, a: Any, q: Any, axis: Any, method: str, keepdims: bool, skip_nan: bool, weights: Any) -> Any:
    if method not in _METHODS:
        raise ValueError(f"{name}: method {method!r} is none of {', '.join(map(repr, _METHODS))}")
    x, w = _weighed(name, a, weights, axis, method)
    if kind_of(x) == "c":
        raise ValueError(f"{name}: complex numbers have no order")
    q = array_operand(name, q)
    if kind_of(q) != "f":
        raise TypeError(f"{name}: q must be floats, not {aval_of(q).short()}")
    if aval_of(q).ndim > 1:
        raise ValueError(f"{name}: q must be a number or a vector; it has shape {aval_of(q).shape}")
    result = aval_of(x).dtype
    work = dtypes.float32 if result.itemsize < 4 else result
    x, q, w = (v if v is None else convert(v, work) for v in (x, q, w))
    rows, axes, shape = _rows(name, x, axis)
    rest, size = aval_of(rows).shape[:-1], aval_of(rows).shape[-1]
    if size == 0 and skip_nan:
        return _kept_dims(full(rest, np.nan, result), (), axes, shape, keepdims)
    if size == 0:
        raise ValueError(f"{name} of an array of shape {shape}: there are no elements along axis {axis}")
    leading, count = aval_of(q).shape, aval_of(q).size
    # One place for each row and each q, along a last axis.
    q = broadcast_in_dim_p(reshape(q, (count,)), shape=(*rest, count), broadcast_dimensions=(len(rest),))
    if method == "inverted_cdf":
        out, spoiled = _by_weight(rows, None if w is None else _rows(name, w, axis)[0], q, skip_nan)
    else:
        out, spoiled = _by_rank(rows, q, method, skip_nan)
    out = choose(_repeated(spoiled, count), scalar_like(out, np.nan), out)
    out = transpose(out, (len(rest), *range(len(rest))))
    return convert(_kept_dims(reshape(out, (*leading, *rest)), leading, axes, shape, keepdims), result)


def _weighed(name: str, a: Any, weights: Any, axis: Any, method: str) -> tuple[Any, Any]:
    """The elements and their weights, of one shape."""
    if weights is None:
        return array_operand(name, operand(name, a, inexact=True)), None
    if kind_of(operand_and_aval(name, weights)[0]) == "c":
        raise ValueError(f"{name}: weights must be real")
    if method != "inverted_cdf":
        raise NotImplementedError(f"{name}: weights= go with method='inverted_cdf' alone, not with {method!r}")
    (x, w), _, _, _ = promoted(name, (a, weights), inexact=True)
    x, w = array_operand(name, x), array_operand(name, w)
    shape, own = aval_of(x).shape, aval_of(w).shape
    if own == shape:
        return x, w
    axes = axes_of(name, axis, len(shape))
    if axis is None or own != tuple(shape[i] for i in axes):
        raise ValueError(f"{name}: weights of shape {own} for an array of shape {shape} and axis {axis}")
    return x, broadcast_in_dim_p(w, shape=shape, broadcast_dimensions=axes)


def _repeated(x: Any, count: int) -> Any:
    """An array with a further axis of `count` at the end."""
    shape = aval_of(x).shape
    return broadcast_in_dim_p(x, shape=(*shape, count), broadcast_dimensions=tuple(range(len(shape))))


def _present(missing: Any, dtype: Any) -> Any:
    """How many elements of each row are not NaN."""
    return reduce_sum_p(convert(not_p(missing), dtype), axes=(aval_of(missing).ndim - 1,))


def _by_rank(rows: Any, q: Any, method: str, skip_nan: bool) -> tuple[Any, Any]:
    """The elements at the places q * (count - 1) of sorted rows, and which rows have none."""
    rank, size, count = aval_of(rows).ndim - 1, aval_of(rows).shape[-1], aval_of(q).shape[-1]
    (rows,) = sort_p(rows, dimension=rank, is_stable=False, num_keys=1)
    missing = ne_p(rows, rows)
    if not skip_nan:
        at = mul_p(q, scalar_like(q, size - 1))
        return _between(rows, at, size, method), reduce_or_p(missing, axes=(rank,))
    present = _present(missing, aval_of(rows).dtype)
    at = mul_p(q, _repeated(sub_p(present, scalar_like(present, 1)), count))
    return _between(rows, at, size, method), eq_p(present, scalar_like(present, 0))


def _by_weight(rows: Any, weights: Any, q: Any, skip_nan: bool) -> tuple[Any, Any]:
    """The first elements of sorted rows at which the sum of weights is a share q of all of it, and which rows have none."""
    rank, size, count = aval_of(rows).ndim - 1, aval_of(rows).shape[-1], aval_of(q).shape[-1]
    weights = full(aval_of(rows).shape, 1, aval_of(rows).dtype) if weights is None else weights
    rows, weights = sort_p(rows, weights, dimension=rank, is_stable=True, num_keys=1)
    zero, missing = scalar_like(weights, 0), ne_p(rows, rows)
    bad = or_p(lt_p(weights, zero), ne_p(weights, weights))
    sums = cumsum_p(choose(or_p(bad, missing), zero, weights), axis=rank, reverse=False)
    whole = reshape(slice_in_dim(sums, size - 1, size, axis=rank), aval_of(rows).shape[:-1])
    target = mul_p(q, _repeated(whole, count))
    wide = (*aval_of(q).shape, size)
    behind = lt_p(
        broadcast_in_dim_p(sums, shape=wide, broadcast_dimensions=(*range(rank), rank + 1)), _repeated(target, size)
    )
    at = reduce_sum_p(convert(behind, dtypes.int32), axes=(rank + 1,))
    present = _present(missing, dtypes.int32)
    at = min_p(at, _repeated(sub_p(present, scalar_like(present, 1)), count))
    spoiled = eq_p(present, scalar_like(present, 0)) if skip_nan else reduce_or_p(missing, axes=(rank,))
    return take_along_axis(rows, at, -1, mode="clip"), or_p(spoiled, reduce_or_p(bad, axes=(rank,)))


def _between(rows: Any, at: Any, size: int, method: str) -> Any:
    def element(place: Any) -> Any:
        limited = min_p(max_p(place, scalar_like(place, 0)), scalar_like(place, size - 1))
        return take_along_axis(rows, convert(limited, dtypes.int32), -1, mode="clip")

    if method == "nearest":
        return element(ceil_p(sub_p(at, scalar_like(at, 0.5))))  # halves go down, as in JAX
    low, high = floor_p(at), ceil_p(at)
    if method in ("lower", "higher"):
        return element(low if method == "lower" else high)
    below, above = element(low), element(high)
    if method == "midpoint":
        return mul_p(add_p(below, above), scalar_like(below, 0.5))
    share = sub_p(at, low)
    return add_p(mul_p(below, sub_p(scalar_like(share, 1), share)), mul_p(above, share))


def _share(name: str, q: Any, scale: int) -> Any:
    """A share of 1 from one of `scale`; shares of 1 must be floats already."""
    if scale == 1:
        return q
    share = array_operand(name, operand(name, q, inexact=True))
    return div_p(share, number_like(share, scale))


def _quantile_function(name: str, scale: int, skip_nan: bool, doc: str) -> Quantile:
    def fun(
        a: Any,
        q: Any,
        axis: Any = None,
        out: None = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: Any = None,
    ) -> Any:
        _refuse(name, out, overwrite_input)
        return _quantile(name, a, _share(name, q, scale), axis, method, keepdims, skip_nan, weights)

    doc += """ over `axis` (None, an int or a tuple): [...] with q a number, [m, ...] with q [m].

    Integers become floats. `method`: "linear", "lower", "higher", "midpoint", "nearest" or "inverted_cdf", which alone takes
    `weights`, of the shape of `a` or of its reduced axes. Raises ValueError for other methods, for complex numbers, for more
    than one axis of `q` and where there are no elements; TypeError for quantiles that are not floats."""
    return eager_jit(static=_STATIC)(describe(fun, name, doc))


quantile = _quantile_function("quantile", 1, False, "The quantiles `q` (from 0 to 1)")
nanquantile = _quantile_function("nanquantile", 1, True, "The quantiles `q` (from 0 to 1) of what is not NaN")
nanpercentile = _quantile_function("nanpercentile", 100, True, "The percentiles `q` (from 0 to 100) of what is not NaN")
_percentile = _quantile_function("percentile", 100, False, "The percentiles `q` (from 0 to 100)")


@laying
def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    return _percentile(a, q, axis, out, overwrite_input, method, keepdims, weights=weights)


percentile.__doc__ = _percentile.__doc__


@eager_jit(static="axis out overwrite_input keepdims")
def median(
    a: ArrayLike, axis: Axes = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """The middle element over `axis` (None, an int or a tuple) in sorted order, or the mean of the two middle ones, in
    floats; NaN where one is. Raises ValueError for complex numbers and where there are no elements."""
    _refuse("median", out, overwrite_input)
    x = array_operand("median", operand("median", a, inexact=True))
    if kind_of(x) == "c":
        raise ValueError("median: complex numbers have no order")
    rows, axes, shape = _rows("median", x, axis)
    rank, size = aval_of(rows).ndim - 1, aval_of(rows).shape[-1]
    if size == 0:
        raise ValueError(f"median of an array of shape {shape}: there are no elements along axis {axis}")
    (rows,) = sort_p(rows, dimension=rank, is_stable=False, num_keys=1)
    low, high, last = (
        reshape(slice_in_dim(rows, i, i + 1, axis=rank), aval_of(rows).shape[:-1])
        for i in ((size - 1) // 2, size // 2, size - 1)
    )
    middle = low if is_static((size,)) and size % 2 else mul_p(add_p(low, high), scalar_like(low, 0.5))
    return _kept_dims(choose(ne_p(last, last), scalar_like(last, np.nan), middle), (), axes, shape, keepdims)


@eager_jit(static="axis out overwrite_input keepdims")
def nanmedian(
    a: ArrayLike, axis: Axes = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """The median over `axis` of what is not NaN, in floats; NaN if all are. Raises as `median` does."""
    _refuse("nanmedian", out, overwrite_input)
    return nanquantile(a, 0.5, axis, keepdims=keepdims)
