"""`jitscope.interpreters.partial_eval`: functions run where only some arguments have values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ..core.annotations import ArrayLike, ShapedArray
from ..core.avals import aval_of
from ..core.jaxpr import DebugInfo, Jaxpr
from ..core.staging import JaxprTracer, trace_to_jaxpr
from ..core.trace import current_trace, using
from ..extend.linear_util import WrappedFun
from ..transforms.linearize import PartialEvalTrace


DynamicJaxprTracer = JaxprTracer


class PartialVal(tuple):
    """A value, or an aval in place of one: the pair (None, value) or (aval, None)."""

    __slots__ = ()

    @classmethod
    def known(cls, const: ArrayLike) -> PartialVal:
        return cls((None, const))

    @classmethod
    def unknown(cls, aval: ShapedArray) -> PartialVal:
        return cls((aval, None))

    def is_known(self) -> bool:
        return self[0] is None

    def get_known(self) -> Any:
        return self[1]

    def get_aval(self) -> ShapedArray:
        return aval_of(self[1]) if self[0] is None else self[0]


def trace_to_jaxpr_nounits(
    fun: WrappedFun, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[PartialVal], list[Any]]:
    """Run the flat function on partial values: what depends on known ones alone is computed now, the rest is staged.

    Gives the program of the rest (it takes the residuals, then the unknown arguments), the results as partial values, and
    the residuals. Results marked in `instantiate` are unknown in any case.
    """
    trace = PartialEvalTrace(current_trace(), fun.debug_info)
    args = [p[1] if p.is_known() else trace.argument(p[0]) for p in pvals]
    with using(trace):
        outs = list(fun.call_wrapped(*args))
    forced = [instantiate] * len(outs) if isinstance(instantiate, bool) else instantiate
    known = [trace.is_known(x) and not f for x, f in zip(outs, forced)]
    closed = trace.close_live([x for x, k in zip(outs, known) if not k])
    results = [PartialVal.known(x) if k else PartialVal.unknown(aval_of(x)) for x, k in zip(outs, known)]
    staged = closed.jaxpr
    open_jaxpr = staged.replace(constvars=[], invars=[*staged.constvars, *staged.invars])
    return open_jaxpr, results, closed.consts


def trace_to_jaxpr_dynamic(fun: WrappedFun, in_avals: Sequence[Any]) -> tuple[Jaxpr, list[Any], list[Any]]:
    """The program of a flat function, the avals of its results, and the values it captured."""
    closed = trace_to_jaxpr(fun.call_wrapped, in_avals, fun.debug_info)
    return closed.jaxpr, closed.out_avals, closed.consts


Program = TypeVar("Program", bound=Jaxpr)


def dce_jaxpr(
    jaxpr: Program, used_outputs: bool | Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Program, list[bool]]:
    """A program without the results that are not marked in `used_outputs`, and without the equations and arguments that nothing reads
    then; and for each argument whether it is left. Those marked in `instantiate` are. Captured values stay as they are."""
    wanted = [used_outputs] * len(jaxpr.outvars) if isinstance(used_outputs, bool) else used_outputs
    kept = [instantiate] * len(jaxpr.invars) if isinstance(instantiate, bool) else instantiate
    smaller: Any = jaxpr.replace(outvars=[x for x, w in zip(jaxpr.outvars, wanted, strict=True) if w])
    equations, read = smaller.live()
    used = [v in read or k for v, k in zip(jaxpr.invars, kept, strict=True)]
    invars = [v for v, u in zip(jaxpr.invars, used) if u]
    return smaller.replace(
        invars=invars, eqns=[eqn for _, eqn in equations], debug_info=_told_of(jaxpr, wanted, used)
    ), used


def _told_of(jaxpr: Jaxpr, wanted: Sequence[bool], used: Sequence[bool]) -> DebugInfo:
    """What the arguments and results that are left are called."""
    debug = jaxpr.debug
    arguments = tuple(n for n, u in zip(debug.arg_names, used) if u) if len(debug.arg_names) == len(used) else ()
    results = (
        tuple(n for n, w in zip(debug.result_names, wanted) if w) if len(debug.result_names) == len(wanted) else ()
    )
    return debug._replace(arg_names=arguments, result_names=results)


__all__ = ["DynamicJaxprTracer", "JaxprTracer", "PartialVal", "dce_jaxpr", "trace_to_jaxpr_dynamic",
           "trace_to_jaxpr_nounits"]  # fmt: skip
