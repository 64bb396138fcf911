"""Where Python finds the least or the largest number of a list (`x.index(min(x))`): the place that NumPy finds."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace

import numpy as np

from . import naming
from .parts import numpy_in, placed_at
from .stand_ins import StandIns


def of_extremes(form: StandIns) -> StandIns:
    """The statements with `int(np.argmin(x))` in place of `x.index(min(x))` of lists of Python's numbers."""
    visit = form.visit
    lists = {n for n in naming.loaded(form.body) if _is_of_numbers(visit.values.get(n, visit.after.get(n)))}
    numpy = numpy_in({**visit.around, **visit.values})
    writer = _Places(lists, numpy)
    new = [writer.visit(copy.deepcopy(s)) for s in form.body if lists]
    if not writer.found or visit.around.get(numpy) is not np:
        return form
    known = {**visit.values, numpy: np}
    return replace(form, body=tuple(new), visit=replace(visit, values=known))


class _Places(ast.NodeTransformer):
    def __init__(self, lists: set[str], numpy: str) -> None:
        self.lists, self.numpy, self.found = lists, numpy, False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="index"),
                args=[ast.Call(func=ast.Name(id="min" | "max" as word), args=[ast.Name(id=of)], keywords=[])],
            ) if name == of and name in self.lists:
                self.found = True
                return placed_at(ast.parse(f"int({self.numpy}.arg{word}({name}))", mode="eval").body, node)
        return self.generic_visit(node)


def _is_of_numbers(value: object) -> bool:
    return isinstance(value, list) and bool(value) and {*map(type, value)} in ({int}, {float})
