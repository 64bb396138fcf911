"""Exponentials, logarithms, roots, trigonometric and hyperbolic functions. Integers become floats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..control.custom_jvp import custom_jvp
from ..core.avals import aval_of
from ..core.dtypes import real_part
from ..ops.elementwise import (
    abs_p,
    acos_p,
    acosh_p,
    asin_p,
    asinh_p,
    atan2_p,
    atan_p,
    atanh_p,
    cbrt_p,
    complex_p,
    cos_p,
    cosh_p,
    div_p,
    eq_p,
    exp2_p,
    exp_p,
    expm1_p,
    log1p_p,
    log_p,
    lt_p,
    max_p,
    ne_p,
    or_p,
    real_p,
    sin_p,
    sinh_p,
    sqrt_p,
    tan_p,
    tanh_p,
)
from ..ops.families import scalar_like
from ..ops.linear import add_p, mul_p, neg_p, sub_p, where as choose
from ._operands import operand, operands, weak_as
from ._ufunc import binary, kind_of, unary, unary_of


def _function(name: str, primitive: Any, doc: str) -> Any:
    return unary_of(name, primitive, doc, inexact=True)


exp = _function("exp", exp_p, "e to the power x.")
exp2 = _function("exp2", exp2_p, "2 to the power x.")
expm1 = _function("expm1", expm1_p, "exp(x) - 1, exact for small x.")
log = _function("log", log_p, "The natural logarithm; NaN for negative numbers.")
log1p = _function("log1p", log1p_p, "log(1 + x), exact for small x.")
sqrt = _function("sqrt", sqrt_p, "The square root; NaN for negative numbers.")
cbrt = _function("cbrt", cbrt_p, "The cube root. Raises TypeError for complex numbers.")
sin = _function("sin", sin_p, "The sine of an angle in radians.")
cos = _function("cos", cos_p, "The cosine of an angle in radians.")
tan = _function("tan", tan_p, "The tangent of an angle in radians.")
arcsin = _function("arcsin", asin_p, "The angle in [-pi/2, pi/2] with sine x; NaN outside [-1, 1].")
arccos = _function("arccos", acos_p, "The angle in [0, pi] with cosine x; NaN outside [-1, 1].")
arctan = _function("arctan", atan_p, "The angle in (-pi/2, pi/2) with tangent x.")
sinh = _function("sinh", sinh_p, "The hyperbolic sine.")
cosh = _function("cosh", cosh_p, "The hyperbolic cosine.")
tanh = _function("tanh", tanh_p, "The hyperbolic tangent.")
arcsinh = _function("arcsinh", asinh_p, "The inverse hyperbolic sine.")
arccosh = _function("arccosh", acosh_p, "The inverse hyperbolic cosine; NaN below 1.")
arctanh = _function("arctanh", atanh_p, "The inverse hyperbolic tangent; NaN outside [-1, 1].")


def _scaled_log(name: str, base: int) -> Any:
    def fun(x: Any, /) -> Any:
        x = operand(name, x, inexact=True)
        return div_p(log_p(x), scalar_like(x, math.log(base)))

    fun.__name__, fun.__qualname__, fun.__doc__ = name, name, f"The logarithm to base {base}."
    return unary(fun)


log2, log10 = _scaled_log("log2", 2), _scaled_log("log10", 10)


def _scaled(name: str, factor: float, doc: str) -> Any:
    def fun(x: Any, /) -> Any:
        x = operand(name, x, inexact=True)
        return mul_p(x, scalar_like(x, factor))

    fun.__name__, fun.__qualname__, fun.__doc__ = name, name, doc
    return unary(fun)


deg2rad = _scaled("deg2rad", math.pi / 180, "Degrees as radians.")
rad2deg = _scaled("rad2deg", 180 / math.pi, "Radians as degrees.")


@unary
def sinc(x: Any, /) -> Any:
    """sin(pi x) / (pi x), and 1 at 0."""
    x = operand("sinc", x, inexact=True)
    zero, one = scalar_like(x, 0), scalar_like(x, 1)
    angle = mul_p(x, scalar_like(x, math.pi))
    at_zero = eq_p(x, zero)
    safe = choose(at_zero, one, angle)
    # Near 0 by the Taylor polynomial, whose derivatives are right at 0 too.
    even = mul_p(angle, angle)
    series = add_p(sub_p(one, div_p(even, scalar_like(x, 6))), div_p(mul_p(even, even), scalar_like(x, 120)))
    return choose(at_zero, series, div_p(sin_p(safe), safe))


@binary
def arctan2(x1: Any, x2: Any, /) -> Any:
    """The angle of the point (x2, x1), in [-pi, pi]."""
    y, x = operands("arctan2", x1, x2, inexact=True)
    if kind_of(y) != "c":
        return atan2_p(y, x)
    # -i log((x + i y) / sqrt(x² + y²))
    unit = complex_p(np.zeros((), real_part(aval_of(y).dtype))[()], np.ones((), real_part(aval_of(y).dtype))[()])
    ratio = div_p(add_p(x, mul_p(unit, y)), sqrt_p(add_p(mul_p(x, x), mul_p(y, y))))
    return neg_p(mul_p(unit, log_p(ratio)))


@binary
def hypot(x1: Any, x2: Any, /) -> Any:
    """sqrt(x1² + x2²) without overflow on the way. Raises ValueError for complex numbers."""
    x, y = operands("hypot", x1, x2, inexact=True)
    if kind_of(x) == "c":
        raise ValueError("hypot is not defined for complex numbers")
    x, y = abs_p(x), abs_p(y)
    zero, one, infinity = (scalar_like(x, v) for v in (0, 1, np.inf))
    long = max_p(x, y)
    short = choose(eq_p(long, x), y, x)
    nothing = eq_p(long, zero)
    ratio = div_p(short, choose(nothing, one, long))
    length = choose(nothing, long, mul_p(long, sqrt_p(add_p(one, mul_p(ratio, ratio)))))
    # An infinite side makes the other one irrelevant, even where it is NaN.
    return choose(or_p(eq_p(x, infinity), eq_p(y, infinity)), infinity, length)


@binary
def logaddexp(x1: Any, x2: Any, /) -> Any:
    """log(exp(x1) + exp(x2)) without overflow on the way."""
    x, y = operands("logaddexp", x1, x2, inexact=True)
    if kind_of(x) == "c":
        swap = lt_p(real_p(x), real_p(y))
        high, low = choose(swap, y, x), choose(swap, x, y)
        return add_p(high, log1p_p(exp_p(sub_p(low, high))))
    return weak_as(_log_of_sum(x, y), x, y)


@custom_jvp
def _log_of_sum(x: Any, y: Any) -> Any:
    high, delta = max_p(x, y), sub_p(x, y)
    # NaN where both are the same infinity, and where one is NaN: the plain sum is right there.
    plain = ne_p(delta, delta)
    tail = log1p_p(exp_p(neg_p(abs_p(choose(plain, scalar_like(delta, 0), delta)))))
    return choose(plain, add_p(x, y), add_p(high, tail))


@_log_of_sum.defjvp
def _log_of_sum_jvp(primals: Any, tangents: Any) -> Any:
    """Each operand's share is exp(operand - result), where infinity counts as 0 on both sides."""
    (x, y), (t, u) = primals, tangents
    out = _log_of_sum(x, y)
    shares = [exp_p(sub_p(_without_infinity(z), _without_infinity(out))) for z in (x, y)]
    return out, add_p(mul_p(t, shares[0]), mul_p(u, shares[1]))


def _without_infinity(x: Any) -> Any:
    return choose(eq_p(x, scalar_like(x, math.inf)), scalar_like(x, 0), x)


@binary
def logaddexp2(x1: Any, x2: Any, /) -> Any:
    """log2(2 ** x1 + 2 ** x2) without overflow on the way."""
    x, y = operands("logaddexp2", x1, x2, inexact=True)
    scale = math.log(2)
    x, y = mul_p(x, scalar_like(x, scale)), mul_p(y, scalar_like(y, scale))
    return mul_p(logaddexp(x, y), scalar_like(x, 1 / scale))
