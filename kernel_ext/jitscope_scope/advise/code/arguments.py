"""The arguments of functions that a transformation leaves what a call gives."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...source_code.parameters import keyword, parameters, positional
from ...source_code.tree import Function


def rest(function: Function, bound: frozenset[str]) -> list[str]:
    """The names of the arguments that are not bound already."""
    return [name for name in parameters(function) if name not in bound]


def static_names(
    function: Function, keywords: list[ast.keyword], bound: frozenset[str] = frozenset(), before: Sequence[str] = ()
) -> frozenset[str]:
    """The arguments that `static_argnums`, `static_argnames` or `nondiff_argnums` name; those that are `bound` do not count,
    those that stand `before` the function's do."""
    if any(one.arg == "auto_static" for one in keywords):
        return frozenset(parameters(function))
    names: set[str] = set()
    places = [*before, *(one for one in positional(function) if one not in bound)]
    for one in keywords:
        if one.arg not in ("static_argnums", "static_argnames", "nondiff_argnums", "static_broadcasted_argnums"):
            continue
        for value in _constants(one.value):
            if isinstance(value, str):
                names.add(value)
            elif isinstance(value, int) and -len(places) <= value < len(places):
                names.add(places[value])
    return frozenset(names)


def unmapped(
    function: Function, call: ast.Call, bound: frozenset[str] = frozenset(), before: Sequence[str] = ()
) -> tuple[frozenset[str], frozenset[str]]:
    """The arguments that `vmap(f, in_axes=(0, None))` does not map: they are what the call gives. Those for which the program does
    not tell come second."""
    axes = keyword(call, "in_axes") or (call.args[1] if len(call.args) > 1 else None)
    if axes is None or isinstance(axes, ast.Constant | ast.UnaryOp):
        return frozenset(), frozenset()
    elts = _elements(axes)
    if elts is None:
        return frozenset(), frozenset(rest(function, bound))
    each = zip([*before, *rest(function, bound)], elts)
    return frozenset(name for name, axis in each if isinstance(axis, ast.Constant) and axis.value is None), frozenset()


def _elements(node: ast.expr) -> list[ast.expr] | None:
    """The elements of `(0, None)`, `[0] + [None] * 3`; None where the program does not tell them."""
    match node:
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return None if any(isinstance(one, ast.Starred) for one in elts) else elts
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = _elements(left), _elements(right)
            return None if one is None or other is None else one + other
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant(value=int() as times)):
            one = _elements(left)
            return None if one is None else one * times
    return None


def _constants(node: ast.expr) -> list[object]:
    match node:
        case ast.Constant(value=value):
            return [value]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return [-value]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return [value for one in elts for value in _constants(one)]
    return []


def handed_on(
    function: Function, call: ast.Call, bound: frozenset[str] = frozenset(), before: Sequence[str] = ()
) -> frozenset[str]:
    """The arguments that `grad` and its kin do not differentiate by: they are handed on as they are."""
    argnums = keyword(call, "argnums") or (call.args[1] if len(call.args) > 1 else None)
    names = [*before, *rest(function, bound)]
    if argnums is None:
        return frozenset(names[1:])
    at = [one for one in _constants(argnums) if isinstance(one, int) and -len(names) <= one < len(names)]
    return frozenset(names) - {names[one] for one in at}
