"""Static arguments that only say how often a `fori_loop` runs, which an array can say as well."""

from __future__ import annotations

import ast

from ...source_code.places import node_of_function
from .groups import Group


def only_bounds(group: Group) -> bool:
    """Whether each argument of a group is read in its function as a bound of a `fori_loop` and nowhere else."""
    where = group.rows[-1].position
    function = node_of_function(where) if where is not None else None
    if function is None:
        return False
    body = function.body if isinstance(function.body, list) else [function.body]
    nodes = [node for part in body for node in ast.walk(part)]
    loops = [node for node in nodes if isinstance(node, ast.Call) and _is_loop(node)]
    bounds = [node for loop in loops for bound in loop.args[:2] for node in ast.walk(bound)]
    return all(0 < _reads(nodes, name) == _reads(bounds, name) for name in group.paths)


def _is_loop(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2] == "fori_loop"


def _reads(nodes: list[ast.AST], name: str) -> int:
    return sum(isinstance(node, ast.Name) and node.id == name for node in nodes)
