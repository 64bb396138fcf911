"""Which transformed functions Python runs in each call: those that nothing compiles."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...source_code.tree import Function, below


if TYPE_CHECKING:
    from .functions import Functions


EACH_TIME = frozenset(
    "grad value_and_grad jvp vjp jacrev jacfwd hessian checkpoint remat vmap filter_vmap nnx.vmap shard_map".split()
)
"""Transformations that run the function whenever they are called."""


def compiled_within(functions: Functions) -> set[Function]:
    """The functions that are compiled, bodies of loops and branches, and all that these name."""
    found: set[Function] = set()
    todo = [one.function for one in functions.traced if one.by not in EACH_TIME]
    while todo:
        function = todo.pop()
        if function not in found:
            found.add(function)
            named = (_meant_by(node, functions) for node in below(function))
            todo += [one for one in named if one is not None]
    return found


def _meant_by(node: ast.AST, functions: Functions) -> Function | None:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            return node
        case ast.Name(id=name, ctx=ast.Load()):
            return functions.named(name, node)
        case ast.Attribute():
            return functions.of_object(node, node)
    return None
