"""Inside `shard_map`: values taken for such that differ between devices."""

from __future__ import annotations

from typing import Any

from .. import tree
from ..core.axes import axis_size
from ..core.varying import checked_axes, manual, pvary_p


__all__ = ["pcast"]


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """Each leaf with another type inside `shard_map`: to="varying" takes it for one that varies over mesh axes (a name or a tuple), and
    its cotangents are summed over them. Without `check_vma` nothing changes.

    Raises ValueError for another `to`, for axes over which the leaf varies already, and outside of `shard_map`; NameError for unknown axes,
    TypeError for a set of them, NotImplementedError for "reduced" and "unreduced".
    """
    if isinstance(axis_name, (set, frozenset)):
        raise TypeError(f"pcast: axis_name is a name or a tuple of names, not {axis_name}")
    if to in ("reduced", "unreduced"):
        raise NotImplementedError(f"pcast: to={to!r} is not supported, 'varying' is")
    if to != "varying":
        raise ValueError(f"pcast: to is 'varying', not {to!r}")
    names = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    if names and manual() is None:
        raise ValueError(f"pcast over {names}: it is for values inside shard_map, and this one is outside")
    for name in names:
        axis_size(name)
    axes = tuple(sorted(checked_axes(names), key=str))
    return tree.map(lambda leaf: pvary_p(leaf, axes=axes), x) if axes else x
