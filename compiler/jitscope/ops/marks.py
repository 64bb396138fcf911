"""Operations that compute nothing and say something: a name for a value, and a barrier the compiler may not look
across."""

from __future__ import annotations

from typing import Any

from ..core.effects import Effect, Effects
from ..core.primitive import Primitive
from .families import is_zero, pure, zero_of


class Name(Primitive):
    """The same value under the name `name`, by which policies of `checkpoint` find it. Its tangent has no name."""

    sums = "each"

    def abstract(self, x, /, *, name):
        return pure(x)

    def lower(self, ctx, x, /, *, name):
        return x

    def jvp(self, primals, tangents, /, *, name):
        return name_p(*primals, name=name), tangents[0]

    def transpose(self, ct, x, /, *, name):
        return [ct]

    def batch(self, axis, args, dims, /, *, name):
        return name_p(*args, name=name), dims[0]


name_p = Name("name")


class DceSink(Primitive):
    """Nothing comes of it, and yet the value is needed: removal of dead code leaves what computes it in the jaxpr.
    `prevent_mlir_dce`: in the compiled program, too."""

    multiple_results = True

    def abstract(self, x, /, *, prevent_mlir_dce):
        return [], kept_effects

    def lower(self, ctx, x, /, *, prevent_mlir_dce):
        return ctx.foreign("dce_sink", [x], ctx.avals_in, [], {}, side_effect=True) if prevent_mlir_dce else []

    def jvp(self, primals, tangents, /, **params):
        return dce_sink_p(*primals, **params), []

    def transpose(self, cts, x, /, **params):
        return [zero_of(x)]

    def batch(self, axis, args, dims, /, **params):
        return dce_sink_p(*args, **params), []


kept_effects: Effects = frozenset([Effect("NoDCE")])
dce_sink_p = DceSink("dce_sink")


class OptimizationBarrier(Primitive):
    """The same values. The compiler sees no connection between what is before and behind: it merges no operation here
    with an equal one there, and computes nothing behind before all operands are there."""

    sums = "all"

    multiple_results = True

    def abstract(self, /, *avals):
        return pure(list(avals))

    def lower(self, ctx, /, *values):
        return list(ctx.hlo.OptimizationBarrierOp(list(values)).results) if values else []

    def jvp(self, primals, tangents, /):
        return optimization_barrier_p(*primals), _barrier_of_nonzero(tangents)

    def transpose(self, cts, /, *args):
        return _barrier_of_nonzero(cts)

    def batch(self, axis, args, dims, /):
        return optimization_barrier_p(*args), list(dims)


optimization_barrier_p = OptimizationBarrier("optimization_barrier")


def in_memory(x: Any) -> Any:
    """A value that is written to memory, and not computed again for each use."""
    return optimization_barrier_p(x)[0]


def _barrier_of_nonzero(values: Any) -> list[Any]:
    """The barrier over those tangents or cotangents that are not Zero."""
    behind = iter(optimization_barrier_p(*[v for v in values if not is_zero(v)]))
    return [v if is_zero(v) else next(behind) for v in values]
