"""Whether the indices of an operation lie within its operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import aval_of
from ..core.jaxpr import JaxprEqn
from ..ops.elementwise import gt_p, lt_p, or_p
from ..ops.indexing import Scatter, dynamic_slice_p, dynamic_update_slice_p, gather_p
from ..ops.linear import convert, reshape, select_n_p, slice_in_dim
from ..ops.reduce import argmax_p, reduce_or_p


_INT = np.dtype(np.int32)
Outside = tuple[Any, Any, Any, Any]
"""Whether there is an index that lies outside, the first such index, its axis and the axis's size."""


def first_outside(eqn: JaxprEqn, operands: Sequence[Any]) -> Outside | None:
    """What lies outside, or None for an operation that does not index."""
    found = _limits(eqn, operands)
    if not found:
        return None
    shape = aval_of(operands[0]).shape
    merged = None
    for axis, index, size in found:
        index = convert(reshape(index, (aval_of(index).size,)), _INT)
        if not aval_of(index).size:
            continue
        outside = or_p(lt_p(index, np.int32(0)), gt_p(index, np.int32(shape[axis] - size)))
        at = argmax_p(convert(outside, _INT), axes=(0,), index_dtype=_INT)
        picked = reshape(dynamic_slice_p(index, at, slice_sizes=(1,)), ())
        row = (
            reduce_or_p(outside, axes=(0,)),
            picked,
            convert(np.int32(axis), _INT),
            convert(np.int32(shape[axis]), _INT),
        )
        merged = row if merged is None else _first_of(merged, row)
    return merged


def _first_of(a: Outside, b: Outside) -> Outside:
    return (or_p(a[0], b[0]), *[select_n_p(a[0], y, x) for x, y in zip(a[1:], b[1:])])  # pyright: ignore


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
