"""Counts, histograms, covariances, interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from ..core.dtypes import to_inexact
from ..ops.elementwise import and_p, div_p, eq_p, lt_p, max_p, min_p, sqrt_p
from ..ops.families import scalar_like
from ..ops.linear import add_p, convert, full, mul_p, reshape, slice_in_dim, sub_p, transpose, where as choose
from ._fused import fused
from ._operands import cast, checked, integer, operand, operands, promoted, scalar_of
from ._ufunc import kind_of
from .arithmetic import remainder
from .at import At
from .dtypes import requested
from .joining import concatenate
from .linear import dot
from .logic import chosen, less_equal
from .ranges import linspace
from .reductions import max as greatest, min as least, sum as sum_over
from .rounding import clip, conjugate, real
from .selecting import concrete_value, is_traced, needs_size, take
from .sorting import argsort, search, searchsorted
from .statistics import average
from .structure import array_operand, atleast_2d, ravel


def bincount(x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Any:
    """How often each of 0, 1, … stands in the integer vector `x`, or the sums of their `weights`.

    The result has `length` elements, or as many as the greatest needs, at least `minlength`; what lies outside is left
    out, negative numbers count as 0. Raises ConcretizationTypeError while tracing without `length`.
    """
    aval = checked("bincount", x)[1]
    if dtypes.kind(aval.dtype) not in "iub" or aval.ndim != 1:
        raise TypeError(f"bincount takes a vector of integers, not {aval.short()}")
    if length is None:
        if is_traced(x):
            raise needs_size("bincount")
        values = np.asarray(concrete_value(checked("bincount", x)[0]))
        length = int(values.max()) + 1 if values.size else 0
    size = max(integer("bincount", length, "length"), integer("bincount", minlength, "minlength"))
    return _bincount(x, weights, size)


@fused(static="size")
def _bincount(x: Any, weights: Any, size: int) -> Any:
    places = convert(array_operand("bincount", x), dtypes.default_int())
    places = max_p(places, scalar_like(places, 0))
    if weights is None:
        return At(full((size,), 0, dtypes.default_int()))[places].add(scalar_of(1, dtypes.default_int(), False))
    w = array_operand("bincount", weights)
    if aval_of(w).shape != aval_of(places).shape:
        raise ValueError(f"bincount: weights of shape {aval_of(w).shape} for {aval_of(places).size} numbers")
    return At(full((size,), 0, aval_of(w).dtype))[places].add(w)


# Histograms ----------------------------------------------------------------------------------------------------------


@fused(static="bins")
def _edges(a: Any, bins: int, limits: Any) -> Any:
    x = ravel(operand("histogram", a, inexact=True))
    if limits is None:
        low, high = (scalar_like(x, 0), scalar_like(x, 1)) if aval_of(x).size == 0 else (least(x), greatest(x))
    else:
        low, high = (cast(*checked("histogram", v), aval_of(x).dtype) for v in limits)
    low, high = array_operand("histogram", low), array_operand("histogram", high)
    flat, half = eq_p(low, high), scalar_like(x, 0.5)
    return linspace(choose(flat, sub_p(low, half), low), choose(flat, add_p(high, half), high), bins + 1)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of `bins` bins of equal width from the least to the greatest element (or over `range`); an array of edges is
    given back. Raises NotImplementedError for bins by name."""
    if isinstance(bins, str):
        raise NotImplementedError("histogram: bins by name; give their number or their edges")
    if checked("histogram", bins)[1].ndim:
        return array_operand("histogram", bins)
    return _edges(a, integer("histogram", bins, "bins"), None if range is None else list(range))


def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool | None = None
) -> tuple[Any, Any]:
    """(how many elements lie in each bin, the edges). `weights` are summed in place of counting; with `density` the
    integral over all bins is 1. The last bin includes its upper edge."""
    edges = histogram_bin_edges(a, bins, range, weights)
    return _histogram(a, edges, weights, bool(density)), edges


@fused(static="density")
def _histogram(a: Any, edges: Any, weights: Any, density: bool) -> Any:
    own = to_inexact(checked("histogram", a)[1].dtype)
    (x, edges), _, _, _ = promoted("histogram", (a, edges), inexact=True)
    x, edges = ravel(x), array_operand("histogram", edges)
    count = aval_of(edges).size - 1
    place = sub_p(search(edges, x, "right", dtypes.default_int()), scalar_of(1, dtypes.default_int(), False))
    low, high = (reshape(slice_in_dim(edges, i, i + 1), ()) for i in (0, count))
    inside = and_p(less_equal(low, x), less_equal(x, high))
    place = min_p(place, scalar_like(place, count - 1))
    w = full(aval_of(x).shape, 1, own) if weights is None else ravel(operand("histogram", weights))
    counts = At(full((count,), 0, aval_of(w).dtype))[choose(inside, place, scalar_like(place, count))].add(w)
    if not density:
        return counts
    widths = sub_p(slice_in_dim(edges, 1, count + 1), slice_in_dim(edges, 0, count))
    counts, widths = operands("histogram", counts, widths)
    return div_p(div_p(counts, widths), sum_over(counts))


# Covariance ----------------------------------------------------------------------------------------------------------


@fused(static="rowvar bias ddof dtype")
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Any:
    """The covariances of variables (rows; columns unless `rowvar`), from columns of observations.

    `y` are further variables; `fweights` and `aweights` weigh observations; `dtype` is that of the computation. Raises ValueError for more than two axes.
    """
    x = operand("cov", m, inexact=True)
    if aval_of(x).ndim > 2:
        raise ValueError(f"cov takes a vector or a matrix; it got shape {aval_of(x).shape}")
    x = _variables(x, rowvar)
    if dtype is not None:
        x = cast(x, aval_of(x), requested(dtype, "cov"))
    if y is not None:
        x = concatenate([x, _variables(operand("cov", y, inexact=True), rowvar)], 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = None
    for w in (fweights, aweights):
        if w is not None:
            w = cast(*checked("cov", w), aval_of(x).dtype)
            weights = w if weights is None else mul_p(weights, w)
    centre, total = average(x, 1, weights, returned=True)
    total = take(total, 0, mode="clip")
    x = sub_p(*operands("cov", x, reshape(centre, (aval_of(centre).size, 1))))
    right = x if weights is None else mul_p(*operands("cov", x, weights))
    if aweights is None:
        rest = sub_p(total, scalar_like(total, ddof))
    else:
        heavy = sum_over(mul_p(*operands("cov", weights, cast(*checked("cov", aweights), aval_of(x).dtype))))
        rest = sub_p(total, div_p(mul_p(heavy, scalar_like(heavy, ddof)), total))
    product = div_p(*operands("cov", dot(x, conjugate(transpose(right, (1, 0)))), rest))
    return reshape(product, ()) if aval_of(product).size == 1 else product


def _variables(x: Any, rowvar: bool) -> Any:
    rows = atleast_2d(x)
    return transpose(rows, (1, 0)) if not rowvar and aval_of(x).ndim == 2 else rows


@fused(static="rowvar dtype")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
    """The correlations of variables, see `cov`."""
    c = cov(x, y, rowvar, dtype=dtype)
    if not aval_of(c).ndim:
        return div_p(c, c)
    n = aval_of(c).shape[0]
    deviation = sqrt_p(real(slice_in_dim(reshape(c, (n * n,)), 0, n * n, n + 1)))
    c = div_p(*operands("corrcoef", c, reshape(deviation, (n, 1))))
    c = div_p(*operands("corrcoef", c, deviation))
    return c if kind_of(c) == "c" else clip(c, -1, 1)


# Interpolation -------------------------------------------------------------------------------------------------------


@fused()
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """The piecewise linear function through the points (xp, fp), xp ascending, at `x`; beyond the ends `left` and `right`
    (default: the end values). With `period` xp may be in any order."""
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
        period = cast(*checked("interp", period), dtype)
        x, xp = remainder(x, period), remainder(xp, period)
        order = argsort(xp)
        xp, fp = take(xp, order, mode="clip"), take(fp, order, mode="clip")
        xp = concatenate(
            [slice_in_dim(xp, -1 % aval_of(xp).size, aval_of(xp).size) - period, xp, slice_in_dim(xp, 0, 1) + period]
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
            reshape(slice_in_dim(fp, k, k + 1), ()) if v is None else cast(*checked("interp", v), aval_of(fp).dtype)
            for v, k in ((left, 0), (right, size - 1))
        ]
        edges = [reshape(slice_in_dim(xp, k, k + 1), ()) for k in (0, size - 1)]
        value = chosen("interp", lt_p(x, edges[0]), ends[0], value)
        value = chosen("interp", lt_p(edges[1], x), ends[1], value)
    return value
