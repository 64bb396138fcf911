"""Branches that store to one and the same place, as one value: a single store is compiled in place, two are not."""

from __future__ import annotations

import ast
import copy

from . import naming


def merged(s: ast.If) -> ast.Assign | None:
    """`if c: x[i] = a` (and `else: x[i] = b`, and such branches inside) as `x[i] = a if c else b`; None where the places differ."""
    targets = {ast.unparse(t): t for t in _targets(s)}
    if len(targets) != 1:
        return None
    target = next(iter(targets.values()))
    if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Slice):
        return None
    value = _value([s], target)
    if value is None:
        return None
    return ast.fix_missing_locations(ast.copy_location(ast.Assign([copy.deepcopy(target)], value), s))


def _targets(s: ast.stmt) -> list[ast.expr]:
    return [t for n in ast.walk(s) if isinstance(n, ast.stmt) for t in naming.targets_of(n)]


def _value(body: list[ast.stmt], target: ast.Subscript) -> ast.expr | None:
    """What stands in the place after the statements; None where they do more than store there once."""
    match body:
        case [] | [ast.Pass()]:
            return _loaded(target)
        case [ast.Assign(targets=[ast.Subscript()], value=value)]:
            return copy.deepcopy(value)
        case [ast.AugAssign(op=op, value=value) as s] if type(s) is ast.AugAssign:
            return ast.copy_location(ast.BinOp(_loaded(target), op, copy.deepcopy(value)), s)
        case [ast.If(test=test, body=yes, orelse=no) as s]:
            a, b = _value(yes, target), _value(no, target)
            return None if a is None or b is None else ast.copy_location(ast.IfExp(copy.deepcopy(test), a, b), s)
    return None


def _loaded(target: ast.Subscript) -> ast.expr:
    load = copy.deepcopy(target)
    load.ctx = ast.Load()
    return load
