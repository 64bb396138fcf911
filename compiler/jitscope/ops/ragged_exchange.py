"""`ragged_all_to_all`: slices of different sizes, sent from each example or device to each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from .elementwise import and_p, eq_p, ge_p, lt_p
from .exchanges import all_gather, axis_index, axis_size, checked_groups
from .indexing import GatherDimensionNumbers, GatherScatterMode, dynamic_slice_p, gather_p, iota
from .linear import add_p, broadcast_in_dim, convert, mul_p, reshape, sub_p, where
from .reduce import reduce_max_p


__all__ = ["ragged_all_to_all"]


def ragged_all_to_all(
    operand: ArrayLike, output: ArrayLike, input_offsets: ArrayLike, send_sizes: ArrayLike, output_offsets: ArrayLike, recv_sizes: ArrayLike, *,
    axis_name: Hashable | Sequence[Hashable], axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> Array:  # fmt: skip
    """`output`, with slices of rows written into it that the others along the named axis send.

    operand [n, ...], output [m, ...]; the other arguments are integers [d · k], for d devices: slice i, the `send_sizes[i]` rows
    of operand from `input_offsets[i]` on, goes to device i // k, which has it from row `output_offsets[i]` on. `recv_sizes` are the
    sizes of what comes, by sender. Differentiable in operand and output. XLA's CPU runtime has no such exchange: each device
    gets all of operand, and picks its rows.

    Raises ValueError for offsets and sizes that are not integers [d · k], NameError for an unknown axis.
    """
    groups = checked_groups("ragged_all_to_all", axis_name, axis_index_groups)
    count = axis_size(axis_name) if groups is None else len(groups[0])
    given = {
        "input_offsets": input_offsets,
        "send_sizes": send_sizes,
        "output_offsets": output_offsets,
        "recv_sizes": recv_sizes,
    }
    length = _length(given, count)
    own, wanted = aval_of(operand), aval_of(output)
    if own.shape[1:] != wanted.shape[1:] or own.dtype != wanted.dtype:
        raise ValueError(
            f"ragged_all_to_all: rows of operand, {own.short()}, and of output, {wanted.short()}, must be of one shape and dtype"
        )
    everywhere = lambda x: all_gather(x, axis_name, axis_index_groups=axis_index_groups)
    k = length // count
    first = mul_p(_place(axis_name, groups), np.int32(k))
    starts, sizes, places = (_mine(everywhere(x), first, k) for x in (input_offsets, send_sizes, output_offsets))
    rows = everywhere(operand)
    rows = reshape(rows, (count * own.shape[0], *own.shape[1:]))
    return _written(rows, output, own.shape[0], k, starts, sizes, places)


def _length(given: dict[str, Any], count: int) -> int:
    for name, x in given.items():
        aval = aval_of(x)
        if not dtypes.is_integer(aval.dtype):
            raise ValueError(f"ragged_all_to_all: {name} must be integers, not {aval.short()}")
        if aval.ndim != 1 or not aval.shape[0]:
            raise ValueError(f"ragged_all_to_all: {name} must have one axis that is not empty, it is {aval.short()}")
    lengths = {aval_of(x).shape[0] for x in given.values()}
    if len(lengths) > 1 or min(lengths) % count:
        raise ValueError(
            f"ragged_all_to_all: offsets and sizes must be of one length, a multiple of the {count} examples along the axis, not {lengths}"
        )
    return lengths.pop()


def _place(axis_name: Any, groups: Any) -> Any:
    """The number of this example among those it exchanges with."""
    index = axis_index(axis_name)
    if groups is None:
        return index
    at = np.zeros(sum(map(len, groups)), np.int32)
    for group in groups:
        at[list(group)] = np.arange(len(group))
    return reshape(dynamic_slice_p(at, index, slice_sizes=(1,)), ())


def _mine(x: Any, first: Any, k: int) -> Any:
    """Of the offsets or sizes of all, [d, d · k], those of what comes here, as a vector of int32."""
    part = dynamic_slice_p(convert(x, dtypes.int32), np.int32(0), first, slice_sizes=(aval_of(x).shape[0], k))
    return reshape(part, (aval_of(part).size,))


def _written(rows: Any, output: Any, height: int, k: int, starts: Any, sizes: Any, places: Any) -> Any:
    """`output` with the slices among `rows`, the operands of all (of that height) one after another."""
    count, m = aval_of(starts).size, aval_of(output).shape[0]
    over = lambda x, axis: broadcast_in_dim(x, (count, m), (axis,))
    row, numbers = over(iota(dtypes.int32, (m,)), 1), over(iota(dtypes.int32, (count,)), 0)
    inside = and_p(ge_p(row, over(places, 0)), lt_p(row, over(add_p(places, sizes), 0)))
    sender = np.repeat(np.arange(count // k, dtype=np.int32) * height, k)
    origin = add_p(sub_p(row, over(places, 0)), over(add_p(starts, sender), 0))
    nothing = np.full((count, m), -1, np.int32)
    last = reduce_max_p(where(inside, numbers, nothing), axes=(0,))
    chosen = and_p(inside, eq_p(numbers, over(last, 1)))
    source = reduce_max_p(where(chosen, origin, nothing), axes=(0,))
    shape = aval_of(rows).shape
    found = gather_p(
        rows, reshape(source, (m, 1)), slice_sizes=(1, *shape[1:]), unique_indices=False, indices_are_sorted=False,
        dimension_numbers=GatherDimensionNumbers(tuple(range(1, len(shape))), (0,), (0,)), mode=GatherScatterMode.CLIP, fill_value=None,
    )  # fmt: skip
    hit = broadcast_in_dim(ge_p(source, np.zeros(m, np.int32)), aval_of(output).shape, (0,))
    return where(hit, found, output)
