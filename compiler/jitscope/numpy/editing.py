"""Arrays with elements put in, taken out, or chosen from several."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.array import array_from_numpy
from ..core import dtypes
from ..core.avals import aval_of
from ..ops.elementwise import eq_p
from ..ops.linear import reshape, where as choose_between
from ._fused import fused
from ._operands import (
    broadcast,
    broadcast_shape,
    cast,
    checked,
    integer,
    one_axis,
    promoted,
    scalar_of,
    shape_of,
    unsupported,
)
from ._ufunc import kind_of
from .arithmetic import remainder
from .at import At
from .indexing import getitem
from .joining import concatenate
from .rounding import clip
from .selecting import concrete_value, is_traced, needs_size, take
from .structure import array_operand, moveaxis, ravel
from .triangles import rows_and_columns


def _new_array(name: str, inplace: bool) -> None:
    if inplace:
        raise ValueError(f"{name}: arrays cannot be changed in place; {name}(..., inplace=False) gives a new array")


def delete(arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False) -> Any:
    """`arr` without the slices at `obj` (an int, a slice, concrete integers or a mask) along `axis` (None: of the raveled
    array). Raises IndexError for an int out of bounds, ConcretizationTypeError for traced `obj`."""
    x = array_operand("delete", arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = one_axis("delete", axis, aval_of(x).ndim)
    if is_traced(obj):
        raise needs_size("delete")
    where = obj if isinstance(obj, slice) else np.asarray(concrete_value(obj))
    kept = np.delete(np.arange(aval_of(x).shape[axis]), where)
    return take(x, kept, axis, mode="clip")


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """`arr` with `values` put in before the places `obj` (an int, a slice or concrete integers) along `axis` (None: of the
    raveled array). Raises IndexError for places out of bounds."""
    x, v = array_operand("insert", arr), array_operand("insert", values)
    if axis is None:
        x, axis = ravel(x), 0
    axis = one_axis("insert", axis, aval_of(x).ndim)
    if is_traced(obj):
        raise needs_size("insert")
    shape = aval_of(x).shape
    size = shape[axis]
    where = obj if isinstance(obj, slice) else np.asarray(concrete_value(obj))
    v = cast(v, aval_of(v), aval_of(x).dtype)
    if not isinstance(where, slice) and where.ndim == 0 and aval_of(v).ndim:
        # As in numpy, several values for one place go along the axis, which comes first if they have fewer axes.
        v = moveaxis(reshape(v, (1,) * (len(shape) - aval_of(v).ndim) + aval_of(v).shape), 0, axis)
        count = aval_of(v).shape[axis]
        source = np.insert(np.arange(size), [int(where)] * count, size + np.arange(count))
    else:
        count = np.insert(np.arange(size), where, 0).size - size
        source = np.insert(np.arange(size), where, size + np.arange(count))
    wide = (*shape[:axis], count, *shape[axis + 1 :])
    return take(concatenate([x, broadcast(v, aval_of(v).shape, wide)], axis), source, axis, mode="clip")


@fused(static="axis inplace mode")
def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int | None, inplace: bool = True, *, mode: Any = None
) -> Any:
    """`arr` with `values` at the indices along `axis`, place by place. Needs `inplace=False`."""
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


@fused(static="mode inplace")
def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Any:
    """`a` with the values `v`, repeated as needed, at flat indices. `mode`: "clip" (default) or "wrap". Needs
    `inplace=False`."""
    _new_array("put", inplace)
    x, i, values = array_operand("put", a), ravel(array_operand("put", ind)), ravel(array_operand("put", v))
    if not aval_of(i).size or not aval_of(values).size:
        return x
    size = scalar_of(aval_of(x).size, aval_of(i).dtype, False)
    if mode == "wrap":
        i = remainder(i, size)
    elif mode not in (None, "clip"):
        raise ValueError(f"put: mode is 'clip' or 'wrap', not {mode!r}")
    else:
        i = clip(i, -size, size - 1)
    source = np.arange(aval_of(i).size) % aval_of(values).size
    return reshape(At(ravel(x))[i].set(take(values, source, mode="clip")), aval_of(x).shape)


@fused(static="wrap inplace")
def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """`a`, of two axes or of equal ones, with `val` on its main diagonal. Needs `inplace=False`."""
    _new_array("fill_diagonal", inplace)
    if wrap:
        raise NotImplementedError("fill_diagonal: wrap=True")
    x, value = array_operand("fill_diagonal", a), array_operand("fill_diagonal", val)
    shape = aval_of(x).shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ValueError(f"fill_diagonal needs two axes, or more of one size; the array has shape {shape}")
    value = cast(value, aval_of(value), aval_of(x).dtype)
    if len(shape) == 2 and not aval_of(value).ndim:
        return choose_between(eq_p(*rows_and_columns(shape, 0)), value, x)
    size = min(shape)
    values = take(ravel(value), np.arange(size) % aval_of(value).size, mode="clip")
    return At(x)[(np.arange(size),) * len(shape)].set(values, unique_indices=True)


@fused(static="new_shape")
def resize(a: Any, new_shape: Any) -> Any:
    """The elements of `a`, repeated as needed, in another shape."""
    x, shape = array_operand("resize", a), shape_of("resize", new_shape)
    size, count = aval_of(x).size, math.prod(shape)
    if not size:
        return array_operand("resize", np.zeros(shape, aval_of(x).dtype))
    return reshape(take(ravel(x), np.arange(count) % size, mode="clip"), shape)


@fused(static="out mode")
def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
    """Place by place the element of `choices[a]`. `mode` "wrap" or "clip" (and "raise", which cannot in a program) for
    indices out of bounds."""
    unsupported("choose", out=out)
    i = array_operand("choose", a)
    if kind_of(i) not in "iu":
        raise ValueError(f"choose: indices must be integers, not {aval_of(i).short()}")
    values, _, _, _ = promoted("choose", list(choices))
    xs = [array_operand("choose", v) for v in values]
    shape = broadcast_shape(aval_of(i).shape, *[aval_of(x).shape for x in xs])
    i = broadcast(i, aval_of(i).shape, shape)
    count = scalar_of(len(xs), aval_of(i).dtype, False)
    i = remainder(i, count) if mode == "wrap" else clip(i, 0, len(xs) - 1)
    out_value = broadcast(xs[0], aval_of(xs[0]).shape, shape)
    for k, x in enumerate(xs[1:], 1):
        at = eq_p(i, scalar_of(k, aval_of(i).dtype, False))
        out_value = choose_between(at, broadcast(x, aval_of(x).shape, shape), out_value)
    return out_value


def trim_zeros(filt: Any, trim: str = "fb") -> Any:
    """A vector without the zeros in front ("f") and at the back ("b"). Its values must be concrete."""
    if is_traced(filt):
        raise needs_size("trim_zeros")
    x = array_operand("trim_zeros", filt)
    (there,) = np.nonzero(np.asarray(concrete_value(x)))
    first = int(there[0]) if there.size else aval_of(x).size
    last = int(there[-1]) + 1 if there.size else first
    return getitem(x, slice(first if "f" in trim.lower() else 0, last if "b" in trim.lower() else None))


def _window(name: str, doc: str) -> Any:
    def fun(M: int) -> Any:
        values = getattr(np, name)(integer(name, M, "M"))
        return array_from_numpy(values.astype(dtypes.default_float()))

    fun.__name__, fun.__qualname__, fun.__doc__ = name, name, f"The {doc} window of M points."
    return fun


bartlett, blackman = _window("bartlett", "Bartlett (triangular)"), _window("blackman", "Blackman")
hamming, hanning = _window("hamming", "Hamming"), _window("hanning", "Hann")


def kaiser(M: int, beta: Any) -> Any:
    """The Kaiser window of M points; `beta` must be concrete."""
    values = np.kaiser(integer("kaiser", M, "M"), float(checked("kaiser", beta)[0]))
    return array_from_numpy(values.astype(dtypes.default_float()))
