"""Exponentials, logarithms, roots and powers."""

from __future__ import annotations

import math

from ...core import dtypes
from ...core.avals import ShapedArray, aval_of
from ...xla.cpu_tuning import COMPLEX_OPERANDS_KEPT
from ..families import Elementwise, check_kind, pure, scalar_like, zero_of
from ..linear import add_p, convert, full, mul_p, sub_p, where
from .bits import and_p
from .comparison import eq_p, ge_p
from .division import div_p
from .double import InDouble, computed, in_double
from .numbers import number_like, times


__all__ = ["Exp2", "IntegerPow", "Log2", "OfBothParts", "OneMinusSquare", "Pow", "Square", "cbrt_p", "exp2_p", "exp_p", "expm1_p",
           "integer_pow", "integer_pow_p", "log1p_p", "log2_p", "log_p", "logistic_p", "one_minus_square_p", "pow_p",
           "rsqrt_p", "sqrt_p", "square_p"]  # fmt: skip


class OfBothParts(Elementwise):
    """An operation of which each part of a complex result takes both parts of the operand, several times."""

    def lower(self, ctx, x, /):
        if dtypes.is_complex(ctx.avals_in[0].dtype) and COMPLEX_OPERANDS_KEPT.holds(ctx.module.platform):
            x = ctx.hlo.OptimizationBarrierOp([x]).results[0]
        return super().lower(ctx, x)


log_p = OfBothParts("log", lambda t, y, x: div_p(t, x), hlo="log")
log1p_p = OfBothParts("log1p", lambda t, y, x: div_p(t, add_p(x, number_like(x, 1))), hlo="log_plus_one")
exp_p = Elementwise("exp", lambda t, y, x: mul_p(t, y), hlo="exponential")
expm1_p = Elementwise("expm1", lambda t, y, x: mul_p(t, exp_p(x)), hlo="exponential_minus_one")
logistic_p = Elementwise("logistic", lambda t, y, x: mul_p(t, mul_p(y, sub_p(number_like(y, 1), y))))


class Exp2(Elementwise):
    """2 to the power x, as exp(x log 2)."""

    def lower(self, ctx, x, /):
        aval = ctx.avals_in[0]
        return ctx.hlo.exponential(ctx.hlo.multiply(x, ctx.full(math.log(2), aval)))


exp2_p = Exp2("exp2", lambda t, y, x: times(mul_p(t, y), math.log(2)))


class Log2(Elementwise):
    """The logarithm to base 2, as log(x) / log 2, part by part: a product of complex numbers makes NaN of what is infinite."""

    def lower(self, ctx, x, /):
        aval, log = ctx.avals_in[0], ctx.hlo.log(x)
        if not dtypes.is_complex(aval.dtype):
            return ctx.hlo.multiply(log, ctx.full(1 / math.log(2), aval))
        scale = ctx.full(1 / math.log(2), ShapedArray(aval.shape, dtypes.real_part(aval.dtype)))
        return ctx.hlo.complex(*(ctx.hlo.multiply(part(log), scale) for part in (ctx.hlo.real, ctx.hlo.imag)))


log2_p = Log2("log2", lambda t, y, x: div_p(t, times(x, math.log(2))))
sqrt_p = OfBothParts("sqrt", lambda t, y, x: div_p(t, times(y, 2)))
rsqrt_p = OfBothParts("rsqrt", lambda t, y, x: mul_p(t, times(div_p(y, x), -0.5)))
cbrt_p = InDouble("cbrt", lambda t, y, x: times(div_p(t, square_p(y)), 1 / 3), accepts="f")


class Square(Elementwise):
    """x times x."""

    def lower(self, ctx, x, /):
        # The real part of a complex square is (a - b)(a + b), which is right where a² and b² are both infinite.
        return ctx.chlo.square(x) if dtypes.is_complex(ctx.avals_in[0].dtype) else ctx.hlo.multiply(x, x)


square_p = Square("square", lambda t, y, x: mul_p(t, times(x, 2)), accepts="iufc")


class OneMinusSquare(Elementwise):
    """1 - x², as (1 + x)(1 - x), which keeps the digits where x is near 1 or -1."""

    def lower(self, ctx, x, /):
        one = ctx.full(1, ctx.avals_in[0])
        return ctx.hlo.multiply(ctx.hlo.add(one, x), ctx.hlo.subtract(one, x))


one_minus_square_p = OneMinusSquare("one_minus_square", lambda t, y, x: mul_p(t, times(x, -2)), accepts="iufc")


class IntegerPow(Elementwise):
    """x to the integer power in the parameter `y`, by repeated squaring."""

    def abstract(self, x, /, *, y):
        if y < 0 and not dtypes.is_inexact(x.dtype):
            raise TypeError(f"an integer to the negative power {y} is not an integer: convert {x.short()} to floats")
        check_kind(self.name, x, self.accepts)
        return pure(x)

    def lower(self, ctx, x, /, *, y):
        if y == 2 and dtypes.is_complex(ctx.avals_in[0].dtype):
            return ctx.chlo.square(x)
        power, square, n = None, x, abs(y)
        while n:
            if n & 1:
                power = square if power is None else ctx.hlo.multiply(power, square)
            n >>= 1
            square = ctx.hlo.multiply(square, square) if n else square
        if power is not None and y > 0:
            return power
        one = ctx.full(1, ctx.avals_in[0])
        return one if power is None else ctx.hlo.divide(one, power)


def _integer_pow_partial(t, out, x, *, y):
    return zero_of(out) if y == 0 else mul_p(t, times(integer_pow(x, y - 1), y))


integer_pow_p = IntegerPow("integer_pow", _integer_pow_partial, accepts="iufc")


def integer_pow(x, y: int):
    """`x ** y` for an int y."""
    if y == 0:
        return convert(full(aval_of(x).shape, 1, aval_of(x).dtype), aval_of(x).dtype, aval_of(x).weak_type)
    return x if y == 1 else integer_pow_p(x, y=y)


def _pow_base_partial(t, z, x, y):
    exponent = sub_p(y, scalar_like(y, 1))
    # The slope of 0 ** 0 in its base is 0. For other bases nothing is chosen: the slope there has one in y.
    both = and_p(eq_p(x, scalar_like(x, 0)), eq_p(y, scalar_like(y, 0)))
    return mul_p(t, mul_p(y, pow_p(where(both, scalar_like(x, 1), x), exponent)))


def _pow_exponent_partial(t, z, x, y):
    # 0 ** y has slope 0 in y > 0, where log alone would give NaN.
    zero = number_like(x, 0)
    safe = where(eq_p(x, zero), number_like(x, 1), x)
    log_x = (
        where(eq_p(x, zero), where(ge_p(y, zero), zero, number_like(x, float("nan"))), log_p(safe))
        if not dtypes.is_complex(aval_of(x).dtype)
        else log_p(x)
    )
    return mul_p(t, mul_p(log_x, z))


_EASY = (0, 0.5, -0.5, 1, -1, 2, 3)
"""Exponents whose powers XLA writes as products, quotients and roots."""
_HALVES = frozenset(n / 2 for n in range(-9, 10, 2)).difference(_EASY)
"""Those whose powers are products of numbers and their square root."""


class Pow(Elementwise):
    """x to the power y."""

    def lower(self, ctx, x, y, /):
        exponent = ctx.number_of(y)
        if exponent is None or len(ctx.avals_in[0].shape) < len(ctx.avals_in[1].shape):
            return computed(ctx, "power", x, y) if in_double(ctx, "power") else super().lower(ctx, x, y)
        name = "half_power" if exponent in _HALVES else "power_of"
        if exponent in _EASY or not math.isfinite(exponent) or not in_double(ctx, name):
            return super().lower(ctx, x, y)
        return computed(ctx, name, x, y, exponent=exponent)


pow_p = Pow("pow", _pow_base_partial, _pow_exponent_partial, hlo="power")
