"""Linearize: jvp under partial evaluation. What depends on tangents is staged as a linear jaxpr, the rest is done now."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, tangent_aval
from ..core.jaxpr import NO_DEBUG, ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var
from ..core.primitive import HigherOrder
from ..core.references import Reference
from ..core.staging import JaxprTrace, JaxprTracer, jaxpr_as_fun
from ..core.trace import Trace, current_trace, using
from ..core.zeros import Zero, is_zero
from .dce import live_equations
from .jvp import JVPTrace


class PartialEvalTrace(JaxprTrace):
    """Operations on known values go to `parent`; those that touch an unknown one are staged. Known values that staged
    equations read become constants of the staged jaxpr: the residuals."""

    __slots__ = ("parent",)

    def __init__(self, parent: Trace, debug: DebugInfo = NO_DEBUG):
        super().__init__(debug)
        self.parent = parent

    def is_known(self, x: Any) -> bool:
        return not (isinstance(x, JaxprTracer) and x.tracing is self)

    def process(self, primitive, args, params):
        if not any([isinstance(x, JaxprTracer) and x.tracing is self for x in args]):
            return self.parent.process(primitive, args, params)
        if isinstance(primitive, HigherOrder):
            return primitive.partial_eval(self, args, **params)
        return self.record(primitive, args, params)

    def close_live(self, outs: Sequence[Any]) -> ClosedJaxpr:
        """`close`, without dead equations and unread residuals."""
        closed = self.close(outs)
        eqns, read = live_equations(closed.jaxpr, [True] * len(outs))
        captured = [(v, c) for v, c in zip(closed.jaxpr.constvars, closed.consts) if v in read]
        old = closed.jaxpr
        jaxpr = Jaxpr([v for v, _ in captured], old.invars, old.outvars, eqns, old.effects, old.debug)
        return ClosedJaxpr(jaxpr, [c for _, c in captured])


class LinearizeTrace(JVPTrace):
    """Applies `jvp` rules to tangents that are staged."""

    __slots__ = ()
    linear = True


class Linearized:
    """What `linearize_flat` gives: `outs`, and the linear map of tangents.

    `jaxpr` takes the tangents of the arguments marked in `nonzero_in` and gives those of the results marked in
    `nonzero_out`; the tangents of the other results are zero. Its constants are the residuals. `stopped` is where an operation
    lost the tangents of its operands, if one is known.
    """

    __slots__ = ("in_avals", "jaxpr", "nonzero_in", "nonzero_out", "outs", "stopped")

    def __init__(
        self,
        outs: list[Any],
        jaxpr: ClosedJaxpr,
        in_avals: list[ShapedArray],
        nonzero_in: list[bool],
        nonzero_out: list[bool],
        stopped: Any = None,
    ):
        self.outs, self.jaxpr, self.in_avals = outs, jaxpr, in_avals
        self.nonzero_in, self.nonzero_out, self.stopped = nonzero_in, nonzero_out, stopped


def linearize_flat(fun: Callable[..., Sequence[Any]], primals: Sequence[Any]) -> Linearized:
    """Run the flat function `fun` at `primals` and stage the map from input to output tangents."""
    staged = PartialEvalTrace(current_trace())
    trace = LinearizeTrace(staged)
    avals = [aval_of(p) for p in primals]
    nonzero_in = [tangent_aval(a).dtype != dtypes.float0 for a in avals]
    tangents = [staged.argument(tangent_aval(a)) if m else Zero(tangent_aval(a)) for a, m in zip(avals, nonzero_in)]
    with using(trace):
        pairs = zip(primals, tangents)
        outs = fun(*[p.dual(trace, t) if isinstance(p, Reference) else trace.join(p, t) for p, t in pairs])
    pairs = [trace.split(out) for out in outs]
    nonzero_out = [not is_zero(t) for _, t in pairs]
    jaxpr = staged.close_live([t for _, t in pairs if not is_zero(t)])
    return Linearized([p for p, _ in pairs], jaxpr, avals, nonzero_in, nonzero_out, trace.stopped)


class Split:
    """A jaxpr in two: `known` takes the known arguments and gives the known results, then new residuals; `unknown` takes
    the residuals, then the unknown arguments, and gives the unknown results. `out_known` marks the known results.

    A residual that is itself a known argument or a known result is not given again: `residuals` says of each where it
    is, as ("argument", i) or ("result", i), i counting the known arguments and all results of `known`.
    """

    __slots__ = ("known", "out_known", "residuals", "unknown")

    def __init__(
        self, known: ClosedJaxpr, unknown: ClosedJaxpr, out_known: list[bool], residuals: list[tuple[str, int]]
    ):
        self.known, self.unknown, self.out_known, self.residuals = known, unknown, out_known, residuals

    def gather(self, arguments: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """The residuals, from the known arguments and what `known` gave."""
        return [(arguments if kind == "argument" else results)[i] for kind, i in self.residuals]


def partial_eval_jaxpr(
    closed: ClosedJaxpr, known: Sequence[bool], unknown: Sequence[bool] | None = None, *, as_made: bool = False
) -> Split:
    """Split a program by which of its arguments are known. Results marked in `unknown` are given by the unknown part
    in any case. Made once for each pattern. `as_made`: residuals are the values that the known part made (as those of
    `linearize_flat`), and not smaller ones that have their elements."""
    key = ("partial_eval", tuple(known), None if unknown is None else tuple(unknown), as_made)
    if key not in closed.derived:
        closed.derived[key] = _partial_eval_jaxpr(closed, known, unknown or [False] * len(closed.out_avals), as_made)
    return closed.derived[key]


def _partial_eval_jaxpr(closed: ClosedJaxpr, known: Sequence[bool], forced: Sequence[bool], as_made: bool) -> Split:
    outer = JaxprTrace(closed.jaxpr.debug)
    inner = PartialEvalTrace(outer, closed.jaxpr.debug)
    args = [(outer if k else inner).argument(aval) for aval, k in zip(closed.in_avals, known)]
    with using(inner):
        outs = jaxpr_as_fun(closed)(*args)
    out_known = [inner.is_known(out) and not f for out, f in zip(outs, forced)]
    staged = inner.close_live([out for out, k in zip(outs, out_known) if not k])
    known_args, known_outs = ([x for x, k in zip(xs, at) if k] for xs, at in ((args, known), (outs, out_known)))
    if not as_made:
        staged = _repeated_late(staged, outer, {_atom(x) for x in known_outs})
    unknown = Jaxpr(
        [],
        [*staged.jaxpr.constvars, *staged.jaxpr.invars],
        staged.jaxpr.outvars,
        staged.jaxpr.eqns,
        staged.jaxpr.effects,
        staged.jaxpr.debug,
    )
    residuals, fresh = _place_residuals(staged.consts, known_args, known_outs)
    with using(outer):
        known_jaxpr = outer.close([*known_outs, *fresh])
    return Split(known_jaxpr, ClosedJaxpr(unknown), out_known, residuals)


def _repeated_late(staged: ClosedJaxpr, outer: JaxprTrace, given: Set[Any]) -> ClosedJaxpr:
    """The staged program with those residuals made in it that have the elements of something smaller: a row for many rows, a number for
    all elements, a mask as floats. The smaller value is kept until then, or nothing, where it is a number that the program has
    itself. Values of `given` are kept in any case."""
    made = {eqn.outvars[0]: eqn for eqn in outer.eqns if _enlarges(eqn)}
    eqns: list[JaxprEqn] = []
    operands: dict[Any, Var] = {}
    residuals: dict[Var, Any] = {}

    def place(var: Var, value: Any) -> None:
        eqn = made.get(_atom(value)) if isinstance(value, JaxprTracer) and _atom(value) not in given else None
        if eqn is None:
            residuals[var] = value
            return
        operand = eqn.invars[0]
        if isinstance(operand, Var) and operand not in operands:
            operands[operand] = Var(operand.aval)
            place(operands[operand], JaxprTracer(outer, operand))
        smaller = operand if isinstance(operand, Literal) else operands[operand]
        eqns.append(eqn.replace(invars=[smaller, *eqn.invars[1:]], outvars=[var]))

    old = staged.jaxpr
    for var, value in zip(old.constvars, staged.consts):
        place(var, value)
    if not eqns:
        return staged
    jaxpr = Jaxpr(list(residuals), old.invars, old.outvars, [*eqns, *old.eqns], old.effects, old.debug)
    return ClosedJaxpr(jaxpr, list(residuals.values()))


def _enlarges(eqn: JaxprEqn) -> bool:
    """Whether an operation gives the elements of a smaller operand."""
    if not eqn.primitive.converts:
        return eqn.primitive.repeats
    operand, result = eqn.invars[0].aval, eqn.outvars[0].aval
    return operand.ndim > 0 and result.dtype.itemsize > operand.dtype.itemsize


def _place_residuals(
    values: Sequence[Any], arguments: Sequence[Any], results: Sequence[Any]
) -> tuple[list[tuple[str, int]], list[Any]]:
    """Where each residual is to be found, and those that must be given as further results."""
    at = {_atom(x): ("result", i) for i, x in enumerate(results)}
    at.update({_atom(x): ("argument", i) for i, x in enumerate(arguments)})
    fresh: list[Any] = []
    places = []
    for value in values:
        place = at.get(_atom(value))
        if place is None:
            place = at[_atom(value)] = ("result", len(results) + len(fresh))
            fresh.append(value)
        places.append(place)
    return places, fresh


def _atom(x: Any) -> Any:
    return x.atom if isinstance(x, JaxprTracer) else id(x)
