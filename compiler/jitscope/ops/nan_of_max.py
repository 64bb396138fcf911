"""The greatest and the least of floats with NaN among them, which the CPU's compiler gives as numbers: its library in large arrays, and
devices where they exchange theirs (`xla.cpu_tuning.NAN_OF_MAX`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import NAN_OF_MAX
from .sort_keys import ORDERED_FLOATS, floats, nan_beyond


def loses_nan(x: ShapedArray, platform: str, divided: bool = False) -> bool:
    """Whether the greatest and the least element of an array would be numbers though it has a NaN. `divided`: XLA divides the array among
    devices, which then exchange what they found."""
    if not NAN_OF_MAX.holds(platform) or not dtypes.is_float(x.dtype):
        return False
    return divided or (is_static(x.shape) and x.size >= NAN_OF_MAX.value)


def lost_between_devices(ctx: Any, exchanged: bool) -> bool:
    """Whether devices that exchange the greatest of the context's first operand lose NaN, and integers are to be written for it."""
    x, platform = ctx.avals_in[0], ctx.module.platform
    if not exchanged or x.dtype.name not in ORDERED_FLOATS or not loses_nan(x, platform, divided=True):
        return False
    ctx.rewritten("written as that of integers in the same order", NAN_OF_MAX)
    return True


def of_integers(choose: Callable[..., Any], greatest: bool) -> Callable[..., Any]:
    """The greatest or the least of floats, which `choose` finds of integers: what is exchanged is no more, as a look for NaN would need."""
    return lambda *xs: floats(choose(*(nan_beyond(x, greatest) for x in xs)), aval_of(xs[0]).dtype)
