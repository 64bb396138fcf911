"""Histograms in several dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.elementwise import div_p, eq_p
from ..ops.families import scalar_like
from ..ops.linear import convert, mul_p, reshape, slice_in_dim, squeeze_p, sub_p, where as choose
from .counting import bincount, histogram_bin_edges
from .indexing import getitem
from .joining import stack
from .neighbours import diff
from .operands import broadcast, operand, operand_and_aval, operands, promoted
from .reductions import sum as sum_over
from .sorting import searchsorted
from .structure import array_operand


def histogramdd(
    sample: ArrayLike,
    bins: ArrayLike | Sequence[ArrayLike] = 10,
    range: Sequence[ArrayLike | None] | ArrayLike | None = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, list[Array]]:
    """(how many of the points `sample` [n, d] lie in each box of a grid, the edges along each of the d axes).

    `bins`: how many along every axis, or for each axis how many, or its edges. `range`: for each axis its ends or None
    (from the least to the greatest number). `weights` [n] are summed in place of counting; with `density` the integral
    over all boxes is 1. The last bin of an axis includes its upper edge. Raises ValueError where the sizes disagree.
    """
    shape = operand_and_aval("histogramdd", sample)[1].shape
    if len(shape) != 2:
        raise ValueError(f"histogramdd takes points [n, d]; it got shape {shape}")
    count, rank = shape
    if weights is not None and operand_and_aval("histogramdd", weights, 3)[1].shape != (count,):
        raise ValueError(
            f"histogramdd: {count} points, and weights of shape {operand_and_aval('histogramdd', weights, 3)[1].shape}"
        )
    limits: Any = range
    if limits is not None and (len(limits) != rank or any(r is not None and len(r) != 2 for r in limits)):
        raise ValueError(f"histogramdd: range must be {rank} pairs or None, not {limits}")
    given: Any = bins
    every: list[Any] = list(given) if _is_sequence(given) else [given] * rank
    if len(every) != rank:
        raise ValueError(f"histogramdd: {len(every)} bins are given for {rank} axes")
    edges = [b if _is_sequence(b) else None for b in every]
    counts = tuple(None if _is_sequence(b) else b for b in every)
    ends = None if limits is None else [None if r is None else list(r) for r in limits]
    hist, *edges = _counted(sample, counts, edges, ends, weights, bool(density))
    return hist, edges


def _is_sequence(x: Any) -> bool:
    return isinstance(x, (list, tuple)) or getattr(x, "ndim", 0) > 0


@eager_jit(static="counts density")
def _counted(sample: Any, counts: Any, edges: Any, ends: Any, weights: Any, density: bool) -> tuple[Any, ...]:
    given = (sample,) if weights is None else (sample, weights)
    values, _, _, _ = promoted("histogramdd", given, inexact=True)
    points, weights = values[0], None if weights is None else values[1]
    all_edges: list[Any] = []
    flat: Any = None
    for axis, (count, known) in enumerate(zip(counts, edges)):
        column = squeeze_p(slice_in_dim(points, axis, axis + 1, axis=1), dimensions=(1,))
        limits = None if ends is None or ends[axis] is None else ends[axis]
        known = stack([array_operand("histogramdd", v) for v in known]) if isinstance(known, list) else known
        found = histogram_bin_edges(column, known if count is None else count, limits, weights)
        found = convert(found, aval_of(points).dtype)
        all_edges.append(found)
        bins = aval_of(found).size - 1
        # Before the first edge is 0, beyond the last bins + 1: the boxes around the grid, left out at the end.
        place = searchsorted(found, column, side="right")
        last = eq_p(*operands("histogramdd", column, getitem(found, -1)))
        place = choose(last, sub_p(place, scalar_like(place, 1)), place)
        flat = place if flat is None else mul_p(flat, scalar_like(flat, bins + 2)) + place
    shape = tuple(aval_of(e).size + 1 for e in all_edges)
    hist = bincount(flat, weights, length=math.prod(shape))
    hist = getitem(reshape(hist, shape), (slice(1, -1),) * len(shape))
    return _dense(hist, all_edges, aval_of(points).dtype) if density else hist, *all_edges


def _dense(hist: Any, edges: Sequence[Any], dtype: Any) -> Any:
    hist = convert(hist, dtype)
    hist = div_p(*operands("histogramdd", hist, sum_over(hist)))
    shape = aval_of(hist).shape
    for axis, e in enumerate(edges):
        widths = reshape(diff(e), tuple(n if i == axis else 1 for i, n in enumerate(shape)))
        hist = div_p(*operands("histogramdd", hist, broadcast(widths, aval_of(widths).shape, shape)))
    return hist


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: ArrayLike | Sequence[ArrayLike] = 10,
    range: Sequence[ArrayLike | None] | ArrayLike | None = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, Array, Array]:
    """(how many of the points (x [n], y [n]) lie in each box of a grid [k, m], the edges along x [k + 1], those along y
    [m + 1]); see `histogramdd`. `bins` may also be one vector of edges, for both."""
    pair = [operand("histogram2d", v) for v in (x, y)]
    given: Any = bins
    if _is_sequence(given) and len(given) not in (1, 2):
        given = [given, given]
    hist, (along_x, along_y) = histogramdd(stack(pair, 1), given, range, weights, density)
    return hist, along_x, along_y
