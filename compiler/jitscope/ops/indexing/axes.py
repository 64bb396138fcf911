"""Which axes do what in a gather or scatter, and what happens to slices that are not wholly in bounds."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from ...core import dtypes
from ...core.avals import ShapedArray
from ...named_tuple import NamedTuple
from ...symbolic.dimension import max_dim
from ..families import check_kind


__all__ = ["GatherDimensionNumbers", "GatherScatterMode", "ScatterDimensionNumbers", "gather_numbers",
           "scatter_numbers"]  # fmt: skip


class GatherScatterMode(enum.Enum):
    """What happens to slices that are not wholly in bounds.

    CLIP: the index moves to the nearest one in bounds. FILL_OR_DROP: gather gives `fill_value`, scatter leaves the slice
    out. PROMISE_IN_BOUNDS: there are none; if there are, the result is unspecified.
    """

    CLIP = 0
    FILL_OR_DROP = 1
    PROMISE_IN_BOUNDS = 2

    @staticmethod
    def from_any(mode: GatherScatterMode | str | None) -> GatherScatterMode:
        """The mode of that name: "clip", "fill", "drop", "promise_in_bounds"; None is "fill". Raises ValueError."""
        if isinstance(mode, GatherScatterMode):
            return mode
        if mode is not None and mode not in _MODES:
            raise ValueError(f"there is no mode {mode!r} for indices out of bounds; there are {', '.join(_MODES)}")
        return _MODES[mode or "fill"]


_MODES = {"clip": GatherScatterMode.CLIP, "fill": GatherScatterMode.FILL_OR_DROP,
          "drop": GatherScatterMode.FILL_OR_DROP, "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS}  # fmt: skip


class GatherDimensionNumbers(NamedTuple):
    """Which axes do what in a gather. The last axis of the indices holds the index vectors.

    `offset_dims`: axes of the result that run along a slice. `collapsed_slice_dims`: axes of the operand, sliced to size
    1, that the result does not have. `start_index_map`: the operand axis that each number of an index vector is for.
    `operand_batching_dims` and `start_indices_batching_dims`: axes of operand and indices that run together.
    """

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which axes do what in a scatter: as in the gather that would read where it writes.

    `update_window_dims`: axes of the updates that run along a slice. `inserted_window_dims`: axes of the operand that the
    updates do not have. `scatter_dims_to_operand_dims`: the operand axis that each number of an index vector is for.
    `operand_batching_dims` and `scatter_indices_batching_dims`: axes of operand and indices that run together.
    """

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


def scatter_numbers(numbers: GatherDimensionNumbers) -> ScatterDimensionNumbers:
    """The axes of the scatter that writes where the gather reads."""
    return ScatterDimensionNumbers(*numbers)


def gather_numbers(numbers: ScatterDimensionNumbers) -> GatherDimensionNumbers:
    """The axes of the gather that reads where the scatter writes."""
    return GatherDimensionNumbers(*numbers)


def check_numbers(name: str, operand: ShapedArray, indices: ShapedArray, numbers: Any, rank: int) -> None:
    """Raise TypeError unless the axes name what there is. `rank` is that of the result or updates."""
    said = f"{name} of {operand.short()} at indices {indices.short()}"
    if not indices.ndim:
        raise TypeError(f"{said}: the last axis of the indices holds the index vectors, so they need at least one axis")
    check_kind(f"{name} (as an index)", indices, "iu")
    # Axes of slices in the result or updates, missing there, indexed, batching axes of operand and indices.
    window, missing, indexed, batching, indices_batching = numbers
    names = numbers._fields
    limits = (rank, operand.ndim, operand.ndim, operand.ndim, indices.ndim - 1)
    for field, axes, limit in zip(names, numbers, limits):
        if len(set(axes)) != len(axes) or any(not 0 <= a < limit for a in axes):
            raise TypeError(f"{said}: {field}={axes} does not name distinct axes below {limit}")
    for field, axes in zip((names[0], names[1], names[3]), (window, missing, batching)):
        if list(axes) != sorted(axes):
            raise TypeError(f"{said}: {field}={axes} is not in order")
    if set(missing) & set(batching) or set(indexed) & set(batching):
        raise TypeError(
            f"{said}: axes {batching} run together with the indices, so they can neither be indexed nor "
            f"left out (indexed: {indexed}; left out: {missing})"
        )
    if len(window) + len(missing) + len(batching) != operand.ndim:
        raise TypeError(
            f"{said}: each axis of the operand is in a slice, left out, or a batching axis; there "
            f"are {len(window)} + {len(missing)} + {len(batching)} such axes, not {operand.ndim}"
        )
    if len(indexed) != indices.shape[-1]:
        raise TypeError(
            f"{said}: the index vectors have {indices.shape[-1]} numbers, but {names[2]}={indexed} says "
            f"what {len(indexed)} are for"
        )
    if [operand.shape[a] for a in batching] != [indices.shape[a] for a in indices_batching]:
        raise TypeError(
            f"{said}: axes {batching} of the operand and {indices_batching} of the indices run together, but "
            "their sizes differ"
        )


def kept_axes(rank: int, numbers: Any) -> list[int]:
    """The operand axes that are in the result or the updates, in order."""
    _, missing, _, batching, _ = numbers
    return [a for a in range(rank) if a not in missing and a not in batching]


def outer_axes(rank: int, window: Sequence[int]) -> tuple[int, ...]:
    """The axes of the result or updates that run along the indices."""
    return tuple(a for a in range(rank) if a not in window)


def slice_shape(operand: ShapedArray, updates: ShapedArray, numbers: ScatterDimensionNumbers) -> tuple[int, ...]:
    """The size along each operand axis of what one index vector writes."""
    sizes = [1] * operand.ndim
    for axis, at in zip(kept_axes(operand.ndim, numbers), numbers.update_window_dims):
        sizes[axis] = updates.shape[at]
    return tuple(sizes)


def wide_indices(ctx: Any, value: Any, aval: ShapedArray) -> tuple[Any, ShapedArray]:
    """Indices as at least 32 bits: XLA clips in the indices' own dtype, which may not hold the size of the axis."""
    if aval.dtype.itemsize >= 4:
        return value, aval
    wide = aval.update(dtype=dtypes.int32)
    return ctx.convert(value, aval.dtype, wide.dtype), wide


def greatest_indices(
    ctx: Any, aval: ShapedArray, shape: Sequence[int], sizes: Sequence[int], indexed: Sequence[int]
) -> Any:
    """The greatest index in bounds for each number of the index vectors, in their shape."""
    row = ctx.vector([max_dim(shape[a] - sizes[a], 0) for a in indexed], aval.dtype)
    return ctx.broadcast_in_dim(row, aval, [aval.ndim - 1])


def along_operand(numbers: Any, dim: int, rank: int, out_rank: int) -> tuple[Any, int]:
    """The numbers once the operand (of `rank`) has one more axis at `dim`, which all slices span; where it lies in the
    result or the updates (of `out_rank`)."""
    window, missing, indexed, batching, indices_batching = numbers
    before = sum(a < dim for a in kept_axes(rank, numbers))
    at = window[before] if before < len(window) else out_rank
    moved = tuple(sorted([*_moved(window, at), at]))
    return type(numbers)(moved, _moved(missing, dim), _moved(indexed, dim), _moved(batching, dim), indices_batching), at


def along_indices(numbers: Any) -> Any:
    """The numbers once the indices, and the result or the updates, have one more axis in front."""
    window, missing, indexed, batching, indices_batching = numbers
    return type(numbers)(_moved(window, 0), missing, indexed, batching, _moved(indices_batching, 0))


def along_both(numbers: Any, dim: int) -> Any:
    """The numbers once the indices, and the result or the updates, have one more axis in front, and the operand, which
    runs together with them, one at `dim`."""
    window, missing, indexed, batching, indices_batching = numbers
    pairs = sorted([(dim, 0), *zip(_moved(batching, dim), _moved(indices_batching, 0))])
    return type(numbers)(
        _moved(window, 0),
        _moved(missing, dim),
        _moved(indexed, dim),
        tuple(a for a, _ in pairs),
        tuple(b for _, b in pairs),
    )


def _moved(axes: Sequence[int], dim: int) -> tuple[int, ...]:
    """Where axes are once there is another one at `dim`."""
    return tuple(a + (a >= dim) for a in axes)


def inserted(values: Sequence[Any], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at:])
