"""Specifications of arguments with symbolic dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import tree
from ..backend.stages import ShapeDtypeStruct
from ..core.annotations import PyTree
from ..core.avals import aval_of
from ..symbolic.scope import SymbolicScope
from ..symbolic.shapes import symbolic_shape


def symbolic_args_specs(
    args: PyTree, shapes_specs: PyTree, constraints: Sequence[str] = (), scope: SymbolicScope | None = None
) -> PyTree:
    """A ShapeDtypeStruct for each array (or ShapeDtypeStruct) in the tree `args`, in its dtype.

    `shapes_specs`: a text as for `symbolic_shape` for all of them, None where shapes stay as they are, or a tree of those that
    is a prefix of `args`. `_` and `...` in a text are sizes of the array. `constraints` and `scope`: as for `symbolic_shape`.
    Raises ValueError for specifications that are not a prefix of `args`, and as `symbolic_shape` does.
    """
    leaves, structure = tree.flatten(args)
    if isinstance(args, tuple) and isinstance(shapes_specs, list):
        shapes_specs = tuple(shapes_specs)
    try:
        texts = tree.leaves(tree.broadcast(shapes_specs, args, is_leaf=_is_none), is_leaf=_is_none)
    except ValueError as error:
        raise ValueError(f"export.symbolic_args_specs shapes_specs does not fit args: {error}") from None
    if scope is None:
        scope = SymbolicScope(constraints)
    elif constraints:
        raise ValueError("Cannot use both `scope` and `constraints`")
    found = []
    for x, text in zip(leaves, texts):
        given: Any = x if isinstance(x, ShapeDtypeStruct) else aval_of(x)
        found.append(ShapeDtypeStruct(symbolic_shape(text, like=given.shape, scope=scope), given.dtype))
    return structure.unflatten(found)


def _is_none(x: Any) -> bool:
    return x is None
