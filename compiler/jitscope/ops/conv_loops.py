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
from collections.abc import Callable, Sequence
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
    x, y = ctx.inline(lambda x, y: _by_example(geometry, x, y), x, y)
    sums = _SumsByRows(ctx, geometry, x, y)
    out = ShapedArray((1, *geometry.sizes, geometry.batch_groups), sums.total.dtype)
    made = sums.all_of() if sums.looped else sums.of(sums.number(0))
    return ctx.inline(geometry.placed, ctx.reshape(made, out), avals=[out])


class _SumsByRows:
    """What builds such loops, on values of MLIR's: over the examples, and over the first axis of an image if `looped`."""

    def __init__(self, ctx: Any, geometry: Geometry, x: Any, y: Any):
        self.ctx, self.hlo, self.x, self.y = ctx, ctx.hlo, x, y
        self.looped, self.params = _looped(geometry), geometry.params
        self.sizes, self.examples, groups = geometry.sizes, geometry.x_shape[1], geometry.batch_groups
        dtype = ctx.avals_in[0].dtype
        self.seen = ShapedArray((self.examples, *geometry.padded_sizes(), groups), dtype)
        self.rows = ShapedArray((self.examples, *geometry.window, groups), dtype)
        self.total = ShapedArray((*geometry.window[self.looped :], groups), dtype)
        self.places = list(itertools.product(*map(range, self.sizes[self.looped :])))
        self.sums = ShapedArray((len(self.places), groups), dtype)

    def number(self, value: int) -> Any:
        return self.ctx.scalar(value, _INDEX)

    def all_of(self) -> Any:
        """The sums for each place along the first axis of the result."""
        count, zero = self.sizes[0], self.number(0)
        made = self.sums.update(shape=(count, *self.sums.shape))

        def body(first: Any, made: Any) -> list[Any]:
            one = self.ctx.reshape(self.of(first), self.sums.update(shape=(1, *self.sums.shape)))
            return [self.next(first), self.hlo.dynamic_update_slice(made, one, [first, zero, zero])]

        return self.ctx.while_loop([_COUNT, made], [zero, self.ctx.zeros(made)], self.until(count), body)[-1]

    def of(self, first: Any) -> Any:
        """The sums for the places whose first one is `first`: (places, features)."""
        inner = self.rows.shape[1] if self.looped else 1

        def body(i: Any, *totals: Any) -> list[Any]:
            example, row = i, self.number(0)
            if self.looped:
                example, row = (f(i, self.number(inner)) for f in (self.hlo.divide, self.hlo.remainder))
            return [self.next(i), *map(self.hlo.add, totals, self.products(example, row, first))]

        avals = [self.total] * len(self.places)
        values = [self.number(0), *map(self.ctx.zeros, avals)]
        totals = self.ctx.while_loop([_COUNT, *avals], values, self.until(self.examples * inner), body)[1:]
        return self.ctx.inline(_summed, *totals, avals=avals)

    def products(self, example: Any, row: Any, first: Any) -> list[Any]:
        """The products of a row with what is seen from each place."""
        strides, aparts = self.params["window_strides"], self.params["rhs_dilation"]
        begin = self.number(0)
        if self.looped:
            begin = self.hlo.add(self.times(first, strides[0]), self.times(row, aparts[0]))
        here, factor = self.part(self.x, self.seen, example, begin), self.part(self.y, self.rows, example, row)
        strides, aparts, window = strides[self.looped :], aparts[self.looped :], self.total.shape
        written = lambda x, y: [mul_p(_from(x, at, strides, aparts, window), y) for at in self.places]
        seen = self.seen.update(shape=self.seen.shape[1 + self.looped :])
        return self.ctx.inline(
            written, self.ctx.reshape(here, seen), self.ctx.reshape(factor, self.total), avals=[seen, self.total]
        )

    def part(self, x: Any, aval: ShapedArray, example: Any, row: Any) -> Any:
        """An example, or a row of it."""
        rest = aval.shape[1 + self.looped :]
        at = [example, *[row] * self.looped, *[self.number(0)] * len(rest)]
        return self.ctx.dynamic_slice(x, aval, at, (1, *[1] * self.looped, *rest))

    def times(self, i: Any, by: int) -> Any:
        return i if by == 1 else self.hlo.multiply(i, self.number(by))

    def next(self, i: Any) -> Any:
        return self.hlo.add(i, self.number(1))

    def until(self, count: int) -> Callable[..., Any]:
        return lambda i, *_: self.ctx.compare(i, self.number(count), "LT")


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
