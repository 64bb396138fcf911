"""The gamma function, also of complex numbers, and its logarithm there."""

from __future__ import annotations

import math
from typing import Any

from ..core.avals import aval_of
from ..core.dtypes import kind
from ..ops.elementwise import (
    abs_p,
    complex_p,
    digamma_p,
    exp_p,
    expm1_p,
    floor_p,
    imag_p,
    lgamma_p,
    log_p,
    real_p,
)
from ..ops.linear import mul_p
from .approximations import by_width, choose, polynomial
from .gamma import HALF_LOG_2PI, STIRLING, gamma_sign
from .primitive import DERIVED, special


_NAN = complex(math.nan, math.nan)


def _right_half(z: Any) -> Any:
    """log Γ(z) for Re z ≥ ½ and Im z ≥ 0: Stirling's series, for small z after steps to the right.

    The logarithm of their product is continuous if 2 π i is added whenever it passes the negative axis (Hare, Computing
    the principal branch of log-gamma, 1997).
    """
    steps = by_width(z, 5, 9)
    small = (real_p(z) < float(steps)) & (imag_p(z) < float(steps))
    product = choose(small, z, 1 + 0j)
    turns = 0.0 * real_p(z)
    for k in range(1, steps):
        last = imag_p(product)
        product = choose(small, product * (z + float(k)), product)
        turns = turns + choose((last >= 0.0) & (imag_p(product) < 0.0), 2 * math.pi, 0.0 * turns)
    far = choose(small, z + float(steps), z)
    down = 1.0 / far
    series = down * polynomial(down * down, by_width(z, STIRLING[:4], STIRLING)[::-1])
    stirling = (far - 0.5) * log_p(far) - far + HALF_LOG_2PI + series
    return choose(small, stirling - log_p(product) - complex_p(0.0 * turns, turns), stirling)


def _log_gamma(z: Any) -> Any:
    """log Γ(z), continuous but for the negative axis, where it belongs to the side of Im z's sign."""
    x, y = real_p(z), imag_p(z)
    below = (y < 0.0) | ((y == 0.0) & (1.0 / y < 0.0))
    y = choose(below, -y, y)
    left = x < 0.5
    found = _right_half(complex_p(choose(left, 1.0 - x, x), y))
    # log π - log sin(π z) - log Γ(1 - z); above the axis log sin(π z) is -log 2 - iπ (z - ½) + log(1 - exp(2 π i z))
    rest = x - floor_p(x + 0.5)
    sine = log_p(-expm1_p(complex_p(-2 * math.pi * y, 2 * math.pi * rest)))
    sine = sine + complex_p(math.pi * y - math.log(2), math.pi * (0.5 - x))
    mirrored = math.log(math.pi) - sine - complex_p(real_p(found), -imag_p(found))
    found = choose(left, mirrored, found)
    return complex_p(real_p(found), choose(below, -imag_p(found), imag_p(found)))


def _with_poles(z: Any, fun: Any) -> Any:
    pole = (imag_p(z) == 0.0) & (real_p(z) <= 0.0) & (floor_p(real_p(z)) == real_p(z))
    return choose(pole | (abs_p(z) != abs_p(z)), _NAN, fun(choose(pole, 1 + 0j, z)))


@special("loggamma", DERIVED, accepts="c")
def loggamma_p(z: Any) -> Any:
    """log Γ(z), the branch that is real on the positive axis; NaN at the poles."""
    return _with_poles(z, _log_gamma)


def _gamma(z: Any) -> Any:
    if kind(aval_of(z).dtype) == "c":
        return _with_poles(z, lambda z: exp_p(_log_gamma(z)))
    return gamma_sign(z) * exp_p(lgamma_p(z))


def _gamma_slope(t: Any, out: Any, z: Any) -> Any:
    is_complex = kind(aval_of(z).dtype) == "c"
    return mul_p(t, gamma_p.slope(0)(z) if is_complex else out * digamma_p(z))


gamma_p = special("gamma", _gamma_slope, accepts="fc")(_gamma)
"""Γ(z); NaN at the poles, but ±∞ at the real numbers ±0."""
