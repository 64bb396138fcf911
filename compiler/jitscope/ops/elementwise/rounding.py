"""Rounding: to integers, to fewer bits, to the next number."""

from __future__ import annotations

from ...core.avals import aval_of
from ..families import DiscreteElementwise, Elementwise, is_zero, scalar_like, zero_of
from ..linear import LinearElementwise, broadcast_to, where
from .comparison import lt_p


__all__ = ["ReducePrecision", "Round", "ceil_p", "floor_p", "nextafter_p", "reduce_precision_p", "round_p", "trunc"]

floor_p = DiscreteElementwise("floor", accepts="f")
ceil_p = DiscreteElementwise("ceil", accepts="f")


class Round(DiscreteElementwise):
    """To the nearest integer; halves away from zero (`rounding_method` 0) or to even (1)."""

    def lower(self, ctx, x, /, *, rounding_method):
        return ctx.hlo.round_nearest_even(x) if rounding_method else ctx.hlo.round_nearest_afz(x)


round_p = Round("round", accepts="f")


class ReducePrecision(LinearElementwise):
    """The nearest number with `exponent_bits` and `mantissa_bits`, infinite beyond their range; so is the tangent."""

    def abstract(self, x, /, *, exponent_bits, mantissa_bits):
        if exponent_bits < 1 or mantissa_bits < 0:
            raise ValueError(
                f"reduce_precision of {x.short()}: numbers have at least one bit of exponent, and no negative number of "
                f"mantissa bits; exponent_bits={exponent_bits}, mantissa_bits={mantissa_bits}"
            )
        return super().abstract(x)

    def lower(self, ctx, x, /, *, exponent_bits, mantissa_bits):
        i32 = ctx.ir.IntegerType.get_signless(32)
        bits = [ctx.ir.IntegerAttr.get(i32, n) for n in (exponent_bits, mantissa_bits)]
        return ctx.hlo.reduce_precision(x, *bits)

    def jvp(self, primals, tangents, /, **params):
        out, (t,) = self.bind(*primals, **params), tangents
        return out, zero_of(out) if is_zero(t) else self.bind(t, **params)

    def transpose(self, ct, x, /, **params):
        return [self.bind(ct, **params)]


reduce_precision_p = ReducePrecision("reduce_precision", 1, accepts="f")


def trunc(x):
    """Towards zero."""
    return where(lt_p(x, scalar_like(x, 0)), ceil_p(x), floor_p(x))


nextafter_p = Elementwise(
    "nextafter", lambda t, out, x, y: broadcast_to(t, aval_of(out).shape), accepts="f", hlo="chlo.next_after"
)
"""Its derivative by the second operand, which says in which direction, is zero."""
