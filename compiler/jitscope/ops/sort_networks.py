"""Integers sorted along a short axis by a network: pairs of places in a fixed order, of which the lesser goes first and the greater last, for all rows at
once (K. E. Batcher, Sorting networks and their applications, 1968: merging by odd and even places). XLA's sort calls a function for each comparison."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import SORTED_BY_NETWORKS
from .elementwise import max_p, min_p
from .linear import reshape, slice_in_dim, slice_p


def sorts_by_a_network(ctx: Any, dimension: int) -> bool:
    """Whether the context's one operand is sorted so."""
    return dtypes.kind(ctx.avals_in[0].dtype) in "iu" and has_rows_for_networks(ctx, dimension)


def has_rows_for_networks(ctx: Any, dimension: int) -> bool:
    """Whether integers in the place of the context's operand would be sorted so: in programs for one device."""
    (x,), limits = ctx.avals_in, SORTED_BY_NETWORKS.value
    if not is_static(x.shape):
        return False
    if not SORTED_BY_NETWORKS.holds(ctx.module.platform) or ctx.module.meshes.group is not None:
        return False
    length = x.shape[dimension]
    if length <= limits["length"]:
        return length > 1 and x.size >= limits["elements"]
    return length <= limits["longer"] and x.size >= limits["elements of longer"]


def by_a_network(ctx: Any, x: Any, aval: ShapedArray, dimension: int, count: int) -> Any:
    """The `count` least of an MLIR value of an aval along an axis, in order."""
    length, before, after = (
        aval.shape[dimension],
        math.prod(aval.shape[:dimension]),
        math.prod(aval.shape[dimension + 1 :]),
    )
    one, given = aval.update(shape=(before, 1, after)), [*aval.shape]
    given[dimension] = count
    columns = ctx.inline(lambda x: _columns(reshape(x, (before, length, after)))[:count], x, avals=[aval])
    # As one loop each: XLA would compute all of them again for every column of what they are put together to.
    columns = [ctx.reshape(c, one) for c in ctx.hlo.OptimizationBarrierOp(columns).results]
    return ctx.reshape(ctx.hlo.concatenate(columns, ctx.int(1)), aval.update(shape=tuple(given)))


def _columns(x: Any) -> list[Any]:
    """Of an array of three axes the least elements along that in the middle, …, the greatest, each as a vector."""
    before, length, after = aval_of(x).shape
    if after == 1:  # as vectors from the start, which XLA computes along one axis
        flat, size = reshape(x, (before * length,)), before * length
        columns = [slice_p(flat, start_indices=(i,), limit_indices=(size,), strides=(length,)) for i in range(length)]
    else:
        columns = [reshape(slice_in_dim(x, i, i + 1, 1, 1), (before * after,)) for i in range(length)]
    for i, j in pairs(length):
        columns[i], columns[j] = min_p(columns[i], columns[j]), max_p(columns[i], columns[j])
    return columns


@lru_cache(maxsize=64)
def pairs(length: int) -> tuple[tuple[int, int], ...]:
    """The pairs of places of a network that sorts so many elements."""
    return tuple(_merged(length))


def _merged(length: int) -> Iterator[tuple[int, int]]:
    sorted_already = 1
    while sorted_already < length:
        apart = sorted_already
        while apart:
            for first in range(apart % sorted_already, length - apart, 2 * apart):
                for place in range(first, min(first + apart, length - apart)):
                    if place // (2 * sorted_already) == (place + apart) // (2 * sorted_already):
                        yield place, place + apart
            apart //= 2
        sorted_already *= 2
