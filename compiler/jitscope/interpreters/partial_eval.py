"""`jitscope.interpreters.partial_eval`: functions run where only some arguments have values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.avals import aval_of
from ..core.jaxpr import Jaxpr
from ..core.staging import JaxprTracer, trace_to_jaxpr
from ..core.trace import current_trace, using
from ..extend.linear_util import WrappedFun
from ..transforms.linearize import PartialEvalTrace


if TYPE_CHECKING:
    from ..core.avals import ShapedArray
    from ..typing import ArrayLike


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


__all__ = ["DynamicJaxprTracer", "JaxprTracer", "PartialVal", "trace_to_jaxpr_dynamic", "trace_to_jaxpr_nounits"]
