"""Sign, absolute value, maximum, minimum, and values limited to an interval."""

from __future__ import annotations

import math

from ...core import dtypes
from ...core.avals import aval_of
from ..families import DiscreteElementwise, Elementwise, is_zero, zero_of
from ..linear import add_p, mul_p, neg_p, where
from .bits import and_p, or_p
from .comparison import eq_p, ge_p, gt_p, le_p, ne_p
from .division import div_p
from .numbers import number_like, spread
from .parts import imag_p, real_p
from .powers import sqrt_p


__all__ = ["Abs", "Clamp", "Sign", "abs_p", "clamp_p", "max_p", "min_p", "sign_p"]


class Sign(DiscreteElementwise):
    """-1, 0 or 1; of a complex number, the number of size 1 in its direction."""

    def lower(self, ctx, x, /):
        if dtypes.kind(ctx.avals_in[0].dtype) == "u":
            return ctx.hlo.minimum(x, ctx.full(1, ctx.avals_in[0]))
        return ctx.hlo.sign(x)


sign_p = Sign("sign", accepts="iufc")


class Abs(Elementwise):
    """The absolute value; of a complex number, its modulus (a real number)."""

    def lower(self, ctx, x, /):
        aval = ctx.avals_in[0]
        if dtypes.kind(aval.dtype) == "u":
            return x
        return ctx.inline(_modulus, x) if aval.dtype in _SCALES else ctx.hlo.abs(x)

    def jvp(self, primals, tangents, /):
        (x,), (t,) = primals, tangents
        out = abs_p(x)
        if is_zero(t):
            return out, zero_of(out)
        if not dtypes.is_complex(aval_of(x).dtype):
            return out, where(ge_p(x, number_like(x, 0)), t, neg_p(t))
        along = add_p(mul_p(real_p(t), real_p(x)), mul_p(imag_p(t), imag_p(x)))
        size = where(eq_p(out, number_like(out, 0)), number_like(out, 1), out)
        return out, div_p(along, size)


abs_p = Abs("abs", accepts="iufc", result=dtypes.real_part)

_SCALES = {
    dtypes.complex64: ((2.0**62, 2.0**-66), (2.0**-40, 2.0**86)),
    dtypes.complex128: ((2.0**510, 2.0**-520), (2.0**-400, 2.0**600)),
}
"""Above and below which size numbers are squared scaled, and by what."""


def _modulus(x):
    """The square root of the sum of squares, which neither overflow nor get lost; infinite where a part is. (XLA's own divides, gives NaN for
    inf + nan i, and is off by up to 1.9 ulp; this by 1.2.)"""
    (high, down), (low, up) = _SCALES[aval_of(x).dtype]
    real, imaginary = (abs_p(part(x)) for part in (real_p, imag_p))
    largest = max_p(real, imaginary)
    number = lambda value: number_like(largest, value)
    large, small = gt_p(largest, number(high)), gt_p(number(low), largest)
    scale, back = (
        where(large, number(a), where(small, number(b), number(1))) for a, b in ((down, up), (1 / down, 1 / up))
    )
    squares = (mul_p(part, part) for part in (mul_p(real, scale), mul_p(imaginary, scale)))
    infinite = or_p(*[eq_p(part, number(math.inf)) for part in (real, imaginary)])
    return where(infinite, number(math.inf), mul_p(sqrt_p(add_p(*squares)), back))


def _balanced(name: str, compare):
    """Partials of max and min: where both operands are equal each gets half."""

    def partial(t, out, mine, other):
        half = where(eq_p(mine, other), number_like(out, 0.5), number_like(out, 1))
        wins = eq_p(mine, out) if dtypes.is_complex(aval_of(out).dtype) else compare(mine, other)
        return mul_p(t, where(wins, half, number_like(out, 0)))

    def second(t, out, x, y):
        return partial(t, out, y, x)

    return Elementwise(name, partial, second, accepts="biufc", hlo={"max": "maximum", "min": "minimum"}[name])


max_p = _balanced("max", lambda mine, other: ge_p(mine, other))
min_p = _balanced("min", lambda mine, other: le_p(mine, other))


class Clamp(Elementwise):
    """`x` limited to [low, high]; the limits may be scalars."""

    def lower(self, ctx, low, x, high, /):
        low, x, high = ctx.broadcast_scalars((low, x, high))
        if dtypes.kind(ctx.avals_in[0].dtype) in "bc":
            return ctx.builder("minimum")(ctx.builder("maximum")(low, x), high)
        return ctx.hlo.clamp(low, x, high)


def _greater(x, y):
    """Of complex numbers the greater real part decides, then the imaginary part."""
    return ne_p(max_p(x, y), y) if dtypes.kind(aval_of(x).dtype) == "c" else gt_p(x, y)


def _inside(low, x, high):
    return and_p(_greater(x, low), _greater(high, x))


clamp_p = Clamp(
    "clamp",
    lambda t, z, low, x, high: spread(where(_greater(low, x), spread(t, z), number_like(t, 0)), z),
    lambda t, z, low, x, high: where(_inside(low, x, high), t, number_like(t, 0)),
    lambda t, z, low, x, high: spread(where(_greater(x, high), spread(t, z), number_like(t, 0)), z),
    accepts="biufc",
)
