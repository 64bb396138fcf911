"""Tests that are decided before anything runs: of an argument that a call gives as a constant, or that cannot be None any more."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import Any

from ...source_code.bindings import stored
from ...source_code.parameters import argument_for, default_values, parameters, positional
from ...source_code.text import Code
from ...source_code.tree import Function


class _Something:
    """What a name stands for that is not None."""


SOMETHING = _Something()
Known = Mapping[str, Any]
"""The constants that names stand for, or `SOMETHING`."""


def decision(test: ast.expr, known: Known) -> bool | None:
    """What a test says; None where that is not known."""
    match test:
        case ast.Name(id=name) if name in known and known[name] is not SOMETHING:
            return bool(known[name])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            said = decision(operand, known)
            return None if said is None else not said
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot() as how], comparators=[ast.Constant(None)]):
            return (known[name] is None) == isinstance(how, ast.Is) if name in known else None
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.Eq() | ast.NotEq() as how], comparators=[ast.Constant(other)]
        ):
            if name in known and known[name] is not SOMETHING:
                return (operator.eq if isinstance(how, ast.Eq) else operator.ne)(known[name], other)
        case ast.BoolOp(op=op, values=values):
            ends = isinstance(op, ast.Or)
            said = [decision(value, known) for value in values]
            return ends if ends in said else None if None in said else not ends
    return None


def given_constants(function: Function, call: ast.Call, bound: int, known: Known) -> dict[str, Any]:
    """The arguments of a function, behind those that are `bound`, that a call gives as constants, or leaves at such defaults."""
    defaults, anew, places = default_values(function), stored(function), positional(function)[bound:]
    found: dict[str, Any] = {}
    for name in parameters(function)[bound:]:
        value = argument_for(call, name, places) or defaults.get(name)
        if name in anew:
            continue
        if isinstance(value, ast.Constant):
            found[name] = value.value
        elif isinstance(value, ast.Name) and value.id in known:
            found[name] = known[value.id]
    return found


def switched_off(function: Function) -> dict[str, Any]:
    """The arguments that are False or None unless a call says otherwise."""
    defaults, anew = default_values(function), stored(function)
    constants = {
        name: one.value for name, one in defaults.items() if isinstance(one, ast.Constant) and name not in anew
    }
    return {name: value for name, value in constants.items() if value is False or value is None}


def never_none(site: ast.AST, code: Code) -> dict[str, Any]:
    """The names of the functions around a place that are not None there: an `if x is None: return` stands before it."""
    found: dict[str, int] = {}  # with the line that excludes None
    inner = site
    for outer in code.around(site):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(outer, field, None)
            if isinstance(block, list) and inner in block:
                found |= {name: one.lineno for one in block[: block.index(inner)] if (name := _excluded(one))}
        if isinstance(outer, Function):
            found |= {other: line for name, line in found.items() if (other := _source(name, line, outer, code))}
        inner = outer
    return {name: SOMETHING for name in found if _is_bound_once(name, site, code)}


def _excluded(statement: ast.stmt) -> str:
    """`x` of `if x is None: return …`."""
    match statement:
        case ast.If(
            test=ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(None)]), body=body
        ):
            return name if isinstance(body[-1], ast.Return | ast.Raise | ast.Continue) else ""
    return ""


def _source(name: str, line: int, function: Function, code: Code) -> str:
    """The name of which another one is only another name above a line of a function: `y` of `x = y`."""
    binders = [code.parents.get(one) for one in code.scopes.binders(function, name)]
    match [one for one in binders if getattr(one, "lineno", 0) < line]:
        case [ast.Assign(targets=[ast.Name()], value=ast.Name(id=other))]:
            return other
    return ""


def _is_bound_once(name: str, site: ast.AST, code: Code) -> bool:
    scope = code.scopes.binding(name, site)
    return isinstance(scope, Function) and len(code.scopes.binders(scope, name)) == 1
