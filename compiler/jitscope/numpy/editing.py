"""Arrays with elements put in, taken out, or chosen from several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Axes
from ..core.avals import aval_of
from ..core.errors import ConcretizationTypeError
from ..core.trace import Tracer, evaluating
from ..eager.functions import eager_jit
from ..ops.elementwise import eq_p, ge_p
from ..ops.indexing import iota
from ..ops.linear import add_p, convert, convert_element_type_p, full, reduce_sum_p, reshape, slice_in_dim, sub_p, where
from ..ops.reduce import cumsum_p
from ..ops.sort import sort_p
from ..symbolic.dimension import is_static
from .arithmetic import remainder
from .at import At
from .creation import asarray
from .indexing import getitem
from .joining import concatenate
from .operands import (
    axes_of,
    broadcast,
    broadcast_shape,
    cast,
    one_axis,
    operand_and_aval,
    promoted,
    scalar_of,
    shape_of,
    unsupported,
)
from .reading import from_front
from .rounding import clip
from .selecting import concrete_value, is_traced, is_unknown, needs_size, take
from .structure import array_operand, moveaxis, ravel
from .triangles import rows_and_columns


__all__ = ["choose", "delete", "fill_diagonal", "insert", "put", "put_along_axis", "resize", "trim_zeros"]


def _new_array(name: str, inplace: bool, error: type[Exception] = ValueError) -> None:
    if inplace:
        raise error(f"{name}: arrays cannot be changed in place; {name}(..., inplace=False) gives a new array")


def _along(name: str, a: Any, axis: int | None) -> tuple[Any, int]:
    """An array and an axis of it, or (None) the raveled array and 0."""
    x = array_operand(name, a)
    return (ravel(x), 0) if axis is None else (x, one_axis(name, axis, aval_of(x).ndim))


def delete(
    arr: ArrayLike,
    obj: int | slice | ArrayLike | Sequence[int],
    axis: int | None = None,
    *,
    assume_unique_indices: bool = False,
) -> Array:
    """`arr` without the slices at `obj` (an int, a slice, integers or a mask) along `axis` (None: of the raveled array).

    `obj` must be concrete, but integers that stand once each (`assume_unique_indices`) may be traced. Raises ValueError
    for an int out of bounds and for what is neither integers nor a mask, ConcretizationTypeError for traced `obj`.
    """
    x, axis = _along("delete", arr, axis)
    size = aval_of(x).shape[axis]
    if not isinstance(obj, slice):
        obj, aval = operand_and_aval("delete", obj)
        if dtypes.kind(aval.dtype) not in "biu":
            raise ValueError(f"delete: obj is an int, a slice, integers or a mask, not {aval.short()}")
        if assume_unique_indices and hasattr(obj, "aval") and dtypes.is_integer(aval.dtype):
            return _without(x, obj, axis)
        if is_traced(obj):
            raise needs_size("delete")
        obj = np.asarray(concrete_value(obj))
        if not aval.ndim and not -size <= int(obj) < size:
            raise np.exceptions.AxisError(f"delete: {int(obj)} is out of bounds for axis {axis} of size {size}")
        if obj.dtype == np.bool_ and obj.shape != (size,):
            raise ValueError(f"delete: the mask has shape {obj.shape}, axis {axis} has size {size}")
    return _picked(x, np.delete(np.arange(size), obj), axis)


def _picked(x: Any, places: np.ndarray, axis: int) -> Any:
    """The slices at known places, one after the other: a few stretches of them are cut out, others taken one by one. Outside of traces the
    places are an argument, of one program for all."""
    starts = np.flatnonzero(np.diff(places, prepend=-2) != 1)
    if evaluating() or not 0 < starts.size <= _STRETCHES:
        return take(x, places, axis, mode="clip")
    ends = np.append(places[starts[1:] - 1], places[-1]) + 1
    return concatenate([slice_in_dim(x, int(a), int(b), axis=axis) for a, b in zip(places[starts], ends)], axis)


_STRETCHES = 16


@eager_jit(static="axis")
def _without(x: Any, places: Any, axis: int) -> Any:
    """`x` without the slices at distinct places; those out of bounds count as the last ones."""
    index, size, count = np.dtype(np.int32), aval_of(x).shape[axis], aval_of(places).size
    number = lambda n: scalar_of(n, index, False)
    gone = convert(from_front(reshape(places, (count,)), size), index)
    (gone,) = sort_p(clip(gone, number(0), number(size)), dimension=0, is_stable=False, num_keys=1)
    kept = iota(index, (size - count,))
    # Before the n-th place that stays lie as many that go as have at most n places that stay before them.
    shape = (count, size - count)
    before = broadcast(reshape(sub_p(gone, iota(index, (count,))), (count, 1)), (count, 1), shape)
    passed = reduce_sum_p(convert(ge_p(broadcast(kept, kept.aval.shape, shape), before), index), axes=(0,))
    return take(x, add_p(kept, passed), axis, mode="clip")


def insert(
    arr: ArrayLike, obj: int | slice | ArrayLike | Sequence[int], values: ArrayLike, axis: int | None = None
) -> Array:
    """`arr` with `values` put in before the places `obj` (an int, a slice or an array of integers) along `axis` (None: of
    the raveled array). Places out of bounds are moved into bounds, where NumPy raises. Raises ValueError for `obj` of
    more axes and of other dtypes."""
    x, axis = _along("insert", arr, axis)
    shape, size = aval_of(x).shape, aval_of(x).shape[axis]
    places, aval = operand_and_aval("insert", np.arange(size)[obj] if isinstance(obj, slice) else obj)
    if aval.ndim > 1 or (not dtypes.is_integer(aval.dtype) and (aval.size or hasattr(places, "aval"))):
        raise ValueError(f"insert: obj is an int, a slice or a vector of integers, not {aval.short()}")
    v, given = operand_and_aval("insert", values)
    v = cast(v, given, aval_of(x).dtype)
    v = convert(array_operand("insert", v), aval_of(x).dtype, aval_of(x).weak_type)
    v = reshape(v, (1,) * (len(shape) - given.ndim) + given.shape)
    if not aval.ndim:
        v = moveaxis(v, 0, axis)  # several values for one place go along the axis
    count = aval.size if aval.size != 1 else aval_of(v).shape[axis]
    known = concrete_value(places) if not is_traced(places) else places
    places = known if isinstance(known, Tracer) else np.asarray(known).astype(np.int32).reshape(-1)
    if isinstance(places, Tracer) or evaluating() or not is_static((size, count)):
        return _inserted(x, places, v, axis, count)
    places = np.clip(np.where(places < 0, places + size, places), 0, size)
    source = np.insert(np.arange(size), np.broadcast_to(places, count), np.arange(size, size + count))
    return _picked(_with_values(x, v, axis, count), source, axis)


@eager_jit(static="axis count")
def _inserted(x: Any, places: Any, values: Any, axis: int, count: int) -> Any:
    size, index = aval_of(x).shape[axis], np.dtype(np.int32)
    number = lambda n: scalar_of(n, index, False)
    places = clip(convert(from_front(reshape(places, (aval_of(places).size,)), size), index), number(0), number(size))
    places = broadcast(places, aval_of(places).shape, (count,))
    ordered, order = sort_p(places, iota(index, (count,)), dimension=0, is_stable=True, num_keys=1)
    new = add_p(ordered, iota(index, (count,)))
    source = At(full((size + count,), 0, index))[new].set(number(1), unique_indices=True)
    passed = cumsum_p(source, axis=0, reverse=False)
    old = sub_p(iota(index, (size + count,)), passed)
    inserted = add_p(take(order, sub_p(passed, number(1)), mode="clip"), number(size)) if count else old
    both = _with_values(x, values, axis, count)
    return take(both, where(eq_p(source, number(1)), inserted, old), axis, mode="clip")


def _with_values(x: Any, values: Any, axis: int, count: int) -> Any:
    shape = aval_of(x).shape
    return concatenate([x, broadcast(values, aval_of(values).shape, (*shape[:axis], count, *shape[axis + 1 :]))], axis)


@eager_jit(static="axis inplace mode")
def put_along_axis(
    arr: ArrayLike,
    indices: ArrayLike,
    values: ArrayLike,
    axis: int | None,
    inplace: bool = True,
    *,
    mode: str | None = None,
) -> Array:
    """`arr` with `values` at the indices along `axis` (None: of the raveled array), place by place, in its shape and
    dtype. `indices` have as many axes as `arr` and broadcast to it along the others. Raises ValueError unless
    `inplace=False`."""
    _new_array("put_along_axis", inplace)
    x, i = array_operand("put_along_axis", arr), array_operand("put_along_axis", indices)
    original = aval_of(x).shape
    if axis is None:
        x, axis = ravel(x), 0
    axis = one_axis("put_along_axis", axis, aval_of(x).ndim)
    shape = broadcast_shape(aval_of(i).shape, tuple(1 if k == axis else n for k, n in enumerate(aval_of(x).shape)))
    grid = [np.arange(n).reshape(tuple(n if k == j else 1 for k in range(len(shape)))) for j, n in enumerate(shape)]
    index = tuple(i if k == axis else grid[k] for k in range(len(shape)))
    return reshape(At(x)[index].set(values, mode=mode), original)


@eager_jit(static="mode inplace")
def put(a: ArrayLike, ind: ArrayLike, v: ArrayLike, mode: str | None = None, *, inplace: bool = True) -> Array:
    """`a` with the values `v`, repeated as needed, at flat indices `ind`, in its shape and dtype. `mode`: "clip"
    (default) or "wrap". Raises ValueError unless `inplace=False` and for other modes, NotImplementedError for "raise".
    """
    _new_array("put", inplace)
    x, i, values = array_operand("put", a), ravel(array_operand("put", ind)), ravel(array_operand("put", v))
    if not aval_of(i).size or not aval_of(values).size:
        return x
    size = scalar_of(aval_of(x).size, aval_of(i).dtype, False)
    if mode == "wrap":
        i = remainder(i, size)
    elif mode == "raise":
        raise NotImplementedError(
            "put: mode='raise' is not supported, since a compiled program cannot raise: use 'clip' or 'wrap'"
        )
    elif mode not in (None, "clip"):
        raise ValueError(f"put: mode is 'clip' or 'wrap', not {mode!r}")
    else:
        i = clip(i, -size, size - 1)
    source = np.arange(aval_of(i).size) % aval_of(values).size
    return reshape(At(ravel(x))[i].set(take(values, source, mode="clip")), aval_of(x).shape)


@eager_jit(static="wrap inplace")
def fill_diagonal(a: ArrayLike, val: ArrayLike, wrap: bool = False, *, inplace: bool = True) -> Array:
    """`a` [m, n], or of more axes of one size, with `val` on its main diagonal (a vector is repeated as needed). Raises
    ValueError for other shapes, NotImplementedError unless `inplace=False`, and for `wrap`."""
    _new_array("fill_diagonal", inplace, NotImplementedError)
    if wrap:
        raise NotImplementedError("fill_diagonal: wrap=True is not supported")
    x, value = array_operand("fill_diagonal", a), array_operand("fill_diagonal", val)
    shape = aval_of(x).shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ValueError(f"fill_diagonal needs two axes, or more of one size; the array has shape {shape}")
    value = cast(value, aval_of(value), aval_of(x).dtype)
    if len(shape) == 2 and not aval_of(value).ndim:
        return where(eq_p(*rows_and_columns(shape, 0)), value, x)
    size = min(shape)
    values = take(ravel(value), np.arange(size) % aval_of(value).size, mode="clip")
    return At(x)[(np.arange(size),) * len(shape)].set(values, unique_indices=True)


@eager_jit(static="new_shape")
def resize(a: ArrayLike, new_shape: int | Sequence[int]) -> Array:
    """The elements of `a`, repeated as needed, in another shape."""
    x, shape = array_operand("resize", a), shape_of("resize", new_shape, ValueError)
    size, count = aval_of(x).size, math.prod(shape)
    if not size:
        return array_operand("resize", np.zeros(shape, aval_of(x).dtype))
    return reshape(take(ravel(x), np.arange(count) % size, mode="clip"), shape)


def choose(a: ArrayLike, choices: Sequence[ArrayLike] | ArrayLike, out: None = None, mode: str = "raise") -> Array:
    """Place by place the element of `choices[a]`; all broadcast. `mode` for indices out of bounds: "wrap", "clip" or
    "raise" (ValueError).

    Raises ValueError for indices that are not integers and other modes, IndexError without any choice,
    ConcretizationTypeError for "raise" while tracing.
    """
    unsupported("choose", out=out)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"choose: mode is 'raise', 'wrap' or 'clip', not {mode!r}")
    indices, aval = operand_and_aval("choose", a)
    if not dtypes.is_integer(aval.dtype):
        raise ValueError(f"choose: indices must be integers, not {aval.short()}")
    among: Any = choices
    count = len(among)
    if not count:
        raise IndexError("choose: there is nothing to choose from")
    if mode == "raise":
        if is_traced(indices):
            raise ConcretizationTypeError(
                "choose: mode='raise' looks at the indices, which are not known while tracing; use 'wrap' or 'clip'"
            )
        known = np.asarray(concrete_value(indices))
        if known.size and not 0 <= known.min() <= known.max() < count:
            raise ValueError(f"choose: indices reach from {known.min()} to {known.max()}, of {count} choices")
    return _choose(indices, list(among), mode)


@eager_jit(static="mode")
def _choose(a: Any, choices: list[Any], mode: str) -> Any:
    i = array_operand("choose", a)
    values, _, dtype, _ = promoted("choose", choices)
    keys = dtypes.is_extended(dtype)
    xs = values if keys else [convert_element_type_p(v, new_dtype=dtype, weak_type=False) for v in values]
    shape = broadcast_shape(aval_of(i).shape, *[aval_of(x).shape for x in xs])
    i = broadcast(i, aval_of(i).shape, shape)
    number = lambda n: scalar_of(n, aval_of(i).dtype, False)
    i = remainder(i, number(len(xs))) if mode == "wrap" else clip(i, number(0), number(len(xs) - 1))
    out = broadcast(xs[0], aval_of(xs[0]).shape, shape)
    for k, x in enumerate(xs[1:], 1):
        out = where(eq_p(i, number(k)), broadcast(x, aval_of(x).shape, shape), out)
    return out


def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Axes = None) -> Array:
    """An array without the zeros at the front ("f") and at the back ("b") of `axis` (an int or several; None: all). Its
    values must be concrete. Raises ConcretizationTypeError while tracing."""
    if is_unknown(filt):
        raise needs_size("trim_zeros")
    x = asarray(array_operand("trim_zeros", filt))
    there = np.asarray(concrete_value(x)) != 0
    axes = axes_of("trim_zeros", axis, there.ndim)
    index = []
    for k in range(there.ndim):
        (places,) = np.nonzero(there.any(axis=tuple(i for i in range(there.ndim) if i != k)))
        first = int(places[0]) if places.size else there.shape[k]
        last = int(places[-1]) + 1 if places.size else first
        ends = (first if "f" in trim.lower() else 0, last if "b" in trim.lower() else None)
        index.append(slice(*ends) if k in axes else slice(None))
    return getitem(x, tuple(index))
