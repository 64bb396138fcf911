"""Distinct elements, and vectors as sets.

The size of these results depends on values: outside any trace NumPy finds them; with `size` a program does, in a trace, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..backend.array import array_from_numpy
from ..core import dtypes
from ..core.avals import aval_of
from ..ops.elementwise import and_p, eq_p, ne_p, not_p
from ..ops.families import scalar_like
from ..ops.indexing import iota
from ..ops.linear import concatenate_p, convert, full, reshape, slice_in_dim, sub_p, where as choose
from ..ops.reduce import cumsum_p, reduce_or_p
from ..ops.sort import sort_p
from ._fused import fused
from ._operands import broadcast, cast, checked, integer, promoted, scalar_of
from ._ufunc import kind_of
from .at import At
from .joining import concatenate
from .logic import chosen, logical_not
from .selecting import compress, concrete_value, is_traced, needs_size, nonzero, take
from .structure import array_operand, ravel


class UniqueAll(NamedTuple):
    """What `unique_all` gives."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What `unique_counts` gives."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What `unique_inverse` gives."""

    values: Any
    inverse_indices: Any


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:
    """The distinct elements (slices along `axis`) in ascending order; on demand also, as a tuple, where each stands first,
    which of them each element is, and how often each stands.

    With `size` exactly so many: further ones are left out, missing ones are `fill_value` (default: the least). Raises
    ConcretizationTypeError while tracing without `size`, NotImplementedError for `size` with an axis.
    """
    wanted = (return_index, return_inverse, return_counts)
    if size is None:
        if is_traced(ar):
            raise needs_size("unique")
        unique_of: Any = np.unique
        found = unique_of(np.asarray(concrete_value(checked("unique", ar)[0])), *wanted, axis=axis, equal_nan=equal_nan)
        return tuple(map(array_from_numpy, found)) if any(wanted) else array_from_numpy(found)
    if axis is not None and checked("unique", ar)[1].ndim != 1:
        raise NotImplementedError("unique: size= with an axis")
    found = _unique(ar, integer("unique", size, "size"), equal_nan, fill_value)
    picked = (found[0], *[part for part, want in zip(found[1:], wanted) if want])
    return picked if any(wanted) else picked[0]


@fused(static="size equal_nan")
def _unique(ar: Any, size: int, equal_nan: bool, fill_value: Any) -> UniqueAll:
    x = array_operand("unique", ar)
    shape, total = aval_of(x).shape, aval_of(x).size
    index = dtypes.default_int()
    x = reshape(x, (total,))
    if total == 0:
        filler = scalar_like(x, 0) if fill_value is None else cast(*checked("unique", fill_value), aval_of(x).dtype)
        values = broadcast(filler, (), (size,))
        return UniqueAll(values, full((size,), 0, index), full(shape, 0, index), full((size,), 0, index))
    values, order = sort_p(x, iota(index, (total,)), dimension=0, is_stable=True, num_keys=1)
    first = _starts_group(values, equal_nan)
    group = sub_p(cumsum_p(convert(first, index), axis=0, reverse=False), scalar_of(1, index, False))
    (starts,) = nonzero(first, size=size, fill_value=total)
    (after,) = nonzero(first, size=size + 1, fill_value=total)
    ends = slice_in_dim(after, 1, size + 1)
    present = ne_p(starts, scalar_of(total, index, False))
    filler = (
        slice_in_dim(values, 0, 1) if fill_value is None else cast(*checked("unique", fill_value), aval_of(x).dtype)
    )
    inverse = At(full((total,), 0, index))[order].set(group, unique_indices=True)
    return UniqueAll(
        chosen("unique", present, take(values, starts, mode="clip"), filler),
        take(order, starts, mode="clip"),
        reshape(inverse, shape),
        choose(present, sub_p(ends, starts), scalar_of(0, index, False)),
    )


def _starts_group(ordered: Any, equal_nan: bool) -> Any:
    """Where a sorted vector differs from the element before."""
    size = aval_of(ordered).size
    left, right = slice_in_dim(ordered, 0, size - 1), slice_in_dim(ordered, 1, size)
    differs = ne_p(left, right)
    if equal_nan and kind_of(ordered) in "fc":
        differs = and_p(differs, not_p(and_p(ne_p(left, left), ne_p(right, right))))
    return concatenate_p(full((1,), True, dtypes.bool_), differs, dimension=0)


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """Distinct elements, where each stands first, which each element is, and counts; NaNs differ. See `unique`."""
    values, indices, inverse, counts = unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    return UniqueAll(values, indices, inverse, counts)


def unique_counts(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueCounts:
    """Distinct elements and how often each stands; NaNs differ. See `unique`."""
    return UniqueCounts(*unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_inverse(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueInverse:
    """Distinct elements and which of them each element is; NaNs differ. See `unique`."""
    return UniqueInverse(*unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Distinct elements; NaNs differ. See `unique`."""
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


# Vectors as sets -----------------------------------------------------------------------------------------------------


@fused(static="assume_unique invert method")
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, method: str = "auto"
) -> Any:
    """Whether each element is among `test_elements`, as booleans of its shape (`invert`: whether it is not)."""
    (x, y), _, _, _ = promoted("isin", (element, test_elements))
    x, y = array_operand("isin", x), array_operand("isin", y)
    shape, size = aval_of(x).shape, aval_of(y).size
    rows = broadcast(reshape(x, (*shape, 1)), (*shape, 1), (*shape, size))
    columns = broadcast(reshape(y, (size,)), (size,), (*shape, size))
    found = reduce_or_p(eq_p(rows, columns), axes=(len(shape),))
    return not_p(found) if invert else found


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The distinct elements of both, in ascending order, see `unique`."""
    return unique(concatenate([ravel(ar1), ravel(ar2)]), size=size, fill_value=fill_value)


def setdiff1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """The distinct elements of the first that are not in the second, in ascending order. With `size` exactly so many."""
    if size is None:
        kept = ravel(ar1) if assume_unique else unique(ar1)
        return compress(isin(kept, ar2, invert=True), kept)
    x = ravel(ar1)
    alone = logical_not(isin(x, ar2))
    return _unique_where(x, alone, integer("setdiff1d", size, "size"), fill_value)


@fused(static="size")
def _unique_where(x: Any, mask: Any, size: int, fill_value: Any) -> Any:
    """The distinct elements for which the mask holds."""
    total = aval_of(x).size
    index = dtypes.default_int()
    # Those left out are sorted behind all others.
    out, values, _ = sort_p(not_p(mask), x, iota(index, (total,)), dimension=0, is_stable=True, num_keys=2)
    first = and_p(_starts_group(values, True), not_p(out))
    (starts,) = nonzero(first, size=size, fill_value=total)
    filler = scalar_like(x, 0) if fill_value is None else cast(*checked("setdiff1d", fill_value), aval_of(x).dtype)
    return chosen("setdiff1d", ne_p(starts, scalar_of(total, index, False)), take(values, starts, mode="clip"), filler)


def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The distinct elements that stand in both, in ascending order; with `return_indices` also where each stands first in
    either. With `size` exactly so many."""
    if size is None:
        if is_traced(ar1, ar2):
            raise needs_size("intersect1d")
        intersection: Any = np.intersect1d
        found = intersection(
            *[np.asarray(concrete_value(checked("intersect1d", a)[0])) for a in (ar1, ar2)],
            assume_unique,
            return_indices,
        )
        return tuple(map(array_from_numpy, found)) if return_indices else array_from_numpy(found)
    if return_indices:
        raise NotImplementedError("intersect1d: return_indices with size=")
    x = ravel(ar1)
    return _unique_where(x, isin(x, ar2), integer("intersect1d", size, "size"), fill_value)


def setxor1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """The distinct elements that stand in exactly one of both, in ascending order."""
    left, right = (
        ravel(a) if assume_unique else unique(a, size=None if size is None else checked("setxor1d", a)[1].size)
        for a in (ar1, ar2)
    )
    both = concatenate([left, right])
    alone = concatenate([isin(left, right, invert=True), isin(right, left, invert=True)])
    if size is None:
        return unique(compress(alone, both))
    return _unique_where(both, alone, integer("setxor1d", size, "size"), fill_value)
