"""What `fwd` gets of a custom_vjp function with symbolic zeros."""

from __future__ import annotations

import dataclasses
from typing import Any

from .. import tree
from ..core.annotations import PyTree


__all__ = ["CustomVJPPrimal", "custom_vjp_primal_tree_values"]


@dataclasses.dataclass
class CustomVJPPrimal:
    """What `fwd` gets, with symbolic_zeros, for each array: its `value`, and whether it is `perturbed`, that is takes
    part in differentiation."""

    value: Any
    perturbed: bool


def custom_vjp_primal_tree_values(primals: PyTree) -> PyTree:
    """The values of a tree of `CustomVJPPrimal`. Raises TypeError for other leaves."""

    def value(leaf: Any) -> Any:
        if not isinstance(leaf, CustomVJPPrimal):
            raise TypeError(
                f"custom_vjp_primal_tree_values takes a tree of CustomVJPPrimal; it has a {type(leaf).__name__}"
            )
        return leaf.value

    return tree.map(value, primals)
