"""Running sums, products, maxima and minima: along an axis that is not the last as a loop over its rows, a row being as many elements as
lie behind that axis, and added to the one before in vectors; along the last axis as a loop over its elements, eight at a time, in a function
of its own that XLA compiles in one piece, as it does small loops. (The total is kept in memory from turn to turn. The sums of the eight alone
are known before it is there, and it is added to each of them.)

Integers, maxima and minima are what they are in any order. Floats are added from the first to the last within blocks of some √n rows,
and the totals of the blocks likewise: the result at row i is off by no more than (b + i / b + 2) eps times the sum of the magnitudes up
to there, b rows being a block (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 4.2); for products, that
share of the product. Along the last axis rows of more than 4,096 elements have blocks in blocks, of b² and b = ∛n elements:
(n / b² + 2 b + 3) eps; those of up to 64 are one block, n eps. XLA's own way, sums of 16 numbers, sums of 16
such, and so on, is bounded by 15 eps times the number of these levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import IN_ONE_PIECE, RUNNING_BY_ELEMENTS, RUNNING_BY_ROWS


_DTYPES = frozenset(("float32", "float64", "int32", "int64", "uint32", "uint64"))
_COUNT = ShapedArray((), np.dtype(np.int32))
_TOGETHER = 8
"""Elements taken in by one turn."""


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


def runs_by_elements(ctx: Any, axis: int) -> bool:
    """Whether a running reduction is such a loop: in programs for one device."""
    x = ctx.avals_in[0]
    if not RUNNING_BY_ELEMENTS.holds(ctx.module.platform) or ctx.module.meshes.group is not None:
        return False
    if not is_static(x.shape) or x.dtype.name not in _DTYPES or math.prod(x.shape[axis + 1 :]) != 1:
        return False
    return x.shape[axis] >= RUNNING_BY_ELEMENTS.value and x.size < 2**31


def by_elements(ctx: Any, x: Any, identity: Any, combine: Callable[[Any, Any], Any], axis: int, reverse: bool) -> Any:
    """The running reduction of `x`, an MLIR value of the context's operand, along `axis`, from the end if `reverse`."""
    aval = ctx.avals_in[0]
    vector = aval.update(shape=(aval.size,))
    body = _Elements(ctx, vector, aval.shape[axis], identity, combine, reverse).rows
    return ctx.reshape(ctx.call_apart("running", [vector], vector, body, [ctx.reshape(x, vector)], IN_ONE_PIECE), aval)


class _Elements:
    """What builds the operations of such a function, on values of MLIR's; `length` is that of a row."""

    def __init__(self, ctx: Any, vector: ShapedArray, length: int, identity: Any, combine: Any, reverse: bool):
        self.ctx, self.hlo, self.vector, self.length = ctx, ctx.hlo, vector, length
        self.combine, self.reverse, self.one = combine, reverse, vector.update(shape=(1,))
        self.identity = identity
        rounds = dtypes.is_float(vector.dtype) and combine in (ctx.hlo.add, ctx.hlo.multiply)
        self.blocks = _blocks(length) if rounds else ()

    def rows(self, x: Any) -> Any:
        """The whole result."""
        self.nothing = self.ctx.full(self.identity, self.one)
        out, number = self.ctx.zeros(self.vector), self.number(self.vector.size)
        if self.vector.size == self.length:
            return self.row(x, self.number(0), out)
        one = lambda start, out: [self.row(x, start, out)]
        return self.loop(self.number(0), number, self.length, [self.vector], [out], one)[0]

    def row(self, x: Any, start: Any, out: Any) -> Any:
        """`out` with the row that begins at `start`."""
        first, end = self.number(0), self.number(self.length)
        return self.part(x, start, first, end, None if not self.blocks else self.nothing, out, self.blocks)[1]

    def part(self, x: Any, start: Any, first: Any, end: Any, before: Any, out: Any, blocks: Sequence[int]) -> list[Any]:
        """The total of the elements from `first` to `end` of a row, and `out` with the running ones, those `before` taken in; by blocks of
        these sizes, in each other."""

        def elements(many: int) -> Callable[..., list[Any]]:
            """Takes so many elements in, of which the running ones are known before the total is."""

            def take(i: Any, total: Any, out: Any) -> list[Any]:
                places, running = [], []
                for n in range(many):
                    at = self.hlo.add(i, self.number(n)) if n else i
                    at = self.hlo.subtract(self.number(self.length - 1), at) if self.reverse else at
                    places.append(self.hlo.add(start, at))
                    x_n = self.hlo.dynamic_slice(x, [places[n]], self.ctx.ints([1]))
                    running.append(self.combine(running[-1], x_n) if n else x_n)
                running = [self.combine(total, one) for one in running]
                for at, one in zip(places, running):
                    here = one if before is None else self.combine(before, one)
                    out = self.hlo.dynamic_update_slice(out, here, [at])
                return [running[-1], out]

            return take

        def block(i: Any, total: Any, out: Any) -> list[Any]:
            until = self.hlo.minimum(self.hlo.add(i, self.number(blocks[0])), end)
            more, out = self.part(x, start, i, until, self.combine(before, total), out, blocks[1:])
            return [self.combine(total, more), out]

        avals, state = [self.one, self.vector], [self.nothing, out]
        if blocks:
            return self.loop(first, end, blocks[0], avals, state, block)
        last = self.hlo.subtract(end, self.hlo.remainder(self.hlo.subtract(end, first), self.number(_TOGETHER)))
        state = self.loop(first, last, _TOGETHER, avals, state, elements(_TOGETHER))
        return self.loop(last, end, 1, avals, state, elements(1))

    def loop(
        self, first: Any, end: Any, step: int, avals: Any, values: Any, body: Callable[..., list[Any]]
    ) -> list[Any]:
        """Values after `body` ran with first, first + step, … and them."""

        def going(i: Any, *state: Any) -> Any:
            return self.ctx.compare(i, state[-1], "LT")

        def run(i: Any, *state: Any) -> list[Any]:
            return [self.hlo.add(i, self.number(step)), *body(i, *state[:-1]), state[-1]]

        return self.ctx.while_loop([_COUNT, *avals, _COUNT], [first, *values, end], going, run)[1:-1]

    def number(self, value: int) -> Any:
        return self.ctx.scalar(value, np.int32)


def _blocks(n: int) -> tuple[int, ...]:
    """The sizes of blocks in each other, the largest first."""
    if n <= 64:
        return ()
    least = round(n ** (1 / 3))
    return (max(64, math.isqrt(n)),) if n <= 4096 else (least * least, least)


def _block(n: int) -> int:
    """How many rows are a block: few are one."""
    return n if n <= 32 else math.isqrt(n)
