"""Inside `shard_map`: values taken for such that differ between devices."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from .. import tree
from ..core.axes import axis_size
from ..core.varying import checked_axes, manual, pvary_p


__all__ = ["pcast", "pvary"]


def _names(axis_name: Any) -> tuple[Hashable, ...]:
    return tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)


def pvary(x: Any, axis_name: Any) -> Any:
    """Each leaf taken for one that varies over mesh axes; its cotangents are summed over them. Inside `shard_map` with `check_vma`;
    without that it changes nothing. Raises ValueError for axes over which it varies already, and outside of `shard_map`; NameError for
    unknown axes."""
    names = _names(axis_name)
    if names and manual() is None:
        raise ValueError(f"pcast over {names}: it is for values inside shard_map, and this one is outside")
    for name in names:
        axis_size(name)
    axes = tuple(sorted(checked_axes(names), key=str))
    return tree.map(lambda leaf: pvary_p(leaf, axes=axes) if axes else leaf, x)


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """Each leaf with another type inside `shard_map`: `to="varying"` is `pvary`. Raises ValueError for another `to`, TypeError for a set of axes,
    NotImplementedError for "reduced" and "unreduced"."""
    if isinstance(axis_name, (set, frozenset)):
        raise TypeError(f"pcast: axis_name is a name or a tuple of names, not {axis_name}")
    if to in ("reduced", "unreduced"):
        raise NotImplementedError(f"pcast: to={to!r} is not supported, 'varying' is")
    if to != "varying":
        raise ValueError(f"pcast: to is 'varying', not {to!r}")
    return pvary(x, axis_name)
