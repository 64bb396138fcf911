"""The length of a slice, where the text of its bounds tells it."""

from __future__ import annotations

import ast
import itertools


def length_of(one: ast.Slice) -> str | None:
    """The length of a slice where it follows from the text of its bounds: 2 of `n - 1:n + 1`, `k` of `i * k:(i + 1) * k`."""
    if one.lower is None or one.upper is None:
        return None
    lower, upper = _polynomial(one.lower), _polynomial(one.upper)
    left = {key: upper.get(key, 0) - lower.get(key, 0) for key in upper | lower}
    left = {key: count for key, count in left.items() if count}
    if not left or (list(left) == [()] and left[()] < 0) or len(left) >= len(upper | lower):
        return None
    terms = [" * ".join([*([str(abs(n))] if abs(n) != 1 or not key else []), *key]) for key, n in left.items()]
    signs = ["-" if n < 0 else "+" for n in left.values()]
    text = " ".join(part for pair in zip(signs, terms) for part in pair)
    if list(left.values()) == [1]:
        return ast.unparse(ast.parse(terms[0]))
    return text.removeprefix("+ ") if text.startswith("+ ") else "-" + text[2:]


_Polynomial = dict[tuple[str, ...], int]
"""Sums of products of expressions, with their factors."""


def _polynomial(node: ast.expr) -> _Polynomial:
    match node:
        case ast.Constant(value=int() as number):
            return {(): number}
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            found, sign = dict(_polynomial(left)), 1 if isinstance(op, ast.Add) else -1
            for key, count in _polynomial(right).items():
                found[key] = found.get(key, 0) + sign * count
            return found
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            found: _Polynomial = {}
            for (a, m), (b, n) in itertools.product(_polynomial(left).items(), _polynomial(right).items()):
                key = tuple(sorted(a + b))
                found[key] = found.get(key, 0) + m * n
            return found
    text = ast.unparse(node)
    return {(text if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call) else f"({text})",): 1}
