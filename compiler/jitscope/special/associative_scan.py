"""associative_scan: all running results of an associative operation in logarithmic depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..control.bodies import check_leaves, name_of
from ..core.annotations import PyTree
from ..core.avals import ShapedArray, aval_of
from ..ops.linear import convert, rev_p
from ..ops.scanning import odd_even


__all__ = ["associative_scan"]


def associative_scan(fn: Callable[[Any, Any], Any], elems: PyTree, reverse: bool = False, axis: int = 0) -> PyTree:
    """The results of combining the first 1, 2, 3, … elements of `elems` along `axis` by an associative `fn`.

    `fn(a, b)` takes two trees like `elems`, of any (equal) size along the axis, and combines them element by element;
    a stands before b. `reverse`: from the last element (then a stands after b). Takes some 2 n combinations in 2 log₂ n steps (the odd-even
    reduction of Ladner and Fischer). Results are strong. Raises TypeError where `fn` gives another shape or dtype than it
    took, ValueError for another number of arrays and for sizes that differ.

    >>> lax.associative_scan(jnp.add, jnp.arange(1.0, 5.0))
    Array([ 1.,  3.,  6., 10.], dtype=float32)
    """
    if not callable(fn):
        raise TypeError(f"associative_scan: fn must be a function, it is {type(fn).__name__}")
    leaves, elems_tree = tree.flatten(elems)
    avals = check_leaves(leaves, elems, "associative_scan: elems has, at elems")
    if not leaves:
        return elems
    axes = [_checked_axis(aval, axis) for aval in avals]
    sizes = {aval.shape[a] for aval, a in zip(avals, axes)}
    if len(sizes) > 1:
        rows = ", ".join(
            f"elems{path} has {aval.shape[a]}" for path, aval, a in zip(tree.leaf_paths(elems), avals, axes)
        )
        raise ValueError(f"associative_scan over axis {axis}: the elements differ in number: {rows}")

    def combine(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        out, out_tree = tree.flatten(fn(elems_tree.unflatten(a), elems_tree.unflatten(b)))
        _check_result(fn, elems_tree, out_tree, a, out)
        return out

    if reverse:
        leaves = [rev_p(x, dimensions=(a,)) for x, a in zip(leaves, axes)]
    found = odd_even(combine, leaves, axes)
    if max(sizes) > 1:
        found = [convert(x, aval.dtype) for x, aval in zip(found, avals)]
    if reverse:
        found = [rev_p(x, dimensions=(a,)) for x, a in zip(found, axes)]
    return elems_tree.unflatten(found)


def _checked_axis(aval: ShapedArray, axis: int) -> int:
    if not -aval.ndim <= axis < aval.ndim:
        raise ValueError(f"associative_scan: {aval.short()} has no axis {axis}")
    return axis % aval.ndim


def _check_result(fn: Any, in_tree: Any, out_tree: Any, given: Sequence[Any], out: Sequence[Any]) -> None:
    if out_tree.num_leaves != in_tree.num_leaves:
        raise ValueError(
            f"associative_scan: {name_of(fn)} must return the structure it takes, {in_tree}; it returned {out_tree}"
        )
    for before, after in zip(map(aval_of, given), map(aval_of, out)):
        if (before.shape, before.dtype) != (after.shape, after.dtype):
            raise TypeError(
                f"associative_scan: {name_of(fn)} must return the shapes and dtypes it takes; it took {before.short()} "
                f"and gave {after.short()}"
            )
