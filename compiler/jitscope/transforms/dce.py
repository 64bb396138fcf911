"""Dead code removal: equations whose results nobody reads, and that have no effects, go."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.effects import has_refs, matters
from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from ..core.primitive import HigherOrder


def live_equations(jaxpr: Jaxpr, used: Sequence[bool]) -> tuple[list[JaxprEqn], set[Var]]:
    """The equations that the results marked in `used` need, in order, and the variables that are read."""
    read = {a for a, u in zip(jaxpr.outvars, used) if u and isinstance(a, Var)}
    live: list[JaxprEqn] = []
    for eqn in reversed(jaxpr.eqns):
        wanted = [v in read for v in eqn.outvars]
        if not any(wanted) and not matters(eqn.effects):
            continue
        kept = _trim(eqn, wanted)
        if kept is not None:
            live.append(kept)
            read.update([a for a in kept.invars if isinstance(a, Var)])
    return live[::-1], read


def _trim(eqn: JaxprEqn, wanted: list[bool]) -> JaxprEqn | None:
    if eqn.effects and has_refs(eqn.effects):
        return eqn
    if isinstance(eqn.primitive, HigherOrder) and not all(wanted):
        return eqn.primitive.dce(wanted, eqn)[1]
    return eqn


def dce_jaxpr(
    closed: ClosedJaxpr, used: Sequence[bool], keep: Sequence[bool] | None = None
) -> tuple[ClosedJaxpr, list[bool]]:
    """The program for the results marked in `used` alone, and which arguments it still takes: those that are read, and
    those marked in `keep`. Captured constants that nobody reads go too."""
    key = ("dce", tuple(used), None if keep is None else tuple(keep))
    if key not in closed.derived:
        closed.derived[key] = _dce(closed, used, keep or [False] * len(closed.in_avals))
    return closed.derived[key]


def _dce(closed: ClosedJaxpr, used: Sequence[bool], keep: Sequence[bool]) -> tuple[ClosedJaxpr, list[bool]]:
    jaxpr = closed.jaxpr
    eqns, read = live_equations(jaxpr, used)
    kept = [v in read or k for v, k in zip(jaxpr.invars, keep)]
    captured = [(v, c) for v, c in zip(jaxpr.constvars, closed.consts) if v in read]
    smaller = Jaxpr(
        [v for v, _ in captured],
        [v for v, k in zip(jaxpr.invars, kept) if k],
        [v for v, u in zip(jaxpr.outvars, used) if u],
        eqns,
        jaxpr.effects,
        jaxpr.debug,
    )
    return ClosedJaxpr(smaller, [c for _, c in captured]), kept


def dce_inner(used: Sequence[bool], eqn: JaxprEqn) -> tuple[list[bool], JaxprEqn | None]:
    """The `dce` duty of an operation that runs the program in its parameter `jaxpr` once, on all its operands."""
    smaller, kept = dce_jaxpr(eqn.params["jaxpr"], used)
    if not any(used) and not smaller.effects:
        return [False] * len(eqn.invars), None
    invars = [a for a, k in zip(eqn.invars, kept) if k]
    outvars = [v for v, u in zip(eqn.outvars, used) if u]
    return kept, eqn.replace(invars=invars, outvars=outvars, params={**eqn.params, "jaxpr": smaller})
