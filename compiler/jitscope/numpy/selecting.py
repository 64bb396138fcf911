"""Taking elements by index or by condition."""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np

from ..backend.placement import beside
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..core.errors import ConcretizationTypeError, ShapeError
from ..core.messages import message_here
from ..core.staging import capturing
from ..core.trace import Tracer
from ..eager.functions import eager_jit
from ..ops.elementwise import and_p, div_p, eq_p, lt_p, rem_p
from ..ops.indexing import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    gather,
    iota,
    scatter_max,
)
from ..ops.linear import broadcast_in_dim_p, convert, full, reduce_sum_p, reshape, slice_in_dim, sub_p, where as choose
from ..ops.reduce import cumsum_p, reduce_or_p
from ..ops.sort import take_along
from ._index import ARRAY, SCALAR, SLICE, Index, Item
from ._ufunc import kind_of
from .arithmetic import remainder
from .joining import stack
from .logic import chosen, truth
from .operands import (
    broadcast,
    broadcast_shape,
    cast,
    check_whole,
    integer,
    one_axis,
    operand,
    operand_and_aval,
    scalar_of,
    unsupported,
)
from .reading import from_front, read
from .structure import array_operand, ravel


__all__ = ["argwhere", "compress", "extract", "flatnonzero", "nonzero", "take", "take_along_axis", "where"]


_MODES = {
    None: GatherScatterMode.FILL_OR_DROP,
    "fill": GatherScatterMode.FILL_OR_DROP,
    "clip": GatherScatterMode.CLIP,
    "wrap": "wrap",
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
}


def _mode(name: str, mode: Any) -> Any:
    if isinstance(mode, GatherScatterMode):
        return mode
    if mode == "raise":
        raise NotImplementedError(
            f"{name}: mode='raise' is not supported, since a compiled program cannot raise: use 'fill', 'clip' or 'wrap'"
        )
    if mode not in _MODES:
        raise ValueError(f"{name}: mode is 'fill', 'clip', 'wrap' or 'promise_in_bounds', not {mode!r}")
    return _MODES[mode]


def _integer_indices(name: str, indices: Any) -> Any:
    i = operand(name, indices)
    if kind_of(i) == "b" and name == "take":
        i = convert(array_operand(name, i), dtypes.default_int())
    if kind_of(i) not in "iu":
        kind = ShapeError if name == "take" else TypeError
        raise kind(f"{name}: indices must be integers, not {aval_of(i).short()}")
    if isinstance(i, int):
        i = np.asarray(i, np.int32)
    return np.asarray(i) if isinstance(i, np.generic) else i


@eager_jit(static="axis out mode unique_indices indices_are_sorted fill_value")
def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: int | None = None,
    out: None = None,
    mode: str | GatherScatterMode | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: ArrayLike | None = None,
) -> Array:
    """The elements of `a` at `indices` along `axis` (None: of the raveled array); the axis becomes those of `indices`.

    `mode` for indices out of bounds: "fill" (the default: `fill_value`, or NaN or the dtype's extreme), "clip", "wrap".
    Raises TypeError for indices that are not integers, ValueError for an unknown mode, IndexError for indices into
    an axis without elements.
    """
    unsupported("take", out=out)
    x, i, how = array_operand("take", a), _integer_indices("take", indices), _mode("take", mode)
    if axis is None:
        x, axis = reshape(x, (aval_of(x).size,)), 0
    shape = aval_of(x).shape
    axis = one_axis("take", axis, len(shape))
    if shape[axis] == 0 and aval_of(i).size:
        raise IndexError(f"take: axis {axis} has no elements")
    if how == "wrap":
        i, how = _wrapped(i, shape[axis]), GatherScatterMode.PROMISE_IN_BOUNDS
    elif how is GatherScatterMode.CLIP:
        i = _not_negative(i)
    items = [
        Item(SLICE, k, (0, n, 1)) if k != axis else Item(ARRAY if aval_of(i).ndim else SCALAR, k, i)
        for k, n in enumerate(shape)
    ]
    if not aval_of(i).ndim and isinstance(i, np.ndarray):
        i = np.reshape(i, (1,))
        items[axis] = Item(ARRAY, axis, i)
        picked = read(x, Index(tuple(items), shape, (), axis), how, fill_value, unique_indices, indices_are_sorted)
        return reshape(picked, shape[:axis] + shape[axis + 1 :])
    return read(x, Index(tuple(items), shape, (), axis), how, fill_value, unique_indices, indices_are_sorted)


def _not_negative(i: Any) -> Any:
    """In mode "clip" negative indices are out of bounds, too."""
    if kind_of(i) == "u":
        return i
    if isinstance(i, np.ndarray):
        return np.maximum(i, 0)
    zero = scalar_of(0, aval_of(i).dtype, False)
    return choose(lt_p(i, zero), zero, i)


def _wrapped(i: Any, size: int) -> Any:
    if isinstance(i, np.ndarray):
        return i % size
    wide = i if aval_of(i).dtype.itemsize >= 4 else convert(i, dtypes.int32)
    return remainder(wide, scalar_of(size, aval_of(wide).dtype, False))


@eager_jit(static="axis mode fill_value wrap_negative_indices")
def take_along_axis(
    arr: ArrayLike,
    indices: ArrayLike,
    axis: int | None = -1,
    mode: str | GatherScatterMode | None = None,
    fill_value: ArrayLike | None = None,
    *,
    wrap_negative_indices: bool = True,
) -> Array:
    """For every place of `indices` the element of `arr` at that index along `axis`; the other axes run together and
    broadcast. See `take` for `mode` (there is no "wrap"). Indices below 0 count from the end, if `wrap_negative_indices`; mode "one_hot" sums over the axis and gathers nothing. Raises ValueError if the ranks differ."""
    x, i = array_operand("take_along_axis", arr), _integer_indices("take_along_axis", indices)
    if mode == "wrap":
        raise ValueError("take_along_axis: mode 'wrap' is not supported; give jnp.mod(indices, size)")
    how = None if mode == "one_hot" else _mode("take_along_axis", mode)
    if axis is None:
        x, axis = reshape(x, (aval_of(x).size,)), 0
    own, given = aval_of(x).shape, aval_of(i).shape
    if len(own) != len(given):
        raise ValueError(f"take_along_axis: the array has shape {own} and the indices {given}; the ranks must be equal")
    axis = one_axis("take_along_axis", axis, len(own))
    rest = broadcast_shape(own[:axis] + (1,) + own[axis + 1 :], given[:axis] + (1,) + given[axis + 1 :])
    x = broadcast(x, own, rest[:axis] + own[axis : axis + 1] + rest[axis + 1 :])
    i = array_operand("take_along_axis", i)
    i = broadcast(i, given, rest[:axis] + given[axis : axis + 1] + rest[axis + 1 :])
    if wrap_negative_indices:
        i = from_front(i, own[axis])
    if not own[axis]:
        return full(aval_of(i).shape, 0, aval_of(x).dtype)
    if mode == "one_hot":
        return _by_products(x, i, axis)
    if 0 in aval_of(i).shape:
        return take_along(x, i, axis)
    others = tuple(k for k in range(len(own)) if k != axis)
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    return gather(x, reshape(i, (*aval_of(i).shape, 1)), numbers, (1,) * len(own), mode=how, fill_value=fill_value)


def _by_products(x: Any, i: Any, axis: int) -> Any:
    """Every element as the sum over the axis of all that is there, but what is elsewhere times 0."""
    shape, rank = aval_of(i).shape, aval_of(x).ndim
    wide = (*shape[: axis + 1], aval_of(x).shape[axis], *shape[axis + 1 :])
    kept = tuple(k + (k > axis) for k in range(rank))
    there = eq_p(broadcast_in_dim_p(i, shape=wide, broadcast_dimensions=kept), iota(aval_of(i).dtype, wide, axis + 1))
    rows = tuple(k + (k >= axis) for k in range(rank))
    every = broadcast_in_dim_p(x, shape=wide, broadcast_dimensions=rows)
    if aval_of(x).dtype == dtypes.bool_:
        return reduce_or_p(and_p(there, every), axes=(axis + 1,))
    return reduce_sum_p(choose(there, every, scalar_of(0, aval_of(x).dtype, False)), axes=(axis + 1,))


# By condition --------------------------------------------------------------------------------------------------------


def needs_size(name: str, argument: str = "size") -> ConcretizationTypeError:
    """The error of a function whose result has no known size; `argument` is the one that gives it."""
    masked = ", with fill_value= for what is missing; or keep the shape with jnp.where(condition, x, y)"
    return ConcretizationTypeError(
        message_here(
            f"{name}: the size of the result depends on values, which are not known while tracing.",
            f"give the size, {name}(..., {argument}=n){masked if argument == 'size' else ''}; or make the argument that it stems "
            "from static (static_argnames), so that each value gets its own program",
        )
    )


def is_traced(*xs: Any) -> bool:
    """Whether values are unknown, because they or the computation are being traced."""
    return any(isinstance(x, Tracer) and x.known() is None for x in xs)


def is_unknown(*xs: Any) -> bool:
    """Whether an operation on the values gives what is not known: where operations are recorded, even one on constants does."""
    return is_traced(*xs) or capturing() is not None


def nonzero(
    a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None
) -> tuple[Array, ...]:
    """The indices of the elements that are not zero, one array for each axis.

    With `size` exactly so many: further ones are left out, missing ones are `fill_value` (a number, or one for each
    axis; default 0; a float makes the indices floats). Raises ConcretizationTypeError while tracing if `size` is not given, ValueError for scalars and
    for a `fill_value` that does not fit.
    """
    x, aval = operand_and_aval("nonzero", a)
    if not aval.ndim:
        raise ValueError("nonzero of a scalar: use jnp.atleast_1d(x).nonzero()")
    if size is not None:
        fills = fill_value if isinstance(fill_value, tuple) else (0 if fill_value is None else fill_value,) * aval.ndim
        if isinstance(fill_value, list) or len(fills) != aval.ndim:
            raise ValueError(f"nonzero: fill_value is a number or a tuple of {aval.ndim}, not {fill_value!r}")
        return _nonzero(x, integer("nonzero", size, "size"), *fills)
    if is_unknown(x):
        raise needs_size("nonzero")
    check_whole("nonzero", aval)
    return tuple(beside(x, i) for i in np.nonzero(np.asarray(concrete_value(x))))


def concrete_value(x: Any) -> Any:
    """The value below tracers of derivatives."""
    while isinstance(x, Tracer):
        x = x.known()
    return x


@eager_jit(static="size")
def _nonzero(a: Any, size: int, *fills: Any) -> tuple[Any, ...]:
    mask = truth("nonzero", array_operand("nonzero", a))
    shape, total = aval_of(mask).shape, aval_of(mask).size
    index = dtypes.default_int()
    pairs = [operand_and_aval("nonzero", f) for f in fills]
    fills = tuple(f if dtypes.is_inexact(aval.dtype) else cast(f, aval, index) for f, aval in pairs)
    if total == 0 or size == 0:
        given = [array_operand("nonzero", f) for f in fills]
        own = [f if dtypes.is_inexact(aval_of(f).dtype) else convert(f, index) for f in given]
        return tuple(broadcast(_strong(f), (), (size,)) for f in own)
    mask = reshape(mask, (total,))
    counted = convert(mask, index)
    count = cumsum_p(counted, axis=0, reverse=False)
    # Each element writes its place to the result, at the number of elements before it that are not zero: of those that write to one place
    # the last is not zero itself. (To have zeros write nothing would be to ask of each whether it is one.)
    number = lambda n: scalar_of(n, index, False)
    to = reshape(sub_p(count, counted), (total, 1))
    numbers = ScatterDimensionNumbers((), (0,), (0,))
    flat = scatter_max(full((size,), 0, index), to, iota(index, (total,)), numbers)
    found = lt_p(iota(index, (size,)), broadcast(slice_in_dim(count, total - 1, total), (1,), (size,)))
    columns = []
    for i, n in enumerate(shape):
        rest = math.prod(shape[i + 1 :])
        column = flat if rest == 1 else div_p(flat, number(rest))
        columns.append(column if i == 0 else rem_p(column, number(n)))
    return tuple(_strong(chosen("nonzero", found, column, f)) for column, f in zip(columns, fills))


def _strong(x: Any) -> Any:
    return convert(x, aval_of(x).dtype)


def flatnonzero(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The indices [n] of the elements of the raveled array that are not zero, see `nonzero`."""
    return nonzero(ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The indices [n, rank] of the n elements that are not zero, one row for each, see `nonzero`."""
    x, aval = operand_and_aval("argwhere", a)
    if aval.ndim:
        return stack(nonzero(x, size=size, fill_value=fill_value), axis=1)
    # A number that is not zero has one index, without elements.
    (found,) = nonzero(reshape(x, (1,)), size=size, fill_value=fill_value)
    return reshape(found, (aval_of(found).size, 1))[:, :0]


@eager_jit()
def _where(condition: Any, x: Any, y: Any) -> Any:
    return chosen("where", condition, x, y)


@overload
def where(
    condition: ArrayLike,
    x: None = None,
    y: None = None,
    /,
    *,
    size: int | None = None,
    fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None,
) -> tuple[Array, ...]: ...
@overload
def where(
    condition: ArrayLike,
    x: ArrayLike,
    y: ArrayLike,
    /,
    *,
    size: int | None = None,
    fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None,
) -> Array: ...
def where(
    condition: ArrayLike,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    /,
    *,
    size: int | None = None,
    fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None,
) -> Array | tuple[Array, ...]:
    """x where the condition holds, else y, element by element [...]; all broadcast, x and y in their common dtype. With
    the condition alone, its `nonzero` indices.

    Both x and y are computed everywhere; derivatives of the one not taken are multiplied by 0, and NaN there stays NaN:
    guard its input, too. Raises ShapeError (a TypeError and a ValueError) if only one of x and y is given.
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise ShapeError("where takes a condition and both x and y, or the condition alone")
    if size is not None or fill_value is not None:
        raise ValueError("where: size and fill_value are for where(condition)")
    return _where(condition, x, y)


def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
    out: None = None,
) -> Array:
    """The slices of `a` along `axis` (None: elements of the raveled array) for which the vector `condition` holds; what it
    does not reach is left out.

    With `size` exactly so many: further ones are left out, missing ones are `fill_value`. Raises ValueError for a
    condition of another rank, one that holds beyond the axis, and a size greater than it; ConcretizationTypeError while
    tracing if `size` is not given.
    """
    unsupported("compress", out=out)
    x, mask = array_operand("compress", a), truth("compress", array_operand("compress", condition))
    if aval_of(mask).ndim != 1:
        raise ValueError(f"compress: the condition must be a vector; it has shape {aval_of(mask).shape}")
    if axis is None:
        x, axis = reshape(x, (aval_of(x).size,)), 0
    axis = one_axis("compress", axis, aval_of(x).ndim)
    length, given = aval_of(x).shape[axis], aval_of(mask).size
    if size is None:
        if is_traced(mask):
            raise needs_size("compress")
        (kept,) = np.nonzero(np.asarray(concrete_value(mask)))
        if kept.size and kept[-1] >= length:
            raise ValueError(f"compress: the condition holds at {kept[-1]}, beyond axis {axis} of size {length}")
        return take(x, kept, axis, mode="clip")
    reach = min(given, length)
    if not 0 <= integer("compress", size, "size") <= reach:
        raise ValueError(
            f"compress: size is {size}; it must be from 0 to the {reach} elements there are to choose from"
        )
    return _compress(mask if given == reach else slice_in_dim(mask, 0, reach), x, axis, size, fill_value)


@eager_jit(static="axis size")
def _compress(mask: Any, x: Any, axis: int, size: int, fill_value: Any) -> Any:
    shape, index = aval_of(x).shape, dtypes.default_int()
    (kept,) = _nonzero(mask, size, 0)
    values = take(x, kept, axis, mode="clip")
    there = reduce_sum_p(convert(mask, index), axes=(0,))
    there = lt_p(iota(index, (size,)), broadcast(there, (), (size,)))
    wide = (*shape[:axis], size, *shape[axis + 1 :])
    there = reshape(there, (size, *[1] * (len(shape) - axis - 1)))
    filler = cast(*operand_and_aval("compress", fill_value), aval_of(x).dtype)
    return choose(broadcast(there, aval_of(there).shape, wide), values, filler)


def extract(condition: ArrayLike, arr: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0) -> Array:
    """The elements [n] for which the condition holds, as a vector; see `compress`."""
    return compress(ravel(condition), ravel(arr), size=size, fill_value=fill_value)
