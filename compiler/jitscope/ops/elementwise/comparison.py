"""Comparisons, and whether numbers are finite."""

from __future__ import annotations

import numpy as np

from ...core import dtypes
from ...core.avals import ShapedArray
from ..families import DiscreteElementwise


__all__ = ["Compare", "eq_p", "ge_p", "gt_p", "is_finite_p", "le_p", "lt_p", "ne_p"]


def _boolean(dtype):
    return dtypes.bool_


class Compare(DiscreteElementwise):
    """A comparison; complex numbers and keys only for equality."""

    def __init__(self, name: str, direction: str, accepts: str = "biuf"):
        super().__init__(name, accepts=accepts, result=_boolean)
        self.direction = direction

    def lower(self, ctx, x, y, /):
        compared = ctx.compare(*ctx.broadcast_scalars((x, y)), self.direction)
        return _of_elements(ctx, compared, self.direction) if dtypes.is_extended(ctx.avals_in[0].dtype) else compared


def _of_elements(ctx, compared, direction):
    """Whether keys are equal, from whether their words are: all of them, or any that is not."""
    out, scalar = ctx.avals_out[0], ShapedArray((), dtypes.bool_)
    axes = list(range(out.ndim, len(compared.type.shape)))
    identity, combine = (np.True_, ctx.hlo.and_) if direction == "EQ" else (np.False_, ctx.hlo.or_)
    operation = ctx.hlo.ReduceOp([ctx.type(out)], [compared], [ctx.full(identity, scalar)], ctx.ints(axes))
    ctx.region(operation, 0, [scalar, scalar], combine)
    return operation.result


eq_p = Compare("eq", "EQ", "biufck")
ne_p = Compare("ne", "NE", "biufck")
lt_p, le_p = Compare("lt", "LT"), Compare("le", "LE")
gt_p, ge_p = Compare("gt", "GT"), Compare("ge", "GE")
is_finite_p = DiscreteElementwise("is_finite", accepts="f", result=_boolean)
