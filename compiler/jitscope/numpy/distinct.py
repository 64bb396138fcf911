"""Distinct elements.

How many there are depends on values: outside any trace NumPy finds them; with `size` a program does, in a trace, too.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from ..backend.placement import beside
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..core.trace import Tracer
from ..eager.functions import eager_jit
from ..named_tuple import NamedTuple
from ..ops.elementwise import and_p, ne_p, not_p
from ..ops.families import scalar_like
from ..ops.indexing import iota
from ..ops.linear import concatenate_p, convert, full, reshape, slice_in_dim, sub_p, where as choose
from ..ops.reduce import cumsum_p, reduce_or_p
from ..ops.sort import sort_p
from ._ufunc import kind_of
from .at import At
from .operands import broadcast, cast, check_whole, integer, one_axis, operand_and_aval, scalar_of
from .selecting import concrete_value, is_unknown, needs_size, nonzero, take
from .structure import array_operand, broadcast_to, moveaxis


class UniqueAll(NamedTuple):
    """What `unique_all` gives."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What `unique_counts` gives."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What `unique_inverse` gives."""

    values: Array
    inverse_indices: Array


@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: bool = True,
) -> Array: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: bool = True,
) -> Array | tuple[Array, ...]: ...
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: bool = True,
) -> Any:
    """The distinct elements (slices along `axis`) in ascending order; on demand also, as a tuple, where each stands first,
    which of them each element is (in the shape of `ar`; with an axis, a vector), and how often each stands.

    With `size` exactly so many: further ones are left out, missing ones are `fill_value` (default: the least element), which
    broadcasts to the shape of a slice.
    They come in order whatever `sorted` says. Raises ConcretizationTypeError while tracing without `size`, ValueError
    where nothing is there to fill up with.
    """
    wanted = (return_index, return_inverse, return_counts)
    x, aval = operand_and_aval("unique", ar)
    axis = None if axis is None else one_axis("unique", axis, aval.ndim)
    if size is None:
        if is_unknown(x):
            raise needs_size("unique")
        check_whole("unique", aval)
        unique_of: Any = np.unique
        found = unique_of(np.asarray(concrete_value(x)), *wanted, axis=axis, equal_nan=equal_nan)
        if not isinstance(x, Tracer):
            weak = aval.weak_type
            if not any(wanted):
                return beside(x, found, weak)
            return beside(x, found[0], weak), *[beside(x, f) for f in found[1:]]
        # Derivatives and maps need the program; its size is known now.
        size, fill_value = (found[0] if any(wanted) else found).shape[axis or 0], None
    size = integer("unique", size, "size")
    if not (aval.size if axis is None else aval.shape[axis]) and size and fill_value is None:
        raise ValueError(f"unique: an array of shape {aval.shape} has nothing to make {size} of; give fill_value")
    found = _unique(x, size, axis, equal_nan, fill_value)
    picked = (found[0], *[part for part, want in zip(found[1:], wanted) if want])
    return picked if any(wanted) else picked[0]


@eager_jit(static="size axis equal_nan")
def _unique(ar: Any, size: int, axis: int | None, equal_nan: bool, fill_value: Any) -> UniqueAll:
    x = array_operand("unique", ar)
    shape, index = aval_of(x).shape, dtypes.default_int()
    rows = reshape(x, (aval_of(x).size,)) if axis is None else moveaxis(x, axis, 0)
    total, *rest = aval_of(rows).shape
    filler = None if fill_value is None else _filler(fill_value, aval_of(x).dtype, rest)
    if 0 in (total, *rest):
        values = full((size, *rest), 0, aval_of(x).dtype)
        values = (
            values
            if filler is None or 0 in rest
            else broadcast(convert(filler, aval_of(x).dtype), tuple(rest), (size, *rest))
        )
        counts = full((size,), 0, index)
        inverse = full(shape if axis is None else (total,), 0, index)
        return UniqueAll(values if axis is None else moveaxis(values, 0, axis), counts, inverse, counts)
    order, first = _groups(rows, equal_nan)
    (starts,) = nonzero(first, size=size)
    group = sub_p(cumsum_p(convert(first, index), axis=0, reverse=False), scalar_of(1, index, False))
    where = take(order, starts, mode="clip")
    values = take(rows, where, 0, mode="clip")
    if filler is not None:
        there = lead(first, size, len(rest))
        every = broadcast(filler, tuple(rest), (size, *rest))
        values = choose(broadcast(there, aval_of(there).shape, aval_of(values).shape), values, every)
    inverse = At(full((total,), 0, index))[order].set(group, unique_indices=True)
    return UniqueAll(
        values if axis is None else moveaxis(values, 0, axis),
        where,
        reshape(inverse, shape) if axis is None else inverse,
        _counts(first, size, index),
    )


def _filler(value: Any, dtype: Any, rest: list[int]) -> Any:
    """What stands in missing slices, of shape `rest`."""
    x = cast(*operand_and_aval("unique", value), dtype)
    shape, wanted = aval_of(x).shape, tuple(rest)
    if len(shape) > len(wanted) or any(n not in (1, m) for n, m in zip(shape[::-1], wanted[::-1])):
        if aval_of(x).size != 1:
            raise ValueError(f"unique: a fill_value of shape {shape} does not fit slices of shape {wanted}")
        x = reshape(x, ())
    return broadcast_to(x, wanted)


def lead(mask: Any, size: int, extra: int = 0) -> Any:
    """Booleans, as many of the first `size` true as the mask has true elements, with `extra` axes of size 1 behind."""
    index = dtypes.default_int()
    total = aval_of(mask).size
    count = slice_in_dim(cumsum_p(convert(mask, index), axis=0, reverse=False), total - 1, total)
    there = iota(index, (size,)) < broadcast(count, (1,), (size,))
    return reshape(there, (size, *[1] * extra))


def _counts(first: Any, size: int, index: Any) -> Any:
    """The lengths of the groups that begin where `first` holds."""
    total = aval_of(first).size
    (bounds,) = nonzero(first, size=size + 1, fill_value=total)
    return sub_p(slice_in_dim(bounds, 1, size + 1), slice_in_dim(bounds, 0, size))


def _groups(rows: Any, equal_nan: bool) -> tuple[Any, Any]:
    """The order in which rows are sorted, and where in it another one begins."""
    total = aval_of(rows).shape[0]
    columns = reshape(rows, (total, aval_of(rows).size // total))
    width = aval_of(columns).shape[1]
    keys = [reshape(slice_in_dim(columns, i, i + 1, axis=1), (total,)) for i in range(width)]
    index = iota(dtypes.default_int(), (total,))
    *ordered, order = sort_p(*keys, index, dimension=0, is_stable=True, num_keys=width)
    if width == 1:
        return order, starts_group(ordered[0], equal_nan)
    table = concatenate_p(*[reshape(column, (1, total)) for column in ordered], dimension=0)
    return order, starts_group(table, equal_nan)


def starts_group(ordered: Any, equal_nan: bool) -> Any:
    """Where a sorted vector (or the columns of a matrix) differs from the element before."""
    axis = aval_of(ordered).ndim - 1
    size = aval_of(ordered).shape[axis]
    left = slice_in_dim(ordered, 0, size - 1, axis=axis)
    right = slice_in_dim(ordered, 1, size, axis=axis)
    differs = ne_p(left, right)
    if equal_nan and kind_of(ordered) in "fc":
        differs = and_p(differs, not_p(and_p(ne_p(left, left), ne_p(right, right))))
    if axis:
        differs = reduce_or_p(differs, axes=(0,))
    return concatenate_p(full((1,), True, dtypes.bool_), differs, dimension=0)


def filled(x: Any, mask: Any, size: int, fill_value: Any, starts: Any = None) -> tuple[Array, Array, Array, Array]:
    """The elements of a vector at which the mask holds, `size` of them; whether each is one of these; their places; and
    the places they were taken from (`starts`: for every place another one, where its like begins).

    Missing ones are still to be filled, or, if no value is given, the first of them, or 0 if there is none."""
    (places,) = nonzero(mask, size=size)
    there, taken = lead(mask, size), places if starts is None else take(starts, places, mode="clip")
    values = take(x, taken, mode="clip")
    if fill_value is None and size:
        first = slice_in_dim(values, 0, 1)
        first = choose(slice_in_dim(there, 0, 1), first, scalar_like(first, 0))
        values = choose(there, values, broadcast(first, (1,), (size,)))
    return values, there, places, taken


def unique_all(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> UniqueAll:
    """Distinct elements [n], where each stands first [n], which of them each element of `x` is (in the shape of `x`),
    and counts [n]; NaNs differ. See `unique`."""
    values, indices, inverse, counts = unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    return UniqueAll(values, indices, inverse, counts)


def unique_counts(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> UniqueCounts:
    """Distinct elements [n] and how often each stands [n]; NaNs differ. See `unique`."""
    return UniqueCounts(*unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_inverse(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> UniqueInverse:
    """Distinct elements [n] and which of them each element of `x` is (in the shape of `x`); NaNs differ. See `unique`."""
    return UniqueInverse(*unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_values(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """Distinct elements [n] in ascending order; NaNs differ. See `unique`."""
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)
