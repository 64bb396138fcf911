"""Between which values `jnp.where` can choose."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from .known_shapes import shape_of


def can_choose(choices: Sequence[ast.expr], values: Mapping[str, object]) -> bool:
    """Whether `jnp.where` gives one of these values as it is: they are of one shape, as far as is known; a number takes that of the others."""
    shapes = {shape_of(one, values) for one in choices if not is_number(one, values)} - {None}
    return len(shapes) < 2 and all(chosen(one, values) for one in choices)


def is_number(node: ast.AST, values: Mapping[str, object]) -> bool:
    """Whether an expression is a number of Python's, written out or by its name."""
    match node:
        case ast.UnaryOp(operand=operand):
            return is_number(operand, values)
        case ast.Name(id=name):
            return isinstance(values.get(name), int | float | complex)
    return isinstance(node, ast.Constant)


def chosen(node: ast.AST, values: Mapping[str, object]) -> bool:
    """Whether `jnp.where` can choose what an expression gives, as far as its text and the values of names tell."""
    match node:
        case ast.Name(id=name) if name in values:
            value = values[name]
            return hasattr(value, "ndim") or isinstance(value, int | float | complex)
        case ast.Constant(value=value):
            return isinstance(value, int | float | complex)
    return not isinstance(node, _NO_ARRAYS)


_NO_ARRAYS = (
    ast.Dict, ast.DictComp, ast.Set, ast.SetComp, ast.List, ast.ListComp, ast.Tuple, ast.GeneratorExp, ast.Lambda, ast.JoinedStr,
)  # fmt: skip
