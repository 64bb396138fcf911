"""Error functions, and the gamma function's logarithm and derivatives."""

from __future__ import annotations

import math

from ..families import Elementwise
from ..linear import add_p, mul_p, neg_p
from .double import InDouble
from .numbers import number_like, times
from .powers import exp_p


__all__ = ["digamma_p", "erf_inv_p", "erf_p", "erfc_p", "lgamma_p", "polygamma_p"]

_TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)


def _erf_slope(x):
    return times(exp_p(neg_p(mul_p(x, x))), _TWO_OVER_SQRT_PI)


erf_p = Elementwise("erf", lambda t, y, x: mul_p(t, _erf_slope(x)), accepts="f", hlo="chlo.erf")
erfc_p = Elementwise("erfc", lambda t, y, x: neg_p(mul_p(t, _erf_slope(x))), accepts="f", hlo="chlo.erfc")
erf_inv_p = Elementwise(
    "erf_inv",
    lambda t, y, x: times(mul_p(t, exp_p(mul_p(y, y))), math.sqrt(math.pi) / 2),
    accepts="f",
    hlo="chlo.erf_inv",
)


class Digamma(Elementwise):
    """-inf at 0, where XLA before jaxlib 0.11 has NaN."""

    def lower(self, ctx, x, /):
        return _with_pole(ctx, x, ctx.builder(self.builder)(x))


def _with_pole(ctx, x, value):
    aval = ctx.avals_out[0]
    return ctx.hlo.select(ctx.compare(x, ctx.full(0, aval), "EQ"), ctx.full(-math.inf, aval), value)


digamma_p = Digamma(
    "digamma", lambda t, y, x: mul_p(t, polygamma_p(number_like(x, 1), x)), accepts="f", hlo="chlo.digamma"
)
lgamma_p = InDouble("lgamma", lambda t, y, x: mul_p(t, digamma_p(x)), accepts="f", hlo="chlo.lgamma")


def _no_order(t, y, n, x):
    raise ValueError("polygamma has no derivative with respect to its order: differentiate with respect to x")


class Polygamma(Elementwise):
    """Of order 0 digamma, with its value at 0."""

    def lower(self, ctx, /, *values):
        n, x = ctx.broadcast_scalars(values)
        value = ctx.builder(self.builder)(n, x)
        own = ctx.compare(n, ctx.full(0, ctx.avals_out[0]), "EQ")
        return ctx.hlo.select(own, _with_pole(ctx, x, value), value)


polygamma_p = Polygamma(
    "polygamma",
    _no_order,
    lambda t, y, n, x: mul_p(t, polygamma_p(add_p(n, number_like(n, 1)), x)),
    accepts="f",
    hlo="chlo.polygamma",
)
