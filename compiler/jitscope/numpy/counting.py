"""Counts, histograms, covariances, interpolation."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend.placement import laid, laying
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..core.avals import aval_of, is_python_scalar
from ..core.dtypes import to_inexact
from ..eager.functions import eager_jit
from ..ops.elementwise import complex_p, div_p, eq_p, imag_p, lt_p, max_p, real_p, sqrt_p
from ..ops.families import scalar_like
from ..ops.linear import (
    add_p,
    convert,
    full,
    mul_p,
    number_of,
    reshape,
    slice_in_dim,
    sub_p,
    transpose,
    where as choose,
)
from ._ufunc import kind_of
from .arithmetic import absolute, remainder
from .at import At
from .creation import asarray
from .dtypes import requested
from .joining import concatenate
from .linear import dot
from .logic import chosen
from .operands import cast, integer, lenient, operand, operand_and_aval, operands, promoted, scalar_of
from .ranges import linspace
from .reductions import max as greatest, min as least, sum as sum_over
from .rounding import clip, conjugate, real
from .selecting import concrete_value, is_unknown, needs_size, take
from .sorting import argsort, search, searchsorted
from .statistics import average, mean
from .structure import array_operand, atleast_2d, ravel


__all__ = ["bincount", "corrcoef", "cov", "histogram", "histogram_bin_edges", "interp"]


@laying
def bincount(
    x: ArrayLike,
    weights: ArrayLike | None = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """How often each of 0, 1, … stands in the integer vector `x` [n], as integers, or the sums of their `weights` [n].

    The result has `length` elements, or else as many as the greatest needs, at least `minlength`; what lies outside is
    left out, negative numbers count as 0. Raises ConcretizationTypeError while tracing without `length`, TypeError for
    other dtypes than integers and for booleans as weights, ValueError for what is not a vector.
    """
    aval = operand_and_aval("bincount", x)[1]
    if dtypes.kind(aval.dtype) not in "iub":
        raise TypeError(f"bincount takes a vector of integers, not {aval.short()}")
    if aval.ndim != 1:
        raise ValueError(f"bincount takes a vector of integers, not {aval.short()}")
    least_size = integer("bincount", minlength, "minlength")
    if length is not None:
        return _bincount(x, weights, integer("bincount", length, "length"))
    if is_unknown(x):
        raise needs_size("bincount")
    values = np.asarray(concrete_value(operand_and_aval("bincount", x)[0]))
    return _bincount(x, weights, max(int(values.max()) + 1 if values.size else 0, least_size))


@eager_jit(static="size")
def _bincount(x: Any, weights: Any, size: int) -> Any:
    places = convert(array_operand("bincount", x), dtypes.default_int())
    places = max_p(places, scalar_like(places, 0))
    if weights is None:
        return At(full((size,), 0, dtypes.default_int()))[places].add(scalar_of(1, dtypes.default_int(), False))
    w = array_operand("bincount", weights)
    if aval_of(w).shape != aval_of(places).shape:
        raise ValueError(f"bincount: weights of shape {aval_of(w).shape} for {aval_of(places).size} numbers")
    if kind_of(w) == "b":
        raise TypeError("bincount: weights must be numbers, not booleans")
    return At(full((size,), 0, aval_of(w).dtype))[places].add(w)


# Histograms ----------------------------------------------------------------------------------------------------------


@eager_jit(static="bins")
def _edges(a: Any, bins: int, limits: Any) -> Any:
    x = ravel(operand("histogram", a, inexact=True))
    if limits is None:
        low, high = least(x), greatest(x)
    else:
        low, high = (cast(*operand_and_aval("histogram", v), aval_of(x).dtype) for v in limits)
    low, high = array_operand("histogram", low), array_operand("histogram", high)
    flat, half = eq_p(low, high), scalar_like(x, 0.5)
    return linspace(choose(flat, sub_p(low, half), low), choose(flat, add_p(high, half), high), bins + 1)


@lenient
def histogram_bin_edges(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[ArrayLike] | ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Array:
    """The edges [bins + 1] of `bins` bins of equal width from the least to the greatest element of `a` (or over
    `range`, a pair; from 0 to 1 for an empty array), in floats; a vector of edges is given back. Raises NotImplementedError
    for bins by name."""
    if isinstance(bins, str):
        raise NotImplementedError(f"histogram: bins={bins!r} is not supported: give the number of bins, or their edges")
    dtype = to_inexact(operand_and_aval("histogram", a)[1].dtype)
    if operand_and_aval("histogram", bins)[1].ndim:
        return asarray(bins, dtype)
    bins = integer("histogram", bins, "bins")
    ends: Any = range
    if ends is None and operand_and_aval("histogram", a)[1].size == 0:
        ends = (0, 1)
    if ends is not None and all(is_python_scalar(v) for v in ends):  # edges of numbers are rounded once
        low, high = ends
        return linspace(low - 0.5 * (low == high), high + 0.5 * (low == high), bins + 1, dtype=dtype)
    return _edges(a, bins, None if ends is None else list(ends))


@lenient
def histogram(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[ArrayLike] | ArrayLike | None = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> tuple[Array, Array]:
    """(how many elements of `a` lie in each bin [n], the edges [n + 1]), in floats; `out_sharding` says how the former lie.

    `bins` is their number or their edges. `weights`, of the shape of `a`, are summed in place of counting; with
    `density` the integral over all bins is 1. The last bin includes its upper edge. Raises as `histogram_bin_edges`
    does, TypeError for bins by name, and ValueError for weights of another shape.
    """
    if isinstance(bins, str):
        raise TypeError(f"histogram: bins are a number or the edges, not {bins!r}")
    if weights is not None:
        shapes = operand_and_aval("histogram", a)[1].shape, operand_and_aval("histogram", weights)[1].shape
        if shapes[0] != shapes[1]:
            raise ValueError(f"histogram: weights of shape {shapes[1]} for an array of shape {shapes[0]}")
    edges = histogram_bin_edges(a, bins, range, weights)
    counts = _histogram if out_sharding is None else functools.partial(laid, out_sharding, _histogram)
    return counts(a, edges, weights, bool(density)), edges


@eager_jit(static="density")
def _histogram(a: Any, edges: Any, weights: Any, density: bool) -> Any:
    own = to_inexact(operand_and_aval("histogram", a)[1].dtype)
    if weights is not None:
        (a, weights), _, own, _ = promoted("histogram", (a, weights), inexact=True)
    elif operand_and_aval("histogram", a)[1].dtype in dtypes.WIDER:  # which have no common type with other numbers
        (a,), _, _, _ = promoted("histogram", (a,), inexact=True)
    (x, edges), _, _, _ = promoted("histogram", (a, edges), inexact=True)
    x, edges = ravel(x), array_operand("histogram", edges)
    count = aval_of(edges).size - 1
    # The place is the number of edges at or below: 0 is left out, and count + 1 is out of bounds, but at the last edge.
    place = search(edges, x, "right", dtypes.default_int())
    last = reshape(slice_in_dim(edges, count, count + 1), ())
    place = choose(eq_p(x, last), scalar_like(place, count), place)
    w = scalar_of(1, own, False) if weights is None else ravel(operand("histogram", weights))
    counts = slice_in_dim(At(full((count + 1,), 0, own))[place].add(w), 1, count + 1)
    if not density:
        return counts
    widths = sub_p(slice_in_dim(edges, 1, count + 1), slice_in_dim(edges, 0, count))
    counts, widths = operands("histogram", counts, widths)
    return div_p(div_p(counts, widths), sum_over(counts))


# Covariance ----------------------------------------------------------------------------------------------------------


@lenient
@eager_jit(static="rowvar bias ddof dtype")
def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """The covariances [n, n] of n variables: the rows of `m` [n, k] (its columns unless `rowvar`), of which each column
    is an observation; the variance [] of a vector [k].

    `y` are further variables; `fweights` [k] (integers) and `aweights` [k] weigh observations, of both the absolute
    values count. The sum is divided by the count minus `ddof` (None: 0 with `bias`, else 1); `dtype` is that of the
    computation. Raises ValueError for more than two axes and a `dtype` that is not a float, RuntimeError for weights that
    are not a vector or of another size than the observations.
    """
    if dtype is not None and not dtypes.is_inexact(requested(dtype, "cov")):
        raise ValueError(f"cov: the dtype must be a float or complex one, not {requested(dtype, 'cov').name}")
    given = [m] if y is None else [m, y]
    values, _, _, _ = promoted("cov", given, inexact=True)
    if wide := [aval_of(v).shape for v in values if aval_of(v).ndim > 2]:
        raise ValueError(f"cov takes vectors and matrices; it got shape {wide[0]}")
    parts = [_variables(array_operand("cov", v), rowvar) for v in values]
    x = concatenate(parts, 0) if y is not None else parts[0]
    count, samples = aval_of(x).shape
    if not count:
        return full((0, 0), 0, dtypes.default_float())
    if not samples:
        return full(() if count == 1 else (count, count), np.nan, aval_of(x).dtype)
    x = x if dtype is None else cast(x, aval_of(x), requested(dtype, "cov"))
    ddof = (0 if bias else 1) if ddof is None else ddof
    aweights = _observation_weights("aweights", aweights, samples, aval_of(x).dtype)
    weights = _observation_weights("fweights", fweights, samples, aval_of(x).dtype)
    if aweights is not None:
        weights = aweights if weights is None else mul_p(weights, aweights)
    if weights is None:
        centre, total = mean(x, 1, keepdims=True), number_of(samples, aval_of(x).dtype)
    else:
        centre, total = average(x, 1, weights, keepdims=True), sum_over(weights)
    x = sub_p(*operands("cov", x, centre))
    right = x if weights is None else mul_p(*operands("cov", x, weights))
    if weights is None:
        rest = number_of(samples - ddof, aval_of(x).dtype)
    elif aweights is None:
        rest = sub_p(total, scalar_like(total, ddof))
    else:
        heavy = sum_over(mul_p(weights, aweights))
        rest = sub_p(total, div_p(mul_p(heavy, scalar_like(heavy, ddof)), total))
    product = div_p(dot(x, conjugate(transpose(right, (1, 0)))), rest)
    return reshape(product, ()) if aval_of(product).size == 1 else product


def _observation_weights(argument: str, w: Any, samples: int, dtype: Any) -> Any:
    if w is None:
        return None
    aval = operand_and_aval("cov", w)[1]
    if aval.ndim > 1 or aval.shape != (samples,):
        raise RuntimeError(f"cov: {argument} of shape {aval.shape} for {samples} observations")
    if argument == "fweights" and dtypes.kind(aval.dtype) not in "iu":
        raise TypeError(f"cov: fweights must be integers, not {aval.short()}")
    size = absolute(w)
    return cast(size, aval_of(size), dtype)


def _variables(x: Any, rowvar: bool) -> Any:
    rows = atleast_2d(x)
    return transpose(rows, (1, 0)) if not rowvar and aval_of(x).ndim == 2 else rows


@lenient
@eager_jit(static="rowvar dtype")
def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, dtype: DTypeLike | None = None) -> Array:
    """The correlations [n, n] of n variables; arguments as in `cov`. Real and imaginary parts are limited to [-1, 1]."""
    c = cov(x, y, rowvar, dtype=dtype)
    if not aval_of(c).ndim:
        return div_p(c, c)
    n = aval_of(c).shape[0]
    if not n:
        return c
    deviation = sqrt_p(real(slice_in_dim(reshape(c, (n * n,)), 0, n * n, n + 1)))
    c = div_p(*operands("corrcoef", c, reshape(deviation, (n, 1))))
    c = div_p(*operands("corrcoef", c, deviation))
    return complex_p(*(clip(part(c), -1, 1) for part in (real_p, imag_p))) if kind_of(c) == "c" else clip(c, -1, 1)


# Interpolation -------------------------------------------------------------------------------------------------------


@eager_jit()
def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | str | None = None,
    right: ArrayLike | str | None = None,
    period: ArrayLike | None = None,
) -> Array:
    """The piecewise linear function through the points (xp [n], fp [n]), xp ascending, at `x` [...]: floats [...].

    Beyond the ends: `left` and `right` (default: the end values; "extrapolate": the lines of the first and last piece).
    With `period` xp may be in any order. Raises ValueError for complex places, for other texts than "extrapolate" and
    where xp and fp are not vectors of one size.
    """
    for end in (left, right):
        if isinstance(end, str) and end != "extrapolate":
            raise ValueError(f"interp: left and right are numbers or 'extrapolate', not {end!r}")
    (x, xp), _, dtype, _ = promoted("interp", (x, xp), inexact=True)
    fp = operand("interp", fp, inexact=True)
    x, xp, fp = (array_operand("interp", v) for v in (x, xp, fp))
    if dtypes.is_complex(dtype):
        raise ValueError("interp: x and xp must be real")
    if aval_of(xp).ndim != 1 or aval_of(xp).shape != aval_of(fp).shape:
        raise ValueError(
            f"interp: xp and fp must be vectors of one size, not of shapes {aval_of(xp).shape} and {aval_of(fp).shape}"
        )
    if period is not None:
        length = cast(*operand_and_aval("interp", period), dtype)
        x, xp = remainder(x, length), remainder(xp, length)
        order = argsort(xp)
        xp, fp = take(xp, order, mode="clip"), take(fp, order, mode="clip")
        xp = concatenate(
            [slice_in_dim(xp, -1 % aval_of(xp).size, aval_of(xp).size) - length, xp, slice_in_dim(xp, 0, 1) + length]
        )
        fp = concatenate([slice_in_dim(fp, -1 % aval_of(fp).size, aval_of(fp).size), fp, slice_in_dim(fp, 0, 1)])
    size = aval_of(xp).size
    i = clip(searchsorted(xp, x, side="right"), 1, max(size - 1, 1))
    before = sub_p(i, scalar_like(i, 1))
    x0, x1, f0, f1 = (take(v, at, mode="clip") for v, at in ((xp, before), (xp, i), (fp, before), (fp, i)))
    width = sub_p(x1, x0)
    flat = eq_p(width, scalar_like(width, 0))
    share = div_p(sub_p(x, x0), choose(flat, scalar_like(width, 1), width))
    rise, share = operands("interp", sub_p(f1, f0), share)
    value = add_p(*operands("interp", f0, mul_p(rise, share)))
    if period is None:
        ends = [
            reshape(slice_in_dim(fp, k, k + 1), ())
            if v is None or isinstance(v, str)
            else cast(*operand_and_aval("interp", v), aval_of(fp).dtype)
            for v, k in ((left, 0), (right, size - 1))
        ]
        edges = [reshape(slice_in_dim(xp, k, k + 1), ()) for k in (0, size - 1)]
        for end, given, beyond in zip(ends, (left, right), (lt_p(x, edges[0]), lt_p(edges[1], x))):
            value = value if isinstance(given, str) else chosen("interp", beyond, end, value)
    return value
