"""Between which values `jnp.where` can choose."""

from __future__ import annotations

import ast
from collections.abc import Mapping


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
