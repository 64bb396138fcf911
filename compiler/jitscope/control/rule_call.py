"""The call of a function with rules of its own, as a primitive."""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from typing import Any

from ..core import call_sites, source
from ..core.avals import aval_of, is_python_scalar
from ..core.errors import UnexpectedTracerError
from ..core.jaxpr import ClosedJaxpr, DebugInfo, JaxprEqn
from ..core.messages import with_advice
from ..core.primitive import FunctionCall, HigherOrder
from ..core.staging import as_function, trace_to_jaxpr
from ..core.trace import Trace, Tracer, chain_of, current_trace, evaluation, using
from ..core.zeros import is_linear, is_zero
from ..ops.linear import convert_element_type_p
from ..transforms.dce import dce_jaxpr
from ..transforms.transpose import transposed_fun
from ..transforms.vmap import vmap_flat
from .bodies import lift_constants


__all__ = ["CustomJVPException", "CustomVJPException"]


class _AllAxes(Container[Hashable]):
    """The axes a function not traced yet may read."""

    def __contains__(self, name: object) -> bool:
        return True


class NamedCall(HigherOrder):
    """A call of the program `fun`, under the name of the function that it was."""

    def program_params(self, params):
        return {"fun": params["fun"]}

    def abstract(self, /, *avals, fun, **params):
        return fun.out_avals, fun.effects

    def lower(self, ctx, /, *values, fun, name, **params):
        return ctx.call(fun, *values, name=name)

    def transpose(self, cts, /, *args, fun, **params):
        linear = [is_linear(x) for x in args]
        operands = [x for x, lin in zip(args, linear) if not lin] + [ct for ct in cts if not is_zero(ct)]
        outs = iter(transposed_fun(fun, linear, cts)(*operands))
        return [next(outs) if lin else None for lin in linear]


def rule_operands(fun: Any, operands: Sequence[Any]) -> list[Any]:
    """What the rules of a call of `fun` get: of a call that has been traced arrays, also in place of numbers written into the program, as in JAX."""
    if not isinstance(fun, ClosedJaxpr):
        return list(operands)
    avals = map(aval_of, operands)
    return [
        convert_element_type_p(x, new_dtype=aval.dtype, weak_type=aval.weak_type) if is_python_scalar(x) else x
        for x, aval in zip(operands, avals)
    ]


class RuledCall(NamedCall, FunctionCall):
    """A call of `fun` that has rules of its own. The first `num_consts` operands are what `fun` captured; the rules do
    not get them. `name` is the function's."""

    def named_axes(self, *, fun, **params):  # pyright: ignore[reportIncompatibleMethodOverride]
        return super().named_axes(fun=fun) if isinstance(fun, ClosedJaxpr) else _AllAxes()

    def evaluate(self, args, /, *, fun, name, **params):
        outer = current_trace()
        try:
            with using(evaluation()):
                return as_function(fun)(*args)
        except UnexpectedTracerError as error:
            if outer is evaluation():
                raise
            raise closed_over(name) from error

    def stage(self, trace, args, /, *, fun, name, num_consts, **params):
        if not isinstance(fun, ClosedJaxpr):
            debug = getattr(fun, "debug", DebugInfo(name))
            closed = trace_to_jaxpr(fun, [aval_of(x) for x in args], debug)
            consts, (fun,) = lift_constants([closed])
            if any(_is_above(c, trace) for c in consts):
                raise closed_over(name)
            args, num_consts = (*consts, *args), num_consts + len(consts)
        return trace.record(self, args, {"fun": fun, "name": name, "num_consts": num_consts, **params})

    def partial_eval(self, trace, args, /, *, fun, **params):
        with using(trace):
            return as_function(fun)(*args)

    def batch(self, axis, args, dims, /, *, fun, num_consts, **params):
        settled = ResultAxes(axis, any(d is not None for d in dims))

        def all_examples(*values):
            outs, found = vmap_flat(as_function(fun), axis, values, dims)
            return settled.place(outs, found)

        rules = self.mapped_rules(axis, dims[num_consts:], settled, **params)
        outs = self.bind(*args, fun=all_examples, num_consts=num_consts, **{**params, **rules})
        return outs, settled.dims

    def mapped_rules(self, axis: Any, dims: Any, settled: ResultAxes, /, **params: Any) -> dict[str, Any]:
        """The rules for all examples: those parameters that change."""
        raise self.missing("batch")

    def dce(self, used, eqn, /):
        # Operands that the function no longer reads the rules may read: all stay.
        params = eqn.params
        fun, _ = dce_jaxpr(params["fun"], used, [True] * len(eqn.invars))
        params = {**params, "fun": fun, **self.rules_of_used(used, **params)}
        outvars = [v for v, u in zip(eqn.outvars, used) if u]
        return [True] * len(eqn.invars), JaxprEqn(eqn.invars, outvars, self, params, fun.effects, eqn.traceback)

    def rules_of_used(self, used: Sequence[bool], /, **params: Any) -> dict[str, Any]:
        """The rules for the results marked in `used` alone: those parameters that change."""
        raise self.missing("dce")

    def shown_params(self, params):
        shown = {("call_jaxpr" if k == "fun" else k): v for k, v in params.items() if k != "name"}
        if not shown["num_consts"]:
            del shown["num_consts"]
        return {"name": params["name"], **dict(sorted(shown.items()))}


class ResultAxes:
    """Where the mapped axis lies in the results of a call for all examples: as the first that ran, the function or one of
    its rules, found it; with `forced`, at 0 where that found none."""

    __slots__ = ("_forced", "axis", "dims")

    def __init__(self, axis: Any, forced: bool):
        self.axis, self._forced, self.dims = axis, forced, ()

    def place(self, outs: Sequence[Any], found: Sequence[int | None]) -> list[Any]:
        """Results with their axes settled."""
        if not self.dims:
            self.dims = tuple(0 if d is None and self._forced else d for d in found)
        return self.place_like(outs, found, self.dims)

    def place_like(self, outs: Sequence[Any], found: Sequence[int | None], dims: Sequence[int | None]) -> list[Any]:
        """Values with their mapped axes where `dims` says."""
        if any(d is not None and want is None for d, want in zip(found, dims)):
            raise ValueError(
                "a rule gives a value that differs between the examples of vmap where the function gives one that does not; "
                "pass what the rule captures as an argument of the function"
            )
        return [x if want is None else self.axis.move(x, d, want) for x, d, want in zip(outs, found, dims)]


def _is_above(x: Any, trace: Trace) -> bool:
    """Whether a value belongs to a transformation that hands its operations down to `trace`."""
    return isinstance(x, Tracer) and trace in chain_of(x.tracing)[1:]


def closed_over(name: str) -> UnexpectedTracerError:
    """The error for a function that captures a value its rules should have known of."""
    line = source.position_text(call_sites.here(), " It is called in ")
    return UnexpectedTracerError(
        with_advice(
            f"{name}, a function with derivative rules of its own, captures a value that is being differentiated or mapped.{line}\n"
            "  Its rules say how it depends on its arguments, not on what it captures.",
            "pass the value as an argument, and let the rules know of it; or take lax.stop_gradient of it",
        )
    )


class CustomJVPException(Exception):
    """A custom_jvp function captures a value with a derivative."""


class CustomVJPException(Exception):
    """A custom_vjp function captures a value with a derivative."""


def refuse_captured(name: str, tangents: Sequence[Any], error: type[Exception]) -> None:
    """Raise `error` if a captured value has a tangent."""
    if not all(map(is_zero, tangents)):
        raise error(str(closed_over(name)))
