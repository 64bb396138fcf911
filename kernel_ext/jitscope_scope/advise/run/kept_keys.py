"""Random keys that a program draws from and gives back as they were, and those that a loop draws from in each iteration."""

from __future__ import annotations

from collections.abc import Iterator

from jitscope.core import call_sites
from jitscope.core.jaxpr import Jaxpr, JaxprEqn, Var, subjaxprs
from jitscope.core.source import Position

from ...observe.ledger import Row
from ...observe.stacks import is_installed
from ...source_code.edits import Span
from ..diagnostic import Diagnostic, Fix
from .jax_keys import is_one_key, used_up


def kept_keys(jaxpr: Jaxpr, row: Row) -> Iterator[Diagnostic]:
    """key-not-threaded of arguments, which a call gives back as they were."""
    names = [leaf.path for leaf in row.signature.leaves] if row.signature is not None else []
    for var in _drawn_from([var for var in jaxpr.invars if any(var is out for out in jaxpr.outvars)], jaxpr):
        key = f"the key `{names[at]}`" if len(names) > (at := jaxpr.invars.index(var)) else "a key"
        message = f"`{row.function}` draws from {key} and gives it back as it was: a call with what it gave draws the same numbers."
        fix = "Split it, key, own = jax.random.split(key): draw with own, and give key back."
        where = next((one for one in _uses(jaxpr, var) if not is_installed(one.file)), None)
        if where is not None:
            yield Diagnostic("key-not-threaded", where.file, Span.of(where), message, Fix(fix), (), "trace", "info")


def kept_in_loops(jaxpr: Jaxpr) -> Iterator[Diagnostic]:
    """key-not-threaded of what loops of jax's read in each iteration (of our own, the trace tells)."""
    for body, constant in _loops(jaxpr):
        for var in _drawn_from(constant, body):
            where = use_of(body, var)
            if where is not None and not is_installed(where.file):
                yield Diagnostic("key-not-threaded", where.file, Span.of(where), _IN_A_LOOP, Fix(_SPLIT), (), "trace")


_IN_A_LOOP = "The key is the same in every iteration of the loop, so every iteration draws the same numbers."
_SPLIT = "Split it in each iteration, key, own = jax.random.split(key): draw with own, and carry key on; or scan over jax.random.split(key, n)."


def _drawn_from(variables: list[Var], jaxpr: Jaxpr) -> list[Var]:
    """Those of some variables that are keys, and that a program uses up."""
    keys = [var for var in variables if is_one_key(var.aval)]
    return (
        [keys[at] for at in sorted(used_up(jaxpr, {var: at for at, var in enumerate(keys)}, folded=True))]
        if keys
        else []
    )


def _loops(jaxpr: Jaxpr) -> Iterator[tuple[Jaxpr, list[Var]]]:
    """The bodies of loops at all depths, and what each of them reads and does not change."""
    for eqn in jaxpr.eqns:
        params = eqn.params
        if eqn.primitive.name == "scan":
            body, read, carried = params["jaxpr"].jaxpr, params["num_consts"], params["num_carry"]
            yield body, _unchanged(body, read, carried)
        elif eqn.primitive.name == "while":
            body, read = params["body_jaxpr"].jaxpr, params["body_nconsts"]
            yield body, _unchanged(body, read, len(body.outvars))
        for _, inner in subjaxprs(params):
            yield from _loops(inner.jaxpr)


def _unchanged(body: Jaxpr, read: int, carried: int) -> list[Var]:
    """What a loop's body reads, and what it carries on as it was given it (jax tells these apart inside of jit alone)."""
    carry = zip(body.invars[read : read + carried], body.outvars)
    return [*body.invars[:read], *(var for var, out in carry if var is out)]


def use_of(jaxpr: Jaxpr, var: Var) -> Position | None:
    """The user's line that first reads a variable, inside of what is called with it, too."""
    return next(iter(_uses(jaxpr, var)), None)


def _uses(jaxpr: Jaxpr, var: Var) -> list[Position]:
    """The same with the lines that led there, the innermost first."""
    eqn = next((eqn for eqn in jaxpr.eqns if var in eqn.invars), None)
    return _inside(eqn, var) if eqn is not None else []


def _inside(eqn: JaxprEqn, var: Var) -> list[Position]:
    for _, inner in subjaxprs(eqn.params):
        if len(inner.jaxpr.invars) == len(eqn.invars):
            found = _uses(inner.jaxpr, inner.jaxpr.invars[eqn.invars.index(var)])
            if found:
                return found
    where = call_sites.user_position(eqn.traceback)
    around = call_sites.user_frames(eqn.traceback) if where is not None else []
    return [where, *around] if where is not None else []
