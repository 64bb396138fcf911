"""The normal distribution: the logarithm of its distribution function, and its quantiles."""

from __future__ import annotations

import math
from typing import Any

from ..ops.elementwise import erfc_p, exp_p, log1p_p, log_p, min_p, sqrt_p
from ..ops.linear import mul_p
from . import tables
from .approximations import by_width, chebyshev, choose, polynomial
from .error import erfcx_p
from .primitive import special


_ROOT_HALF = math.sqrt(0.5)


_EXCESS = [110410.0, -8162.0, 706.0, -74.0, 10.0, -2.0, 1.0]
"""-x (x + m(x)) for a ratio m far to the left, by powers of 1 / x², the highest first: m = -x / (1 - 1 / x² + 3 / x⁴ - 15 / x⁶ + …)."""


def _slope_of_ratio(t: Any, out: Any, x: Any) -> Any:
    """m' = -m (x + m), where the sum would be what is left of two large numbers."""
    far = x < by_width(x, -12.0, -30.0)
    inverse = 1.0 / choose(far, x, -12.0)
    excess = choose(far, -inverse * polynomial(inverse * inverse, _EXCESS), x + out)
    return mul_p(t, -out * excess)


@special("normal_ratio", _slope_of_ratio)
def _ratio_p(x: Any) -> Any:
    """The density over the distribution function."""
    left = x < 0.0
    right = choose(left, 0.0, x)
    falling = exp_p(-0.5 * right * right) / erfc_p(-right * _ROOT_HALF)
    rising = 1.0 / erfcx_p.fun(choose(left, -x * _ROOT_HALF, 0.0))
    return math.sqrt(2 / math.pi) * choose(left, rising, falling)


@special("log_ndtr", lambda t, out, x: mul_p(t, _ratio_p(x)))
def log_ndtr_p(x: Any) -> Any:
    """The logarithm of the distribution function, by erfcx where that underflows."""
    left = x < -1.0
    tail = log_p(0.5 * erfcx_p.fun(choose(left, -x * _ROOT_HALF, 1.0))) - 0.5 * x * x
    return choose(left, tail, log1p_p(-0.5 * erfc_p(choose(left, 0.0, x) * _ROOT_HALF)))


def _by_density(t: Any, out: Any, p: Any) -> Any:
    return mul_p(t, math.sqrt(2 * math.pi) * exp_p(0.5 * out * out))


def _by_square(t: Any, out: Any, y: Any) -> Any:
    return mul_p(t, -0.5 * math.sqrt(math.pi) * exp_p(out * out))


@special("erfcinv", _by_square)
def erfcinv_p(y: Any) -> Any:
    """The inverse of erfc, by the quantile of y / 2."""
    return 0.0 - ndtri_p.fun(0.5 * y) * _ROOT_HALF


@special("ndtri", _by_density)
def ndtri_p(p: Any) -> Any:
    """The quantile: in the middle as a series in p - ½, in the tails in 1 / √(-2 log p) (after Cephes, ndtri.c)."""
    low = min_p(p, 1.0 - p)
    tail = low < math.exp(-2)
    away = choose(tail, 0.0, p - 0.5)
    middle = away * chebyshev(away * away, 0, (0.5 - math.exp(-2)) ** 2, tables.NORMAL_MIDDLE)
    z = sqrt_p(-2.0 * log_p(choose(tail & (low > 0.0), low, math.exp(-8))))
    down = 1.0 / z
    near = down > 0.125
    bend = choose(
        near,
        chebyshev(choose(near, down, 0.25), 1 / 8, 1 / 2, tables.NORMAL_2_8),
        chebyshev(choose(near, 0.125, down), 1 / 39, 1 / 8, tables.NORMAL_8_39),
    )
    far = z - down * (log_p(z) + bend)
    far = choose(low == 0.0, math.inf, low < 0.0, math.nan, far)
    return choose(tail, choose(p < 0.5, -far, far), middle)
