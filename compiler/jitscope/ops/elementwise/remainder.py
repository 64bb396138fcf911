"""The remainder of a division."""

from __future__ import annotations

from ..linear import mul_p, neg_p
from .division import Divide, div_p
from .double import computed, in_double
from .numbers import spread
from .rounding import trunc


__all__ = ["Remainder", "rem_p"]


class Remainder(Divide):
    """What is left of x when y is taken from it as often as it goes, with the sign of x."""

    def lower(self, ctx, x, y, /):
        if ctx.module.meshes.group is not None or not in_double(ctx, "remainder"):
            return super().lower(ctx, x, y)
        left, far = computed(ctx, "remainder", x, y)
        exact = lambda: [super(Remainder, self).lower(ctx, x, y)]
        return ctx.case(far, ctx.avals_out, [lambda: [left], exact])[0]


rem_p = Remainder(
    "rem",
    lambda t, z, x, y: spread(t, z),
    lambda t, z, x, y: neg_p(mul_p(t, trunc(div_p(x, y)))),
    accepts="iuf",
    hlo="remainder",
)
