"""Inside `shard_map`: values taken for such that differ between devices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

from .. import tree
from ..core.avals import aval_of
from ..core.axes import axis_size
from ..core.part_types import sums_of
from ..core.varying import checked_axes, manual, preduced_p, pvary_p, reduced_vary_p, vary_unreduced_p


__all__ = ["pcast"]


T = TypeVar("T")


def pcast(x: T, axis_name: Hashable | Sequence[Hashable], *, to: str) -> T:
    """Each leaf with another type inside `shard_map`, along mesh axes (a name or a tuple); the values stay as they are. to="varying" takes
    it for one that differs between devices, and its cotangents are summed over them; of a reduced one, they are left as they are.
    "unreduced" takes a value that varies for a term of a sum still to be taken (`psum` takes it). "reduced" takes one that is the same on
    all devices for one whose cotangents come out unreduced. Without `check_vma` nothing changes.

    Raises ValueError for another `to`, for leaves whose type along the axes is not the one that `to` starts from, and outside of
    `shard_map`; NameError for unknown axes, TypeError for a set of them.
    """
    if isinstance(axis_name, (set, frozenset)):
        raise TypeError(f"pcast: axis_name is a name or a tuple of names, not {axis_name}")
    if to not in ("varying", "unreduced", "reduced"):
        raise ValueError(f"pcast: to is 'varying', 'unreduced' or 'reduced', not {to!r}")
    names = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    if names and manual() is None:
        raise ValueError(f"pcast over {names}: it is for values inside shard_map, and this one is outside")
    for name in names:
        axis_size(name)
    axes = tuple(sorted(checked_axes(names), key=str))
    if names and not axes and to == "unreduced":
        raise ValueError(
            "pcast: to='unreduced' is for values that vary, which types inside shard_map with check_vma=False do not say"
        )
    return tree.map(lambda leaf: _cast(leaf, axes, to), x) if axes else x


def _cast(x: Any, axes: tuple[Any, ...], to: str) -> Any:
    if to == "varying":
        return (reduced_vary_p if set(axes) <= sums_of(aval_of(x)).reduced else pvary_p)(x, axes=axes)
    return (vary_unreduced_p if to == "unreduced" else preduced_p)(x, axes=axes)
