"""The arguments of an exported function: their names, and how dimension variables follow from their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import tree
from ..core import dtypes
from ..core.avals import ShapedArray, tangent_aval
from ..symbolic.solving import Solution, solve, variables_of


def solution_of(avals: Sequence[ShapedArray], in_tree: Any) -> Solution | None:
    """How the dimension variables follow from the shapes; None if there are none. Raises ValueError if they cannot."""
    shapes = [a.shape for a in avals]
    return solve(shapes, argument_names(in_tree)) if variables_of(shapes) else None


def argument_names(in_tree: Any) -> list[str]:
    """`args[0]['w']` or `kwargs['scale']` for each leaf."""
    names = []
    for path in tree.paths_in(in_tree):
        kind, rest = path[:3], path[3:]
        names.append(("args" if kind == "[0]" else "kwargs") + rest)
    return names


def has_tangent(aval: ShapedArray) -> bool:
    return tangent_aval(aval).dtype != dtypes.float0


def in_program(aval: ShapedArray) -> ShapedArray:
    """What stands for an aval in a module: booleans for float0, which has no values."""
    return aval.update(dtype=dtypes.bool_) if aval.dtype == dtypes.float0 else aval
