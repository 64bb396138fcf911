"""Vectors as sets.

The size of these results depends on values: outside any trace NumPy finds them; with `size` a program does, in a trace, too.
Such a program sorts both vectors together; what stands in either is then a run of equal neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.placement import beside
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..core.trace import Tracer
from ..eager.functions import eager_jit
from ..ops.elementwise import and_p, eq_p, ge_p, ne_p, not_p, or_p
from ..ops.indexing import iota
from ..ops.linear import concatenate_p, full, reshape, slice_in_dim, sub_p, where as choose
from ..ops.reduce import cummax_p, reduce_or_p
from ..ops.sort import sort_p
from ..symbolic.dimension import is_static
from ._ufunc import kind_of
from .distinct import (
    filled,
    starts_group,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from .joining import concatenate
from .logic import chosen
from .operands import broadcast, cast, integer, operand_and_aval, promoted, scalar_of
from .selecting import compress, concrete_value, is_unknown, needs_size, take
from .sorting import search
from .structure import array_operand, ravel


__all__ = ["intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts",
           "unique_inverse", "unique_values"]  # fmt: skip


_METHODS = ("auto", "compare_all", "binary_search", "sort")
_PAIRS = 32
"""Test elements of which each is compared; among more it takes up to 25 times as long as to search."""


@eager_jit(static="assume_unique invert method")
def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Array:
    """Whether each element is among `test_elements`, as booleans of its shape (`invert`: whether it is not).

    `method`: "compare_all" compares every pair; "binary_search" and "sort" sort `test_elements` and search there. "auto" does so for
    more than 32 real numbers. Raises ValueError for others.
    """
    if method not in _METHODS:
        raise ValueError(f"isin: method is {', '.join(map(repr, _METHODS))}, not {method!r}")
    (x, y), _, _, _ = promoted("isin", (element, test_elements))
    x, y = array_operand("isin", x), array_operand("isin", y)
    shape, size = aval_of(x).shape, aval_of(y).size
    if 0 in (*shape, size):
        return full(shape, invert, dtypes.bool_)
    y = reshape(y, (size,))
    many = is_static((size,)) and size > _PAIRS and dtypes.kind(aval_of(y).dtype) in "iuf"
    if method in ("binary_search", "sort") or (method == "auto" and many):
        (y,) = sort_p(y, dimension=0, is_stable=False, num_keys=1)
        found = eq_p(x, take(y, search(y, x, "left", np.dtype(np.int32)), mode="clip"))
    else:
        rows = broadcast(reshape(x, (*shape, 1)), (*shape, 1), (*shape, size))
        found = reduce_or_p(eq_p(rows, broadcast(y, (size,), (*shape, size))), axes=(len(shape),))
    return not_p(found) if invert else found


def union1d(ar1: ArrayLike, ar2: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements [n] of both arrays, in ascending order; `size` and `fill_value` as in `unique`."""
    return unique(concatenate([ravel(ar1), ravel(ar2)]), size=size, fill_value=fill_value)


def _vectors(name: str, ar1: Any, ar2: Any) -> list[Any]:
    """Both as vectors of one dtype."""
    values, _, _, _ = promoted(name, (ar1, ar2))
    return [ravel(v) for v in values]


def _by_numpy(name: str, vectors: list[Any], size: int | None, *rest: Any) -> Any:
    """NumPy's answer to concrete vectors; for derivatives its length alone, an int. None if `size` is given."""
    if size is not None:
        return None
    if is_unknown(*vectors):
        raise needs_size(name)
    found = getattr(np, name)(*[np.asarray(concrete_value(v)) for v in vectors], *rest)
    if any(isinstance(v, Tracer) for v in vectors):
        return len(found[0] if isinstance(found, tuple) else found)
    weak = all(aval_of(v).weak_type for v in vectors)
    if not isinstance(found, tuple):
        return beside(vectors[0], found, weak)
    return beside(vectors[0], found[0], weak), *[beside(vectors[0], f) for f in found[1:]]


def setdiff1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """The distinct elements [n] of the first that are not in the second, in ascending order (`assume_unique`: in
    theirs). With `size` exactly so many, missing ones are `fill_value` (default 0). Raises ConcretizationTypeError
    while tracing without `size`."""
    x, _ = operand_and_aval("setdiff1d", ar1)
    if size is None:
        if is_unknown(x, ar2):
            raise needs_size("setdiff1d")
        kept = ravel(x) if assume_unique else unique(x)
        left, right = (np.asarray(concrete_value(v)) for v in promoted("setdiff1d", (kept, ar2))[0])
        return compress(~np.isin(left, right), kept)
    return _difference(x, ar2, bool(assume_unique), integer("setdiff1d", size, "size"), fill_value)


@eager_jit(static="assume_unique size")
def _difference(ar1: Any, ar2: Any, assume_unique: bool, size: int, fill_value: Any) -> Any:
    x = ravel(ar1)
    filler = cast(*operand_and_aval("setdiff1d", 0 if fill_value is None else fill_value), aval_of(x).dtype)
    if not aval_of(x).size:
        return full((size,), 0, aval_of(x).dtype) if fill_value is None else broadcast(filler, (), (size,))
    alone = isin(x, ar2, invert=True)
    if not assume_unique:
        # Those left out are sorted behind all others.
        out, x = sort_p(not_p(alone), x, dimension=0, is_stable=True, num_keys=2)
        alone = and_p(starts_group(x, True), not_p(out))
    values, there, *_ = filled(x, alone, size, filler)
    return choose(there, values, filler)


def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array | tuple[Array, ...]:
    """The distinct elements [n] that stand in both, in ascending order; with `return_indices` also where each stands
    first in either, both [n]. With `size` exactly so many: missing ones are `fill_value` (default: the least of the
    result) and their indices the sizes of the arrays. Raises ConcretizationTypeError while tracing without `size`."""
    vectors = _vectors("intersect1d", ar1, ar2)
    found = _by_numpy("intersect1d", vectors, size, assume_unique, return_indices)
    if found is None or isinstance(found, int):
        found = _intersection(*vectors, integer("intersect1d", found if size is None else size, "size"), fill_value)  # pyright: ignore[reportCallIssue]
        return found if return_indices else found[0]
    return found


def _together(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Both vectors sorted together, the places they come from (those of the second behind those of the first), and
    whether each comes from the second."""
    both = concatenate_p(x, y, dimension=0)
    index = dtypes.default_int()
    ordered, order = sort_p(both, iota(index, aval_of(both).shape), dimension=0, is_stable=True, num_keys=1)
    return ordered, order, ge_p(order, scalar_of(aval_of(x).size, index, False))


def _group_starts(first: Any) -> Any:
    """For every place where its group begins."""
    index = dtypes.default_int()
    places = iota(index, aval_of(first).shape)
    return cummax_p(choose(first, places, scalar_of(0, index, False)), axis=0, reverse=False)


@eager_jit(static="size")
def _intersection(x: Any, y: Any, size: int, fill_value: Any) -> tuple[Any, Any, Any]:
    index, sizes = dtypes.default_int(), (aval_of(x).size, aval_of(y).size)
    if not all(sizes):
        out = [full((size,), n, index) for n in sizes]
        empty = full((size,), 0, aval_of(x).dtype)
        return _given(empty, full((size,), False, dtypes.bool_), fill_value), *out
    ordered, order, second = _together(x, y)
    total = sum(sizes)
    left, right = ((slice_in_dim(v, 0, total - 1), slice_in_dim(v, 1, total)) for v in (ordered, second))
    # The sort is stable: within a group the first vector's elements come first.
    both = and_p(eq_p(*left), and_p(not_p(right[0]), right[1]))
    values, there, places, starts = filled(ordered, both, size, fill_value, _group_starts(starts_group(ordered, False)))
    one = scalar_of(1, index, False)
    first = take(order, starts, mode="clip")
    other = sub_p(take(order, places + one, mode="clip"), scalar_of(sizes[0], index, False))
    indices = (choose(there, i, scalar_of(n, index, False)) for i, n in zip((first, other), sizes))
    return _given(values, there, fill_value), *indices


def _given(values: Any, there: Any, fill_value: Any) -> Any:
    return values if fill_value is None else chosen("fill_value", there, values, fill_value)


def setxor1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """The distinct elements [n] that stand in exactly one of both, in ascending order. With `size` exactly so many:
    missing ones are `fill_value` (default: the least of the result). Raises ConcretizationTypeError while tracing
    without `size`."""
    vectors = _vectors("setxor1d", ar1, ar2)
    found = _by_numpy("setxor1d", vectors, size, assume_unique)
    if found is None or isinstance(found, int):
        return _in_one(*vectors, integer("setxor1d", found if size is None else size, "size"), fill_value)  # pyright: ignore[reportCallIssue]
    return found


@eager_jit(static="size")
def _in_one(x: Any, y: Any, size: int, fill_value: Any) -> Any:
    total = aval_of(x).size + aval_of(y).size
    if not total:
        empty = full((size,), 0, aval_of(x).dtype)
        return _given(empty, full((size,), False, dtypes.bool_), fill_value)
    ordered, _, second = _together(x, y)
    first, edge = starts_group(ordered, True), full((1,), True, dtypes.bool_)
    last = concatenate_p(slice_in_dim(first, 1, total), edge, dimension=0)
    starts = _group_starts(first)
    alone = and_p(last, eq_p(take(second, starts, mode="clip"), second))
    if kind_of(ordered) in "fc":
        # NaN is in neither of the other's elements: each vector's counts.
        nan, following = ne_p(ordered, ordered), concatenate_p(slice_in_dim(second, 1, total), edge, dimension=0)
        alone = or_p(alone, and_p(nan, or_p(last, ne_p(second, following))))
    values, there, *_ = filled(ordered, alone, size, fill_value, starts)
    return _given(values, there, fill_value)
