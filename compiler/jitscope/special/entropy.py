"""Products with logarithms: xlogy and its kin, entropies, the Box and Cox transformation, logit."""

from __future__ import annotations

import math
from typing import Any

from ..core.avals import aval_of
from ..core.dtypes import kind
from ..ops.elementwise import abs_p, exp_p, expm1_p, log1p_p, log_p, max_p, min_p, pow_p, sqrt_p
from ..ops.linear import mul_p
from .approximations import bend_of_log, choose, constant_like, is_nan, polynomial
from .primitive import special


def _weighted(name: str, log: Any, slope: Any) -> Any:
    """x · log(y), and 0 where x is 0 (but for y that is NaN); `slope`: the derivative of the logarithm."""

    @special(
        name,
        lambda t, out, x, y: mul_p(t, log(y)),
        lambda t, out, x, y: mul_p(t, x * slope(y)),
        accepts="fc",
        weak=True,
    )
    def fun(x: Any, y: Any) -> Any:
        return choose((x != 0.0) | is_nan(y), x * log(y), constant_like(x, 0))

    return fun


xlogy_p = _weighted("xlogy", log_p, lambda y: 1.0 / y)
xlog1py_p = _weighted("xlog1py", log1p_p, lambda y: 1.0 / (1.0 + y))


@special("entr", lambda t, out, x: mul_p(t, choose(x < 0.0, 0.0, -(log_p(x) + 1.0))), weak=True)
def entr_p(x: Any) -> Any:
    """-x log x; -∞ for negative x."""
    return choose(x < 0.0, -math.inf, x == 0.0, 0.0, -x * log_p(x))


# Relative entropy ----------------------------------------------------------------------------------------------------


def _outside(p: Any, q: Any) -> Any:
    return choose((p == 0.0) & (q >= 0.0), 0.0, constant_like(p, math.inf))


def _inside(p: Any, q: Any) -> Any:
    return (p > 0.0) & (q > 0.0)


def _both(p: Any, q: Any) -> tuple[Any, Any, Any]:
    """Where both are positive, and there both."""
    inside = _inside(p, q)
    return inside, choose(inside, p, 1.0), choose(inside, q, 1.0)


def _log_ratio(p: Any, q: Any) -> Any:
    """log(p/q) of positive numbers: exact where it is small, and without overflow."""
    high, low = max_p(p, q), min_p(p, q)
    close = high < 2.0 * low
    above = choose(close, (high - low) / low, sqrt_p(high) / sqrt_p(low) - 1.0)
    size = log1p_p(above)
    size = choose(close, size, 2.0 * size)
    return choose(p < q, -size, size)


@special(
    "rel_entr",
    lambda t, out, p, q: mul_p(t, choose(_inside(p, q), _log_ratio(*_both(p, q)[1:]) + 1.0, 0.0)),
    lambda t, out, p, q: mul_p(t, choose(_inside(p, q), -p / q, 0.0)),
    weak=True,
)
def rel_entr_p(p: Any, q: Any) -> Any:
    """p log(p/q)."""
    outside = _outside(p, q)
    inside, p, q = _both(p, q)
    return choose(inside, p * _log_ratio(p, q), outside)


@special(
    "kl_div",
    lambda t, out, p, q: mul_p(t, choose(_inside(p, q), _log_ratio(*_both(p, q)[1:]), -1.0)),
    lambda t, out, p, q: mul_p(t, choose(_inside(p, q), 1.0 - p / q, 1.0)),
    weak=True,
)
def kl_div_p(p: Any, q: Any) -> Any:
    """p log(p/q) - p + q; where p and q are close as p (log(1 + u) - u) + q u², u = p/q - 1."""
    outside = _outside(p, q) - p + q
    inside, p, q = _both(p, q)
    close = (p > 0.6 * q) & (p < 1.7 * q)
    above = choose(close, p - q, 0.0) / q
    near = (p * bend_of_log(above) + q) * (above * above)
    return choose(inside, choose(close, near, p * _log_ratio(p, q) - p + q), outside)


# Box and Cox ---------------------------------------------------------------------------------------------------------


def _power_slope(log_y: Any, power: Any) -> Any:
    """The derivative of (yˡ - 1) / l with respect to l, smooth where l is 0."""
    t = power * log_y
    small = abs_p(t) < 0.25
    series = polynomial(choose(small, t, 0.0 * t), [k / math.factorial(k + 1) for k in range(12, 0, -1)])
    other = choose(small, constant_like(t, 1), power)
    return choose(small, log_y * log_y * series, (t * exp_p(t) - expm1_p(t)) / (other * other))


def _transformation(name: str, log: Any, shift: float) -> Any:
    """(yˡ - 1) / l of y = x + `shift`, where `log` gives log y; log y for l = 0."""

    def by_place(t: Any, out: Any, x: Any, power: Any) -> Any:
        return mul_p(t, pow_p(x + shift, power - 1.0))

    def by_power(t: Any, out: Any, x: Any, power: Any) -> Any:
        return mul_p(t, _power_slope(log(x), power))

    @special(name, by_place, by_power, accepts="fc", weak=True)
    def fun(x: Any, power: Any) -> Any:
        none, log_x = power == 0.0, log(x)
        safe = choose(none, constant_like(power, 1), power)
        return choose(none, log_x, expm1_p(safe * log_x) / safe)

    return fun


boxcox_p = _transformation("boxcox", log_p, 0.0)
boxcox1p_p = _transformation("boxcox1p", log1p_p, 1.0)


@special("logit", lambda t, out, x: mul_p(t, 1.0 / (x * (1.0 - x))), accepts="fc", weak=True)
def logit_p(x: Any) -> Any:
    """log(x / (1 - x))."""
    if kind(aval_of(x).dtype) == "c":
        return log_p(x / (1.0 - x))
    low = choose(x < 0.5, x, 1.0 - x)  # of which the other is 1 + (1 - 2 low) / low times as much
    odds = choose(low == 0.0, constant_like(low, math.inf), (1.0 - 2.0 * low) / low)  # 1 / -0 is minus infinity
    size = log1p_p(odds)
    return choose(x < 0.5, -size, size)
