"""Asking for the order of axes in memory."""

from __future__ import annotations

from typing import TypeVar

from .. import tree
from ..backend.input_layouts import in_order
from ..control.layout_constraint import layout_constraint_p
from ..core.annotations import PyTree
from ..core.formats import Layout


T = TypeVar("T")


__all__ = ["with_layout_constraint"]


def with_layout_constraint(x: T, layouts: PyTree) -> T:
    """A tree whose arrays lie in memory as `layouts` say: a Layout, or a tree of those that is a prefix of `x`. Differentiable; under
    vmap the mapped axis is the slowest. Raises TypeError for what is no Layout, ValueError for layouts of other ranks."""
    leaves, treedef = tree.flatten(x)
    flat = tree.broadcast_prefix(layouts, treedef, "with_layout_constraint: the layouts")
    for layout in flat:
        if not isinstance(layout, Layout):
            raise TypeError(f"with_layout_constraint takes a Layout, or a tree of those, not {layout!r}")
    return treedef.unflatten(
        [layout_constraint_p.bind(leaf, layout=at, move=in_order) for leaf, at in zip(leaves, flat)]
    )
