"""Dicts of a function's own that a loop fills by its count (`h = {-1: start}`, `h[t] = …`, `h[t - 1]`), as lists: the keys are whole numbers in a
row, so that the place of each in the list is known."""

from __future__ import annotations

import ast

from . import naming
from .parts import PairSplitter, blocks, placed_at, visited, whole_number


def as_lists(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a function with lists in place of such dicts; the same where there are none."""
    if not naming.has(ast.Dict, body):
        return body
    new = visited(PairSplitter(ast.Dict, all), body)
    for block in blocks(new):
        for name in [s.targets[0].id for s in block if _makes(s)]:  # type: ignore[attr-defined]
            _replace(name, block, new)
    return new


def _makes(s: ast.stmt) -> bool:
    return isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and isinstance(s.value, ast.Dict)


def _replace(name: str, block: list[ast.stmt], whole: list[ast.stmt]) -> None:
    """Has a list in the place of a dict, if the dict is made in this block, filled by one loop in it, and only asked for by keys."""
    made, *first = [s for s in block if name in naming.stored_into([s]) | naming.bound([s])]
    loop = first.pop() if first else None
    if not isinstance(loop, ast.For) or naming.leaves(loop.body) or not isinstance(made, ast.Assign):
        return
    filled = [s for s in loop.body if _puts(s, name)]
    uses = naming.uses(name, whole)
    asked = [n for s in whole for n in ast.walk(s) if isinstance(n, ast.Subscript) and ast.unparse(n.value) == name]
    begin, stores = _begin(loop), [n for n in asked if isinstance(n.ctx, ast.Store)]
    if begin is None or len(filled) != 1 or not all(_puts(s, name) for s in first):
        return
    count, start = begin
    assert isinstance(made.value, ast.Dict)
    pairs = [*zip(made.value.keys, made.value.values), *((s.targets[0].slice, s.value) for s in first)]  # type: ignore[attr-defined]
    keys = [whole_number(k) for k, _ in pairs]
    put = filled[0].targets[0].slice  # type: ignore[attr-defined]
    if keys != [*range(start - len(keys), start)] or ast.unparse(put) != count or count in naming.bound(loop.body):
        return
    if (
        len(uses) != len(asked) + 1
        or len(stores) != len(first) + 1
        or any(isinstance(n.slice, ast.Slice) for n in asked)
    ):
        return
    filled[0].targets = [ast.Name(name, ast.Store())]  # type: ignore[attr-defined]
    append = placed_at(ast.parse(f"{name}.append(0)").body[0], filled[0])
    append.value.args = [filled[0].value]  # type: ignore[attr-defined]
    loop.body[loop.body.index(filled[0])] = append
    made.value = placed_at(ast.List([v for _, v in pairs], ast.Load()), made)
    block[:] = [s for s in block if s not in first]
    for n in asked:
        if isinstance(n.ctx, ast.Load):
            n.slice = _moved(n.slice, len(keys) - start)


def _puts(s: ast.stmt, name: str) -> bool:
    match s:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=owner))]):
            return owner == name
    return False


def _begin(loop: ast.For) -> tuple[str, int] | None:
    """The name that a loop counts with, in steps of one, and the first count."""
    match loop.iter, loop.target:
        case ast.Call(func=ast.Name(id="range"), args=[_], keywords=[]), ast.Name(id=name):
            return name, 0
        case ast.Call(func=ast.Name(id="range"), args=[start, _], keywords=[]), ast.Name(id=name):
            return None if (first := whole_number(start)) is None else (name, first)
        case ast.Call(func=ast.Name(id="enumerate"), args=[_], keywords=[]), ast.Tuple(elts=[ast.Name(id=name), _]):
            return name, 0
    return None


def _moved(node: ast.expr, by: int) -> ast.expr:
    """An index that is so much larger."""
    if (known := whole_number(node)) is not None:
        return placed_at(ast.Constant(known + by), node)
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=ast.Constant(value=int(k))):
            node, by = left, by + (k if isinstance(op, ast.Add) else -k)
    sign = ast.Add() if by > 0 else ast.Sub()
    return placed_at(ast.BinOp(node, sign, ast.Constant(abs(by))), node) if by else node
