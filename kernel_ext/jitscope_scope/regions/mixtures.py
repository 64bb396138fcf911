"""Compiled arrays that NumPy's functions are given (`np.linalg.norm(x)`): what NumPy makes of them stands there, for tracing."""

from __future__ import annotations

import ast
import copy

import numpy as np

from . import naming
from .homes import is_array
from .watching import Visit


def as_of_numpy(body: naming.Statements, visit: Visit) -> tuple[ast.stmt, ...]:
    """The statements with `np.norm(np.asarray(x))` in place of `np.norm(x)` of a compiled array."""
    return tuple(_AsOfNumpy(visit).visit(copy.deepcopy(s)) for s in body)


class _AsOfNumpy(ast.NodeTransformer):
    def __init__(self, visit: Visit) -> None:
        self.seen = visit

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        root = naming.root_of(node.func)
        if root is not None and self.seen.values.get(root) is np and isinstance(node.func, ast.Attribute):
            if node.func.attr != "asarray":
                node.args = [self._array(a, root) for a in node.args]
        return node

    def _array(self, node: ast.expr, numpy: str) -> ast.expr:
        name = naming.root_of(node)
        if name is None or not (is_array(self.seen.values.get(name)) or is_array(self.seen.after.get(name))):
            return node
        made = ast.Call(ast.Attribute(ast.Name(numpy, ast.Load()), "asarray", ast.Load()), [node], [])
        return ast.fix_missing_locations(ast.copy_location(made, node))
