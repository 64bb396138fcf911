"""A program with the calls in it written out: one list of equations, each with its path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...control.discharge import pure_program
from ...core import call_sites
from ...core.jaxpr import Atom, ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Var, subpath


class Flat:
    """`closed` calls no other program (loops and branches stay equations); `paths` are those of its equations in the program it was
    made from; `makers` has the number of the equation that makes each variable."""

    def __init__(self, closed: ClosedJaxpr, paths: tuple[str, ...]):
        self.closed, self.paths = closed, paths
        self.makers = {v: i for i, eqn in enumerate(closed.jaxpr.eqns) for v in eqn.outvars}

    @property
    def eqns(self) -> list[JaxprEqn]:
        return self.closed.jaxpr.eqns

    @property
    def inputs(self) -> list[Var]:
        """Captured values, then arguments."""
        return [*self.closed.jaxpr.constvars, *self.closed.jaxpr.invars]


def flat(closed: ClosedJaxpr) -> Flat:
    """The program written out; its dead equations are left out. Made once."""
    closed = pure_program(closed)[0]
    if "flat" not in closed.derived:
        closed.derived["flat"] = _Writer().write(closed)
    return closed.derived["flat"]


class _Writer:
    def __init__(self) -> None:
        self.constvars: list[Var] = []
        self.consts: list[object] = []
        self.eqns: list[JaxprEqn] = []
        self.paths: list[str] = []

    def write(self, closed: ClosedJaxpr) -> Flat:
        arguments = [Var(aval) for aval in closed.in_avals]
        outs = self.inline(closed, arguments, "", None)
        jaxpr = Jaxpr(self.constvars, arguments, outs, self.eqns, closed.effects, closed.jaxpr.debug)
        return Flat(ClosedJaxpr(jaxpr, self.consts), tuple(self.paths))

    def inline(self, closed: ClosedJaxpr, operands: Sequence[Atom], prefix: str, place: Any) -> list[Atom]:
        """Its results. `place` is the handle of the call, if a function of the library is called."""
        captured = [Var(v.aval) for v in closed.jaxpr.constvars]
        self.constvars += captured
        self.consts += closed.consts
        now: dict[Var, Atom] = dict(zip(closed.jaxpr.constvars, captured))
        now.update(zip(closed.jaxpr.invars, operands))

        def of(atom: Atom) -> Atom:
            return now[atom] if isinstance(atom, Var) else atom

        for i, eqn in closed.jaxpr.live()[0]:
            path, invars, inner = f"{prefix}e{i}", [of(a) for a in eqn.invars], called_program(eqn)
            if inner is not None:
                own = eqn.traceback if is_of_library(inner) else None
                now.update(zip(eqn.outvars, self.inline(inner, invars, subpath(path, ""), place or own)))
                continue
            outvars = [Var(v.aval) for v in eqn.outvars]
            now.update(zip(eqn.outvars, outvars))
            traceback = eqn.traceback if place is None else call_sites.moved(eqn.traceback, place)
            self.eqns.append(eqn.replace(invars=invars, outvars=outvars, traceback=traceback))
            self.paths.append(path)
        return [of(a) for a in closed.jaxpr.outvars]


def is_of_library(closed: ClosedJaxpr) -> bool:
    """Whether it is a function of the library, traced once for all its callers: its equations were written where the first one is."""
    return closed.jaxpr.debug.defined is None and closed.jaxpr.debug.name != DebugInfo().name


def called_program(eqn: JaxprEqn) -> ClosedJaxpr | None:
    """The program that an equation runs once, on all its operands; None if it does something else."""
    if eqn.primitive.name in ("scan", "while", "cond"):
        return None
    for name in ("jaxpr", "fun", "call_jaxpr"):
        inner = eqn.params.get(name)
        if isinstance(inner, ClosedJaxpr) and _alike(inner.jaxpr.invars, eqn.invars):
            return inner if _alike(inner.jaxpr.outvars, eqn.outvars) else None
    return None


def _alike(some: Sequence[Atom], others: Sequence[Atom]) -> bool:
    return [(a.aval.shape, a.aval.dtype) for a in some] == [(a.aval.shape, a.aval.dtype) for a in others]
