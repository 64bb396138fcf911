"""Reductions over segments: rows with the same number go together. Reached as `jitscope.ops.segment_sum` and so on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from . import numpy as jnp
from .backend.placement import laid
from .core import dtypes
from .core.annotations import Array, ArrayLike, PartitionSpec, Sharding
from .core.avals import aval_of
from .core.trace import Tracer
from .eager.functions import eager_jit
from .numpy.operands import integer, operand_and_aval
from .ops.indexing import (
    GatherScatterMode,
    ScatterDimensionNumbers,
    scatter_add,
    scatter_max,
    scatter_min,
    scatter_mul,
)


def _lowest(dtype: Any) -> Any:
    return False if dtype == dtypes.bool_ else jnp.iinfo(dtype).min if dtypes.is_integer(dtype) else -np.inf


def _highest(dtype: Any) -> Any:
    return True if dtype == dtypes.bool_ else jnp.iinfo(dtype).max if dtypes.is_integer(dtype) else np.inf


_KINDS: dict[str, tuple[Callable[..., Any], Callable[[Any], Any], Callable[..., Any]]] = {
    "segment_sum": (scatter_add, lambda dtype: 0, jnp.sum),
    "segment_prod": (scatter_mul, lambda dtype: 1, jnp.prod),
    "segment_max": (scatter_max, _lowest, jnp.max),
    "segment_min": (scatter_min, _highest, jnp.min),
}
"""How rows are added to a segment, what an empty one holds, and how several are joined."""
_ARITHMETIC = ("segment_sum", "segment_prod")


class OfSegments(Protocol):
    """`segment_sum` and its like."""

    def __call__(
        self,
        data: ArrayLike,
        segment_ids: ArrayLike,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        bucket_size: int | None = None,
        mode: str | GatherScatterMode | None = None,
        out_sharding: Sharding | PartitionSpec | None = None,
    ) -> Array: ...


def _segment(name: str, what: str, empty: str) -> OfSegments:
    def function(
        data: Any,
        segment_ids: Any,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        bucket_size: int | None = None,
        mode: Any = None,
        out_sharding: Any = None,
    ) -> Any:
        if out_sharding is not None:
            given = (data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size, mode)
            return laid(out_sharding, function, *given)
        data, ids = (jnp.asarray(operand_and_aval(name, x, i)[0]) for i, x in enumerate((data, segment_ids)))
        if not dtypes.is_integer(ids.dtype):
            raise TypeError(f"{name}: segment_ids must be integers, not {aval_of(ids).short()}")
        if data.dtype == dtypes.bool_ and name in _ARITHMETIC:
            raise TypeError(f"{name}: {aval_of(data).short()} holds booleans; convert them to integers first")
        if not data.ndim:
            raise ValueError(f"{name}: data must have a first axis of rows; it is {aval_of(data).short()}")
        count = _count(name, ids) if num_segments is None else integer(name, num_segments, "num_segments")
        if count < 0:
            raise ValueError(f"{name}: num_segments is {count}; it must not be negative")
        mode = GatherScatterMode.FILL_OR_DROP if mode is None else GatherScatterMode.from_any(mode)
        hints = bool(indices_are_sorted), bool(unique_indices)
        return _reduced(data, ids, name, count, bucket_size, *hints, mode)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""The {what} of the rows of `data` that have the same number in `segment_ids`.

    data [n, ...], segment_ids integers [n]; the result is [num_segments, ...] in data's dtype, {empty} in segments without rows.
    `num_segments`: the greatest number + 1 if None, which needs known numbers (ConcretizationTypeError under jit). Rows with a
    number below 0 or from num_segments on are left out (`mode` "fill"); "clip" counts them to the first or last. With
    `indices_are_sorted` or `unique_indices` the caller promises so. `bucket_size`: so many rows are reduced at a time, then the
    buckets: less rounding, more memory. Raises TypeError for numbers that are not integers
    and for sums and products of booleans, ValueError for shapes that do not fit.
    """
    return function


def _count(name: str, ids: Any) -> int:
    if isinstance(ids, Tracer):
        return integer(name, jnp.max(ids, initial=-1) + 1, "num_segments")  # pyright: ignore[reportArgumentType]
    return int(np.max(np.asarray(ids), initial=-1)) + 1


@eager_jit(static="name count bucket_size is_sorted is_unique mode")
def _reduced(
    data: Any, ids: Any, name: str, count: int, bucket_size: int | None, is_sorted: bool, is_unique: bool, mode: Any
) -> Any:
    scatter, empty, join = _KINDS[name]
    rest = data.shape[1:]
    try:
        rows = jnp.broadcast_to(data, (*ids.shape, *rest))
    except ValueError:
        raise ValueError(
            f"{name}: data {aval_of(data).short()} and segment_ids {aval_of(ids).short()} must have as many rows"
        ) from None
    hints = {"indices_are_sorted": is_sorted, "unique_indices": is_unique, "mode": mode}
    if bucket_size is None:
        out = jnp.full((count, *rest), empty(data.dtype), data.dtype)
        return scatter(out, ids[..., None], rows, _numbers(1, len(rest), ids.ndim), **hints)
    buckets = -(-ids.size // bucket_size)
    out = jnp.full((buckets, count, *rest), empty(data.dtype), data.dtype)
    bucket = jnp.broadcast_to((jnp.arange(ids.shape[0]) // bucket_size).astype(ids.dtype), ids.shape)
    places = jnp.stack([bucket, ids], -1)
    return join(scatter(out, places, rows, _numbers(2, len(rest), ids.ndim), **hints), 0).astype(data.dtype)


def _numbers(indexed: int, rest: int, ranks: int) -> ScatterDimensionNumbers:
    """Rows are written to places that the last axis of the indices names along the first `indexed` axes."""
    first = tuple(range(indexed))
    return ScatterDimensionNumbers(tuple(range(ranks, ranks + rest)), first, first)


segment_sum = _segment("segment_sum", "sum", "0")
segment_prod = _segment("segment_prod", "product", "1")
segment_max = _segment("segment_max", "greatest", "the dtype's least number")
segment_min = _segment("segment_min", "least", "the dtype's greatest number")
