"""Exchanges between examples or devices along named axes, as users call them, on trees: `psum`, `all_gather`, …"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core import dtypes
from ..core.annotations import Array, PyTree
from ..core.avals import aval_of, is_python_scalar
from ..core.axes import axis_size as _axis_size
from ..core.part_types import sums_of
from ..core.varying import checked_axes, manual, vary_over
from .collective import (
    all_gather_invariant_p,
    all_gather_p,
    all_gather_reduced_p,
    all_to_all_p,
    axis_index_p,
    check_alike,
    group_size,
    merged,
    over,
    pmax_p,
    pmin_p,
    position,
    ppermute_p,
    psum_p,
    reduce_scatter_p,
    unreduced_reduce_scatter_p,
)
from .elementwise import div_p, eq_p
from .families import scalar_like
from .linear import add_p, convert, divided, full, moveaxis, mul_p, reshape, where


__all__ = ["all_gather", "all_to_all", "axis_index", "axis_size", "pbroadcast", "pmax", "pmean", "pmin", "ppermute",
           "pshuffle", "psum", "psum_scatter", "pswapaxes"]  # fmt: skip


def _names(axis_name: Any) -> tuple[Hashable, ...]:
    return tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)


def _one_name(name: str, axis_name: Any) -> Hashable:
    names = _names(axis_name)
    if len(names) != 1:
        raise NotImplementedError(
            f"{name} runs along one named axis, not along {names}: apply it to one after the other"
        )
    return names[0]


def _split_axes(axis_name: Any) -> tuple[tuple[Hashable, ...], tuple[int, ...]]:
    """The named axes, and the numbers of the value's own axes, which JAX takes beside them."""
    names = _names(axis_name)
    own = tuple(n for n in names if isinstance(n, int) and not isinstance(n, bool))
    return tuple(n for n in names if n not in own), own


def checked_groups(name: str, axis_name: Any, groups: Any, alike: bool = True) -> tuple[tuple[int, ...], ...] | None:
    """Groups of examples as tuples of their numbers along the axis (or several together). Raises ValueError where an example is in
    no group, or in two, or (with `alike`) groups differ in size."""
    if groups is None:
        return None
    found = tuple(tuple(int(i) for i in group) for group in groups)
    size = axis_size(axis_name)
    if sorted(i for group in found for i in group) != list(range(size)):
        raise ValueError(
            f"{name}: axis_index_groups must cover all indices exactly once, those of {axis_name!r} are 0 to {size - 1}: {groups}"
        )
    if alike and manual() is not None and len(set(map(len, found))) > 1:
        raise ValueError(f"{name}: axis_index_groups must be of one size: {groups}")
    return found


def _groups_of(name: str, axes: tuple[Hashable, ...], own: tuple[int, ...], groups: Any) -> Any:
    if own and groups is not None:
        raise ValueError(f"{name}: axis_index_groups are for named axes alone, not for the axes {own} of the value")
    return checked_groups(name, axes, groups, alike=name == "pmean")


def axis_size(axis_name: Hashable | Sequence[Hashable]) -> int:
    """The number of examples along a named axis, or along several together. Raises NameError for an unknown axis."""
    return math.prod(map(_axis_size, _names(axis_name)))


def axis_index(axis_name: Hashable | Sequence[Hashable]) -> Array:
    """The number of the example along a named axis (int32); of several, the last one varies fastest.

    Raises NameError for an unknown axis.
    """
    first, *others = _names(axis_name)
    index = axis_index_p(axis_name=first)
    for name in others:
        index = add_p(mul_p(index, np.int32(_axis_size(name))), axis_index_p(axis_name=name))
    return index


def psum(
    x: PyTree, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None
) -> PyTree:
    """The sum of each leaf over the examples along a named axis, or several; integers among them name axes of the leaf. Booleans are counted; of a Python number
    the sum is a Python number. Raises NameError for an unknown axis."""
    axes, own = _split_axes(axis_name)
    groups = _groups_of("psum", axes, own, axis_index_groups)

    def leaf(x):
        if is_python_scalar(x) and not own:
            return x * (axis_size(axes) if groups is None else len(groups[0]))
        x = convert(x, dtypes.int32) if aval_of(x).dtype == dtypes.bool_ else x
        return over(psum_p, x, axes, own, groups)

    return tree.map(leaf, x)


def pmean(
    x: PyTree, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None
) -> PyTree:
    """The mean of each leaf over the examples; of integers, a float. Raises NameError for an unknown axis."""
    axes, own = _split_axes(axis_name)
    groups = _groups_of("pmean", axes, own, axis_index_groups)
    size = axis_size(axes) if groups is None else len(groups[0])

    def leaf(x):
        if is_python_scalar(x) and not own:
            return x if isinstance(x, (float, complex)) else float(x)
        total = over(psum_p, convert(x, dtypes.to_inexact(aval_of(x).dtype)), axes, own, groups)
        count = size * math.prod(aval_of(x).shape[i] for i in own)
        return div_p(total, scalar_like(total, count))

    return tree.map(leaf, x)


def pmax(
    x: PyTree, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None
) -> PyTree:
    """The greatest value of each leaf among the examples, element by element. Raises NameError for an unknown axis."""
    axes, own = _split_axes(axis_name)
    groups = _groups_of("pmax", axes, own, axis_index_groups)
    return tree.map(lambda x: over(pmax_p, x, axes, own, groups), x)


def pmin(
    x: PyTree, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None
) -> PyTree:
    """The least value of each leaf among the examples, element by element. Raises NameError for an unknown axis."""
    axes, own = _split_axes(axis_name)
    groups = _groups_of("pmin", axes, own, axis_index_groups)
    return tree.map(lambda x: over(pmin_p, x, axes, own, groups), x)


def all_gather(
    x: PyTree,
    axis_name: Hashable | Sequence[Hashable],
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> PyTree:
    """Each leaf of all examples: side by side along a new axis, or one after another along that axis if `tiled`.

    Of several named axes the last varies fastest. `to` says what shard_map with `check_vma` takes the result for: one that
    varies over the axis ("varying"), is reduced over it ("reduced": its cotangent is an open sum), or is the same on all devices
    ("invarying"); elsewhere it changes nothing. Raises ValueError for another `to` and an axis that the leaf
    does not have, NameError for an unknown name.
    """
    groups = checked_groups("all_gather", axis_name, axis_index_groups)
    if to not in ("varying", "reduced", "invarying"):
        raise ValueError(f"all_gather: to is 'varying', 'invarying' or 'reduced', not {to!r}")
    gather = _GATHERS[to] if checked_axes(_names(axis_name)) else all_gather_p
    *outer, last = (_one_name("all_gather with axis_index_groups", axis_name),) if groups else _names(axis_name)

    def leaf(x):
        at = position("all_gather", axis, aval_of(x).ndim + (not tiled))
        x = gather(
            vary_over(x, checked_axes(_names(axis_name))),
            all_gather_dimension=at,
            axis_name=last,
            axis_size=group_size(last, groups),
            tiled=tiled,
            axis_index_groups=groups,
        )
        for name in reversed(outer):
            along = {"axis_name": name, "axis_size": _axis_size(name), "axis_index_groups": None}
            x = gather(x, all_gather_dimension=at, tiled=True, **along)
        return x

    return tree.map(leaf, x)


_GATHERS = {"varying": all_gather_p, "invarying": all_gather_invariant_p, "reduced": all_gather_reduced_p}


def psum_scatter(
    x: PyTree,
    axis_name: Hashable | Sequence[Hashable],
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
    tiled: bool = False,
) -> PyTree:
    """The sum of each leaf over the examples, of which each gets its part along `scatter_dimension`.

    Raises NameError for an unknown axis, ValueError for sizes that do not fit.
    """
    groups = checked_groups("psum_scatter", axis_name, axis_index_groups)
    names = (_one_name("psum_scatter with axis_index_groups", axis_name),) if groups else _names(axis_name)
    sizes = tuple(group_size(name, groups) for name in names)

    def leaf(x):
        check_alike("psum_scatter", x, checked_axes(names) - sums_of(aval_of(x)).unreduced)
        at = position("psum_scatter", scatter_dimension, aval_of(x).ndim)
        if len(names) > 1 and not tiled:
            _check_parts("psum_scatter", x, at, names, math.prod(sizes), tiled)
            shape = aval_of(x).shape
            x = reshape(x, (*shape[:at], *sizes, *shape[at + 1 :]))
        for name, size in zip(names, sizes):
            is_term = name in sums_of(aval_of(x)).unreduced
            scatter = unreduced_reduce_scatter_p if is_term else reduce_scatter_p
            x = x if is_term else vary_over(x, checked_axes((name,)))
            along = {"axis_name": name, "axis_size": size, "axis_index_groups": groups}
            x = scatter(x, scatter_dimension=at, tiled=tiled, **along)
        return x

    return tree.map(leaf, x)


def all_to_all(
    x: PyTree,
    axis_name: Hashable,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
    tiled: bool = False,
) -> PyTree:
    """Each leaf cut along `split_axis`, a part for each example, and what comes from the others put together along
    `concat_axis`. Raises NameError for an unknown axis, ValueError for sizes that do not fit."""
    groups = checked_groups("all_to_all", axis_name, axis_index_groups)
    names = (_one_name("all_to_all with axis_index_groups", axis_name),) if groups else _names(axis_name)

    def leaf(x):
        rank, x = aval_of(x).ndim, vary_over(x, checked_axes(names))
        at, to = (position("all_to_all", a, rank) for a in (split_axis, concat_axis))
        if len(names) != 1:
            return _all_to_all_of_several(x, names, at, to, tiled)
        along = {"axis_name": names[0], "axis_index_groups": groups}
        return all_to_all_p(x, split_axis=at, concat_axis=to, tiled=tiled, **along)

    return tree.map(leaf, x)


def _all_to_all_of_several(x: Any, names: tuple[Hashable, ...], at: int, to: int, tiled: bool) -> Any:
    """Along several named axes as one, whose last part varies fastest: along one after the other, with the parts in front."""
    sizes = tuple(map(_axis_size, names))
    count = math.prod(sizes)
    _check_parts("all_to_all", x, at, names, count, tiled)
    x = moveaxis(divided(x, at, count) if tiled else x, at, 0)
    rest = aval_of(x).shape[1:]
    x = reshape(x, (*sizes, *rest))
    for i, name in enumerate(names):
        x = all_to_all_p(x, axis_name=name, split_axis=i, concat_axis=i, tiled=False, axis_index_groups=None)
    x = moveaxis(reshape(x, (count, *rest)), 0, to)
    return merged(x, to) if tiled else x


def _check_parts(name: str, x: Any, at: int, names: tuple[Hashable, ...], count: int, tiled: bool) -> None:
    aval = aval_of(x)
    if (aval.shape[at] % count) if tiled else aval.shape[at] != count:
        how = f"be a multiple of {count}" if tiled else f"be {count}"
        raise ValueError(
            f"{name} of {aval.short()} along the axes {names}, which have {count} examples together: the size of axis {at} must "
            f"{how}"
        )


def ppermute(x: PyTree, axis_name: Hashable, perm: Sequence[tuple[int, int]]) -> PyTree:
    """Each leaf sent from example to example by the pairs (source, destination); who gets nothing has zeros. Along several axes of
    a mesh, a tuple, the last one counts fastest.

    Raises NameError for an unknown axis, ValueError for pairs that are not a permutation, NotImplementedError for several axes under `vmap`.
    """
    pairs, names = tuple((int(a), int(b)) for a, b in perm), _names(axis_name)
    name = names[0] if len(names) == 1 else names
    return tree.map(lambda x: ppermute_p(vary_over(x, checked_axes(names)), axis_name=name, perm=pairs), x)


def pshuffle(x: PyTree, axis_name: Hashable, perm: Sequence[int]) -> PyTree:
    """Each leaf of example `perm[i]` at example i. Raises NameError and ValueError as `ppermute`."""
    return ppermute(x, axis_name, [(source, i) for i, source in enumerate(perm)])


def pswapaxes(
    x: PyTree, axis_name: Hashable, axis: int, *, axis_index_groups: Sequence[Sequence[int]] | None = None
) -> PyTree:
    """The named axis exchanged with an axis of each leaf, which has its size. Raises as `all_to_all`."""
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def pbroadcast(x: PyTree, axis_name: Hashable, source: int) -> PyTree:
    """Each leaf of example number `source`, for all. Raises NameError for an unknown axis, ValueError for a number it does not have."""
    if not 0 <= source < axis_size(axis_name):
        raise ValueError(
            f"pbroadcast along {axis_name!r}, which has {axis_size(axis_name)} examples: there is no number {source}"
        )

    def leaf(x):
        mine = eq_p(axis_index(axis_name), np.int32(source))
        nothing = full(aval_of(x).shape, 0, aval_of(x).dtype)
        return psum_p(where(mine, x, nothing), axes=_names(axis_name), axis_index_groups=None)

    return tree.map(leaf, x)
