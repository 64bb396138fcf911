"""The place of the greatest or least element along an axis, in two steps: the element, then the first place that has it.

Both are plain reductions, which XLA runs in vectors; that of pairs of an element and its place it runs one by one. Floats are compared as
integers in the same order (all NaNs the greatest, or the least, both zeros one): the library that XLA takes for the greatest of floats loses
NaN.
"""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import ARG_IN_TWO_STEPS
from .linear import convert
from .sort_keys import ORDERED_FLOATS, nan_beyond, signed, with_one_zero


def found_in_two_steps(x: ShapedArray, axis: int, platform: str) -> bool:
    """Whether the place of an element of `x` along an axis is found so: of floats, and along other axes than the last of what else XLA
    compares pair by pair."""
    if not ARG_IN_TWO_STEPS.holds(platform) or not is_static(x.shape):
        return False
    least, kind = ARG_IN_TWO_STEPS.value, x.dtype.name
    known = kind in ORDERED_FLOATS or (axis != x.ndim - 1 and (dtypes.is_integer(x.dtype) or x.dtype == dtypes.bool_))
    return known and x.shape[axis] >= least["length"] and x.size >= least["elements"]


def in_order(x: Any, greatest: bool) -> Any:
    """Signed integers in the order of `x`; NaN is the greatest of all, or the least."""
    dtype = aval_of(x).dtype
    if dtype == dtypes.bool_:
        return convert(x, dtypes.int8)
    return nan_beyond(with_one_zero(x), greatest) if dtypes.is_float(dtype) else signed(x)
