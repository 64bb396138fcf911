"""Going through syntax trees, which nobody changes: what stands below a node is found once, and kept with it."""

from __future__ import annotations

import ast


_KEPT = "_children"


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, as `ast.iter_child_nodes` gives them."""
    found = node.__dict__.get(_KEPT)
    if found is None:
        found = []
        own = node.__dict__
        for name in node._fields:
            value = own.get(name)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [one for one in value if isinstance(one, ast.AST)]
        own[_KEPT] = found
    return found


def below(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, as `ast.walk` gives them."""
    found = [node]
    for one in found:
        found += children(one)
    return found
