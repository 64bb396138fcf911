"""Which functions of which arrays are computed in float64."""

from __future__ import annotations

import importlib
import math
from typing import Any

from ....core import dtypes
from ....core.config import enable_x64
from ....symbolic.dimension import is_static
from ....xla.cpu_tuning import IN_DOUBLE, LGAMMA_IN_DOUBLE, POWERS_IN_DOUBLE, REMAINDERS_IN_DOUBLE
from ...families import Elementwise
from ...small_floats import in_single


__all__ = ["InDouble", "computed", "in_double"]

_FILES = {
    "angles": ("sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
    "gammas": ("lgamma",),
    "powers": ("cbrt", "half_power", "power", "power_of"),
    "remainder": ("remainder",),
}
_FILE_OF = {name: file for file, names in _FILES.items() for name in names}
_RULES = {
    "lgamma": LGAMMA_IN_DOUBLE,
    "power": POWERS_IN_DOUBLE,
    "power_of": POWERS_IN_DOUBLE,
    "remainder": REMAINDERS_IN_DOUBLE,
}


def in_double(ctx: Any, name: str) -> bool:
    """Whether the equation of a lowering context is computed by the function of that name in this folder, if there is one."""
    if name not in _FILE_OF:
        return False
    dtype = ctx.avals_in[0].dtype
    kinds = (dtypes.float32,) if name == "remainder" else (dtypes.float32, dtypes.bfloat16, dtypes.float16)
    if dtype not in kinds or any([a.dtype != dtype for a in ctx.avals_in]):
        return False
    rule, shape = _RULES.get(name, IN_DOUBLE), max([a.shape for a in ctx.avals_in], key=len)
    return rule.holds(ctx.module.platform) and is_static(shape) and math.prod(shape) >= rule.value


def computed(ctx: Any, name: str, *values: Any, **known: float) -> Any:
    """What such a function gives of MLIR values, and of numbers that are `known`: an MLIR value, or several. Its file is imported then."""
    function = getattr(importlib.import_module(f".{_FILE_OF[name]}", __package__), name)
    ctx.rewritten("written in float64, in sums and products, and rounded once", _RULES.get(name, IN_DOUBLE))
    of_single = lambda *operands: function(*operands, **known)
    with enable_x64():
        return ctx.inline(of_single if ctx.avals_in[0].dtype == dtypes.float32 else in_single(of_single), *values)


class InDouble(Elementwise):
    """A function that XLA has the C library compute, number by number: float32 arrays are computed in float64, in vectors."""

    def lower(self, ctx, /, *values):
        return computed(ctx, self.name, *values) if in_double(ctx, self.name) else super().lower(ctx, *values)
