"""Sums of floats in arrays whose last axis is short.

XLA's library sums such arrays row by row, at some nanoseconds for each row and operation, however short it is. Here a sum over the last axis is that of the
axis' slices, from the first to the last, and a sum over axes before it is one of longer rows: several rows side by side, whose
sums are then summed. (Where no number of rows fits, zeros follow the last.) A sum over a last axis and others with an axis between them that is kept, as in
normalization by groups of features, is first one over the others, along rows of all that follows them.

Sums over the last axis are taken in the order of XLA's own loops; others differ from XLA's by the rounding of a sum of n terms: at most 2 n eps times the sum of
their magnitudes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import SUMS_OF_SHORT_ROWS


_DTYPES = ("float32", "float64")
_WIDE, _WIDEST = 64, 256
"""How many numbers longer rows have: XLA's library adds them in vectors."""
_LEAST_ROWS, _LONGEST = 16, 4096
"""How many rows are added before the last axis is, and how long they are at most."""


def of_short_rows(ctx: Any, x: Any, axes: Sequence[int]) -> Any:
    """The sum of the context's operand `x`, an MLIR value, over `axes`, in programs for one device; None where XLA's own is as fast."""
    if not _concerns(ctx):
        return None
    (aval,), axes = ctx.avals_in, sorted(axes)
    if rows := side_by_side(ctx, axes):
        ctx.rewritten(f"written as a sum of rows of {rows[-1]} side by side", SUMS_OF_SHORT_ROWS)
        return in_longer_rows(ctx, x, rows, 0, lambda x: ctx.reduce(x, 0, ctx.hlo.add, (1,)))
    last = [axis for i, axis in enumerate(axes) if aval.ndim - axis == len(axes) - i]
    others, length = axes[: len(axes) - len(last)], math.prod(aval.shape[axis] for axis in last)
    if (found := _of_others_first(ctx, x, axes[: -len(last)] if last else [], length)) is not None:
        return found
    if len(axes) == aval.ndim or not 1 < length <= SUMS_OF_SHORT_ROWS.value["added"]:
        return None
    return _of_slices(ctx, x, length, len(last), others)


def _of_others_first(ctx: Any, x: Any, others: Sequence[int], length: int) -> Any:
    """The sum over the last axes, of so many elements together, and the `others`; None where there are none, where nothing is kept between, or few rows."""
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    if not others or list(others) != list(range(others[0], others[-1] + 1)) or not 1 < length <= _WIDE:
        return None
    batch, count = math.prod(aval.shape[: others[0]]), math.prod(aval.shape[a] for a in others)
    row = aval.size // (batch * count)
    if count < _LEAST_ROWS or not length < row <= _LONGEST:
        return None
    ctx.rewritten("written as a sum over the first axes, then over the last", SUMS_OF_SHORT_ROWS)
    before, between = aval.update(shape=(batch, count, row)), aval.update(shape=(batch, row))
    ctx.avals_in, ctx.avals_out = [before], [between]
    x = ctx.reshape(x, before)
    x = of_short_rows(ctx, x, (1,)) or ctx.reduce(x, 0, ctx.hlo.add, (1,))
    groups = aval.update(shape=(batch, row // length, length))
    ctx.avals_in, ctx.avals_out = [groups], [out]
    x = ctx.reduce(ctx.reshape(x, groups), 0, ctx.hlo.add, (2,))
    ctx.avals_in = [aval]
    return ctx.reshape(x, out)


def side_by_side(ctx: Any, axes: Sequence[int]) -> tuple[int, int, int] | None:
    """For a reduction over `axes` that end before a short last axis: how many there are, the length of that axis, and how many rows of
    it make a longer one; None where XLA's own reduction is as fast."""
    (aval,), first = ctx.avals_in, min(axes, default=0)
    if not _concerns(ctx) or sorted(axes) != list(range(first, aval.ndim - 1)):
        return None
    length = aval.shape[-1]
    if not 1 < length <= SUMS_OF_SHORT_ROWS.value["kept"]:
        return None
    batch = math.prod(aval.shape[:first])
    together = _rows_together(aval.size // (batch * length), length)
    return (batch, length, together) if together else None


def _concerns(ctx: Any) -> bool:
    aval = ctx.avals_in[0]
    if not aval.shape or aval.dtype.name not in _DTYPES or not is_static(aval.shape):
        return False
    if aval.size < SUMS_OF_SHORT_ROWS.value["elements"] or ctx.module.meshes.group is not None:
        return False
    return SUMS_OF_SHORT_ROWS.holds(ctx.module.platform)


def _rows_together(rows: int, length: int) -> int:
    """How many rows of a length are put side by side; 0 where there are too few."""
    least = -(-_WIDE // length)
    if rows < 4 * least:
        return 0
    fitting = (n for n in range(least, _WIDEST // length + 1) if rows % n == 0 and rows >= 4 * n)
    return next(fitting, least)


def _of_slices(ctx: Any, x: Any, length: int, last: int, others: Sequence[int]) -> Any:
    """The sum over the `last` axes, of so many elements together, and of what that gives over the `others`."""
    ctx.rewritten("written as the sum of its slices", SUMS_OF_SHORT_ROWS)
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    # Not as columns (n, 1): XLA would compute what follows along an axis of one element.
    x = ctx.reshape(x, aval.update(shape=(aval.size,)))
    total = None
    for i in range(length):
        column = ctx.hlo.slice(x, ctx.ints([i]), ctx.ints([aval.size]), ctx.ints([length]))
        total = column if total is None else ctx.hlo.add(total, column)
    if not others:
        return ctx.reshape(total, out)
    left = aval.update(shape=aval.shape[: aval.ndim - last])
    ctx.avals_in = [left]
    total = ctx.reshape(total, left)
    return of_short_rows(ctx, total, others) or ctx.reduce(total, 0, ctx.hlo.add, others)


def in_longer_rows(ctx: Any, x: Any, rows: tuple[int, int, int], identity: Any, reduce: Callable[[Any], Any]) -> Any:
    """A reduction of the context's operand `x`, an MLIR value, over the axes for which `side_by_side` gave `rows`. `reduce` does it over the axis in the
    middle of three, those of the context's operand; `identity` changes nothing in it."""
    (aval,), (out,), (batch, length, together) = ctx.avals_in, ctx.avals_out, rows
    of: ShapedArray = aval.update(weak_type=False)
    each, wide = aval.size // batch, together * length
    x, rest = ctx.reshape(x, of.update(shape=(batch, each))), -each % wide
    if rest:
        filler = ctx.constant(np.asarray(identity, aval.dtype))
        x = ctx.hlo.pad(x, filler, ctx.ints([0, 0]), ctx.ints([0, rest]), ctx.ints([0, 0]))
    for shape, left in (
        ((batch, (each + rest) // wide, wide), (batch, wide)),
        ((batch, together, length), (batch, length)),
    ):
        ctx.avals_in, ctx.avals_out = [of.update(shape=shape)], [of.update(shape=left)]
        x = reduce(ctx.reshape(x, ctx.avals_in[0]))
    ctx.avals_in, ctx.avals_out = [aval], [out]
    return ctx.reshape(x, out)
