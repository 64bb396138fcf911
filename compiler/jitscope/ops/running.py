"""Running sums, products, maxima and minima along an axis that is not the last, as a loop over its rows: a row is as many elements as
lie behind that axis, and is added to the one before in vectors.

Integers, maxima and minima are what they are in any order. Floats are added from the first to the last within blocks of some √n rows,
and the totals of the blocks likewise: the result at row i is off by no more than (b + i / b + 2) eps times the sum of the magnitudes up
to there, b rows being a block (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 4.2); for products, that
share of the product. XLA's own way, sums of 16 numbers, sums of 16 such, and so on, is bounded by 15 eps times the number of these
levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import RUNNING_BY_ROWS


_DTYPES = frozenset(("float32", "float64", "int32", "int64", "uint32", "uint64"))
_COUNT = ShapedArray((), np.dtype(np.int32))


def runs_by_rows(x: ShapedArray, axis: int, platform: str) -> bool:
    """Whether a running reduction is such a loop."""
    if not RUNNING_BY_ROWS.holds(platform) or not is_static(x.shape) or x.dtype.name not in _DTYPES:
        return False
    least = RUNNING_BY_ROWS.value
    row = math.prod(x.shape[axis + 1 :])
    return x.shape[axis] >= least["rows"] and row >= least["row"] and x.size >= least["elements"]


def by_rows(ctx: Any, x: Any, identity: Any, combine: Callable[[Any, Any], Any], axis: int, reverse: bool) -> Any:
    """The running reduction of `x`, an MLIR value of the context's operand, along `axis`, from the end if `reverse`."""
    aval = ctx.avals_in[0]
    n = aval.shape[axis]
    row = aval.update(shape=(*aval.shape[:axis], 1, *aval.shape[axis + 1 :]))
    last, one, zero = ctx.scalar(n - 1, np.int32), ctx.scalar(1, np.int32), ctx.scalar(0, np.int32)
    block = _block(n) if dtypes.is_float(aval.dtype) and combine in (ctx.hlo.add, ctx.hlo.multiply) else n

    def going(i: Any, *_: Any) -> Any:
        return ctx.compare(i, ctx.scalar(n, np.int32), "LT")

    def starts(i: Any) -> list[Any]:
        place = ctx.hlo.subtract(last, i) if reverse else i
        return [place if k == axis else zero for k in range(aval.ndim)]

    def whole(i: Any, total: Any, out: Any) -> list[Any]:
        at = starts(i)
        total = combine(total, ctx.dynamic_slice(x, aval, at, row.shape))
        return [ctx.hlo.add(i, one), total, ctx.hlo.dynamic_update_slice(out, total, at)]

    def in_blocks(i: Any, before: Any, total: Any, out: Any) -> list[Any]:
        at = starts(i)
        here = ctx.dynamic_slice(x, aval, at, row.shape)
        begins = ctx.compare(ctx.hlo.remainder(i, ctx.scalar(block, np.int32)), zero, "EQ")
        before = ctx.hlo.select(begins, combine(before, total), before)
        total = combine(ctx.hlo.select(begins, ctx.full(identity, row), total), here)
        return [ctx.hlo.add(i, one), before, total, ctx.hlo.dynamic_update_slice(out, combine(before, total), at)]

    kept = [ctx.full(identity, row)] * (1 if block == n else 2)
    avals = [_COUNT, *[row] * len(kept), aval]
    values = [zero, *kept, ctx.zeros(aval)]
    return ctx.while_loop(avals, values, going, whole if block == n else in_blocks)[-1]


def _block(n: int) -> int:
    """How many rows are a block: few are one."""
    return n if n <= 32 else math.isqrt(n)
