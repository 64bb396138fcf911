"""Convolutions in which each feature has a window of its own, with many elements, as a loop over these: what a few of them see is multiplied
with them, added up, and added to the result, in vectors along it. XLA's own goes through the window for every element of the result.

A product is rounded and then takes part in at most n / 8 + 8 sums, n being the number of elements in the window: the result is off by no more
than (n / 8 + 9) eps times the sum of the products' magnitudes (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 4.2).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray
from ..xla.cpu_tuning import CONVOLUTIONS_IN_LOOPS
from .conv_forms import Geometry


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
