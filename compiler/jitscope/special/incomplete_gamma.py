"""The incomplete gamma functions, and the derivative of a gamma distribution's samples.

By a and x: the power series (DLMF 8.11.4), the continued fraction (8.9.2), Temme's uniform expansion (8.12) for large a
and x near it, where the others take ever more terms, and for the upper function of small a and x a series (8.7.3)
without 1 - P.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from ..core.avals import aval_of
from ..ops.elementwise import abs_p, digamma_p, erfc_p, exp_p, expm1_p, log_p, sqrt_p
from ..ops.linear import full, instantiate, mul_p
from ..transforms.jvp import jvp_flat
from .approximations import bend_of_log, by_width, choose, polynomial
from .gamma import log_gamma_1p, log_gamma_density, stirling_correction
from .loops import continued_fraction, repeat, series
from .primitive import DERIVED, special


_INFINITY, _NAN = math.inf, math.nan


# Regions -------------------------------------------------------------------------------------------------------------


def _regions(a: Any, x: Any) -> tuple[Any, Any]:
    """Where Temme's expansion is taken, and where the continued fraction; elsewhere the series."""
    uniform = (a > by_width(a, 50.0, 200.0)) & (abs_p(x - a) < 0.3 * a)
    return uniform, ~uniform & (x > 1.0) & (x > a)


def _lower(a: Any, x: Any, active: Any) -> Any:
    """P(a, x) over the density xᵃ e⁻ˣ / Γ(a)."""
    x = choose(active, x, 0.0)
    return series(x * 0.0 + 1.0, lambda k: x / (a + k + 1.0)) / a


def _upper(a: Any, x: Any, active: Any) -> Any:
    """1 - P(a, x) over that density."""
    start = x + 1.0 - a
    return 1.0 / continued_fraction(start, lambda k: (k * (a - k), start + 2.0 * k, k * (abs_p(a - k) + 1.0)), active)


@functools.cache
def _uniform_coefficients(rows: int, columns: int) -> list[list[float]]:
    """The coefficients of ηⁿ in cₖ(η) of DLMF 8.12.7: n runs along a row, k over the rows.

    μ - log(1 + μ) = η²/2 gives the series of μ, its reciprocal c₀ = 1/μ - 1/η, and cₖ = cₖ₋₁'/η + γₖ/μ without a pole.
    """
    count = columns + 2 * rows + 2
    mu = [Fraction(0), Fraction(1)]  # from μ μ' = η (1 + μ)
    for n in range(2, count + 2):
        known = sum(j * mu[j] * mu[n - j + 1] for j in range(2, n))
        mu.append((mu[n - 1] - known) / (n + 1))
    inverse = [Fraction(1)]  # of μ/η
    for n in range(1, count):
        inverse.append(-sum((mu[j + 1] * inverse[n - j] for j in range(1, n + 1)), Fraction(0)))
    first = inverse[1:]
    table = [first]
    for _ in range(rows - 1):
        last = table[-1]
        table.append([(n + 2) * last[n + 2] - last[1] * first[n] for n in range(len(last) - 2)])
    return [[float(c) for c in row[:columns]] for row in table]


def _uniform(a: Any, x: Any) -> tuple[Any, Any]:
    """y and R with P(a, x) = ½ erfc(-y) - e^(-y²) R / √(2 π a)."""
    away = (x - a) / a
    eta = away * sqrt_p(-2.0 * bend_of_log(away))
    table = by_width(a, _uniform_coefficients(3, 9), _uniform_coefficients(6, 17))
    down = 1.0 / a
    total = polynomial(eta, table[-1][::-1])
    for row in table[-2::-1]:
        total = total * down + polynomial(eta, row[::-1])
    return eta * sqrt_p(0.5 * a), total


# The functions -------------------------------------------------------------------------------------------------------


def _checked(a: Any, x: Any) -> tuple[Any, Any, Any, Any]:
    """Whether P is at its low end, at its high end, or nothing; and whether a and x are ordinary."""
    low, high = (x == 0.0) | (a == _INFINITY), (x == _INFINITY) | (a == 0.0)
    wrong = ~((a >= 0.0) & (x >= 0.0)) | (low & high)
    return low, high, wrong, ~(low | high | wrong)


def _incomplete(a: Any, x: Any, upper: bool) -> Any:
    low, high, wrong, ordinary = _checked(a, x)
    nothing = (a + x) * _NAN
    a, x = choose(ordinary, a, 1.0), choose(ordinary, x, 0.5)
    uniform, fraction = _regions(a, x)
    tiny = _small_upper_region(a, x) & upper
    rest = ~(uniform | fraction | tiny)
    density = exp_p(log_gamma_density(a, x))
    p = density * _lower(a, x, rest)
    q = density * _upper(a, x, fraction)
    y, remainder = _uniform(choose(uniform, a, 300.0), choose(uniform, x, 300.0))
    remainder = remainder * exp_p(-y * y) / sqrt_p(2.0 * math.pi * a)
    if upper:
        out = choose(uniform, 0.5 * erfc_p(y) + remainder, fraction, q, tiny, _small_upper(a, x, tiny), 1.0 - p)
    else:
        out = choose(uniform, 0.5 * erfc_p(-y) - remainder, fraction, 1.0 - q, p)
    return choose(wrong, nothing, low, 1.0 if upper else 0.0, high, 0.0 if upper else 1.0, out)


def _small_upper_region(a: Any, x: Any) -> Any:
    """Where 1 - P would cancel (SciPy's bounds)."""
    return (x <= 1.0) & (a < 1.0) & choose(x <= 0.5, a * -log_p(x) < 0.4, a < 1.1 * x)


def _small_upper(a: Any, x: Any, active: Any) -> Any:
    """1 - P(a, x) = 1 - xᵃ/Γ(1 + a) (1 + a Σ (-x)ᵏ / (k! (a + k)))."""
    a, x = choose(active, a, 0.25), choose(active, x, 0.0)
    zero = x * 0.0

    def step(k: Any, power: Any, term: Any, total: Any) -> tuple[Any, ...]:
        power = power * (-x / k)
        term = power / (a + k)
        return power, term, total + term

    going = lambda power, term, total: abs_p(term) > by_width(a, 1e-9, 1e-18)
    total = repeat(step, (zero + 1.0, x, zero), going, 100, first=1)[2]
    scale = a * log_p(choose(active, x, 1.0)) - log_gamma_1p(a)
    return -expm1_p(scale) - exp_p(scale) * a * total


def _by_density(sign: float) -> Any:
    return lambda t, out, a, x: mul_p(t, sign * gamma_density_p(a, x))


def _by_shape(sign: float) -> Any:
    return lambda t, out, a, x: mul_p(t, sign * igamma_grad_a_p(a, x))


@special("igamma", _by_shape(1), _by_density(1), weak=True)
def igamma_p(a: Any, x: Any) -> Any:
    """P(a, x), the distribution function of the gamma distribution."""
    return _incomplete(a, x, upper=False)


@special("igammac", _by_shape(-1), _by_density(-1), weak=True)
def igammac_p(a: Any, x: Any) -> Any:
    """Q(a, x) = 1 - P(a, x)."""
    return _incomplete(a, x, upper=True)


igamma_grad_a_p = igamma_p.slope(0, "igamma_grad_a")


def _density_by_shape(t: Any, out: Any, a: Any, x: Any) -> Any:
    return mul_p(t, out * (log_p(x) - digamma_p(a)))


def _density_by_place(t: Any, out: Any, a: Any, x: Any) -> Any:
    return mul_p(t, out * ((a - 1.0) / x - 1.0))


@special("gamma_density", _density_by_shape, _density_by_place, weak=True)
def gamma_density_p(a: Any, x: Any) -> Any:
    """xᵃ⁻¹ e⁻ˣ / Γ(a), the density of the gamma distribution."""
    inside = (x > 0.0) & (x < _INFINITY) & (a > 0.0)
    safe_a, safe_x = choose(inside, a, 1.0), choose(inside, x, 1.0)
    density = exp_p(log_gamma_density(safe_a, safe_x)) / safe_x
    at_zero = choose(a < 1.0, _INFINITY, a == 1.0, 1.0, a * 0.0)
    return choose(inside, density, (x == 0.0) & (a > 0.0), at_zero, (x == _INFINITY) & (a >= 0.0), 0.0, (a + x) * _NAN)


# Samples -------------------------------------------------------------------------------------------------------------


def _along_shape(fun: Any, a: Any) -> tuple[list[Any], list[Any]]:
    """Results of a function of a, and their derivatives."""
    outs, ts = jvp_flat(fun, [a], [full(aval_of(a).shape, 1, aval_of(a).dtype)])
    return outs, [instantiate(t) for t in ts]


@special("random_gamma_grad", DERIVED, DERIVED, weak=True)
def random_gamma_grad_p(a: Any, x: Any) -> Any:
    """-(∂P/∂a) / (∂P/∂x): how a sample x of the gamma distribution moves with a, P staying the same.

    In none of the regions is the density needed, which underflows for large a.
    """
    ordinary = (a > 0.0) & (x > 0.0) & (x < _INFINITY)
    nothing = choose((x == 0.0) & (a > 0.0), 0.0, (a + x) * _NAN)
    a, x = choose(ordinary, a, 1.0), choose(ordinary, x, 0.5)
    uniform, fraction = _regions(a, x)
    turn = log_p(x) - digamma_p(a)  # the derivative of the density's logarithm
    (low, high), (low_a, high_a) = _along_shape(
        lambda a: [_lower(a, x, ~(uniform | fraction)), _upper(a, x, fraction)], a
    )
    big, near = choose(uniform, a, 300.0), choose(uniform, x, 300.0)
    (y, rest), (y_a, rest_a) = _along_shape(lambda a: list(_uniform(a, near)), big)
    moved = sqrt_p(2.0 / big) * y_a - (rest_a - rest * (0.5 / big + 2.0 * y * y_a)) / big
    moved = moved * exp_p(stirling_correction(big))
    return choose(ordinary, -x * choose(uniform, moved, fraction, -(high_a + high * turn), low_a + low * turn), nothing)
