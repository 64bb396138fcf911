"""Rewrites of masks for the number of axes that they and their arrays have."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from .known_shapes import shape_of


def fitted(text: str, of_one_rank: tuple[ast.expr | int, ast.expr] | None, values: Mapping[str, Any]) -> str | None:
    """A rewrite of a mask for the ranks that it and its array have: a mask of the first axes is given the others, `mask[:, None]`. None
    where the ranks are not known, or do not fit."""
    if of_one_rank is None:
        return text
    mask, array = (_rank(part, values) for part in of_one_rank)
    if mask is None or array is None or mask > array:
        return None
    return text if mask == array else _widened(text, mask, array - mask)


def _widened(text: str, rank: int, more: int) -> str | None:
    """The code with `more` axes at the end of what its `jnp.where`, or its `where=`, chooses by."""
    tree = ast.parse(text)
    first = ast.Slice() if rank == 1 else ast.Constant(...)
    index = ast.Tuple([first, *[ast.Constant(None)] * more])
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="where"), args=[condition, _, _]):
                node.args[0] = ast.Subscript(condition, index)
            case ast.keyword(arg="where", value=condition):
                node.value = ast.Subscript(condition, index)
            case _:
                continue
        return ast.unparse(tree)
    return None


def _rank(part: ast.expr | int, values: Mapping[str, Any]) -> int | None:
    shape = (0,) * part if isinstance(part, int) else shape_of(part, values)
    return None if shape is None else len(shape)
