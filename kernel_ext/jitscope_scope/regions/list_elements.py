"""Lists of whole numbers that a region makes, or stores into: whether their elements stay within 64 bits."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

import numpy as np

from . import naming
from .answers import CannotCompile
from .bounds import Bounds
from .parts import placed_at, visited
from .watching import Visit


def of_copy(value: ast.expr) -> ast.expr:
    """What a copy is of."""
    match value:
        case (
            ast.Call(func=ast.Name(id="list"), args=[of])
            | ast.Subscript(value=of)
            | ast.Call(func=ast.Attribute(value=of))
        ):
            return of
    return value


def in_elements(
    found: Collection[str], body: naming.Statements, values: Mapping[str, object]
) -> tuple[naming.Statements, Mapping[str, object]]:
    """The region with any element of each list, or table of lists, as one number, `x[]`, and the values that these have before."""
    if not found:
        return body, values
    empty = {n for n, v in values.items() if type(v) is list and not v}
    inside = visited(_Elements({n: f"{n}[]" for n in found}, empty), body)
    return tuple(inside), {**values, **{f"{n}[]": _flat(values[n]) for n in found if n in values}}


def _flat(value: object) -> object:
    """The elements of a list, or of a table of lists."""
    return np.ravel(np.array(value, object)).tolist() if isinstance(value, list) else value


def bounded(found: Collection[str], body: naming.Statements, values: Mapping[str, object], visit: Visit) -> None:
    """Raises CannotCompile where whole numbers without a bound are kept in one of the lists. `body` has elements as numbers."""
    bounds = Bounds(body, values, visit.after, visit.held)
    whole = [n for n in found if np.asarray(visit.after[n]).dtype.kind == "i"]
    for n in (n for n in whole if any(type(v) is int for v in _flat(visit.after[n]))):  # type: ignore[attr-defined]
        if not bounds.stays(f"{n}[]") and not bounds.adds(f"{n}[]"):
            n = n.removeprefix("whole_of_")
            said = f"`{n}` holds Python whole numbers, which have no bound; compiled ones wrap around"
            line = naming.line_of(body, n) or naming.line_of(body, f"{n}[]") or body[0].lineno
            raise CannotCompile(line, "object", said)


class _Elements(ast.NodeTransformer):
    """Any element of each list as one number."""

    def __init__(self, elements: Mapping[str, str], empty: set[str]) -> None:
        self.elements, self.empty = elements, empty

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self.elements:
                bind = lambda v: placed_at(ast.Assign([ast.Name(self.elements[name], ast.Store())], v), node)
                match value:
                    case ast.List(elts=[ast.Starred(value=first)]):
                        return [bind(first)] if ast.unparse(first) not in self.empty else []
                    case ast.List(elts=parts) | ast.BinOp(left=ast.List(elts=parts)):
                        return [bind(p) for p in parts]
                    case ast.Call(args=[ast.Call(func=ast.Name(id="range")) as of]) | ast.ListComp(elt=of):
                        return [bind(of)]
                root = naming.root_of(of_copy(value))
                return [bind(ast.Name(self.elements.get(root or "", root or ""), ast.Load()))]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item]) if (
                name in self.elements
            ):
                return placed_at(ast.Assign([ast.Name(self.elements[name], ast.Store())], item), node)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.For(target=ast.Name() as target, iter=ast.Name(id=name)) if name in self.elements:
                first = ast.Assign([target], ast.Name(self.elements[name], ast.Load()))
                node.iter = placed_at(ast.parse("range(1)", mode="eval").body, node)
                node.body = [placed_at(first, node), *node.body]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and (name := node.value.id.removesuffix("[]")) in self.elements:
            return ast.copy_location(ast.Name(self.elements[name], node.ctx), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="min" | "max"), args=[ast.Name(id=name)]) if name in self.elements:
                return ast.copy_location(ast.Name(self.elements[name], ast.Load()), node)
        return node
