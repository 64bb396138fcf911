"""Functions that make, move and join elements."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from ..ops import indexing, linear
from ._operands import operands as in_one_dtype


def broadcast_in_dim(operand: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> Any:
    """operand with its axis i at broadcast_dimensions[i] of shape; axes of size 1 are repeated. Raises ValueError where
    that does not fit."""
    return linear.broadcast_in_dim(operand, tuple(shape), tuple(broadcast_dimensions))


def broadcast(operand: Any, sizes: Sequence[int]) -> Any:
    """operand repeated along new leading axes of the given sizes."""
    shape = aval_of(operand).shape
    return broadcast_in_dim(operand, (*sizes, *shape), range(len(sizes), len(sizes) + len(shape)))


def reshape(operand: Any, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None) -> Any:
    """The same elements, in row-major order, under another shape; `dimensions` permutes the axes first. Raises TypeError
    if the number of elements differs."""
    if dimensions is not None:
        operand = transpose(operand, dimensions)
    return linear.reshape(operand, tuple(new_sizes))


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """The axes from start to stop (excluded) as one."""
    shape = aval_of(operand).shape
    start, stop, _ = builtins.slice(start_dimension, stop_dimension).indices(len(shape))
    return reshape(operand, (*shape[:start], math.prod(shape[start:stop]), *shape[stop:]))


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """Result axis i is operand axis permutation[i]. Raises TypeError if that is no permutation."""
    return linear.transpose(operand, tuple(permutation))


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """Without the given axes, all of size 1. Raises ValueError for others."""
    rank = aval_of(array).ndim
    return linear.squeeze_p(array, dimensions=tuple(sorted(d % rank for d in dimensions)))


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """With new axes of size 1 at the given places of the result."""
    rank = aval_of(array).ndim + len(dimensions)
    new = {d % rank for d in dimensions}
    own = tuple(i for i in range(rank) if i not in new)
    sizes = iter(aval_of(array).shape)
    return linear.broadcast_in_dim(array, tuple(1 if i in new else next(sizes) for i in range(rank)), own)


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """Order reversed along the given axes."""
    return linear.rev_p(operand, dimensions=tuple(dimensions))


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Arrays of one dtype one after another along an axis. Raises TypeError where the other axes differ."""
    operands = list(operands)
    return operands[0] if len(operands) == 1 else linear.concatenate_p(*operands, dimension=dimension)


def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """padding_value before, after and between elements: (low, high, interior) for each axis; negative low and high cut."""
    config = tuple((int(a), int(b), int(c)) for a, b, c in padding_config)
    return linear.pad_p(*in_one_dtype("pad", operand, padding_value), padding_config=config)


def full(shape: Sequence[int], fill_value: Any, dtype: Any = None) -> Any:
    """An array with all elements fill_value."""
    dtype = aval_of(fill_value).dtype if dtype is None else dtypes.canonicalize(dtype)
    if aval_of(fill_value).shape:
        raise TypeError(f"lax.full takes a scalar, it got {aval_of(fill_value).short()}")
    if hasattr(fill_value, "aval"):
        return broadcast_in_dim(linear.convert(fill_value, dtype), shape, ())
    return linear.full(tuple(shape), fill_value, dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Sequence[int] | None = None) -> Any:
    """Like `full`, with the shape and dtype of x by default."""
    aval = aval_of(x)
    return full(aval.shape if shape is None else shape, fill_value, aval.dtype if dtype is None else dtype)


def iota(dtype: Any, size: int) -> Any:
    """0, 1, …, size - 1."""
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(dtype: Any, shape: Sequence[int], dimension: int) -> Any:
    """Indices along one axis of shape."""
    return indexing.iota(dtypes.canonicalize(dtype), tuple(shape), dimension)


def slice(
    operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> Any:
    """Elements from start to limit (excluded) by stride along every axis. Raises TypeError where that does not fit."""
    steps = None if strides is None or all(s == 1 for s in strides) else tuple(map(int, strides))
    return linear.slice_p(
        operand,
        start_indices=tuple(map(int, start_indices)),
        limit_indices=tuple(map(int, limit_indices)),
        strides=steps,
    )


def slice_in_dim(operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0) -> Any:
    """`operand[start:limit:stride]` along one axis, negative indices counting from the end."""
    shape = aval_of(operand).shape
    start, stop, step = builtins.slice(start_index, limit_index, stride).indices(shape[axis])
    return linear.slice_in_dim(operand, start, max(start, stop), step, axis % len(shape))


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """One index along an axis, which stays with size 1 if `keepdims`. Raises IndexError beyond the ends."""
    size = aval_of(operand).shape[axis]
    if not -size <= index < size:
        raise IndexError(f"index {index} is beyond axis {axis} of {aval_of(operand).short()}")
    part = slice_in_dim(operand, index % size, index % size + 1, 1, axis)
    return part if keepdims else squeeze(part, (axis,))


def dynamic_slice(operand: Any, start_indices: Any, slice_sizes: Sequence[int]) -> Any:
    """A part of fixed size at indices that may be traced (one integer scalar for each axis); a part that would reach
    beyond the end is moved back."""
    return indexing.dynamic_slice_p(operand, *_starts(operand, start_indices), slice_sizes=tuple(map(int, slice_sizes)))


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Any:
    """`dynamic_slice` along one axis."""
    shape = aval_of(operand).shape
    starts: list[Any] = [0] * len(shape)
    starts[axis] = start_index
    sizes = [slice_size if i == axis % len(shape) else n for i, n in enumerate(shape)]
    return dynamic_slice(operand, starts, sizes)


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """One traced index along an axis."""
    part = dynamic_slice_in_dim(operand, index, 1, axis)
    return part if keepdims else squeeze(part, (axis,))


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Any:
    """operand with `update` written at indices that may be traced."""
    return indexing.dynamic_update_slice_p(operand, update, *_starts(operand, start_indices))


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int) -> Any:
    """`dynamic_update_slice` along one axis."""
    starts: list[Any] = [0] * aval_of(operand).ndim
    starts[axis] = start_index
    return dynamic_update_slice(operand, update, starts)


def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: int) -> Any:
    """operand with one traced index along an axis replaced by `update`, which may lack that axis."""
    if aval_of(update).ndim != aval_of(operand).ndim:
        update = expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(operand, update, index, axis)


def _starts(operand: Any, start_indices: Any) -> list[Any]:
    """Start indices as scalars of one dtype; negative numbers count from the end."""
    aval = aval_of(operand)
    if hasattr(start_indices, "aval") or isinstance(start_indices, np.ndarray):
        start_indices = [
            index_in_dim(start_indices, i, 0, keepdims=False) for i in range(aval_of(start_indices).shape[0])
        ]
    if len(start_indices) != aval.ndim:
        raise TypeError(f"{aval.short()} needs {aval.ndim} start indices, it got {len(start_indices)}")
    kinds = {aval_of(i).dtype for i in start_indices if not isinstance(i, int)}
    dtype = kinds.pop() if len(kinds) == 1 else dtypes.int32
    return [_start(i, n, dtype) for i, n in zip(start_indices, aval.shape)]


def _start(index: Any, size: int, dtype: Any) -> Any:
    if isinstance(index, int):
        return dtype.type(index + size if index < 0 else index)
    return linear.convert(index, dtype)
