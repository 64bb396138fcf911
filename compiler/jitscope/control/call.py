"""The nested call: a jitted function called inside another stays one equation, and is compiled once."""

from __future__ import annotations

from typing import Any

from ..core.avals import aval_of, tangent_aval
from ..core.jaxpr import ClosedJaxpr
from ..core.primitive import HigherOrder
from ..core.staging import trace_to_jaxpr
from ..core.zeros import Zero, is_linear, is_zero
from ..transforms.dce import dce_held
from ..transforms.jvp import jvp_jaxpr
from ..transforms.linearize import partial_eval_jaxpr
from ..transforms.transpose import transposed_fun
from ..transforms.vmap import vmap_jaxpr


class Call(HigherOrder):
    """Runs the program in the parameter `jaxpr` (which captures nothing); `name` is the function's."""

    shares_names = True

    def abstract(self, /, *avals, jaxpr: ClosedJaxpr, name: str):
        return jaxpr.out_avals, jaxpr.effects

    def lower(self, ctx, /, *values, jaxpr, name):
        return ctx.call(jaxpr, *values, name=name)

    def jvp(self, primals, tangents, /, *, jaxpr, name):
        nonzero = [not is_zero(t) for t in tangents]
        both, moving = jvp_jaxpr(jaxpr, nonzero)
        outs = self._bind(both, [*primals, *[t for t in tangents if not is_zero(t)]], name)
        n = len(moving)
        given = iter(outs[n:])
        ts = [next(given) if m else Zero(tangent_aval(a)) for m, a in zip(moving, jaxpr.out_avals)]
        return outs[:n], ts

    def transpose(self, cts, /, *args, jaxpr, name):
        linear = [is_linear(x) for x in args]
        fun = transposed_fun(jaxpr, linear, cts)
        operands = [x for x, lin in zip(args, linear) if not lin] + [ct for ct in cts if not is_zero(ct)]
        key = ("transpose", tuple(linear), tuple(is_zero(ct) for ct in cts), tuple(aval_of(x) for x in operands))
        if key not in jaxpr.derived:
            jaxpr.derived[key] = trace_to_jaxpr(fun, [aval_of(x) for x in operands], jaxpr.jaxpr.debug)
        outs = iter(self._bind(jaxpr.derived[key], operands, name))
        return [next(outs) if lin else None for lin in linear]

    def batch(self, axis, args, dims, /, *, jaxpr, name):
        batched, out_dims = vmap_jaxpr(jaxpr, axis, dims)
        return self._bind(batched, args, name), out_dims

    def partial_eval(self, trace, args, /, *, jaxpr, name):
        known = [trace.is_known(x) for x in args]
        split = partial_eval_jaxpr(jaxpr, known)
        arguments = [x for x, k in zip(args, known) if k]
        done = trace.parent.process(self, *_call(split.known, arguments, name))
        unknown_args = [x for x, k in zip(args, known) if not k]
        staged = trace.record(self, *_call(split.unknown, [*split.gather(arguments, done), *unknown_args], name))
        sources = iter(done), iter(staged)
        return [next(sources[0] if k else sources[1]) for k in split.out_known]

    def dce(self, used, eqn, /):
        return dce_held(used, eqn)

    def _bind(self, closed: ClosedJaxpr, args: list[Any] | tuple, name: str) -> list[Any]:
        args, params = _call(closed, args, name)
        return self.bind(*args, **params)

    def shown_params(self, params):
        return {"name": params["name"], "jaxpr": params["jaxpr"]}


def _call(closed: ClosedJaxpr, args, name: str) -> tuple[tuple, dict[str, Any]]:
    """Arguments and parameters of a call: what the program captured becomes leading arguments."""
    return (*closed.consts, *args), {"jaxpr": without_constants(closed), "name": name}


def without_constants(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with its captured values as leading arguments; one object for each program."""
    if not closed.jaxpr.constvars:
        return closed
    if "lifted" not in closed.derived:
        old = closed.jaxpr
        names = tuple(f"const{i}" for i in range(len(old.constvars))) + old.debug.arg_names
        debug = type(old.debug)(old.debug.name, names, old.debug.result_names, old.debug.defined)
        jaxpr = type(old)([], [*old.constvars, *old.invars], old.outvars, old.eqns, old.effects, debug)
        closed.derived["lifted"] = ClosedJaxpr(jaxpr)
    return closed.derived["lifted"]


def call(closed: ClosedJaxpr, args, name: str) -> list[Any]:
    """Apply a program to flat arguments as one equation."""
    return jit_p._bind(closed, args, name)


jit_p = Call("jit")
