"""Exponential integrals, the sine and cosine integral, Fresnel's integrals, the dilogarithm."""

from __future__ import annotations

import math
from typing import Any

from ..ops.elementwise import (
    abs_p,
    cos_p,
    digamma_p,
    exp_p,
    floor_p,
    is_finite_p,
    lgamma_p,
    log1p_p,
    log_p,
    sign_p,
    sin_p,
)
from ..ops.linear import mul_p
from . import tables
from .approximations import bend_of_log, by_width, chebyshev, choose, is_integer, polynomial
from .gamma import EULER_GAMMA, gamma_sign
from .loops import continued_fraction, repeat
from .primitive import special
from .zeta import BERNOULLI


# E and Ei ------------------------------------------------------------------------------------------------------------


@special("exp1", lambda t, out, x: mul_p(t, -exp_p(-x) / x))
def exp1_p(x: Any) -> Any:
    """E₁(x); NaN for negative x."""
    far = x > 1.0
    near = x * chebyshev(choose(far, 0.0, x), 0, 1, tables.E1_NEAR) - EULER_GAMMA - log_p(x)
    large = choose(far, x, 1.0)
    return choose(far, exp_p(-large) * (chebyshev(3.0 / (large + 2.0), 0, 1, tables.E1_FAR) / large), near)


@special("expi", lambda t, out, x: mul_p(t, exp_p(x) / x))
def expi_p(x: Any) -> Any:
    """Ei(x), the principal value."""
    near = x * chebyshev(choose(x <= 6.0, abs_p(x), 6.0), 0, 6, tables.EI_0_6) + EULER_GAMMA + log_p(x)
    down = 1.0 / choose(x > 6.0, x, 6.0)
    middle, high = x > 6.0, x > 16.0
    scaled = choose(
        x > 64.0,
        chebyshev(choose(x > 64.0, down, 0.0), 0, 1 / 64, tables.EI_64),
        high,
        chebyshev(choose(high, down, 1 / 16), 1 / 64, 1 / 16, tables.EI_16_64),
        chebyshev(down, 1 / 16, 1 / 6, tables.EI_6_16),
    )
    half = exp_p(0.5 * choose(middle, x, 6.0))  # its square may overflow before Ei
    return choose(
        x < 0.0,
        -exp1_p.fun(choose(x < 0.0, -x, 1.0)),
        x == math.inf,
        math.inf,
        middle,
        half * (half * (scaled * down)),
        near,
    )


def _no_order(t: Any, out: Any, n: Any, x: Any) -> Any:
    raise ValueError("expn has no derivative with respect to its order n: differentiate with respect to x")


def _lower_order(t: Any, out: Any, n: Any, x: Any) -> Any:
    first = out * (1.0 + 1.0 / x)
    return mul_p(t, -choose(n == 0.0, first, expn_p(n - 1.0, x)))


@special("expn", _no_order, _lower_order)
def expn_p(n: Any, x: Any) -> Any:
    """Eₙ(x) for n ≥ 0: the continued fraction (DLMF 8.19.17) for x > 1, else the series (8.19.8 and 8.19.10)."""
    wrong = ~((n >= 0.0) & (x >= 0.0))
    at_zero = choose(n > 1.0, 1.0 / (n - 1.0), math.inf)
    far = (x > 1.0) & (x < math.inf) & (n < math.inf)
    start = choose(far, x + n, 1.0)
    fraction = exp_p(-x) / continued_fraction(
        start, lambda k: (-k * (n - 1.0 + k), start + 2.0 * k, k * (n - 1.0 + k)), far
    )
    near = (x > 0.0) & ~(x > 1.0)
    found = choose(near, _expn_series(choose(near, n, 2.0), choose(near, x, 0.5)), fraction)
    plain = choose(x == math.inf, 0.0, n == math.inf, 0.0, n == 0.0, exp_p(-x) / x, found)
    return choose(wrong, (n + x) * math.nan, x == 0.0, at_zero, plain)


def _expn_series(n: Any, x: Any) -> Any:
    last, whole = n - 1.0, is_integer(n)

    def share(power: Any, k: Any) -> Any:
        return choose(k == last, 0.0, power / choose(k == last, 1.0, k - last))

    def step(k: Any, power: Any, total: Any) -> tuple[Any, Any]:
        power = power * (-x / k)
        return power, total + share(power, k)

    first = x * 0.0 + 1.0
    total = repeat(
        step, (first, share(first, 0.0 * x)), lambda power, total: abs_p(power) > by_width(x, 1e-10, 1e-20), 40, first=1
    )[1]
    # the term of the logarithm for whole n, that of Γ(1 - n) for others
    log_x, odd = log_p(x), floor_p(last * 0.5) * 2.0 != last
    size = exp_p(last * log_x - lgamma_p(choose(whole, n, 1.0)))
    logarithm = choose(odd, -size, size) * (digamma_p(choose(whole, n, 1.0)) - log_x)
    inside = choose(whole, 0.5, -last)
    power = gamma_sign(inside) * exp_p(lgamma_p(inside) + last * log_x)
    return choose(whole, logarithm, power) - total


# Sine and cosine -----------------------------------------------------------------------------------------------------


def _auxiliary(x: Any) -> tuple[Any, Any]:
    """f and g of DLMF 6.2.17 and 6.2.18 for x of at least 4."""
    down = 1.0 / x
    square = down * down
    f = down * chebyshev(square, 0, 1 / 16, tables.SICI_F)
    return f, square * chebyshev(square, 0, 1 / 16, tables.SICI_G)


@special("sine_integral", lambda t, out, x: mul_p(t, sin_over(x)))
def sine_integral_p(x: Any) -> Any:
    """Si(x)."""
    size = abs_p(x)
    far = size > 4.0
    square = choose(far, 0.0, x * x)
    large = choose(far & is_finite_p(x), size, 4.0)
    f, g = _auxiliary(choose(far, size, 4.0))
    beyond = math.pi / 2 - f * cos_p(large) - g * sin_p(large)
    return choose(far, sign_p(x) * beyond, x * chebyshev(square, 0, 16, tables.SI))


def sin_over(x: Any) -> Any:
    """sin(x) / x, and 1 at 0."""
    small = abs_p(x) < by_width(x, 0.1, 0.01)
    safe, square = choose(small, 1.0, x), choose(small, x * x, 0.0)
    near = polynomial(square, (1 / 362880, -1 / 5040, 1 / 120, -1 / 6, 1.0))
    return choose(small, near, sin_p(safe) / safe)


@special("cosine_integral", lambda t, out, x: mul_p(t, cos_p(x) / x))
def cosine_integral_p(x: Any) -> Any:
    """Ci(|x|); NaN at -∞."""
    size = abs_p(x)
    far = size > 4.0
    square = choose(far, 1.0, x * x)
    near = EULER_GAMMA + log_p(size) + square * chebyshev(square, 0, 16, tables.CI)
    large = choose(far & is_finite_p(x), size, 4.0)
    f, g = _auxiliary(choose(far, size, 4.0))
    return choose(x == -math.inf, math.nan, far, f * sin_p(large) - g * cos_p(large), near)


# Fresnel -------------------------------------------------------------------------------------------------------------

_NEAR = 2.5625


def half_turns(x: Any) -> tuple[Any, Any]:
    """The sine and the cosine of π x² / 2: with s = x mod 2, x² is 2 s (x - s/2) but for a multiple of 4."""
    size = abs_p(x)
    rest = size % 2.0
    angle = math.pi * ((rest * (size - 0.5 * rest)) % 2.0)
    return sin_p(angle), cos_p(angle)


def _fresnel_far(x: Any) -> tuple[Any, Any, Any, Any]:
    """f and g of DLMF 7.2.10 and 7.2.11 for x² of at least 2.5625, and the sine and cosine."""
    down = (1 / math.pi) / (x * x)
    f = chebyshev(down, 0, 1 / (_NEAR * math.pi), tables.FRESNEL_F) / (math.pi * x)
    g = chebyshev(down, 0, 1 / (_NEAR * math.pi), tables.FRESNEL_G) * down / (math.pi * x)
    return f, g, *half_turns(choose(is_finite_p(x), x, 2.0))


@special("fresnel_sine", lambda t, out, x: mul_p(t, half_turns(x)[0]))
def fresnel_sine_p(x: Any) -> Any:
    """S(x)."""
    far = x * x > _NEAR
    square = choose(far, 0.0, x * x)
    near = x * square * chebyshev(square * square, 0, _NEAR**2, tables.FRESNEL_S)
    f, g, sine, cosine = _fresnel_far(choose(far, abs_p(x), 2.0))
    return choose(far, sign_p(x) * (0.5 - f * cosine - g * sine), near)


@special("fresnel_cosine", lambda t, out, x: mul_p(t, half_turns(x)[1]))
def fresnel_cosine_p(x: Any) -> Any:
    """C(x)."""
    far = x * x > _NEAR
    square = choose(far, 0.0, x * x)
    near = x * chebyshev(square * square, 0, _NEAR**2, tables.FRESNEL_C)
    f, g, sine, cosine = _fresnel_far(choose(far, abs_p(x), 2.0))
    return choose(far, sign_p(x) * (0.5 + f * sine - g * cosine), near)


# The dilogarithm -----------------------------------------------------------------------------------------------------


def _spence_slope(t: Any, out: Any, x: Any) -> Any:
    near = (x > 0.75) & (x < 1.25)
    away = choose(near, x - 1.0, 0.0)
    other = choose(near, 2.0, x)
    return mul_p(t, choose(near, -1.0 - away * bend_of_log(away), log_p(other) / (1.0 - other)))


@special("spence", _spence_slope)
def spence_p(x: Any) -> Any:
    """The integral of log(t) / (1 - t) from 1 to x, Li₂(1 - x): by a series in u = -log(x) for x from ½ to 2 (DLMF
    25.12.2 and 24.2.1), where 1/x and 1 - x bring the others."""
    large, small = x > 2.0, x < 0.5
    y = choose(large, 1.0 / x, x)
    small = small | (large & (y < 0.5))
    u = choose(small, -log1p_p(-y), -log_p(choose(small, 1.0, y)))
    square = u * u
    coefficients = [b / math.factorial(2 * k + 3) for k, b in enumerate(BERNOULLI)]
    series = u * (1.0 - 0.25 * u + square * polynomial(square, coefficients[::-1]))
    log_y = log_p(choose(y > 0.0, y, 1.0))
    found = choose(small, math.pi**2 / 6 + log_y * u - series, series)
    log_x = log_p(choose(large, x, 1.0))
    return choose(x < 0.0, math.nan, x == math.inf, -math.inf, large, -0.5 * log_x * log_x - found, found)
