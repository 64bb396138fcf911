"""Shapes and what follows from them: broadcasting, stacking, repeating, values for shapes and dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops import linear, stacking
from ..ops.elementwise import lt_p, rem_p
from ..ops.indexing import GatherDimensionNumbers, gather
from ..symbolic.dimension import Dim, is_static
from ._operands import as_array, check_sizes, ints


__all__ = ["broadcast_like", "broadcast_shapes", "broadcast_to_rank", "dtype", "index_take", "shape_as_value", "stack",
           "stage", "tile", "unstack"]  # fmt: skip


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that arrays of the given shapes have together: aligned from the right, sizes equal or 1. Raises ValueError
    where they do not fit, TypeError without any shape."""
    if not shapes:
        raise TypeError("broadcast_shapes needs a shape")
    for shape in shapes:
        check_sizes("broadcast_shapes", shape)
    rank = max(map(len, shapes))
    rows = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    found = []
    for sizes in zip(*rows):
        others = set(sizes) - {1}
        if len(others) > 1:
            raise ValueError(f"shapes {', '.join(map(str, map(tuple, shapes)))} cannot be broadcast together")
        found.append(others.pop() if others else 1)
    return tuple(found)


def broadcast_to_rank(x: ArrayLike, rank: int) -> Array:
    """`x` with as many new leading axes of size 1 as `rank` needs; as it is if it has more."""
    shape = aval_of(x).shape
    return linear.reshape(stage(x), (1,) * (rank - len(shape)) + shape) if rank > len(shape) else stage(x)


def broadcast_like(arr: ArrayLike, like_arr: ArrayLike) -> Array:
    """`arr` repeated to the shape of `like_arr`, axes aligned from the right. Raises ValueError where that does not fit."""
    return linear.broadcast_to(as_array(arr), aval_of(like_arr).shape)


def stack(operands: Sequence[Any], axis: int = 0) -> Array:
    """Arrays of one shape and dtype, one after another along a new axis. Raises ValueError for shapes that differ and axes
    that do not exist, TypeError for dtypes that differ, IndexError for no arrays."""
    arrays = list(operands)
    return stacking.stack_p(*arrays, axis=_axis("stack", axis, aval_of(arrays[0]).ndim + 1))


def unstack(x: ArrayLike, axis: int = 0) -> tuple[Any, ...]:
    """The parts of an array along an axis, which goes. Raises ValueError for an axis that does not exist."""
    return tuple(stacking.unstack_p(x, axis=_axis("unstack", axis, aval_of(x).ndim)))


def _axis(name: str, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: there is no axis {axis} among {rank}")
    return int(axis) % rank


def tile(operand: ArrayLike, reps: Sequence[int]) -> Array:
    """Copies of an array one after another, `reps[i]` of them along axis i. Raises TypeError unless there is one number for
    each axis, ValueError for a negative one."""
    reps = ints(reps)
    if len(reps) != aval_of(operand).ndim:
        raise TypeError(f"lax.tile of {aval_of(operand).short()} needs {aval_of(operand).ndim} reps, it got {reps}")
    return stacking.tile_p(operand, reps=reps)


@eager_jit(static="axes", nested=True)
def _taken(src: Any, idxs: list[Any], *, axes: tuple[int, ...]) -> Any:
    aval = aval_of(src)
    rows = []
    for index, axis in zip(idxs, axes):
        length = linear.number_of(aval.shape[axis], aval_of(index).dtype)
        index = rem_p(index, length)  # with the sign of the index
        wrapped = linear.where(
            lt_p(index, linear.scalar_zero(aval_of(index).dtype)), linear.add_p(index, length), index
        )
        rows.append(linear.reshape(wrapped, (*aval_of(index).shape, 1)))
    indices = linear.concatenate_p(*rows, dimension=1) if len(rows) > 1 else rows[0]
    sizes = [1 if a in axes else n for a, n in enumerate(aval.shape)]
    numbers = GatherDimensionNumbers(tuple(range(1, aval.ndim - len(axes) + 1)), axes, axes)
    return gather(src, indices, numbers, sizes)


def index_take(src: ArrayLike, idxs: Sequence[Any], axes: Sequence[int]) -> Array:
    """`src` at the indices `idxs`, one array [n] of integers for each of `axes`: an axis of size n first, then the other
    axes of src. Indices count modulo the size of their axis. Raises ValueError for indices of other ranks."""
    for index in idxs:
        if aval_of(index).ndim != 1 or not dtypes.is_integer(aval_of(index).dtype):
            raise ValueError(f"index_take: indices are integers in arrays of one axis; one is {aval_of(index).short()}")
    return _taken(src, list(idxs), axes=tuple(int(a) for a in axes))


def shape_as_value(shape: Sequence[int]) -> Array:
    """The sizes as integers (int32) in an array."""
    if not is_static(shape):
        return stack([linear.convert(n.dimension_as_value() if isinstance(n, Dim) else n, dtypes.int32) for n in shape])
    sizes: Any = np.asarray(tuple(shape), np.int32)
    return sizes if len(shape) else linear.full((0,), 0, dtypes.int32)


def dtype(x: ArrayLike | DTypeLike) -> np.dtype:
    """The dtype of an array, a number or a scalar type, or the dtype that is given. Raises ValueError for None."""
    if x is None:
        raise ValueError("lax.dtype: None has no dtype")
    if isinstance(x, (bool, int, float, complex, np.ndarray, np.generic)) or hasattr(x, "aval"):
        return aval_of(x).dtype
    return dtypes.canonicalize(x)


def stage(x: ArrayLike, /) -> Array:
    """The value as an array; while a function is traced, as a value of the trace."""
    return as_array(x)
