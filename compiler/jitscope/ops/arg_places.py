"""The place of the greatest or least element along an axis, in two steps: the element, then the first place that has it.

Both are plain reductions, which XLA has its library do, in vectors; pairs of an element and its place it compares one by one. The places are
float32, which that library knows and which is exact up to 2**24. NaN, which it loses, is looked for with the second: the places of NaNs are
lower than all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import ARG_IN_TWO_STEPS
from .elementwise import eq_p, lt_p, ne_p
from .linear import add_p, broadcast_in_dim, convert, sub_p, where
from .short_sums import in_longer_rows, side_by_side
from .sort_keys import ORDERED_FLOATS


def found_in_two_steps(x: ShapedArray, axis: int, platform: str) -> bool:
    """Whether the place of an element of `x` along an axis is found so: of floats, and along other axes than the last of what else XLA
    compares pair by pair."""
    if not ARG_IN_TWO_STEPS.holds(platform) or not is_static(x.shape):
        return False
    least, length = ARG_IN_TWO_STEPS.value, x.shape[axis]
    known = x.dtype.name in ORDERED_FLOATS or (axis != x.ndim - 1 and dtypes.is_integer(x.dtype))
    return known and least["length"] <= length <= 2**24 and x.size >= least["elements"]


def place_in_two_steps(ctx: Any, x: Any, axis: int, identity: Any, choose: Callable[[Any, Any], Any]) -> Any:
    """The index (of the dtype of the context's result) along `axis` of the context's operand `x`, an MLIR value. `choose` builds the greater
    (or lesser) of two scalars, of which `identity` is the least (or greatest)."""
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    best, places, first = (
        ShapedArray(s, d) for s, d in ((out.shape, aval.dtype), (aval.shape, np.float32), (out.shape, np.float32))
    )
    length, kept = np.float32(aval.shape[axis]), tuple(i for i in range(aval.ndim) if i != axis)

    def marked(x: Any, best: Any, place: Any) -> Any:
        marks = where(eq_p(x, broadcast_in_dim(best, aval.shape, kept)), place, length)
        return where(ne_p(x, x), sub_p(place, length), marks) if dtypes.is_float(aval.dtype) else marks

    def index(place: Any) -> Any:
        return convert(where(lt_p(place, np.float32(0)), add_p(place, length), place), out.dtype)

    ctx.avals_out = [best]
    chosen = _reduced(ctx, x, identity, choose, axis)
    marks = ctx.inline(marked, x, chosen, ctx.iota(places, axis), avals=[aval, best, places])
    ctx.avals_in, ctx.avals_out = [places], [first]
    found = _reduced(ctx, marks, length, ctx.hlo.minimum, axis)
    ctx.avals_out = [out]
    return ctx.inline(index, found, avals=[first])


def _reduced(ctx: Any, x: Any, identity: Any, combine: Callable[[Any, Any], Any], axis: int) -> Any:
    rows = side_by_side(ctx, (axis,))
    if not rows:
        return ctx.reduce(x, identity, combine, (axis,))
    return in_longer_rows(ctx, x, rows, identity, lambda x: ctx.reduce(x, identity, combine, (1,)))
