"""checkpoint (remat): functions whose intermediate values are computed anew for the backward pass instead of being
kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, physical
from ..core.jaxpr import ClosedJaxpr
from ..core.staging import jaxpr_as_fun, recording
from ..core.trace import using
from ..xla.choice import recomputes
from .call import OneProgram, call
from .saving import split_checkpoint


class Checkpoint(OneProgram):
    """Runs the program in `jaxpr`. When it is linearized, what `policy` lets be saved is computed and kept; everything else
    is computed anew from that and the arguments, as part of the linear program.

    `differentiated`: whether it is that linear program, or its transpose. Such a program is compiled behind an
    optimization barrier if `prevent_cse`, else the compiler would find that all of it has been computed before, and
    keep it.
    """

    shares_names = False

    def program_params(self, params):
        return {"jaxpr": params["jaxpr"], "barrier": params["differentiated"] and params["prevent_cse"]}

    def lower(self, ctx, /, *values, jaxpr, differentiated, prevent_cse, **params):
        if not (differentiated and prevent_cse and recomputes()):
            return ctx.call(jaxpr, *values, name="checkpoint")
        return _lowered_apart(ctx, jaxpr, values)

    def partial_eval(self, trace, args, /, *, jaxpr, policy, **params):
        known = [trace.is_known(x) for x in args]
        split = split_checkpoint(jaxpr, known, policy)
        given = [x for x, k in zip(args, known) if k]
        with using(trace.parent):
            done = _run(split.known, given, trace)
        results, saved = done[: split.results], done[split.results :]
        operands = [
            *split.consts,
            *saved,
            *[given[i] for i in split.arguments],
            *[x for x, k in zip(args, known) if not k],
        ]
        staged = trace.record(
            self, operands, {"jaxpr": split.unknown, "policy": policy, **params, "differentiated": True}
        )
        sources = iter(results), iter(staged)
        return [next(sources[0] if k else sources[1]) for k in split.out_known]


checkpoint_p = Checkpoint("remat2")


def _lowered_apart(ctx: Any, jaxpr: ClosedJaxpr, values: Sequence[Any]) -> list[Any]:
    """The program as one branch of a conditional whose condition always holds, which the compiler cannot know.

    XLA's optimization barrier would say the same, but the CPU compiler takes barriers out before it merges equal
    operations: everything would be found computed before, and be kept. It does not look into branches.
    """
    opaque = next((v for v, a in zip(values, ctx.avals_in) if physical(a).size), None)
    avals = ctx.avals_out
    if opaque is None:
        return ctx.call(jaxpr, *values, name="checkpoint")
    index = _always_one(ctx, opaque)
    return ctx.case(
        index,
        avals,
        [lambda: [ctx.zeros(a) for a in avals], lambda: ctx.call(jaxpr, *values, name="checkpoint")],
    )


def _always_one(ctx: Any, value: Any) -> Any:
    """The i32 scalar 1, made from an element of `value`: that no number has more than 32 bits set is not known to XLA."""
    hlo, i32 = ctx.hlo, ShapedArray((), np.dtype(np.int32))
    rank = len(ctx.ir.RankedTensorType(value.type).shape)
    element = hlo.slice(value, ctx.ints([0] * rank), ctx.ints([1] * rank), ctx.ints([1] * rank))
    if isinstance(ctx.ir.RankedTensorType(element.type).element_type, ctx.ir.ComplexType):
        element = hlo.real(element)
    kind = ctx.ir.RankedTensorType(element.type).element_type
    scalar = hlo.reshape(ctx.ir.RankedTensorType.get([], kind), element)
    bits = hlo.popcnt(hlo.convert(ctx.type(i32), scalar))
    return hlo.convert(ctx.type(i32), ctx.compare(bits, ctx.scalar(32, np.int32), "LE"))


def _run(closed: ClosedJaxpr, args: Sequence[Any], trace: Any) -> list[Any]:
    """Run the known part: in a program being traced its equations become part of that, else it is compiled as one."""
    if recording(trace):
        return jaxpr_as_fun(closed)(*args)
    return call(closed, args, "checkpoint")
