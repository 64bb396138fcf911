"""An operation that the user divides among devices (`custom_partitioning`)."""

from __future__ import annotations

from ..core.primitive import HigherOrder
from ..core.sums import refuse_terms


class PartitionPrimitive(HigherOrder):
    """Runs `jaxpr` on one device; over several, `how` says how it is divided. It has no derivative and no map of its own."""

    def abstract(self, /, *avals, jaxpr, how):
        refuse_terms(self.name, avals)
        return jaxpr.out_avals, jaxpr.effects

    def lower(self, ctx, /, *values, jaxpr, how):
        return ctx.partitioned(values, jaxpr, how)

    def jvp(self, primals, tangents, /, *, how, **params):
        raise NotImplementedError(
            f"{how.name} is divided by custom_partitioning, and has no derivative: give it one with jitscope.custom_jvp or custom_vjp "
            "around the call"
        )

    def batch(self, axis, args, dims, /, *, how, **params):
        raise NotImplementedError(
            f"{how.name} is divided by custom_partitioning, and cannot be mapped by vmap: let it take the mapped axis, or give it a rule "
            "with custom_batching.custom_vmap"
        )

    def shown_params(self, params):
        return {"name": params["how"].name, "jaxpr": params["jaxpr"]}


partitioned_p = PartitionPrimitive("custom_partitioning")
