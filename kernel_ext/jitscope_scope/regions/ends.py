"""Lists that are read at their end while they grow, as lecture code does (`x.append(x[-1] + h * f(x[-1]))`, `while len(x) < 100`): the last
element and the length go in beside the list."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

import numpy as np

from . import growing, naming
from .parts import placed_at, visited


def beside(body: naming.Statements, values: dict[str, object]) -> tuple[tuple[ast.stmt, ...], dict[str, str]]:
    """The statements with names for `x[-1]` and `len(x)` of lists that they append to, and what these names stand for before. `values`,
    seen before, get their values."""
    nodes = [n for s in body for n in ast.walk(s)]
    calls = [n for n in nodes if growing.appends(n, values)]
    names = {n.func.value.id for n in calls if isinstance(n, ast.Call)}  # type: ignore[attr-defined]
    found: dict[str, str] = {}
    read: set[str] = set()
    for name in sorted(names):
        used = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
        ends = [n for n in nodes if _is_end(n, name)]
        lengths = [n for n in nodes if _is_length(n, name)]
        mine = [c for c in calls if isinstance(c, ast.Call) and naming.root_of(c.func) == name]
        whole = values.get(name)
        if type(whole) is not list or not (ends or lengths) or len(used) != len(ends) + len(lengths) + len(mine):
            continue
        if ends and not (whole and isinstance(whole[-1], (int, float, complex, np.ndarray, np.generic))):
            continue
        read.add(name)
        if ends:
            found[f"end_of_{name}"], values[f"end_of_{name}"] = f"{name}[-1]", whole[-1]
        if lengths:
            found[f"length_of_{name}"], values[f"length_of_{name}"] = f"len({name})", len(whole)
    if not found:
        return tuple(body), {}
    return tuple(visited(_EndReader(read, found), body)), found


def _is_end(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Subscript(value=ast.Name(id=n), slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))):
            return n == name and isinstance(node.ctx, ast.Load)
    return False


def _is_length(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=n)]):
            return n == name
    return False


class _EndReader(ast.NodeTransformer):
    def __init__(self, names: set[str], found: Mapping[str, str]) -> None:
        self.names, self.found = names, found

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if any(_is_end(node, n) for n in self.names):
            return ast.copy_location(ast.Name(f"end_of_{naming.root_of(node)}", ast.Load()), node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if any(_is_length(node, n) for n in self.names):
            return ast.copy_location(ast.Name(f"length_of_{ast.unparse(node.args[0])}", ast.Load()), node)
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item]) if (
                name in self.names
            ):
                new: list[ast.stmt] = [node]
                if (end := f"end_of_{name}") in self.found:
                    new.insert(0, placed_at(ast.Assign([ast.Name(end, ast.Store())], copy.deepcopy(item)), node))
                    node.value.args = [ast.copy_location(ast.Name(end, ast.Load()), node)]
                if (length := f"length_of_{name}") in self.found:
                    new.append(placed_at(ast.parse(f"{length} += 1").body[0], node))
                return new
        return node
