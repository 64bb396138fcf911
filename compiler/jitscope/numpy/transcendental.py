"""Exponentials, logarithms, roots, trigonometric and hyperbolic functions. Integers become floats."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from ..control.custom_jvp import custom_jvp
from ..core.annotations import Array, ArrayLike, Unary
from ..core.avals import aval_of
from ..core.dtypes import real_part
from ..eager.functions import elementwise
from ..ops.elementwise import (
    abs_p,
    acos_p,
    acosh_p,
    and_p,
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
    floor_p,
    imag_p,
    is_finite_p,
    log1p_p,
    log2_p,
    log_p,
    lt_p,
    max_p,
    ne_p,
    or_p,
    real_p,
    round_p,
    sin_p,
    sinh_p,
    sqrt_p,
    tan_p,
    tanh_p,
)
from ..ops.families import scalar_like
from ..ops.linear import add_p, convert, mul_p, neg_p, sub_p, where as choose
from ..special.approximations import polynomial
from ._ufunc import describe, kind_of, not_complex, unary_of
from .operands import constant_like, number_like, operand, operands, weak_as


__all__ = ["arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt", "cos", "cosh", "deg2rad",
           "exp", "exp2", "expm1", "hypot", "log", "log1p", "log2", "log10", "rad2deg", "sin", "sinc", "sinh", "sqrt",
           "tan", "tanh"]  # fmt: skip


def _function(name: str, primitive: Any, doc: str) -> Unary:
    return unary_of(name, primitive, doc, inexact=True)


exp = _function("exp", exp_p, "e to the power x.")
exp2 = _function("exp2", exp2_p, "2 to the power x.")
expm1 = _function("expm1", expm1_p, "exp(x) - 1, exact for small x.")
log = _function("log", log_p, "The natural logarithm; NaN for negative numbers.")
log2 = _function("log2", log2_p, "The logarithm to base 2; NaN for negative numbers.")
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


@elementwise
def log10(x: ArrayLike, /) -> Array:
    """The logarithm to base 10, element by element [...]; integers become floats."""
    x = log_p(operand("log10", x, inexact=True))
    parts = (real_p(x), imag_p(x)) if kind_of(x) == "c" else (x,)
    # Part by part: a division by a complex number makes NaN of what is infinite.
    scaled = [div_p(part, scalar_like(part, math.log(10))) for part in parts]
    return complex_p(*scaled) if kind_of(x) == "c" else scaled[0]


def _scaled(name: str, factor: float, doc: str) -> Unary:
    def fun(x: Any, /) -> Any:
        x = operand(name, x, inexact=True)
        return mul_p(x, constant_like(x, factor))

    return elementwise(describe(fun, name, doc))


deg2rad = _scaled("deg2rad", math.pi / 180, "Degrees as radians, element by element [...]; integers become floats.")
rad2deg = _scaled("rad2deg", 180 / math.pi, "Radians as degrees, element by element [...]; integers become floats.")


@elementwise
def sinc(x: ArrayLike, /) -> Array:
    """sin(pi x) / (pi x), element by element [...], and 1 at 0; its derivatives are right there, too. At other whole numbers it
    is exactly 0, and at infinities."""
    x = operand("sinc", x, inexact=True)
    return _complex_sinc(x) if kind_of(x) == "c" else _real_sinc(x)


def _real_sinc(x: Any) -> Any:
    """With n the nearest whole number and r = x - n, sin(pi x) is sin(pi r) times (-1)^n, and sin(pi r) = pi r S((pi r)²)."""
    one, nothing = number_like(x, 1), number_like(x, 0)
    endless = eq_p(abs_p(x), number_like(x, math.inf))
    safe = choose(endless, one, x)
    whole = round_p(safe, rounding_method=1)
    rest = sub_p(safe, whole)  # pi x itself would be rounded
    angle = mul_p(rest, constant_like(x, math.pi))
    quotient = polynomial(mul_p(angle, angle), _sinc_series(aval_of(x).dtype))
    near = eq_p(whole, nothing)
    away = div_p(mul_p(rest, quotient), choose(near, one, safe))
    away = choose(_is_odd(whole), neg_p(away), away)
    return choose(near, quotient, choose(endless, nothing, away))


def _complex_sinc(x: Any) -> Any:
    pi, nothing = constant_like(x, math.pi), number_like(x, 0)
    real = real_p(x)
    endless = and_p(eq_p(abs_p(real), number_like(real, math.inf)), is_finite_p(imag_p(x)))
    # Near 0 derivatives of the quotient would be what is left of equal numbers.
    near = lt_p(abs_p(x), number_like(real, 0.25))
    angle = mul_p(choose(near, x, nothing), pi)
    safe = choose(or_p(near, endless), number_like(x, 1), x)
    whole = round_p(real_p(safe), rounding_method=1)
    sine = sin_p(mul_p(sub_p(safe, complex_p(whole, number_like(whole, 0))), pi))
    away = div_p(choose(_is_odd(whole), neg_p(sine), sine), mul_p(safe, pi))
    series = polynomial(mul_p(angle, angle), _sinc_series(aval_of(x).dtype))
    return choose(near, series, choose(endless, nothing, away))


def _is_odd(whole: Any) -> Any:
    half = mul_p(whole, number_like(whole, 0.5))
    return ne_p(half, floor_p(half))


@cache
def _sinc_series(dtype: np.dtype) -> list[float]:
    """sin(u) / u of u up to pi / 2, by powers of u², the highest first: as many as four derivatives in that dtype can tell."""
    least = float(ml_dtypes.finfo(dtype).eps) * 1e-3
    terms = [(-1) ** k / math.factorial(2 * k + 1) for k in range(16)]
    told = [c for k, c in enumerate(terms) if abs(c) * (math.pi / 2) ** (2 * k) > least]
    return told[::-1]


@elementwise
def arctan2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The angle of the point (x2, x1) in radians, in [-pi, pi], element by element [...]."""
    y, x = operands("arctan2", x1, x2, inexact=True)
    if kind_of(y) != "c":
        return atan2_p(y, x)
    # -i log((x + i y) / sqrt(x² + y²))
    unit = complex_p(np.zeros((), real_part(aval_of(y).dtype))[()], np.ones((), real_part(aval_of(y).dtype))[()])
    ratio = div_p(add_p(x, mul_p(unit, y)), sqrt_p(add_p(mul_p(x, x), mul_p(y, y))))
    return weak_as(neg_p(mul_p(unit, log_p(ratio))), x, y)


@elementwise
def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """sqrt(x1² + x2²) without overflow on the way, element by element [...]. Raises ValueError for complex numbers."""
    x, y = operands("hypot", x1, x2, inexact=True)
    not_complex("hypot", x, ValueError)
    dtype, weak = aval_of(x).dtype, (x, y)
    wide = max(dtype, np.dtype(np.float32), key=lambda one: one.itemsize)  # of narrow ones each step would be rounded
    return weak_as(convert(_length(convert(x, wide), convert(y, wide)), dtype), *weak)


@custom_jvp
def _length(x: Any, y: Any) -> Any:
    x, y = abs_p(x), abs_p(y)
    zero, one, infinity = (scalar_like(x, v) for v in (0, 1, math.inf))
    long = max_p(x, y)
    short = choose(eq_p(long, x), y, x)
    nothing = eq_p(long, zero)
    ratio = div_p(short, choose(nothing, one, long))
    length = choose(nothing, long, mul_p(long, sqrt_p(add_p(one, mul_p(ratio, ratio)))))
    # An infinite side makes the other one irrelevant, even where it is NaN.
    return choose(or_p(eq_p(x, infinity), eq_p(y, infinity)), infinity, length)


@_length.defjvp
def _slope_of_length(primals: Any, tangents: Any) -> Any:
    """The sides' shares. (The slope of the greater side would be shared out where both are equal.)"""
    (x, y), (by_x, by_y) = primals, tangents
    return _length(x, y), add_p(mul_p(by_x, _share(x, y)), mul_p(by_y, _share(y, x)))


@custom_jvp
def _share(side: Any, other: Any) -> Any:
    """A side over the length; 0 where both sides are."""
    return div_p(side, _divisor(side, other))


@_share.defjvp
def _slope_of_share(primals: Any, tangents: Any) -> Any:
    """With c and s the shares of x and y, c' = s (s x' - c y') over the length: 1 - c² would be what is left of equal numbers."""
    (x, y), (by_x, by_y) = primals, tangents
    c, s = _share(x, y), _share(y, x)
    turned = mul_p(s, sub_p(mul_p(s, by_x), mul_p(c, by_y)))
    return c, div_p(turned, _divisor(x, y))


def _divisor(x: Any, y: Any) -> Any:
    length = _length(x, y)
    return choose(eq_p(length, scalar_like(length, 0)), scalar_like(length, 1), length)


@elementwise
def logaddexp(x1: Any, x2: Any, /) -> Any:
    """log(exp(x1) + exp(x2)) without overflow on the way, element by element [...]."""
    x, y = operands("logaddexp", x1, x2, inexact=True)
    if kind_of(x) == "c":
        swap = lt_p(real_p(x), real_p(y))
        high, low = choose(swap, y, x), choose(swap, x, y)
        return weak_as(_principal(add_p(high, log1p_p(exp_p(sub_p(low, high))))), x, y)
    return weak_as(_natural(x, y), x, y)


def _principal(x: Any) -> Any:
    """The logarithm of the same number whose imaginary part lies in [-pi, pi)."""
    angle = imag_p(x)
    half, turn = scalar_like(angle, math.pi), scalar_like(angle, 2 * math.pi)
    turns = floor_p(div_p(add_p(angle, half), turn))
    return complex_p(real_p(x), sub_p(angle, mul_p(turns, turn)))


def _log_of_sum(exponential: Any, scale: float) -> Any:
    """log(exp(x) + exp(y)) / scale, for exp(x * scale)."""

    @custom_jvp
    def log_of_sum(x: Any, y: Any) -> Any:
        delta = sub_p(x, y)
        tail = log1p_p(exponential(neg_p(abs_p(delta))))
        tail = tail if scale == 1 else div_p(tail, scalar_like(tail, scale))
        # NaN where both are the same infinity, and where one is NaN: the plain sum is right there.
        return choose(ne_p(delta, delta), add_p(x, y), add_p(max_p(x, y), tail))

    @log_of_sum.defjvp
    def slope(primals: Any, tangents: Any) -> Any:
        """Each operand's share is exp(operand - result), where infinity counts as 0 on both sides."""
        (x, y), (t, u) = primals, tangents
        out = log_of_sum(x, y)
        shares = [exponential(sub_p(_without_infinity(z), _without_infinity(out))) for z in (x, y)]
        return out, add_p(mul_p(t, shares[0]), mul_p(u, shares[1]))

    return log_of_sum


_natural, _binary = _log_of_sum(exp_p, 1), _log_of_sum(exp2_p, math.log(2))


def _without_infinity(x: Any) -> Any:
    return choose(eq_p(x, scalar_like(x, math.inf)), scalar_like(x, 0), x)


@elementwise
def logaddexp2(x1: Any, x2: Any, /) -> Any:
    """log2(2 ** x1 + 2 ** x2) without overflow on the way, element by element [...]."""
    x, y = operands("logaddexp2", x1, x2, inexact=True)
    if kind_of(x) != "c":
        return weak_as(_binary(x, y), *((x, y) if np.shape(x) == np.shape(y) else (x1, x2)))
    given = x, y
    x, y = (mul_p(v, scalar_like(v, math.log(2))) for v in given)
    return weak_as(mul_p(logaddexp(x, y), scalar_like(x, 1 / math.log(2))), *given)
