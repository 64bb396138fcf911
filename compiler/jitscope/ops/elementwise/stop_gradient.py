"""The value itself, with derivative zero."""

from __future__ import annotations

from ..families import DiscreteElementwise, check_kind, pure


__all__ = ["StopGradient", "stop_gradient_p"]


class StopGradient(DiscreteElementwise):
    """The value itself, with derivative zero."""

    sums = "each"

    def abstract(self, x, /):
        check_kind(self.name, x, self.accepts)
        return pure(x)

    def lower(self, ctx, x, /):
        return x

    def transpose(self, ct, x, /):
        return [None]  # nothing flows back, neither in a linear program


stop_gradient_p = StopGradient("stop_gradient", accepts="biufck")
