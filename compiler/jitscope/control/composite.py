"""An operation with a name of its own: StableHLO's composite, with its decomposition beside it."""

from __future__ import annotations

import re
from typing import Any

from ..core.primitive import HigherOrder
from ..xla import mlir
from .attributes import frozen, thawed
from .bodies import lift_constants


_NAMESPACED = re.compile(r"[a-zA-Z][\w$]*(\.[\w$]+)+")
"""Names that StableHLO accepts; under others the decomposition is called."""


class Composite(HigherOrder):
    """The operation `name` with `attributes` ((name, value), …), which a compiler may know in this `version`; one that does
    not runs the program `jaxpr` (which captures nothing). It has no derivative and no map of its own."""

    def abstract(self, /, *avals, jaxpr, **params):
        return jaxpr.out_avals, jaxpr.effects

    def lower(self, ctx, /, *values, jaxpr, name, attributes, version):
        function, run = ctx.module.function_for(jaxpr, name)
        if run.taken or run.given or not _NAMESPACED.fullmatch(name):
            return ctx.call(jaxpr, *values, name=name)
        return ctx.hlo.CompositeOp(
            [ctx.type(aval) for aval in ctx.avals_out],
            list(values),
            name,
            composite_attributes=mlir.attribute({key: thawed(value) for key, value in attributes}),
            decomposition=function.name,
            version=version,
        ).results

    def jvp(self, primals, tangents, /, *, name, **params):
        raise ValueError(
            f"composite {name!r} has no derivative: give it one with jitscope.custom_jvp or custom_vjp around the call"
        )

    def batch(self, axis, args, dims, /, *, name, **params):
        raise NotImplementedError(
            f"composite {name!r} cannot be mapped: map its decomposition, or give it a rule with custom_batching.custom_vmap"
        )


composite_p = Composite("composite")


def composite(closed: Any, args: Any, name: str, attributes: dict[str, Any], version: int) -> list[Any]:
    """Apply the operation to flat arguments. Raises TypeError for attributes that StableHLO does not have."""
    consts, (jaxpr,) = lift_constants([closed])
    return composite_p.bind(
        *consts,
        *args,
        jaxpr=jaxpr,
        name=name,
        attributes=tuple(
            (key, frozen(f"composite: the attribute {key}", value))
            for key, value in attributes.items()
            if value is not None
        ),
        version=version,
    )
