"""Lists that are read at their end while they grow, as lecture code does (`x.append(x[-1] + h * f(x[-1]))`, `while len(x) < 100`): the last
element and the length go in beside the list."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

import numpy as np

from . import growing, naming
from .homes import is_array, is_number
from .parts import numpy_in, placed_at, visited


MOST = 3
"""So many elements from the end are kept beside the list."""


def beside(
    body: naming.Statements, values: dict[str, object], after: Mapping[str, object], library: str = ""
) -> tuple[tuple[ast.stmt, ...], dict[str, str], tuple[str, ...]]:
    """The statements with names for `x[-1]`, `x[-2]` and `len(x)` of lists that they append to, what these names stand for before, and what has to be
    true for that. `values`, seen before, get their values; what is not there yet has some number, which nobody reads. `library` is the name of
    that whose arrays lists may hold, if not NumPy's."""
    nodes = [n for s in body for n in ast.walk(s)]
    calls = [n for n in nodes if growing.appends(n, values)]
    names = {n.func.value.id for n in calls if isinstance(n, ast.Call)}  # type: ignore[attr-defined]
    found: dict[str, str] = {}
    tests: list[str] = []
    read: dict[str, int] = {}
    for name in sorted(names):
        used = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
        ends = [k for n in nodes if (k := _from_end(n, name))]
        lengths = [n for n in nodes if _is_length(n, name)]
        mine = [c for c in calls if isinstance(c, ast.Call) and naming.root_of(c.func) == name]
        whole, most = values.get(name), max(ends, default=0)
        if type(whole) is not list or not (ends or lengths) or len(used) != len(ends) + len(lengths) + len(mine):
            continue
        last = (after.get(name) or [None])[-1]  # type: ignore[index]
        like = next((f"{kind.__name__}(0)" for kind in (bool, int, float) if type(last) is kind), "")
        if isinstance(last, np.generic):
            like = f"{numpy_in(values)}.{last.dtype.name}(0)"
        if library and is_array(last) and not str(last.dtype).startswith("key<"):  # type: ignore[union-attr]
            like = f"{library}.zeros({np.shape(last)}, {str(last.dtype)!r})"  # type: ignore[arg-type, union-attr]
        if len(whole) < most and not like:
            continue
        if ends and whole and not is_number(whole[-1]):
            continue
        read[name] = most
        for k in range(1, most + 1):
            text = f"{name}[-{k}]" if len(whole) >= k else f"{name}[-{k}] if len({name}) >= {k} else {like}"
            found[_end(name, k)], values[_end(name, k)] = text, eval(text, {library or "_": np, **values})
        if 0 < len(whole) < most:
            tests.append(f"len({name}) >= {len(whole)}")
        if lengths:
            found[f"length_of_{name}"], values[f"length_of_{name}"] = f"len({name})", len(whole)
    if not read:
        return tuple(body), {}, ()
    return tuple(visited(_EndReader(read, found), body)), found, tuple(tests)


def _end(name: str, k: int) -> str:
    return f"end_of_{name}" if k == 1 else f"end_{k}_of_{name}"


def _from_end(node: ast.AST, name: str) -> int:
    """1 for the last element of the list, 2 for the one before it; 0 for what is no such element."""
    match node:
        case ast.Subscript(
            value=ast.Name(id=n), slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(k))), ctx=ast.Load()
        ) if n == name and 0 < k <= MOST:
            return k
    return 0


def _is_length(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=n)]):
            return n == name
    return False


class _EndReader(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, int], found: Mapping[str, str]) -> None:
        self.names, self.found = names, found

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        for n in self.names:
            if k := _from_end(node, n):
                return ast.copy_location(ast.Name(_end(n, k), ast.Load()), node)
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
                if most := self.names[name]:
                    end, names = _end(name, 1), [_end(name, k) for k in range(most, 0, -1)]
                    before = [*(ast.Name(n, ast.Load()) for n in names[1:]), copy.deepcopy(item)]
                    targets = [ast.Name(n, ast.Store()) for n in names]
                    taken = ast.Assign([ast.Tuple(list(targets), ast.Store())], ast.Tuple(before, ast.Load()))
                    taken = taken if most > 1 else ast.Assign([targets[0]], before[0])
                    new.insert(0, placed_at(taken, node))
                    node.value.args = [ast.copy_location(ast.Name(end, ast.Load()), node)]
                if (length := f"length_of_{name}") in self.found:
                    new.append(placed_at(ast.parse(f"{length} += 1").body[0], node))
                return new
        return node
