"""The programs before and after a transformation, for `core.steps`: made of the jaxpr of the function that is transformed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import call_sites, dtypes
from ..core.avals import aval_of, tangent_aval
from ..core.axes import bind_axis
from ..core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr
from ..core.references import Reference
from ..core.staging import jaxpr_as_fun, trace_to_jaxpr
from ..core.steps import Batched, Recorder, recorder, traced_alone, without_steps
from ..core.trace import current_trace, using
from ..core.zeros import is_zero
from .jvp import jvp_jaxpr
from .linearize import partial_eval_jaxpr
from .transpose import transposed_fun
from .vmap import BatchAxis, BatchTrace, vmap_jaxpr, with_axis


Fun = Callable[..., Sequence[Any]]


def jvp_step(fun: Fun, name: str, primals: Sequence[Any], tangents: Sequence[Any]) -> Fun:
    """`fun`, or what runs in its place where the step is recorded."""
    return _step("jvp", fun, name, primals, lambda steps, closed: _jvp(steps, closed, name, tangents))


def linearize_step(fun: Fun, name: str, primals: Sequence[Any]) -> Fun:
    """As `jvp_step`: two steps, jvp and the partial evaluation that splits off what is linear in the tangents."""

    def record(steps: Recorder, closed: ClosedJaxpr) -> None:
        nonzero = [tangent_aval(aval).dtype != dtypes.float0 for aval in closed.in_avals]
        both, _ = jvp_jaxpr(closed, nonzero)
        steps.add("jvp", name, closed.jaxpr, ("values and tangents", both.jaxpr))
        known = [True] * len(nonzero) + [False] * sum(nonzero)
        split = partial_eval_jaxpr(both, known, as_made=True)
        steps.add(
            "linearize",
            name,
            both.jaxpr,
            ("what depends on values alone, with the residuals", split.known.jaxpr),
            ("what is linear in the tangents", _of_jvp(split.unknown.jaxpr)),
        )

    return _step("linearize", fun, name, primals, record)


def _of_jvp(jaxpr: Jaxpr) -> Jaxpr:
    """A program that is linear in tangents: all that it computes was made by jvp."""
    eqns = [eqn.replace(traceback=call_sites.made_by("jvp", eqn.traceback)) for eqn in jaxpr.eqns]
    return Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, eqns, jaxpr.effects, jaxpr.debug)


def transpose_step(
    jaxpr: Jaxpr, residuals: Sequence[Any], args: Sequence[Any], cts: Sequence[Any], name: str, of_jvp: bool = False
) -> None:
    """Records the backward pass of a linear program, if somebody records. `of_jvp`: the program is what a derivative does to
    tangents."""
    steps = recorder()
    if steps is None or any(isinstance(x, Reference) for x in (*residuals, *cts)):
        return
    with without_steps():
        whole = Jaxpr([], [*jaxpr.constvars, *jaxpr.invars], jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug)
        whole = _of_jvp(whole) if of_jvp else whole
        linear = [False] * len(residuals) + [True] * len(args)
        fun = transposed_fun(ClosedJaxpr(whole), linear, cts)
        avals = [*(v.aval for v in jaxpr.constvars), *(aval_of(ct) for ct in cts if not is_zero(ct))]
        after = trace_to_jaxpr(fun, avals, DebugInfo(name))
    steps.add("transpose", name, whole, ("from cotangents of the results to those of the arguments", after.jaxpr))


def vmap_step(fun: Fun, name: str, axis: BatchAxis, values: Sequence[Any], dims: Sequence[int | None]) -> Fun:
    """As `jvp_step`."""
    if recorder() is None:
        return fun

    def one_example(*args: Any) -> Sequence[Any]:
        with bind_axis(axis.name, axis.size):
            return fun(*args)

    def record(steps: Recorder, closed: ClosedJaxpr) -> None:
        after, _ = vmap_jaxpr(closed, axis, list(dims))
        batched = _followed(closed, axis, dims)
        steps.add("vmap", name, closed.jaxpr, (f"all {axis.size} examples", after.jaxpr), batched=batched)

    try:
        examples = [_Example(x, d) for x, d in zip(values, dims)]
    except TypeError:  # what is the same for all examples may be anything
        return fun
    return _step("vmap", one_example, name, examples, record)


class _FollowedTrace(BatchTrace):
    """Notes what the rules make of each equation."""

    __slots__ = ("notes",)

    def process(self, primitive, args, params):
        operands = tuple(self.split(x)[1] for x in args)
        made = self.recorder.eqns if self.recorder is not None else []
        start = len(made)
        out = super().process(primitive, args, params)
        results = tuple(self.split(x)[1] for x in (out if primitive.multiple_results else [out]))
        self.notes.append((primitive, operands, results, tuple(made[start:])))
        return out


def _followed(closed: ClosedJaxpr, axis: BatchAxis, dims: Sequence[int | None]) -> list[Batched]:
    """What becomes of each equation where a program is mapped; nothing where its equations are not replayed one by one."""
    notes: list[Any] = []

    def fun(*args: Any) -> Sequence[Any]:
        trace = _FollowedTrace(current_trace(), axis)
        trace.notes = notes
        with using(trace), bind_axis(axis.name, axis.size):
            outs = jaxpr_as_fun(closed)(*[trace.join(v, d) for v, d in zip(args, dims)])
        return [trace.split(out)[0] for out in outs]

    trace_to_jaxpr(fun, [with_axis(a, d, axis) for a, d in zip(closed.in_avals, dims)], closed.jaxpr.debug)
    eqns = closed.jaxpr.eqns
    if [eqn.primitive for eqn in eqns] != [primitive for primitive, *_ in notes]:
        return []
    return [Batched(eqn, *rest) for eqn, (_, *rest) in zip(eqns, notes)]


class _Example:
    """One example of a value that holds all of them, as far as tracing needs it."""

    def __init__(self, value: Any, dim: int | None):
        aval = aval_of(value)
        self.aval = (
            aval if dim is None else type(aval)(aval.shape[:dim] + aval.shape[dim + 1 :], aval.dtype, aval.weak_type)
        )


def _jvp(steps: Recorder, closed: ClosedJaxpr, name: str, tangents: Sequence[Any]) -> None:
    after, _ = jvp_jaxpr(closed, [not is_zero(t) for t in tangents])
    steps.add("jvp", name, closed.jaxpr, ("values and tangents", after.jaxpr))


def _step(
    transform: str, fun: Fun, name: str, values: Sequence[Any], record: Callable[[Recorder, ClosedJaxpr], None]
) -> Fun:
    steps = recorder()
    if steps is None or any(isinstance(x, Reference) for x in values):
        return fun
    closed = traced_alone(steps, transform, name, fun, values)
    if closed is None:
        return fun
    with without_steps():
        record(steps, closed)
    return steps.instead(transform, closed)
