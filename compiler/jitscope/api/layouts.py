"""How the arrays of a tree lie on devices, also in compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import tree
from ..backend.array import to_array
from ..control.inspecting import inspect_sharding_p
from ..core.annotations import PyTree, Sharding
from ..xla import client


__all__ = ["inspect_array_sharding"]


def inspect_array_sharding(value: PyTree, *, callback: Callable[[Sharding], None]) -> None:
    """Call `callback(sharding)` for each array of a tree: at once, or for values of a compiled function when that is compiled
    (not again while its program is known). Raises TypeError for a `callback` that is not a function."""
    if not callable(callback):
        raise TypeError(
            f"inspect_array_sharding: callback must be a function of a sharding, not {type(callback).__name__}"
        )
    for leaf in tree.leaves(value):
        inspect_sharding_p.bind(leaf, callback=callback, layout_of=_layout_of)


def _layout_of(x: Any) -> Any:
    from ..core.shardings import SingleDeviceSharding

    return SingleDeviceSharding(client.default_device()) if x is None else to_array(x).sharding
