"""Steps of finite differences: most of an array is replaced by what neighbouring slices of it are combined to.

XLA writes the result into the array's own memory, so each slice that is read has to be copied out before. As a choice between old and new
elements, by their place, all is one loop from one array to another. The elements are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.avals import ShapedArray
from ...symbolic.dimension import is_static
from ...xla.cpu_tuning import STENCILS_AS_CHOICES


_THROUGH = frozenset(
    f"stablehlo.{name}"
    for name in ("add", "subtract", "multiply", "divide", "negate", "maximum", "minimum", "abs", "convert")
)
_NOTHING = frozenset(("stablehlo.constant", "stablehlo.broadcast_in_dim", "stablehlo.iota"))
_MOST_STEPS, _DTYPES = 64, frozenset(("float32", "float64", "int32"))


def is_stencil(ctx: Any, x: Any, update: Any, starts: Sequence[int] | None) -> bool:
    """Whether an update at such places (None: not known) is one, of MLIR values of the context's operands."""
    aval, part = ctx.avals_in[:2]
    if starts is None or not STENCILS_AS_CHOICES.holds(ctx.module.platform):
        return False
    if not is_static((*aval.shape, *part.shape)) or aval.dtype.name not in _DTYPES or aval.shape == part.shape:
        return False
    least = STENCILS_AS_CHOICES.value
    if aval.size < least["elements"] or part.size < least["share"] * aval.size:
        return False
    return len(_slices_of(x, update)) >= least["slices"]


def _slices_of(x: Any, value: Any) -> set[str]:
    """The slices of `x` from which sums, products and their like alone lead to a value; none where anything else does."""
    todo, found, seen = [value], set(), []
    while todo:
        one = todo.pop()
        if any(one == s for s in seen):
            continue
        seen.append(one)
        owner = one.owner
        name = getattr(owner, "name", "")
        if name == "stablehlo.slice" and owner.operands[0] == x:
            found.add(str(owner.attributes["start_indices"]))
        elif name in _THROUGH and len(seen) <= _MOST_STEPS:
            todo += list(owner.operands)
        elif name not in _NOTHING:
            return set()
    return found


def chosen_by_place(ctx: Any, x: Any, update: Any, starts: Sequence[int]) -> Any:
    """The array with the update in it. Starts are moved into bounds, as XLA moves them."""
    aval, part = ctx.avals_in[:2]
    starts = [min(max(s, 0), n - m) for s, n, m in zip(starts, aval.shape, part.shape)]
    high = [n - m - s for s, n, m in zip(starts, aval.shape, part.shape)]
    zero = ctx.scalar(0, aval.dtype)
    new = ctx.hlo.pad(update, zero, ctx.ints(starts), ctx.ints(high), ctx.ints([0] * aval.ndim))
    places, within = ShapedArray(aval.shape, np.dtype(np.int32)), None
    for axis, (start, n, m) in enumerate(zip(starts, aval.shape, part.shape)):
        if n == m:
            continue
        index = ctx.iota(places, axis)
        here = ctx.hlo.and_(
            ctx.compare(index, ctx.full(start, places), "GE"), ctx.compare(index, ctx.full(start + m, places), "LT")
        )
        within = here if within is None else ctx.hlo.and_(within, here)
    return ctx.hlo.select(within, new, x)


def known_places(ctx: Any, starts: Sequence[Any]) -> list[int] | None:
    """The numbers that scalar MLIR values are; None where one is not known."""
    found = [ctx.integer_of(s) for s in starts]
    return None if None in found else found
