"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import ml_dtypes

from ...core import dtypes
from ...core.avals import aval_of
from ..families import Elementwise, scalar_like
from ..linear import add_p, mul_p, neg_p, sub_p, where
from .comparison import eq_p, gt_p, is_finite_p
from .division import div_p
from .double import InDouble
from .extremes import abs_p
from .numbers import number_like, times
from .parts import complex_p, imag_p, real_p
from .powers import expm1_p, one_minus_square_p, rsqrt_p


__all__ = ["Circular", "acos_p", "acosh_p", "asin_p", "asinh_p", "atan2_p", "atan_p", "atanh_p", "cos_p", "cosh_p",
           "sin_p", "sinh_p", "tan_p", "tanh_p"]  # fmt: skip


class Circular(InDouble):
    """sin, cos, sinh or cosh. `of_complex`: the parts of the result from sin (times what it is given) and cos of one
    part of the operand and sinh and cosh of the other.

    The usual (exp z - exp -z) / 2 of complex numbers loses digits near 0.
    """

    def __init__(self, name, partial, hlo, along, of_complex):
        super().__init__(name, partial, hlo=hlo)
        self.along, self.of_complex = along, of_complex

    def lower(self, ctx, x, /):
        return ctx.inline(self._parts, x) if dtypes.is_complex(ctx.avals_in[0].dtype) else super().lower(ctx, x)

    def _parts(self, z):
        angle, height = (real_p(z), imag_p(z)) if self.along == "real" else (imag_p(z), real_p(z))
        sin, cos = sin_p(angle), cos_p(angle)
        up, down = expm1_p(height), expm1_p(neg_p(height))
        sinh, cosh = times(sub_p(up, down), 0.5), add_p(times(add_p(up, down), 0.5), scalar_like(up, 1))
        # At 0 the sine is 0, and so is its product with a factor that is infinite or NaN.
        still, one = eq_p(angle, scalar_like(angle, 0)), scalar_like(angle, 1)
        times_sine = lambda h: mul_p(sin, where(is_finite_p(h), h, where(still, one, h)))
        return complex_p(*self.of_complex(times_sine, cos, sinh, cosh))


sin_p = Circular("sin", lambda t, y, x: mul_p(t, cos_p(x)), "sine", "real", lambda s, c, sh, ch: (s(ch), mul_p(c, sh)))
cos_p = Circular(
    "cos",
    lambda t, y, x: neg_p(mul_p(t, sin_p(x))),
    "cosine",
    "real",
    lambda s, c, sh, ch: (mul_p(c, ch), neg_p(s(sh))),
)
tan_p = InDouble("tan", lambda t, y, x: mul_p(t, add_p(number_like(y, 1), mul_p(y, y))))
asin_p = InDouble("asin", lambda t, y, x: mul_p(t, rsqrt_p(one_minus_square_p(x))), hlo="chlo.asin")
acos_p = InDouble("acos", lambda t, y, x: neg_p(mul_p(t, rsqrt_p(one_minus_square_p(x)))), hlo="chlo.acos")
atan_p = InDouble("atan", lambda t, y, x: div_p(t, add_p(number_like(x, 1), mul_p(x, x))), hlo="chlo.atan")
sinh_p = Circular(
    "sinh", lambda t, y, x: mul_p(t, cosh_p(x)), "chlo.sinh", "imag", lambda s, c, sh, ch: (mul_p(sh, c), s(ch))
)
cosh_p = Circular(
    "cosh", lambda t, y, x: mul_p(t, sinh_p(x)), "chlo.cosh", "imag", lambda s, c, sh, ch: (mul_p(ch, c), s(sh))
)
tanh_p = Elementwise("tanh", lambda t, y, x: mul_p(t, one_minus_square_p(y)))
asinh_p = Elementwise("asinh", lambda t, y, x: mul_p(t, _asinh_slope(x)), hlo="chlo.asinh")
acosh_p = Elementwise("acosh", lambda t, y, x: mul_p(t, _acosh_slope(x)), hlo="chlo.acosh")
atanh_p = Elementwise("atanh", lambda t, y, x: div_p(t, one_minus_square_p(x)), hlo="chlo.atanh")
atan2_p = InDouble(
    "atan2",
    lambda t, z, x, y: mul_p(t, div_p(y, _square_sum(x, y))),
    lambda t, z, x, y: neg_p(mul_p(t, div_p(x, _square_sum(x, y)))),
)


def _asinh_slope(x):
    one = number_like(x, 1)
    if dtypes.is_complex(aval_of(x).dtype):
        return rsqrt_p(add_p(mul_p(x, x), one))
    # Squares of large numbers would be infinite, and one makes no difference beside them.
    large = gt_p(abs_p(x), number_like(x, 2.0 ** (ml_dtypes.finfo(aval_of(x).dtype).maxexp // 2 - 2)))
    near = where(large, number_like(x, 0), x)
    return where(large, abs_p(div_p(one, where(large, x, one))), rsqrt_p(add_p(mul_p(near, near), one)))


def _acosh_slope(x):
    one = number_like(x, 1)
    return mul_p(rsqrt_p(sub_p(x, one)), rsqrt_p(add_p(x, one)))


def _square_sum(x, y):
    return add_p(mul_p(x, x), mul_p(y, y))
