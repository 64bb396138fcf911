"""Forward-mode derivatives: values carry tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import call_sites, notices
from ..core.avals import aval_of, tangent_aval
from ..core.errors import ConcretizationTypeError
from ..core.jaxpr import ClosedJaxpr
from ..core.messages import conversion_message
from ..core.primitive import FunctionCall, HigherOrder, Primitive
from ..core.references import Reference
from ..core.staging import jaxpr_as_fun, mark_made, recording, trace_to_jaxpr
from ..core.trace import Trace, Tracer, current_trace, leak_error, using
from ..core.zeros import Zero, is_zero, zero_of
from ..ops.linear import convert, instantiate


__all__ = ["JVPTrace", "JVPTracer"]


class JVPTracer(Tracer):
    """A value with its tangent. Where the value is known Python may ask whether it is true and for its integer, which
    have derivative zero, but not for its float."""

    __slots__ = ("primal", "tangent")
    refusal = "the value is being differentiated, and Python's number would carry no derivative"

    def __init__(self, trace: JVPTrace, primal: Any, tangent: Any):
        self.tracing, self.primal, self.tangent = trace, primal, tangent
        self.aval = aval_of(primal)

    def underlying(self) -> Any:
        return self.primal

    def known(self) -> Any:
        return self.primal.known() if isinstance(self.primal, Tracer) else self.primal

    def text(self) -> str:
        if self.tracing.linear:
            return f"GradTracer(primal={_written(self.primal)}, typeof(tangent)={aval_of(self.tangent).short()})"
        return f"JVPTracer(primal={_written(self.primal)}, tangent={_written(self.tangent)})"

    def _is_over(self) -> bool:
        return getattr(self.tracing.recorder, "ended", False)

    def made_at(self) -> Any:
        return self.primal.made_at() if isinstance(self.primal, Tracer) else None

    def _refuse(self, asked: str) -> Any:
        if self._is_over():
            raise leak_error(self)
        raise ConcretizationTypeError(
            conversion_message(
                self,
                asked,
                "keep the computation in jitscope.numpy; if no derivative is meant, take lax.stop_gradient(x)",
            )
        )

    def __float__(self) -> float:
        return self._refuse("this value as a float")

    def __complex__(self) -> complex:
        return self._refuse("this value as a complex number")

    def tolist(self) -> Any:
        """Raises ConcretizationTypeError: values being differentiated are no Python numbers."""
        return self._refuse("these values as a list")

    def origin(self) -> str:
        return self.primal.origin() if isinstance(self.primal, Tracer) else "a value being differentiated"


def _written(value: Any) -> str:
    return value.text() if isinstance(value, Tracer) else str(value)


class JVPTrace(Trace):
    """Applies `jvp` rules under `parent`."""

    __slots__ = ("parent", "recorder", "stopped")
    linear = False
    """Whether tangents are variables of a linear program, whose values come later (`linearize`, `grad`)."""

    def __init__(self, parent: Trace):
        self.parent, self.recorder = parent, recording(parent)
        self.stopped: Any = None
        """Where an operation was that lost the tangents of its operands last, while somebody listens."""

    def split(self, x: Any) -> tuple[Any, Any]:
        """Primal and tangent of any value."""
        if isinstance(x, JVPTracer) and x.tracing is self:
            return x.primal, x.tangent
        return x, zero_of(x)

    def join(self, primal: Any, tangent: Any) -> Any:
        """A value of this trace from primal and tangent: the primal alone where the tangent is `Zero`."""
        return primal if type(tangent) is Zero else JVPTracer(self, primal, tangent)

    def process(self, primitive, args, params):
        primals, tangents = zip(*map(self.split, args)) if args else ((), ())
        if all([type(t) is Zero for t in tangents]):
            return self.parent.process(primitive, primals, params)
        recorder = self.recorder
        start = len(recorder.eqns) if recorder is not None else 0
        with using(self.parent):
            if any([type(t) is not Zero and aval_of(t).weak_type for t in tangents]):
                tangents = _promoted(primitive, primals, tangents)
            out, tangent = primitive.jvp(primals, tangents, **params)
        if recorder is not None and len(recorder.eqns) > start + 1 and not isinstance(primitive, FunctionCall):
            mark_made(recorder, start, "jvp", out if primitive.multiple_results else (out,))
        if primitive.multiple_results:
            return [self.join(p, t) for p, t in zip(out, tangent)]
        if notices.listeners and is_zero(tangent):
            self.stopped = call_sites.capture()
        return self.join(out, tangent)


def _promoted(primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any]) -> Sequence[Any]:
    """The tangents; those of weak operands that take the type of the others become strong as these do, so that what flows
    back to them becomes weak again."""
    avals = [aval_of(p) for p in primals]
    strong = {a.dtype for a in avals if not a.weak_type}
    if isinstance(primitive, HigherOrder) or not strong:
        return tangents
    return [
        convert(t, a.dtype) if not is_zero(t) and a.weak_type and a.dtype in strong else t
        for t, a in zip(tangents, avals)
    ]


def jvp_flat(
    fun: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any], parent: Trace | None = None
) -> tuple[list[Any], list[Any]]:
    """Results of the flat function `fun` and their tangents (Zero where they do not depend on the tangents)."""
    trace = JVPTrace(parent or current_trace())
    args = [p.dual(trace, t) if isinstance(p, Reference) else trace.join(p, t) for p, t in zip(primals, tangents)]
    with using(trace):
        outs = fun(*args)
    pairs = [trace.split(out) for out in outs]
    return [p for p, _ in pairs], [t for _, t in pairs]


def jvp_jaxpr(
    closed: ClosedJaxpr, nonzero: Sequence[bool], force: Sequence[bool] | None = None
) -> tuple[ClosedJaxpr, list[bool]]:
    """The program of values and tangents, and which results have a tangent.

    It takes all primals, then the tangents of the arguments marked in `nonzero`; it gives all primal results, then the
    tangents that are not zero. Results marked in `force` have one in any case. Made once for each pattern.
    """
    key = ("jvp", tuple(nonzero), None if force is None else tuple(force))
    if key not in closed.derived:
        closed.derived[key] = _jvp_jaxpr(closed, nonzero, force or [False] * len(closed.out_avals))
    return closed.derived[key]


def _jvp_jaxpr(closed: ClosedJaxpr, nonzero: Sequence[bool], force: Sequence[bool]) -> tuple[ClosedJaxpr, list[bool]]:
    avals, n = closed.in_avals, len(closed.in_avals)
    out_nonzero: list[bool] = []

    def fun(*args):
        given = iter(args[n:])
        tangents = [next(given) if nz else Zero(tangent_aval(a)) for nz, a in zip(nonzero, avals)]
        outs, ts = jvp_flat(jaxpr_as_fun(closed), args[:n], tangents)
        ts = [instantiate(t) if f else t for t, f in zip(ts, force)]
        out_nonzero.extend(not is_zero(t) for t in ts)
        return [*outs, *[t for t in ts if not is_zero(t)]]

    tangent_avals = [tangent_aval(a) for a, nz in zip(avals, nonzero) if nz]
    return trace_to_jaxpr(fun, [*avals, *tangent_avals], closed.jaxpr.debug), out_nonzero
