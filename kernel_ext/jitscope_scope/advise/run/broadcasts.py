"""Shapes that nobody meant: a column and a row of one length, subtracted or compared, become a square, and one number is made of that."""

from __future__ import annotations

from collections.abc import Iterator

from jitscope.core import call_sites
from jitscope.core.jaxpr import Jaxpr, JaxprEqn, Literal, Var, subjaxprs

from ...observe.ledger import Row
from ...observe.stacks import is_installed
from ...source_code.edits import Span
from ..diagnostic import Diagnostic, Fix


_PAIRED = {"sub": "subtracted", "eq": "compared", "ne": "compared"}
"""What is done with two arrays of which each element belongs to one of the other."""
_EXPANDING = {"broadcast_in_dim", "reshape", "expand_dims"}


def broadcast(jaxpr: Jaxpr, row: Row) -> Iterator[Diagnostic]:
    """silent-broadcast of `jnp.mean((prediction - y) ** 2)`, where one is f32[n,1] and the other f32[n]."""
    told: set[tuple[str, int]] = set()
    for eqn, column, line in _squares(jaxpr, True):
        where = call_sites.user_position(eqn.traceback)
        if where is None or is_installed(where.file) or (where.file, where.line) in told:
            continue
        told.add((where.file, where.line))
        made = eqn.outvars[0].aval
        message = (
            f"{column.aval.short()} and {line.aval.short()} are {_PAIRED[eqn.primitive.name]} as {made.short()}: each element with each of "
            "the other, and not with its own."
        )
        fix = Fix("Give both one shape: x[:, 0] of the one, or y[:, None] of the other.")
        yield Diagnostic("silent-broadcast", where.file, Span.of(where), message, fix, (), "trace")


def _squares(jaxpr: Jaxpr, outermost: bool) -> Iterator[tuple[JaxprEqn, Var, Var]]:
    """The equations that make a square of a column and a row, and what they are made of, where one number is made of that."""
    makers = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars if isinstance(var, Var)}
    for eqn in jaxpr.eqns:
        for _, inner in subjaxprs(eqn.params):
            yield from _squares(inner.jaxpr, False)
        shape = tuple(eqn.outvars[0].aval.shape) if eqn.primitive.name in _PAIRED else ()
        if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 1:
            continue
        sources = [_source(one, makers) for one in eqn.invars]
        columns = [one for one in sources if one is not None and tuple(one.aval.shape) == (shape[0], 1)]
        lines = [one for one in sources if one is not None and tuple(one.aval.shape) == (shape[0],)]
        if (
            len(columns) == len(lines) == 1
            and _is_given(columns[0], makers, outermost)
            and _is_summed(eqn, jaxpr, makers)
        ):
            yield eqn, columns[0], lines[0]


def _source(var: Var | Literal, makers: dict[Var, JaxprEqn]) -> Var | None:
    """What was repeated, as a column or as rows, to have a variable."""
    if isinstance(var, Literal):
        return None
    eqn = makers.get(var)
    if eqn is None or eqn.primitive.name != "broadcast_in_dim" or not isinstance(eqn.invars[0], Var):
        return var
    given, size = eqn.invars[0], len(var.aval.shape)
    along = tuple(eqn.params["broadcast_dimensions"])
    if tuple(given.aval.shape) == (var.aval.shape[-1],) and along == (size - 1,):
        return given
    return _source(given, makers) if len(given.aval.shape) == size else var


def _is_given(column: Var, makers: dict[Var, JaxprEqn], outermost: bool) -> bool:
    """Whether a column comes so, and nobody made it of a vector, as who wants each with each does."""
    eqn = makers.get(column)
    if eqn is None:
        return outermost
    return not (eqn.primitive.name in _EXPANDING and len(eqn.invars[0].aval.shape) == 1)


def _is_summed(square: JaxprEqn, jaxpr: Jaxpr, makers: dict[Var, JaxprEqn]) -> bool:
    """Whether one number is made of a square, or of it and the derivative of one."""
    shape = tuple(square.outvars[0].aval.shape)
    known = {square.outvars[0]}
    for eqn in jaxpr.eqns:
        if not any(isinstance(var, Var) and var in known for var in eqn.invars):
            continue
        for var in eqn.outvars:
            if eqn.primitive.name.startswith("reduce_") and tuple(var.aval.shape) == ():
                return True
            if tuple(var.aval.shape) == shape:
                known.add(var)
        if eqn.primitive.name == "mul" and any(_is_one_number(var, makers) for var in eqn.invars):
            return True
    return False


def _is_one_number(var: Var | Literal, makers: dict[Var, JaxprEqn]) -> bool:
    """Whether it is one number, repeated: what the derivative of a sum is."""
    eqn = makers.get(var) if isinstance(var, Var) else None
    return eqn is not None and eqn.primitive.name == "broadcast_in_dim" and tuple(eqn.invars[0].aval.shape) == ()
