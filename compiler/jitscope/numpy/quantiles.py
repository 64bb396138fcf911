"""Medians, quantiles and percentiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from ..ops.elementwise import ceil_p, div_p, eq_p, floor_p, max_p, min_p, ne_p, not_p, round_p
from ..ops.families import scalar_like
from ..ops.linear import (
    add_p,
    broadcast_in_dim_p,
    convert,
    mul_p,
    reduce_sum_p,
    reshape,
    slice_in_dim,
    sub_p,
    transpose,
    where as choose,
)
from ..ops.reduce import reduce_or_p
from ..ops.sort import sort_p
from ._fused import fused
from ._operands import axes_of, operand, promoted, unsupported, weak_as
from ._ufunc import kind_of
from .selecting import take_along_axis
from .structure import array_operand


_STATIC = "axis out overwrite_input method keepdims"
_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _rows(name: str, x: Any, axis: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """The array with the axes that are reduced merged into a last one; those axes; its shape."""
    shape = aval_of(x).shape
    axes = axes_of(name, axis, len(shape))
    kept = tuple(i for i in range(len(shape)) if i not in axes)
    x = transpose(x, (*kept, *axes))
    size = int(np.prod([shape[i] for i in axes]))
    return reshape(x, (*[shape[i] for i in kept], size)), axes, shape


def _kept_dims(x: Any, leading: tuple[int, ...], axes: tuple[int, ...], shape: tuple[int, ...], keepdims: bool) -> Any:
    if not keepdims:
        return x
    return reshape(x, (*leading, *[1 if i in axes else n for i, n in enumerate(shape)]))


def _quantile(name: str, a: Any, q: Any, axis: Any, method: str, keepdims: bool, skip_nan: bool) -> Any:
    if method not in _METHODS:
        raise ValueError(f"{name}: method {method!r} is none of {', '.join(map(repr, _METHODS))}")
    values, _, _, _ = promoted(name, (a, q), inexact=True)
    x, q = (array_operand(name, v) for v in values)
    if kind_of(x) == "c":
        raise ValueError(f"{name}: complex numbers have no order")
    small = aval_of(x).dtype if aval_of(x).dtype.itemsize < 4 else None
    x, q = (convert(v, dtypes.float32) if small is not None else v for v in (x, q))
    rows, axes, shape = _rows(name, x, axis)
    rest, size = aval_of(rows).shape[:-1], aval_of(rows).shape[-1]
    if size == 0:
        raise ValueError(f"{name} of an array of shape {shape}: there are no elements along axis {axis}")
    (rows,) = sort_p(rows, dimension=len(rest), is_stable=False, num_keys=1)
    leading = aval_of(q).shape
    count = aval_of(q).size
    # One place for each row and each q, along a last axis.
    at = broadcast_in_dim_p(reshape(q, (count,)), shape=(*rest, count), broadcast_dimensions=(len(rest),))
    missing = ne_p(rows, rows)
    if skip_nan:
        present = reduce_sum_p(convert(not_p(missing), aval_of(x).dtype), axes=(len(rest),))
        last = sub_p(present, scalar_like(present, 1))
        at = mul_p(at, broadcast_in_dim_p(last, shape=(*rest, count), broadcast_dimensions=tuple(range(len(rest)))))
        spoiled = eq_p(present, scalar_like(present, 0))
    else:
        at = mul_p(at, scalar_like(at, size - 1))
        spoiled = reduce_or_p(missing, axes=(len(rest),))
    out = _between(rows, at, size, method)
    out = choose(
        broadcast_in_dim_p(spoiled, shape=(*rest, count), broadcast_dimensions=tuple(range(len(rest)))),
        scalar_like(out, np.nan),
        out,
    )
    out = transpose(out, (len(rest), *range(len(rest))))
    out = _kept_dims(reshape(out, (*leading, *rest)), leading, axes, shape, keepdims)
    return convert(out, small) if small is not None else out


def _between(rows: Any, at: Any, size: int, method: str) -> Any:
    def element(place: Any) -> Any:
        limited = min_p(max_p(place, scalar_like(place, 0)), scalar_like(place, size - 1))
        return take_along_axis(rows, convert(limited, dtypes.int32), -1, mode="clip")

    if method == "nearest":
        return element(round_p(at, rounding_method=1))
    low, high = floor_p(at), ceil_p(at)
    if method in ("lower", "higher"):
        return element(low if method == "lower" else high)
    below, above = element(low), element(high)
    if method == "midpoint":
        return mul_p(add_p(below, above), scalar_like(below, 0.5))
    share = sub_p(at, low)
    return add_p(mul_p(below, sub_p(scalar_like(share, 1), share)), mul_p(above, share))


def _quantile_function(name: str, scale: int, skip_nan: bool, doc: str) -> Any:
    def fun(
        a: Any,
        q: Any,
        axis: Any = None,
        out: None = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: None = None,
    ) -> Any:
        unsupported(name, out=out, weights=weights)
        share = operand(name, q, inexact=True)
        share = share if scale == 1 else weak_as(div_p(array_operand(name, share), scalar_like(share, scale)), share)
        return _quantile(name, a, share, axis, method, keepdims, skip_nan)

    fun.__name__, fun.__qualname__ = name, name
    fun.__doc__ = (
        doc
        + """ over `axis` (None, an int or a tuple), each along a leading axis of the result where it is an array.

    `method`: "linear", "lower", "higher", "midpoint" or "nearest". Raises ValueError for others, for complex numbers and where
    there are no elements."""
    )
    return fused(static=_STATIC)(fun)


quantile = _quantile_function("quantile", 1, False, "The quantiles `q` (from 0 to 1)")
percentile = _quantile_function("percentile", 100, False, "The percentiles `q` (from 0 to 100)")
nanquantile = _quantile_function("nanquantile", 1, True, "The quantiles `q` (from 0 to 1) of what is not NaN")
nanpercentile = _quantile_function("nanpercentile", 100, True, "The percentiles `q` (from 0 to 100) of what is not NaN")


@fused(static="axis out overwrite_input keepdims")
def median(a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The middle element over `axis` in sorted order, or the mean of the two middle ones; NaN where one is."""
    unsupported("median", out=out)
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
    middle = low if size % 2 else mul_p(add_p(low, high), scalar_like(low, 0.5))
    return _kept_dims(choose(ne_p(last, last), last, middle), (), axes, shape, keepdims)


@fused(static="axis out overwrite_input keepdims")
def nanmedian(a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The median over `axis` of what is not NaN; NaN if all are."""
    unsupported("nanmedian", out=out)
    return nanquantile(a, 0.5, axis, keepdims=keepdims)
