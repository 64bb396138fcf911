"""What is left of larger numbers in a comparison (`abs(losses[-1] - losses[-2]) < tol`): it is exact to their rounding alone."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from . import naming


_GIVING = frozenset("abs absolute fabs float item max mean min norm sum".split())
"""Functions and methods whose result is about as large as what they are given."""
_DEEPEST = 3


def left_of(node: ast.expr, made: Mapping[str, ast.expr], depth: int = _DEEPEST) -> list[ast.expr]:
    """The numbers of which a difference is left in an expression; names stand for what they are `made` of."""
    match node:
        case ast.BinOp(left=a, op=ast.Sub(), right=b):
            return [p for p in (a, b) if _is_plain(p)]
        case ast.BinOp(left=a, op=ast.Div(), right=b) if _is_plain(b):
            return [ast.BinOp(p, ast.Div(), b) for p in left_of(a, made, depth)]
        case ast.Call(func=ast.Attribute(value=of, attr=word), args=[]) if word in _GIVING:
            return left_of(of, made, depth)
        case ast.Call(func=ast.Attribute(attr=word) | ast.Name(id=word), args=[of, *_]) if word in _GIVING:
            return left_of(of, made, depth)
        case ast.Name(id=name) if name in made and depth:
            return left_of(made[name], made, depth - 1)
    return []


def made_once(body: naming.Statements) -> dict[str, ast.expr]:
    """The names that one assignment binds, and what it binds them to."""
    assigned = [s for s in naming.all_of(ast.Assign, body) if isinstance(s.targets[0], ast.Name)]
    found = {s.targets[0].id: s.value for s in assigned}  # type: ignore[attr-defined]
    return {n: v for n, v in found.items() if naming.stored(body).count(n) == 1}


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression can be looked at again: it calls nothing."""
    return not naming.has((ast.Call, ast.NamedExpr, ast.Lambda, ast.Await, ast.Yield), [node])
