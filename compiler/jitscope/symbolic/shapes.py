"""Symbolic shapes from text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .parsing import parse
from .scope import SymbolicScope


def symbolic_shape(
    shape_spec: str | None,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[int | None] | None = None,
) -> tuple[Any, ...]:
    """The shape that a text describes, as a tuple of ints and symbolic dimensions: `"b, 2*n, floordiv(n, 2) + 1"`.

    Expressions have variables (names), numbers, `+ - * ^`, floordiv, mod, max and min. `_` is one size and `...` (or None for
    the whole text) the rest of the sizes of `like`. `constraints` are those of a new scope (see SymbolicScope), `scope` is one
    that is there. Raises ValueError for a text that is not a shape, for sizes that differ from those of `like`, and if both
    `scope` and `constraints` are given.
    """
    shown = repr(shape_spec)
    if shape_spec is None:
        shape_spec = "..."
    elif not isinstance(shape_spec, str):
        raise ValueError(f"polymorphic shape spec should be None or a string. Found {shown}.")
    if scope is None:
        scope = SymbolicScope(constraints)
    elif constraints:
        raise ValueError("Cannot specify both a `scope` and `constraints`.")
    return parse(shape_spec, like, shown, scope)
