"""The update behind x.at[index].set(v) and its kin.

A change of a window (numbers and slices) is a dynamic_update_slice, which XLA does in place; index arrays make a scatter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from ..core.config import settings
from ..ops.elementwise import and_p, ge_p, lt_p, max_p, min_p
from ..ops.indexing import (
    GatherScatterMode,
    ScatterDimensionNumbers,
    dynamic_slice_p,
    dynamic_update_slice_p,
    scatter,
    scatter_add,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
)
from ..ops.linear import (
    add_p,
    broadcast_in_dim_p,
    convert,
    full,
    mul_p,
    pad_p,
    reshape,
    rev_p,
    scalar_zero,
    select_n_p,
    squeeze_p,
    sub_p,
    where as choose,
)
from ..symbolic.dimension import is_symbolic_dim
from ._index import ARRAY, INT, NEW, SCALAR, SLICE, Index
from .operands import broadcast, cast
from .reading import from_front, index_vectors, places_of_new, slices_before_arrays, window


_SCATTER = {
    "set": scatter,
    "add": scatter_add,
    "subtract": scatter_sub,
    "multiply": scatter_mul,
    "min": scatter_min,
    "max": scatter_max,
}
_COMBINE: dict[str, Any] = {"add": add_p, "subtract": sub_p, "multiply": mul_p, "min": min_p, "max": max_p}


def updated(x: Any, index: Index, values: Any, how: str, mode: GatherScatterMode, unique: bool, ordered: bool) -> Any:
    """`x` with the elements at a parsed index replaced by or combined with `values`. `how` "apply": `values` is a function
    of an element, which gives the new one; where an index stands twice, it is applied twice."""
    original = aval_of(x)
    drops = mode is GatherScatterMode.FILL_OR_DROP
    if drops and any(item.clipped for item in index.items):
        return x
    if not hasattr(x, "aval"):
        x = broadcast_in_dim_p(x, shape=original.shape, broadcast_dimensions=tuple(range(original.ndim)))
    if how != "apply":
        given = aval_of(values)
        if settings().numpy_dtype_promotion == "strict":
            dtypes.promote((original.dtype, False), (given.dtype, given.weak_type))  # raises
        values = cast(values, given, original.dtype)
    x = reshape(x, index.shape) if index.added else x
    if any(item.kind == ARRAY for item in index.items):
        only_slices = window(x, index, only_slices=True)
        new = _scattered(only_slices, index, values, how, mode, unique, ordered)
        out = _written(x, index, new, only_slices=True)
    else:
        old = window(x, index)
        if how == "apply":
            new = values(old)
            new = cast(new, aval_of(new), original.dtype)
        else:
            new = _window_values(values, index, aval_of(old).shape)
        if how in _COMBINE:
            new = _COMBINE[how].bind(old, new)
        if drops and (inside := _all_inside(index)) is not None:
            new = choose(inside, new, old)
        out = _written(x, index, new)
    return convert(reshape(out, original.shape), original.dtype, original.weak_type)


def _window_values(values: Any, index: Index, shape: tuple[int, ...]) -> Any:
    """Values in the shape of the window: axes of size 1 for the numbers of the index, none for its new axes."""
    target = tuple(1 if item.kind == NEW else shape[item.axis] for item in index.items if item.kind in (NEW, SLICE))
    return reshape(_fitted(values, target), shape)


def _fitted(values: Any, target: tuple[int, ...]) -> Any:
    """Values broadcast to the shape of x[index]."""
    own = aval_of(values).shape
    if 0 in target:  # nothing is written, whatever there is
        return full(target, 0, aval_of(values).dtype)
    if len(own) > len(target) or any(n not in (1, m) for n, m in zip(own[::-1], target[::-1])):
        raise ValueError(f"values of shape {own} do not broadcast to x[index], which has shape {target}")
    if not hasattr(values, "aval") and not own:
        return broadcast_in_dim_p(values, shape=target, broadcast_dimensions=())
    return broadcast(values, own, target)


def _all_inside(index: Index) -> Any:
    """Whether all computed numbers of the index are in bounds; None if there are none."""
    inside = None
    for item in index.items:
        if item.kind == SCALAR:
            i = from_front(item.value, index.shape[item.axis])
            dtype = aval_of(i).dtype
            size = np.asarray(index.shape[item.axis]).astype(dtype)[()]
            here = and_p(ge_p(i, np.zeros((), dtype)[()]), lt_p(i, size))
            inside = here if inside is None else and_p(inside, here)
    return inside


def _written(x: Any, index: Index, new: Any, only_slices: bool = False) -> Any:
    """`x` with `new` in the place of its window."""
    shape = aval_of(x).shape
    if 0 in aval_of(new).shape:
        return x
    starts: list[Any] = [np.int32(0)] * len(shape)
    turned, config, stretched = [], [(0, 0, 0)] * len(shape), False
    for item in index.items:
        if item.kind == SLICE:
            start, size, step = item.value
            if step < 0 and (is_symbolic_dim(size) or size > 1):
                turned.append(item.axis)
                start, step = start + (size - 1) * step, -step
            if abs(step) != 1 and (is_symbolic_dim(size) or size > 1):
                config[item.axis] = (0, 0, step - 1)
                stretched = True
            starts[item.axis] = start
        elif item.kind in (INT, SCALAR) and not only_slices:
            starts[item.axis] = from_front(item.value, shape[item.axis]) if item.kind == SCALAR else item.value
    if turned:
        new = rev_p(new, dimensions=tuple(turned))
    if stretched:
        return _written_with_gaps(x, new, starts, config)
    if aval_of(new).shape == shape:
        return new
    to = dtypes.int64 if any(aval_of(s).dtype.itemsize == 8 for s in starts if hasattr(s, "aval")) else dtypes.int32
    places = [cast(s, aval_of(s), to) if hasattr(s, "aval") else np.asarray(s).astype(to)[()] for s in starts]
    return dynamic_update_slice_p(x, new, *places)


def _written_with_gaps(x: Any, new: Any, starts: list[Any], config: list[tuple[int, int, int]]) -> Any:
    """For slices with steps: the new elements spread out, and chosen where they are."""
    whole = aval_of(x)
    spread = pad_p(new, scalar_zero(whole.dtype), padding_config=tuple(config))
    mask = pad_p(full(aval_of(new).shape, True, dtypes.bool_), np.False_, padding_config=tuple(config))
    shape = aval_of(spread).shape
    if shape == whole.shape:
        return select_n_p(mask, x, spread)
    places = [s if hasattr(s, "aval") else np.asarray(s, np.int32)[()] for s in starts]
    old = dynamic_slice_p(x, *places, slice_sizes=shape)
    return dynamic_update_slice_p(x, select_n_p(mask, old, spread), *places)


def _scattered(
    x: Any, index: Index, values: Any, how: str, mode: GatherScatterMode, unique: bool, ordered: bool
) -> Any:
    vectors, axes, outer = index_vectors(index, mode)
    shape = aval_of(x).shape
    kept = [n for i, n in enumerate(shape) if i not in axes]
    before = slices_before_arrays(index)
    result = (*kept[:before], *outer, *kept[before:])
    offsets = tuple(i + (len(outer) if i >= before else 0) for i in range(len(kept)))
    numbers = ScatterDimensionNumbers(offsets, tuple(sorted(axes)), axes)
    promises = {"unique_indices": unique, "indices_are_sorted": ordered, "mode": mode}
    if how == "apply":
        from ..lax.applying import scatter_apply

        return x if 0 in result else scatter_apply(x, vectors, values, numbers, update_shape=result, **promises)
    new = places_of_new(index, len(outer))
    sizes = iter(result)
    target = tuple(1 if i in new else next(sizes) for i in range(len(result) + len(new)))
    values = _fitted(values, target)
    if new:
        values = squeeze_p(values, dimensions=tuple(new))
    return x if 0 in result else _SCATTER[how](x, vectors, values, numbers, **promises)
