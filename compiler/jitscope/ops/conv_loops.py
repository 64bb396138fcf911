"""Convolutions in which each feature has a window of its own, as loops. XLA's own go through the window for every element of the result.

With many elements in the window, the loop is over these: what a few of them see is multiplied with them, added up, and added to the result, in
vectors along it. A product is rounded and then takes part in at most n / 8 + 8 sums, n being the number of elements in the window: the result is off
by no more than (n / 8 + 9) eps times the sum of the products' magnitudes (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
section 4.2).

The gradient by the windows is a convolution, too, of few elements in space, each a sum over all examples and a window as large as the image. Its loop is
over the examples, and the rows of an image where these are long: what is seen from each place of the result is multiplied with the row and added to a
total in vectors along it, and the totals are summed at the end, off by no more than (e + r + 1) eps, e being the turns and r the elements of a row.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, aval_of
from ..xla.cpu_tuning import CONVOLUTIONS_IN_LOOPS, WINDOW_GRADIENTS_IN_LOOPS
from .conv_forms import Geometry
from .linear import broadcast_in_dim, concatenate_p, mul_p, reduce_sum_p, slice_p, transpose


_TOGETHER = 8
"""Elements of the window that one turn takes."""
_INDEX = np.dtype(np.int32)
_COUNT = ShapedArray((), _INDEX)


def is_in_a_loop(ctx: Any, geometry: Geometry) -> bool:
    """Whether a convolution is such a loop, in programs for one device."""
    if not CONVOLUTIONS_IN_LOOPS.holds(ctx.module.platform) or ctx.module.meshes.group is not None:
        return False
    p, least, window = geometry.params, CONVOLUTIONS_IN_LOOPS.value, math.prod(geometry.window)
    plain = not set(p["window_strides"]) - {1} and not set(p["lhs_dilation"]) - {1} and geometry.batch_groups == 1
    alone = geometry.x_shape[1] == geometry.features == geometry.y_shape[0] and geometry.y_shape[1] == 1
    size = geometry.x_shape[0] * math.prod(geometry.sizes) * geometry.features
    large = window > least["window"] and size >= least["result"] and size * window >= least["products"]
    return plain and alone and large


def in_a_loop(ctx: Any, geometry: Geometry, x: Any, y: Any) -> Any:
    """The result of a convolution, MLIR values of the context's operands."""
    x, y = ctx.inline(geometry.canonical, x, y)
    space, features, window = len(geometry.sizes), geometry.features, geometry.window
    dtype, batch = ctx.avals_in[0].dtype, geometry.x_shape[0]
    shape = [batch, *geometry.padded_sizes(), features]
    seen, out = ShapedArray(tuple(shape), dtype), ShapedArray((batch, *geometry.sizes, features), dtype)
    number, own = math.prod(window), ShapedArray((math.prod(window), features), dtype)
    y = ctx.reshape(y, own)
    hlo, zero = ctx.hlo, ctx.scalar(0, _INDEX)

    def products(first: Any, many: int) -> Any:
        """The sum of the products with so many elements of the window."""
        found = []
        for k in range(many):
            n = hlo.add(first, ctx.scalar(k, _INDEX))
            at = [zero, *_place(ctx, n, window, geometry.params["rhs_dilation"]), zero]
            one = ctx.reshape(ctx.dynamic_slice(y, own, [n, zero], (1, features)), ShapedArray((features,), dtype))
            one = ctx.broadcast_in_dim(one, out, [space + 1])
            found.append(hlo.multiply(ctx.dynamic_slice(x, seen, at, out.shape), one))
        return functools.reduce(hlo.add, found)

    def going(i: Any, _: Any) -> Any:
        return ctx.compare(i, ctx.scalar(number, _INDEX), "LT")

    def body(i: Any, total: Any) -> list[Any]:
        return [hlo.add(i, ctx.scalar(_TOGETHER, _INDEX)), hlo.add(total, products(i, _TOGETHER))]

    rest = number % _TOGETHER
    start = [ctx.scalar(rest, _INDEX), products(zero, rest) if rest else ctx.zeros(out)]
    made = ctx.while_loop([_COUNT, out], start, going, body)[-1]
    return ctx.inline(geometry.placed, made, avals=[out])


def _place(ctx: Any, n: Any, window: Sequence[int], apart: Sequence[int]) -> list[Any]:
    """Where the window's n-th element looks, along each axis."""
    found = []
    for i, (size, step) in enumerate(zip(window, apart, strict=True)):
        behind = math.prod(window[i + 1 :])
        along = n if behind == 1 else ctx.hlo.divide(n, ctx.scalar(behind, _INDEX))
        along = along if i == 0 else ctx.hlo.remainder(along, ctx.scalar(size, _INDEX))
        found.append(along if step == 1 else ctx.hlo.multiply(along, ctx.scalar(step, _INDEX)))
    return found


# The gradient by the windows ------------------------------------------------------------------------------------------


def is_summed_by_rows(ctx: Any, geometry: Geometry) -> bool:
    """Whether a convolution is a loop over the examples (the operands' features, as gradients by the windows have them), in programs for one
    device."""
    if not WINDOW_GRADIENTS_IN_LOOPS.holds(ctx.module.platform) or ctx.module.meshes.group is not None:
        return False
    groups, least = geometry.batch_groups, WINDOW_GRADIENTS_IN_LOOPS.value
    alone = groups > 1 and geometry.x_shape[0] == groups == geometry.y_shape[0] and geometry.features == 1
    if not alone or not geometry.sizes:
        return False
    looped = _looped(geometry)
    totals = math.prod(geometry.sizes[looped:])
    turns = geometry.x_shape[1] * math.prod(geometry.window[:looped])
    return totals <= least["totals"] and turns > 1 and _row(geometry, looped) >= least["row"]


def _row(geometry: Geometry, looped: int) -> int:
    return math.prod(geometry.window[looped:]) * geometry.batch_groups


def _looped(geometry: Geometry) -> int:
    """Over how many axes of the image the loop goes: one where the rest still is a long row."""
    return int(len(geometry.sizes) > 1 and _row(geometry, 1) >= WINDOW_GRADIENTS_IN_LOOPS.value["row"])


def summed_by_rows(ctx: Any, geometry: Geometry, x: Any, y: Any) -> Any:
    """The result of such a convolution, MLIR values of the context's operands."""
    hlo, zero, dtype = ctx.hlo, ctx.scalar(0, _INDEX), ctx.avals_in[0].dtype
    looped, groups, examples = _looped(geometry), geometry.batch_groups, geometry.x_shape[1]
    strides, aparts = geometry.params["window_strides"], geometry.params["rhs_dilation"]
    x, y = ctx.inline(lambda x, y: _by_example(geometry, x, y), x, y)
    seen = ShapedArray((examples, *geometry.padded_sizes(), groups), dtype)
    rows = ShapedArray((examples, *geometry.window, groups), dtype)
    total = ShapedArray((*geometry.window[looped:], groups), dtype)
    places = list(itertools.product(*map(range, geometry.sizes[looped:])))
    inner = geometry.window[0] if looped else 1

    def scaled(i: Any, by: int) -> Any:
        return i if by == 1 else hlo.multiply(i, ctx.scalar(by, _INDEX))

    def sums(first: Any) -> Any:
        """What is seen from the places of the result whose first one is `first`: (places, features)."""

        def body(i: Any, *totals: Any) -> list[Any]:
            example, row = i, zero
            if looped:
                example = hlo.divide(i, ctx.scalar(inner, _INDEX))
                row = hlo.remainder(i, ctx.scalar(inner, _INDEX))
            begin = hlo.add(scaled(first, strides[0]), scaled(row, aparts[0])) if looped else zero
            rest = [zero] * (seen.ndim - 2)
            own = [1] * looped
            here = ctx.dynamic_slice(x, seen, [example, begin, *rest], (1, *own, *seen.shape[1 + looped :]))
            factor = ctx.dynamic_slice(y, rows, [example, row, *rest], (1, *own, *rows.shape[1 + looped :]))
            avals = [seen.update(shape=seen.shape[1 + looped :]), total]
            products = ctx.inline(
                lambda x, y: [
                    mul_p(_from(x, at, strides[looped:], aparts[looped:], aval_of(y).shape), y) for at in places
                ],
                ctx.reshape(here, avals[0]),
                ctx.reshape(factor, total),
                avals=avals,
            )
            return [hlo.add(i, ctx.scalar(1, _INDEX)), *map(hlo.add, totals, products)]

        def going(i: Any, *_: Any) -> Any:
            return ctx.compare(i, ctx.scalar(examples * inner, _INDEX), "LT")

        totals = ctx.while_loop(
            [_COUNT, *[total] * len(places)], [zero, *[ctx.zeros(total)] * len(places)], going, body
        )[1:]
        return ctx.inline(_summed, *totals, avals=[total] * len(totals))

    own = ShapedArray((len(places), groups), dtype)
    out = own.update(shape=(1, *geometry.sizes, groups))
    if not looped:
        return ctx.inline(geometry.placed, ctx.reshape(sums(zero), out), avals=[out])
    all_of = own.update(shape=(geometry.sizes[0], *own.shape))

    def outer(first: Any, made: Any) -> list[Any]:
        one = ctx.reshape(sums(first), own.update(shape=(1, *own.shape)))
        made = hlo.dynamic_update_slice(made, one, [first, zero, zero])
        return [hlo.add(first, ctx.scalar(1, _INDEX)), made]

    def further(first: Any, _: Any) -> Any:
        return ctx.compare(first, ctx.scalar(geometry.sizes[0], _INDEX), "LT")

    made = ctx.while_loop([_COUNT, all_of], [zero, ctx.zeros(all_of)], further, outer)[-1]
    return ctx.inline(geometry.placed, ctx.reshape(made, out), avals=[out])


def _by_example(geometry: Geometry, x: Any, y: Any) -> tuple[Any, Any]:
    """Both operands with their axes as example, space, features."""
    x, y = geometry.canonical(x, y)
    n = aval_of(x).ndim
    return transpose(x, (n - 1, *range(1, n - 1), 0)), transpose(y, (n - 2, *range(n - 2), n - 1))


def _from(x: Any, at: Sequence[int], strides: Sequence[int], aparts: Sequence[int], shape: Sequence[int]) -> Any:
    """What the window sees from a place."""
    starts = [i * s for i, s in zip(at, strides, strict=True)]
    ends = [a + (n - 1) * step + 1 for a, n, step in zip(starts, shape, aparts)]
    return slice_p(x, start_indices=(*starts, 0), limit_indices=(*ends, shape[-1]), strides=(*aparts, 1))


def _summed(*totals: Any) -> Any:
    """The sums of the totals over all but the features, side by side."""
    axes = tuple(range(aval_of(totals[0]).ndim - 1))
    sums = [broadcast_in_dim(reduce_sum_p(t, axes=axes), (1, aval_of(t).shape[-1]), (1,)) for t in totals]
    return concatenate_p(*sums, dimension=0) if len(sums) > 1 else sums[0]
