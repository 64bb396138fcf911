"""Programs with references made pure: they take the values in place of the references, and give the new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.effects import has_refs, no_effects, written
from ..core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Var, subjaxprs
from ..core.primitive import FunctionCall, HigherOrder, NewValue
from ..core.references import Reference, ReferenceAval
from ..core.staging import eval_jaxpr, trace_to_jaxpr
from ..core.trace import Trace, current_trace, using
from ..ops.linear import convert
from .indexers import adding, reading, swapping


def uses_refs(jaxpr: Jaxpr) -> bool:
    """Whether a program takes, captures or makes references."""
    if jaxpr.effects and has_refs(jaxpr.effects):
        return True
    return any(isinstance(v.aval, ReferenceAval) for v in (*jaxpr.constvars, *jaxpr.invars))


def value_aval(aval: Any) -> Any:
    """The aval of what a reference holds; others are their own."""
    return aval.inner_aval if isinstance(aval, ReferenceAval) else aval


# A program as it is compiled: each equation becomes one, so that its path stays --------------------------------------


class InlineProgram(HigherOrder):
    """Runs the small program `jaxpr` in place: what an operation on a reference does to its value."""

    def abstract(self, /, *avals, jaxpr):
        return jaxpr.out_avals, no_effects

    def lower(self, ctx, /, *values, jaxpr):
        return ctx.inline_jaxpr(jaxpr, *values)


_inlined = {name: InlineProgram(f"{name}_of_value") for name in ("new_ref", "get", "swap", "addupdate", "freeze")}


def pure_program(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[int]]:
    """A pure program for the compiler, with the new values of changed arguments after its results, and the numbers of those
    arguments (captured values count first). Equations keep their numbers. Made once."""
    if not uses_refs(closed.jaxpr):
        return closed, []
    if "purified" not in closed.derived:
        closed.derived["purified"] = _purified(closed)
    return closed.derived["purified"]


def _purified(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[int]]:
    old = closed.jaxpr
    now: dict[Any, Any] = {}

    def argument(var: Var) -> Var:
        if isinstance(var.aval, ReferenceAval):
            now[var] = Var(value_aval(var.aval))
            return now[var]
        return var

    constvars, invars = list(map(argument, old.constvars)), list(map(argument, old.invars))
    eqns = [_pure_equation(eqn, now) for eqn in old.eqns]
    changed = sorted(written(old.effects))
    arguments = [*old.constvars, *old.invars]
    outvars: list[Atom] = [*old.outvars, *[now[arguments[i]] for i in changed]]
    effects = no_effects.union(*[eqn.effects for eqn in eqns])
    return ClosedJaxpr(Jaxpr(constvars, invars, outvars, eqns, effects, old.debug), closed.consts), changed


def _pure_equation(eqn: JaxprEqn, now: dict[Any, Any]) -> JaxprEqn:
    """The equation on values; `now` has the value of each reference at this place, and is brought up to date."""
    primitive = eqn.primitive
    refs = [a if isinstance(a.aval, ReferenceAval) else None for a in eqn.invars]
    values = [a if r is None else now[r] for a, r in zip(eqn.invars, refs)]
    if primitive.name in _inlined and primitive.takes_references and not isinstance(primitive, HigherOrder):
        return _value_equation(eqn, refs, values, now)
    if not isinstance(primitive, HigherOrder) or not (
        any(r is not None for r in refs) or any(uses_refs(inner.jaxpr) for _, inner in subjaxprs(eqn.params))
    ):
        return eqn
    plan = primitive.discharge(refs, pure_program, **eqn.params)
    outvars: list[Var] = []
    for result in plan.results:
        if isinstance(result, NewValue):
            outvars.append(Var(value_aval(eqn.invars[result.operand].aval)))
            now[eqn.invars[result.operand]] = outvars[-1]
        else:
            outvars.append(eqn.outvars[result])
    effects = primitive.abstract(*[values[i].aval for i in plan.operands], **plan.params)[1]
    return JaxprEqn([values[i] for i in plan.operands], outvars, primitive, plan.params, effects, eqn.traceback)


def _value_equation(eqn: JaxprEqn, refs: list[Any], values: list[Any], now: dict[Any, Any]) -> JaxprEqn:
    name = eqn.primitive.name
    index = eqn.params.get("index")
    avals = [a.aval for a in values]
    outvars = list(eqn.outvars)
    if name == "new_ref":
        aval = value_aval(eqn.outvars[0].aval)
        outvars = [Var(aval)]
        now[eqn.outvars[0]] = outvars[0]
        program = trace_to_jaxpr(lambda x: [convert(x, aval.dtype, aval.weak_type)], [avals[0]])
    elif name == "freeze":
        program = _identity(avals[0])
    elif name == "get":
        program = reading(avals[0], index, avals[1:])  # pyright: ignore[reportArgumentType]
    else:
        make = swapping if name == "swap" else adding
        program = make(avals[0], index, avals[1], avals[2:])  # pyright: ignore[reportArgumentType]
        now[refs[0]] = Var(avals[0])
        outvars.append(now[refs[0]])
    return JaxprEqn(values, outvars, _inlined[name], {"jaxpr": program}, no_effects, eqn.traceback)


def _identity(aval: Any) -> ClosedJaxpr:
    var = Var(aval)
    return ClosedJaxpr(Jaxpr([], [var], [var], []))


# A program as transformations see it: the operations on values themselves ---------------------------------------------


class _Values(Trace):
    """Runs the operations on the values of references under `parent`, which records no others."""

    __slots__ = ("parent",)

    def __init__(self, parent: Trace):
        self.parent = parent

    def process(self, primitive, args, params):
        if isinstance(primitive, HigherOrder) and any(uses_refs(inner.jaxpr) for _, inner in subjaxprs(params)):
            return discharged(primitive, args, params)
        return self.parent.process(primitive, args, params)


def flattened(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[int]]:
    """`pure_program` for transformations: in place of each operation on a reference stand those on its value. Made once."""
    if not uses_refs(closed.jaxpr):
        return closed, []
    if "flattened" not in closed.derived:
        closed.derived["flattened"] = _flattened(closed)
    return closed.derived["flattened"]


def _flattened(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[int]]:
    jaxpr = closed.jaxpr
    arguments = [*jaxpr.constvars, *jaxpr.invars]
    changed = sorted(written(jaxpr.effects))

    def fun(*values: Any) -> list[Any]:
        trace = _Values(current_trace())
        given = [
            v.aval.holding(trace, x) if isinstance(v.aval, ReferenceAval) else x for v, x in zip(arguments, values)
        ]
        n = len(jaxpr.constvars)
        with using(trace):
            outs = eval_jaxpr(jaxpr, given[:n], *given[n:])
            return [*outs, *[given[i][...] for i in changed]]

    return trace_to_jaxpr(fun, [value_aval(v.aval) for v in arguments], jaxpr.debug), changed


def run_on_values(closed: ClosedJaxpr, run: Callable[[ClosedJaxpr, Sequence[Any]], list[Any]]) -> list[Any]:
    """The results of a program without arguments, by `run(program, arguments)`: it gets one that takes what this one
    captured, the values of references among it; those are then brought up to date."""
    pure, changed = flattened(closed)
    outs = run(pure, [c[...] if isinstance(c, Reference) else c for c in closed.consts])  # pyright: ignore
    count = len(outs) - len(changed)
    for i, new in zip(changed, outs[count:]):
        closed.consts[i][...] = new
    return outs[:count]


def runs_rules(primitive: Any, params: dict[str, Any]) -> bool:
    """Whether functions with rules of their own get references, which the rules may write."""
    if isinstance(primitive, FunctionCall):
        return True
    return any(_gives_rules_refs(inner.jaxpr) for _, inner in subjaxprs(params))


def _gives_rules_refs(jaxpr: Jaxpr) -> bool:
    return any(
        (isinstance(eqn.primitive, FunctionCall) and any(isinstance(a.aval, ReferenceAval) for a in eqn.invars))
        or any(_gives_rules_refs(inner.jaxpr) for _, inner in subjaxprs(eqn.params))
        for eqn in jaxpr.eqns
    )


def discharged(primitive: HigherOrder, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """The results of an operation with inner jaxprs: it runs on what the references among its operands hold, and what
    it changed is written back."""
    refs = [x if isinstance(x, Reference) else None for x in args]
    plan = primitive.discharge(refs, flattened, **params)
    values = [x if r is None else x[...] for x, r in zip(args, refs)]  # pyright: ignore
    found = primitive.bind(*[values[i] for i in plan.operands], **plan.params)
    outs: dict[int, Any] = {}
    for result, x in zip(plan.results, found):
        if isinstance(result, NewValue):
            args[result.operand][...] = x
        else:
            outs[result] = x
    return [outs[i] for i in range(len(outs))]
