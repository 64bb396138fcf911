"""Functions that make, move and join elements."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend.placement import laid, laying, place_like
from ..backend.stages import ShapeDtypeStruct
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding, SupportsShape
from ..core.avals import aval_of
from ..core.staging import constant_atom
from ..ops import elementwise, indexing, linear
from ..symbolic.dimension import is_symbolic_dim, size
from ._operands import as_array, check_sizes, ints, of_one_dtype


__all__ = ["broadcast", "broadcast_in_dim", "broadcasted_iota", "collapse", "concatenate", "dynamic_index_in_dim",
           "dynamic_slice", "dynamic_slice_in_dim", "dynamic_update_index_in_dim", "dynamic_update_slice",
           "dynamic_update_slice_in_dim", "empty", "expand_dims", "full", "full_like", "index_in_dim", "iota", "pad",
           "reshape", "rev", "slice", "slice_in_dim", "squeeze", "transpose"]  # fmt: skip


@laying
def broadcast_in_dim(
    operand: ArrayLike,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """operand with its axis i at broadcast_dimensions[i] of shape, in any order; axes of size 1 are repeated. Raises
    TypeError where that does not fit."""
    sizes, places = check_sizes("broadcast_in_dim", shape), ints(broadcast_dimensions)
    own = aval_of(operand).shape
    fits = len(places) == len(own) == len(set(places))
    if not fits or any(not 0 <= d < len(sizes) or n not in (1, sizes[d]) for n, d in zip(own, places)):
        raise TypeError(
            f"{aval_of(operand).short()} cannot be broadcast to shape {sizes} with its axes at {places}: they name one axis "
            "each, whose sizes are equal or 1"
        )
    if list(places) != sorted(places):
        operand = transpose(operand, sorted(range(len(places)), key=places.__getitem__))
        places = tuple(sorted(places))
    return linear.broadcast_in_dim(as_array(operand), sizes, places)


@laying
def broadcast(
    operand: ArrayLike, sizes: Sequence[int], *, out_sharding: Sharding | PartitionSpec | None = None
) -> Array:
    """operand [...] repeated along new leading axes of the given sizes: [*sizes, ...]. Raises TypeError for negative
    sizes."""
    sizes = check_sizes("broadcast", sizes)
    shape = aval_of(operand).shape
    return broadcast_in_dim(operand, (*sizes, *shape), range(len(sizes), len(sizes) + len(shape)))


@laying
def reshape(
    operand: ArrayLike,
    new_sizes: int | Sequence[int],
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """The same elements, in row-major order, under another shape; `dimensions` permutes the axes first. Raises TypeError
    if the number of elements differs."""
    if dimensions is not None:
        operand = transpose(operand, dimensions)
    return linear.reshape(as_array(operand), ints((new_sizes,) if isinstance(new_sizes, int) else new_sizes))


def collapse(operand: ArrayLike, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """The axes from start to stop (excluded) as one. Raises ValueError where stop lies before start."""
    shape = aval_of(operand).shape
    start, stop, _ = builtins.slice(start_dimension, stop_dimension).indices(len(shape))
    if stop < start:
        raise ValueError(f"collapse of {aval_of(operand).short()}: axis {stop_dimension} lies before {start_dimension}")
    return reshape(operand, (*shape[:start], math.prod(shape[start:stop]), *shape[stop:]))


def transpose(operand: ArrayLike, permutation: Sequence[int]) -> Array:
    """Result axis i is operand axis permutation[i]. Raises TypeError if that is not a permutation."""
    if len(permutation) != aval_of(operand).ndim:
        raise TypeError(
            f"transpose: {tuple(permutation)} is not a permutation of the axes of {aval_of(operand).short()}"
        )
    return linear.transpose(as_array(operand), ints(permutation))


def squeeze(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """Without the given axes, all of size 1. Raises ValueError for others, and for one that is named twice."""
    rank, axes = aval_of(array).ndim, ints(dimensions)
    if not axes:
        return as_array(array)
    found = sorted({d % rank for d in axes if -rank <= d < rank})
    if len(found) != len(axes):
        raise ValueError(f"squeeze: {axes} do not name distinct axes of {aval_of(array).short()}")
    return linear.squeeze_p(array, dimensions=tuple(found))


def expand_dims(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """With new axes of size 1 at the given places of the result. Raises ValueError for places that are not there, or
    twice."""
    rank = aval_of(array).ndim + len(dimensions)
    if not dimensions:
        return constant_atom(as_array(array))
    new = {d % rank for d in dimensions if -rank <= d < rank}
    if len(new) != len(dimensions):
        raise ValueError(f"expand_dims: {tuple(dimensions)} do not name distinct axes of a result of {rank} axes")
    own = tuple(i for i in range(rank) if i not in new)
    sizes = iter(aval_of(array).shape)
    return linear.broadcast_in_dim(as_array(array), tuple(1 if i in new else next(sizes) for i in range(rank)), own)


def rev(operand: ArrayLike, dimensions: Sequence[int]) -> Array:
    """Order reversed along the given axes."""
    return linear.rev_p(operand, dimensions=ints(dimensions))


def concatenate(operands: Sequence[Any], dimension: int) -> Array:
    """Arrays of one dtype one after another along an axis. Raises TypeError where the other axes differ, ValueError for no
    arrays."""
    operands = list(operands)
    if not operands:
        raise ValueError("concatenate needs an array")
    return as_array(operands[0]) if len(operands) == 1 else linear.concatenate_p(*operands, dimension=dimension)


def pad(operand: ArrayLike, padding_value: ArrayLike, padding_config: Sequence[tuple[int, int, int]]) -> Array:
    """padding_value before, after and between elements: (low, high, interior) for each axis; negative low and high cut."""
    config = tuple((size(a), size(b), size(c)) for a, b, c in padding_config)
    of_one_dtype("pad", (operand, padding_value))
    return linear.pad_p(operand, padding_value, padding_config=config)


def full(
    shape: int | Sequence[int],
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """An array with all elements fill_value, a scalar. Raises TypeError for an array."""
    if sharding is not None:
        return laid(sharding, full, shape, fill_value, dtype)
    shape, aval = check_sizes("full", (shape,) if isinstance(shape, int) else shape), aval_of(fill_value)
    weak = dtype is None and aval.weak_type
    to = aval.dtype if dtype is None else dtypes.explicit(dtype)
    if aval.shape:
        raise TypeError(f"lax.full takes a scalar, it got {aval.short()}")
    if dtypes.is_complex(aval.dtype) and not dtypes.is_complex(to):
        raise TypeError(f"lax.full: the complex number {fill_value!r} cannot fill an array of {to.name}")
    if hasattr(fill_value, "aval") or (dtypes.is_float(aval.dtype) and dtypes.is_integer(to)):
        return broadcast_in_dim(linear.convert(fill_value, to, weak), shape, ())
    if weak:
        return linear.broadcast_in_dim_p(fill_value, shape=shape, broadcast_dimensions=())
    return linear.full(shape, fill_value, to)


def full_like(
    x: ArrayLike | SupportsShape,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Sequence[int] | None = None,
    sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Like `full`, with the shape and dtype of x by default, and where x was put."""
    if sharding is not None:
        return laid(sharding, full_like, x, fill_value, dtype, shape)
    aval = aval_of(x)
    sizes = aval.shape if shape is None else tuple(shape)
    made = full(sizes, fill_value, aval.dtype if dtype is None else dtype, sharding=place_like(x, sizes, dtype))
    weak = dtype is None and aval.weak_type and not isinstance(x, ShapeDtypeStruct)
    return linear.convert(made, aval.dtype, True) if weak else made


def iota(dtype: DTypeLike, size: int) -> Array:
    """0, 1, …, size - 1: [size], in `dtype`."""
    return broadcasted_iota(dtype, (size,), 0)


@laying
def empty(
    shape: int | Sequence[int], dtype: DTypeLike, *, out_sharding: Sharding | PartitionSpec | None = None
) -> Array:
    """An array of `shape` and `dtype` with any content (XLA has no memory without one: it is zeros)."""
    return linear.full((shape,) if isinstance(shape, int) else tuple(shape), 0, dtypes.explicit(dtype))


@laying
def broadcasted_iota(
    dtype: DTypeLike, shape: Sequence[int], dimension: int, *, out_sharding: Sharding | PartitionSpec | None = None
) -> Array:
    """Indices along one axis of an array of `shape`, in `dtype`. Raises TypeError for negative sizes."""
    return indexing.iota(dtypes.explicit(dtype), check_sizes("broadcasted_iota", shape), dimension)


def slice(
    operand: ArrayLike, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> Array:
    """Elements from start to limit (excluded) by stride along every axis. Raises TypeError where that does not fit."""
    starts, limits, rank = ints(start_indices), ints(limit_indices), aval_of(operand).ndim
    steps = None if strides is None else ints(strides)
    if steps is not None and len(steps) == rank and all(s == 1 for s in steps):
        steps = None
    return linear.slice_p(operand, start_indices=starts, limit_indices=limits, strides=steps)


def slice_in_dim(
    operand: ArrayLike, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Array:
    """`operand[start:limit:stride]` along one axis, negative indices counting from the end. Raises TypeError for indices
    beyond the ends, for a limit before the start and for a stride that is not positive, IndexError for an axis that does not
    exist."""
    shape = aval_of(operand).shape
    n, step = shape[axis], operator.index(stride)
    start = 0 if start_index is None else _bound(start_index)
    stop = n if limit_index is None else _bound(limit_index)
    start, stop = start + n if start < 0 else start, stop + n if stop < 0 else stop
    return linear.slice_in_dim(operand, start, stop, step, axis % len(shape))


def _bound(n: Any) -> Any:
    return n if is_symbolic_dim(n) else operator.index(n)


def index_in_dim(operand: ArrayLike, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """One index along an axis, which stays with size 1 if `keepdims`. Raises IndexError beyond the ends."""
    size = aval_of(operand).shape[axis]
    if not -size <= index < size:
        raise IndexError(f"index {index} is beyond axis {axis} of {aval_of(operand).short()}")
    part = slice_in_dim(operand, index % size, index % size + 1, 1, axis)
    return part if keepdims else squeeze(part, (axis,))


Negative = bool | Sequence[bool]
"""Whether negative indices count from the end: along all axes, or one answer for each."""


def dynamic_slice(
    operand: ArrayLike,
    start_indices: ArrayLike | Sequence[ArrayLike],
    slice_sizes: int | Sequence[int],
    *,
    allow_negative_indices: Negative = True,
) -> Array:
    """A part of fixed size at indices that may be traced (one integer scalar for each axis); a part that would reach
    beyond the end is moved back. Negative indices count from the end, unless told otherwise: what is never negative
    needs no operation to find out. Raises TypeError or ValueError for another number of indices or sizes that do not
    fit."""
    starts = _starts(operand, start_indices, allow_negative_indices)
    sizes = ints((slice_sizes,) if isinstance(slice_sizes, int) else slice_sizes)
    if len(sizes) > len(starts):
        raise ValueError(f"dynamic_slice of {aval_of(operand).short()}: {sizes} are more sizes than axes")
    return indexing.dynamic_slice_p(operand, *starts, slice_sizes=sizes)


def dynamic_slice_in_dim(
    operand: ArrayLike, start_index: ArrayLike, slice_size: int, axis: int = 0, *, allow_negative_indices: bool = True
) -> Array:
    """`dynamic_slice` along one axis."""
    starts, negative = _one_start(operand, start_index, axis, allow_negative_indices)
    sizes = [_bound(slice_size) if i == axis % len(starts) else n for i, n in enumerate(aval_of(operand).shape)]
    return dynamic_slice(operand, starts, sizes, allow_negative_indices=negative)


def dynamic_index_in_dim(
    operand: ArrayLike, index: ArrayLike, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True
) -> Array:
    """One traced index along an axis, which stays with size 1 if `keepdims`."""
    part = dynamic_slice_in_dim(operand, index, 1, axis, allow_negative_indices=allow_negative_indices)
    return part if keepdims else squeeze(part, (axis,))


def dynamic_update_slice(
    operand: ArrayLike,
    update: ArrayLike,
    start_indices: ArrayLike | Sequence[ArrayLike],
    *,
    allow_negative_indices: Negative = True,
) -> Array:
    """operand with `update` written at indices that may be traced; see `dynamic_slice`."""
    return indexing.dynamic_update_slice_p(operand, update, *_starts(operand, start_indices, allow_negative_indices))


def dynamic_update_slice_in_dim(
    operand: ArrayLike, update: ArrayLike, start_index: ArrayLike, axis: int, *, allow_negative_indices: bool = True
) -> Array:
    """`dynamic_update_slice` along one axis."""
    starts, negative = _one_start(operand, start_index, axis, allow_negative_indices)
    return dynamic_update_slice(operand, update, starts, allow_negative_indices=negative)


def dynamic_update_index_in_dim(
    operand: ArrayLike, update: ArrayLike, index: ArrayLike, axis: int, *, allow_negative_indices: bool = True
) -> Array:
    """operand with one traced index along an axis replaced by `update`, which may lack that axis."""
    if aval_of(update).ndim != aval_of(operand).ndim:
        update = expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(operand, update, index, axis, allow_negative_indices=allow_negative_indices)


def _one_start(operand: Any, index: Any, axis: int, negative: bool) -> tuple[list[Any], list[bool]]:
    """Starts at 0 along all axes but one, and along which of them they may be negative."""
    rank = aval_of(operand).ndim
    starts: list[Any] = [0 if isinstance(index, int) else aval_of(index).dtype.type(0)] * rank
    starts[axis] = index
    return starts, [negative and i == axis % rank for i in range(rank)]


def _starts(operand: Any, start_indices: Any, negative: Negative) -> list[Any]:
    """Start indices as scalars of one dtype, from the start of their axes."""
    aval = aval_of(operand)
    if hasattr(start_indices, "aval") or isinstance(start_indices, np.ndarray):
        found = aval_of(start_indices)
        if found.ndim != 1:
            raise (ValueError if found.ndim else TypeError)(
                f"start indices are a sequence of scalars or an array of one axis; they are {found.short()}"
            )
        start_indices = [index_in_dim(start_indices, i, 0, keepdims=False) for i in range(found.shape[0])]
    if len(start_indices) != aval.ndim:
        raise ValueError(f"{aval.short()} needs {aval.ndim} start indices, it got {len(start_indices)}")
    kinds = {aval_of(i).dtype for i in start_indices}
    if len(kinds) > 1 or not all(map(dtypes.is_integer, kinds)):
        shown = ", ".join(aval_of(i).short() for i in start_indices)
        raise TypeError(f"start indices are integers of one dtype, not {shown}: convert them with .astype(...)")
    allowed = [negative] * aval.ndim if isinstance(negative, bool) else list(negative)
    if len(allowed) != aval.ndim:
        raise ValueError(
            f"allow_negative_indices has {len(allowed)} answers for the {aval.ndim} axes of {aval.short()}"
        )
    return [_start(i, n, dtype, may) for dtype in kinds for i, n, may in zip(start_indices, aval.shape, allowed)]


def _start(index: Any, size: int, dtype: Any, negative: bool) -> Any:
    if isinstance(index, (int, np.integer)):
        if index < 0 and not negative:
            raise ValueError(f"start index {index} is negative, and allow_negative_indices=False")
        return linear.number_of(index + size if index < 0 else index, dtype)
    index = linear.convert(index, dtype)
    if not negative or dtypes.kind(dtype) != "i":
        return index
    below = elementwise.lt_p(index, dtype.type(0))
    return linear.where(below, linear.add_p(index, linear.number_of(size, dtype)), index)
