"""The regularized incomplete beta function."""

from __future__ import annotations

import math
from typing import Any

from ..ops.elementwise import abs_p, exp_p, log1p_p, log_p, min_p
from ..ops.linear import mul_p
from .approximations import choose, excess_of_log
from .gamma import HALF_LOG_2PI, LARGE, log_beta_times_low, stirling_correction
from .loops import continued_fraction
from .primitive import DERIVED, special


_INFINITY, _NAN = math.inf, math.nan


def _density(a: Any, b: Any, x: Any, rest: Any) -> Any:
    """xᵃ restᵇ / B(a, b) for x + rest = 1; for large a and b as Loader's saddle point."""
    large = (a >= LARGE) & (b >= LARGE)
    a_, b_ = choose(large, a, LARGE), choose(large, b, LARGE)
    away = x * b_ - rest * a_
    whole = a_ + b_
    saddle = _excess(away / a_, x * whole / a_) * a_ + _excess(-away / b_, rest * whole / b_) * b_
    saddle = saddle + 0.5 * log_p(a_ * (b_ / whole)) - HALF_LOG_2PI
    saddle = saddle + (stirling_correction(whole) - stirling_correction(a_) - stirling_correction(b_))
    plain = a * log_p(x) + b * choose(x < 0.5, log1p_p(-x), log_p(rest)) - log_beta_times_low(a, b)
    return exp_p(choose(large, saddle, plain)) * choose(large, 1.0, min_p(a, b))


def _excess(away: Any, ratio: Any) -> Any:
    """log(1 + away) - away where 1 + away is `ratio`."""
    return choose(away < -0.5, log_p(ratio) - away, excess_of_log(away))


def _by_place(t: Any, out: Any, a: Any, b: Any, x: Any) -> Any:
    return mul_p(t, beta_density_p(a, b, x))


def _fraction(a: Any, b: Any, x: Any, rest: Any, active: Any) -> Any:
    """The continued fraction of DLMF 8.17.22, two of its steps at once (Didonato and Morris, TOMS 708, equation 9)."""
    away = a * rest - b * x + 1.0

    def pair(k: Any) -> tuple[Any, Any, Any]:
        middle = a + (2.0 * k - 1.0)
        left, factor = k * (b - k) * x / middle, (a + (k - 1.0)) * (a + b + (k - 1.0)) * x / middle
        below = k + left + (a + k) * (away + k * (1.0 + rest)) / (middle + 2.0)
        return left * factor, below, (abs_p(left) + k * x / middle) * factor

    return 1.0 / continued_fraction(a * away / (a + 1.0), pair, active)


@special("regularized_incomplete_beta", DERIVED, DERIVED, _by_place, weak=True)
def regularized_incomplete_beta_p(a: Any, b: Any, x: Any) -> Any:
    """I(x; a, b), the distribution function of the beta distribution, from the side of its mean where x lies."""
    no_a, no_b = (a == 0.0) | (b == _INFINITY), (b == 0.0) | (a == _INFINITY)
    wrong = ~((a >= 0.0) & (b >= 0.0) & (x >= 0.0) & (x <= 1.0)) | (no_a & no_b)
    nothing = (a + b + x) * _NAN
    zero, one = (x == 0.0) | (no_b & (x < 1.0)), (x == 1.0) | (no_a & (x > 0.0))
    ordinary = ~(wrong | zero | one)
    a, b, x = choose(ordinary, a, 1.0), choose(ordinary, b, 1.0), choose(ordinary, x, 0.5)
    swapped = x >= (a + 1.0) / (a + b + 2.0)
    p, q = choose(swapped, b, a), choose(swapped, a, b)
    y, rest = choose(swapped, 1.0 - x, x), choose(swapped, x, 1.0 - x)
    tail = _density(p, q, y, rest) * _fraction(p, q, y, rest, ordinary)
    return choose(wrong, nothing, zero, 0.0, one, 1.0, swapped, 1.0 - tail, tail)


@special("beta_density", DERIVED, DERIVED, DERIVED, weak=True)
def beta_density_p(a: Any, b: Any, x: Any) -> Any:
    """xᵃ⁻¹ (1 - x)ᵇ⁻¹ / B(a, b), the density of the beta distribution."""
    rest = 1.0 - x
    inside = (x > 0.0) & (x < 1.0) & (a > 0.0) & (b > 0.0)
    p, q = choose(inside, a, 1.0), choose(inside, b, 1.0)
    y, left = choose(inside, x, 0.5), choose(inside, rest, 0.5)
    value = _density(p, q, y, left) / (y * left)
    at_zero = choose(a < 1.0, _INFINITY, a == 1.0, b, 0.0)
    at_one = choose(b < 1.0, _INFINITY, b == 1.0, a, 0.0)
    right = (a > 0.0) & (b > 0.0)
    return choose(inside, value, right & (x == 0.0), at_zero, right & (x == 1.0), at_one, (a + b + x) * _NAN)
