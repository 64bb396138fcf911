"""The nested call: a jitted function called inside another stays one equation, and is compiled once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.avals import aval_of, tangent_aval
from ..core.jaxpr import ClosedJaxpr
from ..core.primitive import HigherOrder
from ..core.staging import trace_to_jaxpr
from ..core.zeros import Zero, is_linear, is_zero
from ..transforms.dce import dce_inner
from ..transforms.jvp import jvp_jaxpr
from ..transforms.linearize import partial_eval_jaxpr
from ..transforms.transpose import transposed_fun
from ..transforms.vmap import vmap_jaxpr
from .bodies import lift_constants


class OneProgram(HigherOrder):
    """Base of operations that run the program in the parameter `jaxpr` (which captures nothing) once: each transformation
    gives the same operation of the transformed program."""

    shares_names = True
    inlined = "jaxpr"

    def abstract(self, /, *avals, jaxpr, **params):
        return jaxpr.out_avals, jaxpr.effects

    def jvp(self, primals, tangents, /, *, jaxpr, **params):
        nonzero = [not is_zero(t) for t in tangents]
        both, out_nonzero = jvp_jaxpr(jaxpr, nonzero)
        outs = self.apply(both, [*primals, *[t for t in tangents if not is_zero(t)]], **params)
        n = len(out_nonzero)
        given = iter(outs[n:])
        ts = [next(given) if m else Zero(tangent_aval(a)) for m, a in zip(out_nonzero, jaxpr.out_avals)]
        return outs[:n], ts

    def transpose(self, cts, /, *args, jaxpr, **params):
        linear = [is_linear(x) for x in args]
        operands = [x for x, lin in zip(args, linear) if not lin] + [ct for ct in cts if not is_zero(ct)]
        avals = tuple(aval_of(x) for x in operands)
        key = ("transpose", tuple(linear), tuple(map(is_zero, cts)), avals)
        if key not in jaxpr.derived:
            jaxpr.derived[key] = trace_to_jaxpr(transposed_fun(jaxpr, linear, cts), avals, jaxpr.jaxpr.debug)
        outs = iter(self.apply(jaxpr.derived[key], operands, **params))
        return [next(outs) if lin else None for lin in linear]

    def batch(self, axis, args, dims, /, *, jaxpr, **params):
        batched, out_dims = vmap_jaxpr(jaxpr, axis, dims)
        return self.apply(batched, args, **params), out_dims

    def dce(self, used, eqn, /):
        return dce_inner(used, eqn)

    def apply(self, closed: ClosedJaxpr, args: Sequence[Any], **params: Any) -> list[Any]:
        """The results of a program for flat arguments, as one equation."""
        consts, (jaxpr,) = lift_constants([closed])
        return self.bind(*consts, *args, jaxpr=jaxpr, **params)


class Call(OneProgram):
    """Runs the program in the parameter `jaxpr`; `name` is the function's."""

    def lower(self, ctx, /, *values, jaxpr, name):
        return ctx.call(jaxpr, *values, name=name)

    def partial_eval(self, trace, args, /, *, jaxpr, name):
        known = [trace.is_known(x) for x in args]
        split = partial_eval_jaxpr(jaxpr, known)
        arguments = [x for x, k in zip(args, known) if k]
        consts, (first,) = lift_constants([split.known])
        done = trace.parent.process(self, (*consts, *arguments), {"jaxpr": first, "name": name})
        unknown_args = [x for x, k in zip(args, known) if not k]
        consts, (second,) = lift_constants([split.unknown])
        operands = (*consts, *split.gather(arguments, done), *unknown_args)
        staged = trace.record(self, operands, {"jaxpr": second, "name": name})
        sources = iter(done), iter(staged)
        return [next(sources[0] if k else sources[1]) for k in split.out_known]

    def shown_params(self, params):
        return {"name": params["name"], "jaxpr": params["jaxpr"]}


jit_p = Call("jit")


def call(closed: ClosedJaxpr, args: Sequence[Any], name: str) -> list[Any]:
    """Apply a program to flat arguments as one equation."""
    return jit_p.apply(closed, args, name=name)
