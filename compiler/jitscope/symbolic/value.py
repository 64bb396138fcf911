"""The size of an axis as a value in a program."""

from __future__ import annotations

from ..core import dtypes
from ..core.avals import ShapedArray
from ..core.effects import no_effects
from ..core.primitive import Primitive


class DimAsValue(Primitive):
    """The size `dim` as an integer that gives way in promotion."""

    def abstract(self, /, *, dim):
        return ShapedArray((), dtypes.default_int(), True), no_effects

    def lower(self, ctx, /, *, dim):
        return ctx.size_as(dim, ctx.avals_out[0])


dim_as_value_p = DimAsValue("dim_as_value")
