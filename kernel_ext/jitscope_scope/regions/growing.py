"""What a loop fills turn by turn: lists that it appends to, and NumPy's arrays that it stores at its own count."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import ModuleType
from typing import cast

import numpy as np

from . import naming
from .answers import CannotCompile
from .homes import Home, is_array


def lists(body: naming.Statements, values: Mapping[str, object]) -> list[str]:
    """Lists that the region appends to, in the order of the text. Raises CannotCompile for those that have no compiled form."""
    calls = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Call) and appends(n, values)]
    names = [n.func.value.id for n in calls]  # type: ignore[attr-defined]
    for n, c in zip(names, calls, strict=True):
        if names.count(n) > 1:
            raise CannotCompile(c.lineno, "object", f"`{n}` is a Python list that grows in several places")
        if type(values.get(n)) is not list:
            raise CannotCompile(c.lineno, "object", f"`{n}` is not a list made before the loop")
        if len([x for s in body for x in ast.walk(s) if isinstance(x, ast.Name) and x.id == n]) != 1:
            raise CannotCompile(c.lineno, "object", f"`{n}` is a Python list that is read while it grows")
    return names


def appends(node: ast.AST, values: Mapping[str, object]) -> bool:
    """Whether this is the call that appends to what a name stands for."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append")):
            return not isinstance(values.get(name), ModuleType)
    return False


def columns(body: naming.Statements, values: Mapping[str, object], home: Home) -> dict[str, str]:
    """NumPy's arrays that a loop over compiled arrays stores into, each turn at its own count, and otherwise leaves alone; with the
    text of the range that is counted."""
    if home.numpy or not isinstance(body[-1], ast.For) or naming.leaves(body[-1].body):
        return {}
    loop, found = body[-1], {}
    for s in loop.body:
        match s:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=count))]) if (
                isinstance(values.get(name), np.ndarray)
                and isinstance(loop.target, ast.Name)
                and count == loop.target.id
                and isinstance(loop.iter, ast.Call)
                and ast.unparse(loop.iter.func) == "range"
                and [n.id for b in body for n in ast.walk(b) if isinstance(n, ast.Name)].count(name) == 1
            ):
                found[name] = ast.unparse(loop.iter)
    return found


def afterwards(name: str, result: str, visit_after: object, column: str | None, home: Home) -> str:
    """The statement that puts what a loop filled where the cell has it."""
    if column is not None:
        return f"{name}[{column}] = {result}"
    assert isinstance(visit_after, list)
    last = visit_after[-1] if visit_after else 0.0
    if isinstance(last, (int, float, complex)) and not isinstance(last, np.generic):
        return f"{name}.extend({result}.tolist())"
    if isinstance(last, np.ndarray) and home.numpy:
        return f"{name}.extend(row.copy() for row in {result})"
    if isinstance(last, (np.ndarray, np.generic)) and not home.numpy:
        raise CannotCompile(0, "value read by Python", f"`{name}` takes arrays of NumPy, made of compiled ones")
    if not home.numpy and not is_array(last):
        raise CannotCompile(0, "object", f"`{name}` takes a {type(last).__name__}")
    return f"{name}.extend({result})"


def number_lists(body: naming.Statements, values: Mapping[str, object]) -> set[str]:
    """Python's lists of whole or of floating numbers that the region only takes elements of, goes through, or asks for their length."""
    found = {
        n
        for n in naming.loaded(body) - naming.bound(body) - naming.stored_into(body)
        if type(v := values.get(n)) is list and v and len({type(x) for x in v}) == 1 and type(v[0]) in (int, float)
    }
    good = [part.id for s in body for n in ast.walk(s) for part in _taken(n) if isinstance(part, ast.Name)]
    names = [n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name)]
    whole = {n for n in found if all(-(2**62) < x < 2**62 for x in cast("list[int]", values[n]) if type(x) is int)}
    return {n for n in whole if good.count(n) == names.count(n)}


def _taken(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.For(iter=over):
            return [over]
        case ast.Subscript(value=of, slice=at) if not isinstance(at, (ast.Slice, ast.Tuple)):
            return [of]
        case ast.Call(func=ast.Name(id="len" | "zip" | "enumerate"), args=args):
            return list(args)
    return []
