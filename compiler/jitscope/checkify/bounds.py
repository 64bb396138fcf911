"""Whether the indices of an operation lie within its operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import aval_of
from ..core.jaxpr import JaxprEqn
from ..ops.elementwise import gt_p, lt_p, max_p, min_p, or_p, rem_p
from ..ops.indexing import Scatter, dynamic_slice_p, dynamic_update_slice_p, gather_p
from ..ops.linear import broadcast_to, concatenate_p, convert, reshape, slice_in_dim
from ..ops.reduce import argmax_p, reduce_or_p


_INT = np.dtype(np.int32)
_MOST = np.iinfo(np.int32).max
Outside = tuple[Any, Any, Any, Any]
"""Whether there is an index that lies outside, the first such index, its axis and the axis's size."""


def first_outside(eqn: JaxprEqn, operands: Sequence[Any]) -> Outside | None:
    """What lies outside, or None for an operation that does not index."""
    found = _limits(eqn, operands)
    if not found:
        return None
    shape = aval_of(operands[0]).shape
    count = max(aval_of(index).size for _, index, _ in found)
    if not count:
        return None
    # One row for each index vector, one column for each axis: the first that lies outside, in that order.
    columns = [broadcast_to(reshape(_as_int32(i), (aval_of(i).size, 1)), (count, 1)) for _, i, _ in found]
    indices = columns[0] if len(columns) == 1 else concatenate_p(*columns, dimension=1)
    axes = np.array([axis for axis, _, _ in found], np.int32)
    most = np.array([[shape[axis] - size for axis, _, size in found]], np.int32)
    outside = or_p(lt_p(indices, np.int32(0)), gt_p(indices, np.broadcast_to(most, (count, len(found)))))
    flat = reshape(outside, (count * len(found),))
    at = argmax_p(convert(flat, _INT), axes=(0,), index_dtype=_INT)
    picked = _at(reshape(indices, (count * len(found),)), at)
    column = rem_p(at, np.int32(len(found)))
    return reduce_or_p(flat, axes=(0,)), picked, _at(axes, column), _at(np.array(shape, np.int32)[axes], column)


def _as_int32(i: Any) -> Any:
    """An index in 32 bits; what does not fit is outside all the same."""
    dtype = aval_of(i).dtype
    if np.iinfo(dtype).max > _MOST:
        i = min_p(i, np.full(aval_of(i).shape, _MOST, dtype))
        i = i if dtype.kind == "u" else max_p(i, np.full(aval_of(i).shape, -_MOST, dtype))
    return convert(i, _INT)


def _at(x: Any, i: Any) -> Any:
    return reshape(dynamic_slice_p(x, i, slice_sizes=(1,)), ())


def _limits(eqn: JaxprEqn, operands: Sequence[Any]) -> list[tuple[int, Any, int]]:
    """(axis, indices into it, length of the slice) for each axis that is indexed."""
    primitive, params = eqn.primitive, eqn.params
    if primitive is dynamic_slice_p:
        return [(a, s, n) for a, (s, n) in enumerate(zip(operands[1:], params["slice_sizes"]))]
    if primitive is dynamic_update_slice_p:
        return [(a, s, n) for a, (s, n) in enumerate(zip(operands[2:], aval_of(operands[1]).shape))]
    if primitive is gather_p:
        axes, sizes = params["dimension_numbers"].start_index_map, params["slice_sizes"]
        return [(a, _column(operands[1], i), sizes[a]) for i, a in enumerate(axes)]
    if isinstance(primitive, Scatter):
        numbers = params["dimension_numbers"]
        window = iter(aval_of(operands[2]).shape[a] for a in numbers.update_window_dims)
        missing = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        sizes = [1 if a in missing else next(window) for a in range(aval_of(operands[0]).ndim)]
        axes = numbers.scatter_dims_to_operand_dims
        return [(a, _column(operands[1], i), sizes[a]) for i, a in enumerate(axes)]
    return []


def _column(indices: Any, i: int) -> Any:
    """Number `i` of all index vectors, which lie along the last axis."""
    return slice_in_dim(indices, i, i + 1, axis=-1)
