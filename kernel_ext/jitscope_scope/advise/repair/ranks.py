"""How many axes expressions have, read off their text and the values of names."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any


def same_rank(one: ast.expr | int, other: ast.expr, values: Mapping[str, Any]) -> bool:
    """Whether two expressions, or a number of axes and an expression, certainly have as many axes."""
    ranks = [part if isinstance(part, int) else _rank(part, values) for part in (one, other)]
    return None not in ranks and ranks[0] == ranks[1]


def _rank(node: ast.expr, values: Mapping[str, Any]) -> int | None:
    """None where it is not known. Nothing of the user's is run: attributes are looked up where objects keep them."""
    match node:
        case ast.Constant():
            return 0
        case ast.Name() | ast.Attribute():
            found = _value(node, values)
            rank = getattr(found, "ndim", None)
            return 0 if isinstance(found, int | float | complex) else rank if isinstance(rank, int) else None
        case ast.UnaryOp(operand=operand):
            return _rank(operand, values)
        case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
            return _broadcast([left, right], values)
        case ast.Compare(left=left, ops=ops, comparators=others):
            alike = not any(isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in ops)
            return _broadcast([left, *others], values) if alike else None
        case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=[]) if name.startswith(_ELEMENTWISE):
            return _broadcast(args, values) if args else None
    return None


_ELEMENTWISE = ("logical_", "isnan", "isfinite", "isinf", "abs", "greater", "less", "equal", "not_equal")


def _broadcast(parts: list[ast.expr], values: Mapping[str, Any]) -> int | None:
    ranks = [_rank(part, values) for part in parts]
    known = [rank for rank in ranks if rank is not None]
    return max(known) if len(known) == len(ranks) else None


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return values.get(name)
        case ast.Attribute(value=value, attr=name):
            return getattr(_value(value, values), "__dict__", {}).get(name)
    return None
