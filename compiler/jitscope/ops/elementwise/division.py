"""The quotient of a division."""

from __future__ import annotations

from ...core import dtypes
from ..families import Elementwise
from ..linear import mul_p, neg_p, unbroadcast


__all__ = ["Div", "Divide", "div_p"]


class Divide(Elementwise):
    """Base of quotient and remainder. XLA dies when it folds an integer constant divided by zero, so it must not see that
    such a divisor is constant; run as code it gives -1 and the dividend."""

    def lower(self, ctx, x, y, /):
        x, y = ctx.broadcast_scalars((x, y))
        if dtypes.is_integer(ctx.avals_in[1].dtype):
            divisors = _constants(ctx, y)
            if (_constants(ctx, x) is not None) if divisors is None else 0 in divisors:
                y = ctx.hlo.OptimizationBarrierOp([y]).results[0]
        return ctx.builder(self.builder)(x, y)


def _constants(ctx, value):
    """The numbers in a constant (or one repeated), or None if the value is computed."""
    owner = value.owner
    while getattr(owner, "name", None) == "stablehlo.broadcast_in_dim":
        owner = owner.operands[0].owner
    if getattr(owner, "name", None) != "stablehlo.constant":
        return None
    constant = ctx.ir.DenseIntElementsAttr(owner.attributes["value"])
    return {constant.get_splat_value().value} if constant.is_splat else set(constant)


class Div(Divide):
    """The quotient; of integers, rounded towards zero."""

    sums = "quotient"

    def transpose(self, ct, x, y, /):
        return [unbroadcast(div_p(ct, y), x.aval), None]


div_p = Div(
    "div", lambda t, z, x, y: div_p(t, y), lambda t, z, x, y: neg_p(mul_p(t, div_p(z, y))), accepts="iufc", hlo="divide"
)
