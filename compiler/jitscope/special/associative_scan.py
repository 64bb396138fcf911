"""associative_scan: all running results of an associative operation in logarithmic depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..control.bodies import check_leaves, name_of
from ..core.avals import ShapedArray, aval_of
from ..ops.linear import concatenate_p, reshape, rev_p, slice_in_dim


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """The results of combining the first 1, 2, 3, … elements of `elems` along `axis` by an associative `fn`.

    `fn(a, b)` takes two trees like `elems`, of any (equal) size along the axis, and combines them element by element;
    a stands before b. `reverse`: from the last element (then a stands after b). Takes some 2 n combinations in 2 log₂ n steps (the odd-even
    reduction of Ladner and Fischer). Raises TypeError where `fn` gives another structure, shape or dtype than it took,
    ValueError for sizes that differ.
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
    found = _scan(combine, leaves, axes)
    if reverse:
        found = [rev_p(x, dimensions=(a,)) for x, a in zip(found, axes)]
    return elems_tree.unflatten(found)


def _checked_axis(aval: ShapedArray, axis: int) -> int:
    if not -aval.ndim <= axis < aval.ndim:
        raise ValueError(f"associative_scan: {aval.short()} has no axis {axis}")
    return axis % aval.ndim


def _check_result(fn: Any, in_tree: Any, out_tree: Any, given: Sequence[Any], out: Sequence[Any]) -> None:
    if out_tree != in_tree:
        raise TypeError(
            f"associative_scan: {name_of(fn)} must return the structure it takes, {in_tree}; it returned {out_tree}"
        )
    for before, after in zip(map(aval_of, given), map(aval_of, out)):
        if (before.shape, before.dtype) != (after.shape, after.dtype):
            raise TypeError(
                f"associative_scan: {name_of(fn)} must return the shapes and dtypes it takes; it took {before.short()} "
                f"and gave {after.short()}"
            )


def _scan(combine: Callable[..., list[Any]], elems: list[Any], axes: list[int]) -> list[Any]:
    """Neighbours are combined in pairs, their running results found by recursion; those in between need one more step."""
    n = aval_of(elems[0]).shape[axes[0]]
    if n < 2:
        return elems
    pairs = combine(_every_second(elems, axes, 0, n - n % 2), _every_second(elems, axes, 1, n))
    odd = _scan(combine, pairs, axes)
    first = _part(elems, axes, 0, 1)
    if n == 2:
        return _joined(first, odd, axes)
    before = odd if n % 2 else _part(odd, axes, 0, n // 2 - 1)
    even = combine(before, _every_second(elems, axes, 2, n))
    return _interleaved(_joined(first, even, axes), odd, axes)


def _part(xs: list[Any], axes: list[int], start: int, stop: int) -> list[Any]:
    return [slice_in_dim(x, start, stop, 1, a) for x, a in zip(xs, axes)]


def _every_second(xs: list[Any], axes: list[int], start: int, stop: int) -> list[Any]:
    return [slice_in_dim(x, start, stop, 2, a) for x, a in zip(xs, axes)]


def _joined(xs: list[Any], ys: list[Any], axes: list[int]) -> list[Any]:
    return [concatenate_p(x, y, dimension=a) for x, y, a in zip(xs, ys, axes)]


def _interleaved(xs: list[Any], ys: list[Any], axes: list[int]) -> list[Any]:
    """x[0], y[0], x[1], y[1], …; there may be one more x."""
    return [_weave(x, y, a) for x, y, a in zip(xs, ys, axes)]


def _weave(x: Any, y: Any, axis: int) -> Any:
    n = aval_of(y).shape[axis]
    pairs = concatenate_p(*[_with_axis(slice_in_dim(z, 0, n, 1, axis), axis + 1) for z in (x, y)], dimension=axis + 1)
    shape = aval_of(y).shape
    woven = reshape(pairs, (*shape[:axis], 2 * n, *shape[axis + 1 :]))
    return (
        woven
        if aval_of(x).shape[axis] == n
        else concatenate_p(woven, slice_in_dim(x, n, n + 1, 1, axis), dimension=axis)
    )


def _with_axis(x: Any, axis: int) -> Any:
    shape = aval_of(x).shape
    return reshape(x, (*shape[:axis], 1, *shape[axis:]))
