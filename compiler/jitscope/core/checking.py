"""Checks of a traced program (`enable_checks`): variables are defined before they are read, once, and results are what the
operations say of their operands."""

from __future__ import annotations

from . import call_sites
from .errors import JaxprTypeError
from .jaxpr import Jaxpr, JaxprEqn, Literal, Var
from .types import abstract_results


def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Check the equations of a program (those it holds were checked when they were traced). Raises JaxprTypeError."""
    defined: set[Var] = set()
    for var in (*jaxpr.constvars, *jaxpr.invars):
        _define(defined, var, f"the arguments of {jaxpr.debug.name}")
    effects: set = set()
    for eqn in jaxpr.eqns:
        for atom in eqn.invars:
            if not isinstance(atom, Literal) and atom not in defined:
                raise JaxprTypeError(f"an operand of {_place(eqn)} is a variable that nothing before it defines")
        _check_results(eqn)
        for var in eqn.outvars:
            _define(defined, var, _place(eqn))
        effects |= eqn.effects
    if not all(isinstance(a, Literal) or a in defined for a in jaxpr.outvars):
        raise JaxprTypeError(f"a result of {jaxpr.debug.name} is a variable that nothing defines")
    if Jaxpr(jaxpr.constvars, jaxpr.invars, [], jaxpr.eqns, frozenset(effects)).effects != jaxpr.effects:
        raise JaxprTypeError(f"{jaxpr.debug.name} has the effects {effects}, and says {set(jaxpr.effects)}")


def _define(defined: set[Var], var: Var, what: str) -> None:
    if var in defined:
        raise JaxprTypeError(f"{what} define a variable twice")
    defined.add(var)


def _check_results(eqn: JaxprEqn) -> None:
    out, effects, _ = abstract_results(eqn.primitive, [a.aval for a in eqn.invars], eqn.params)
    wanted = list(out) if eqn.primitive.multiple_results else [out]
    found = [v.aval for v in eqn.outvars]
    if [(a.shape, a.dtype) for a in wanted] != [(a.shape, a.dtype) for a in found]:
        raise JaxprTypeError(
            f"{_place(eqn)} has results {[a.short() for a in found]}, and its abstract rule says {[a.short() for a in wanted]}"
        )
    if effects != eqn.effects:
        raise JaxprTypeError(
            f"{_place(eqn)} has the effects {set(eqn.effects)}, and its abstract rule says {set(effects)}"
        )


def _place(eqn: JaxprEqn) -> str:
    where = call_sites.user_position(eqn.traceback)
    return f"{eqn.primitive.name}" + (f" in line {where.line} of {where.function}" if where else "")
