"""Shapes and axes: the same elements seen otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend.placement import laid
from ..core.annotations import Array, ArrayLike, AtLeast, Axes, PartitionSpec, Sharding
from ..core.avals import aval_of
from ..core.errors import ShapeError, TracerIntegerConversionError
from ..core.staging import capturing, constant_atom
from ..eager.functions import eager_jit
from ..ops.linear import (
    broadcast_in_dim_p,
    convert_element_type_p,
    reshape as reshape_value,
    rev_p,
    squeeze_p,
    transpose as transpose_value,
)
from ..symbolic.dimension import is_static, is_symbolic_dim
from ._ufunc import describe
from .operands import (
    axes_of,
    broadcast,
    broadcast_shape,
    integer,
    listed,
    one_axis,
    operand,
    operand_and_aval,
    shape_of,
)


__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "expand_dims", "flip",
           "fliplr", "flipud", "matrix_transpose", "moveaxis", "permute_dims", "ravel", "reshape", "rollaxis", "rot90",
           "squeeze", "swapaxes", "transpose"]  # fmt: skip


def array_operand(name: str, x: Any) -> Any:
    """An operand that is an array: a Python number becomes one of rank 0, still weak."""
    x = operand(name, x)
    if hasattr(x, "aval") or isinstance(x, (np.ndarray, np.generic)):
        return x
    if capturing() is not None:
        return constant_atom(x)
    aval = aval_of(x)
    return convert_element_type_p(x, new_dtype=aval.dtype, weak_type=aval.weak_type)


# Shape ---------------------------------------------------------------------------------------------------------------


def full_shape(name: str, shape: Any, own: tuple[int, ...]) -> tuple[int, ...]:
    """The shape asked for, with a -1 worked out. Raises TypeError if the number of elements differs."""
    sizes = [
        integer(name, n, "every size", TypeError)
        for n in (
            shape
            if isinstance(shape, (tuple, list)) or (hasattr(shape, "__len__") and getattr(shape, "ndim", 1))
            else (shape,)
        )
    ]
    total = math.prod(own)
    if sizes.count(-1) > 1:
        raise TypeError(f"{name}: only one size may be -1, the shape given is {tuple(sizes)}")
    if -1 in sizes:
        known = math.prod(n for n in sizes if n != -1)
        if known and total % known == 0:
            sizes[sizes.index(-1)] = total // known
    if math.prod(sizes) != total or any(n < 0 for n in sizes):
        raise TypeError(f"{name}: an array of shape {own}, {total} elements, does not fit shape {tuple(sizes)}")
    return tuple(sizes)


@eager_jit(static="shape order copy out_sharding", same=True)
def reshape(
    a: ArrayLike,
    shape: int | Sequence[int],
    order: str = "C",
    *,
    copy: bool | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """The elements of `a` in another shape; one size may be -1. `order`: "C" (last axis fastest) or "F".

    Raises TypeError, naming both shapes, if the number of elements differs; NotImplementedError for the order "A",
    ValueError for others.
    """
    if out_sharding is not None:
        return laid(out_sharding, reshape, a, shape, order, copy=copy)
    x = array_operand("reshape", a)
    own = aval_of(x).shape
    sizes = full_shape("reshape", shape, own)
    if order == "C":
        return reshape_value(x, sizes)
    if order == "A":
        raise NotImplementedError(
            "reshape: order 'A' is not supported: elements are always stored row by row, so that it is order 'C'"
        )
    if order != "F":
        raise ValueError(f"reshape: order is 'C' or 'F', not {order!r}")
    backwards = transpose_value(x, tuple(reversed(range(len(own)))))
    return transpose_value(reshape_value(backwards, sizes[::-1]), tuple(reversed(range(len(sizes)))))


@eager_jit(static="order out_sharding")
def ravel(a: ArrayLike, order: str = "C", *, out_sharding: Sharding | PartitionSpec | None = None) -> Array:
    """All elements as a vector, in `order` "C" (last axis fastest) or "F". Raises NotImplementedError for the order "K"."""
    if out_sharding is not None:
        return laid(out_sharding, ravel, a, order)
    if order == "K":
        raise NotImplementedError(
            "ravel: order 'K' is not supported: elements are always stored row by row, which is order 'C'"
        )
    return reshape(a, (operand_and_aval("ravel", a)[1].size,), order)


@eager_jit(static="axis")
def expand_dims(a: ArrayLike, axis: int | Sequence[int]) -> Array:
    """`a` with new axes of size 1 at the places `axis` (an int or several) of the result. Raises ValueError for places
    that do not exist or stand twice."""
    x = array_operand("expand_dims", a)
    axes = listed(axis)
    rank = aval_of(x).ndim + len(axes)
    return with_new_axes(x, [one_axis("expand_dims", i, rank) for i in axes])


def with_new_axes(x: Any, places: Sequence[int]) -> Any:
    """`x` with axes of size 1 at the places of the result."""
    if not places:
        return x
    if len(set(places)) != len(places):
        raise ValueError(f"expand_dims: an axis stands twice in {tuple(places)}")
    sizes = iter(aval_of(x).shape)
    rank = aval_of(x).ndim + len(places)
    shape = tuple(1 if i in places else next(sizes) for i in range(rank))
    return broadcast_in_dim_p(x, shape=shape, broadcast_dimensions=tuple(i for i in range(rank) if i not in places))


@eager_jit(static="axis")
def squeeze(a: ArrayLike, axis: Axes = None) -> Array:
    """`a` without the axes of size 1 in `axis` (None: all of them). Raises ValueError for axes of another size."""
    x = array_operand("squeeze", a)
    shape = aval_of(x).shape
    if axis is None:
        if not is_static(shape):
            raise ValueError(
                f"squeeze: which axes of shape {shape} have size 1 depends on the symbolic dimensions: name them with axis="
            )
        axes = [i for i, n in enumerate(shape) if n == 1]
    else:
        axes = axes_of("squeeze", axis, len(shape))
        if wide := [i for i in axes if shape[i] != 1]:
            raise ValueError(f"squeeze: axis {wide[0]} of shape {shape} has size {shape[wide[0]]}, not 1")
    return squeeze_p(x, dimensions=tuple(axes)) if axes else x


@eager_jit(static="shape out_sharding", same=True)
def broadcast_to(
    array: ArrayLike, shape: int | Sequence[int], *, out_sharding: Sharding | PartitionSpec | None = None
) -> Array:
    """`array` repeated to `shape`. Raises ValueError, naming both shapes, if it does not fit."""
    if out_sharding is not None:
        return laid(out_sharding, broadcast_to, array, shape)
    x, target = array_operand("broadcast_to", array), shape_of("broadcast_to", shape)
    own = aval_of(x).shape
    if len(own) > len(target) or any(n not in (1, m) for n, m in zip(own[::-1], target[::-1])):
        raise ValueError(f"broadcast_to: an array of shape {own} does not broadcast to shape {target}")
    return broadcast(x, own, target)


@eager_jit()
def broadcast_arrays(*args: ArrayLike) -> tuple[Array, ...]:
    """All arrays repeated to their common shape. Raises ValueError, naming the shapes, if there is none."""
    xs = [array_operand("broadcast_arrays", x) for x in args]
    shapes = [aval_of(x).shape for x in xs]
    shape = broadcast_shape(*shapes) if xs else ()
    return tuple(broadcast(x, own, shape) for x, own in zip(xs, shapes))


def _at_least(name: str, rank: int, widen: Any) -> AtLeast:
    @eager_jit()
    def several(*arys: Any) -> tuple[Any, ...]:
        return tuple(_widened(name, x, rank, widen) for x in arys)

    @eager_jit()
    def one(ary: Any) -> Any:
        return _widened(name, ary, rank, widen)

    def fun(*arys: Any) -> Any:
        return one(arys[0]) if len(arys) == 1 else several(*arys)

    return describe(fun, name, f"The array with at least {rank} axes, new ones of size 1; for several arrays, a tuple.")


def _widened(name: str, x: Any, rank: int, widen: Any) -> Any:
    x = array_operand(name, x)
    own = aval_of(x).ndim
    return x if own >= rank else with_new_axes(x, widen(own))


atleast_1d = _at_least("atleast_1d", 1, lambda own: [0])
atleast_2d = _at_least("atleast_2d", 2, lambda own: [0, 1] if own == 0 else [0])
atleast_3d = _at_least("atleast_3d", 3, lambda own: [[0, 1, 2], [0, 2], [2]][own])


# Order of axes -------------------------------------------------------------------------------------------------------


def permuted(name: str, x: Any, axes: Sequence[Any]) -> Any:
    """`x` with its axes in the order `axes`. Raises ShapeError if they are not a permutation."""
    rank = aval_of(x).ndim
    order = tuple(one_axis(name, i, rank, TracerIntegerConversionError) for i in axes)
    if sorted(order) != list(range(rank)):
        raise ShapeError(f"{name}: axes {tuple(axes)} are not a permutation of the axes of shape {aval_of(x).shape}")
    return transpose_value(x, order)


@eager_jit(static="axes", same=True)
def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """`a` with its axes in the order `axes` (None: reversed): [m, n] to [n, m]. Raises ShapeError (a ValueError) if
    they are not a permutation."""
    x = array_operand("transpose", a)
    return permuted("transpose", x, range(aval_of(x).ndim)[::-1] if axes is None else axes)


@eager_jit(static="axes", same=True)
def permute_dims(a: ArrayLike, /, axes: tuple[int, ...]) -> Array:
    """`a` with its axes in the order `axes`: [k, m, n] and (2, 0, 1) to [n, k, m]. Raises ShapeError (a ValueError) if
    they are not a permutation."""
    return permuted("permute_dims", array_operand("permute_dims", a), axes)


@eager_jit()
def matrix_transpose(x: ArrayLike, /) -> Array:
    """The last two axes swapped: [..., m, n] to [..., n, m]. Raises ValueError for arrays of fewer axes."""
    x = array_operand("matrix_transpose", x)
    rank = aval_of(x).ndim
    if rank < 2:
        raise ValueError(f"matrix_transpose needs two axes or more; the array has shape {aval_of(x).shape}")
    return transpose_value(x, (*range(rank - 2), rank - 1, rank - 2))


@eager_jit(static="axis1 axis2")
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """`a` with two axes exchanged: [m, ..., n] to [n, ..., m]."""
    x = array_operand("swapaxes", a)
    order = list(range(aval_of(x).ndim))
    i, j = (one_axis("swapaxes", k, len(order), ValueError) for k in (axis1, axis2))
    order[i], order[j] = order[j], order[i]
    return transpose_value(x, tuple(order))


@eager_jit(static="source destination")
def moveaxis(a: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Array:
    """`a` with the axes `source` (an int or several) at the places `destination`, the others in order.

    Raises ValueError if their numbers differ.
    """
    x = array_operand("moveaxis", a)
    rank = aval_of(x).ndim
    old, new = ([one_axis("moveaxis", i, rank) for i in listed(places)] for places in (source, destination))
    if len(old) != len(new) or len(set(old)) != len(old) or len(set(new)) != len(new):
        raise ShapeError(f"moveaxis: {source} and {destination} must name equally many distinct axes")
    order = [i for i in range(rank) if i not in old]
    for place, axis in sorted(zip(new, old)):
        order.insert(place, axis)
    return transpose_value(x, tuple(order))


@eager_jit(static="axis start")
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """`a` with one axis moved before the place `start`. Raises ValueError for a `start` that is not there."""
    x = array_operand("rollaxis", a)
    rank = aval_of(x).ndim
    axis = one_axis("rollaxis", axis, rank)
    start = start + rank if start < 0 else start
    if not 0 <= start <= rank:
        raise ValueError(f"rollaxis: start {start} is out of bounds for an array of {rank} dimensions")
    return moveaxis(x, axis, start - (axis < start))


# Order of elements ---------------------------------------------------------------------------------------------------


def flipped(x: Any, axes: Sequence[int]) -> Any:
    """`x` reversed along axes of more than one element."""
    shape = aval_of(x).shape
    turned = tuple(i for i in sorted(axes) if is_symbolic_dim(shape[i]) or shape[i] > 1)
    return rev_p(x, dimensions=turned) if turned else x


@eager_jit(static="axis")
def flip(m: ArrayLike, axis: Axes = None) -> Array:
    """The order of elements reversed along `axis` (an int or several; None: all). Raises TypeError for an axis named twice."""
    x = array_operand("flip", m)
    rank = aval_of(x).ndim
    axes = range(rank) if axis is None else [one_axis("flip", i, rank) for i in listed(axis)]
    if len(set(axes)) < len(axes):
        raise TypeError(f"flip: axes must be named once, not {axis}")
    return flipped(x, axes)


@eager_jit()
def flipud(m: ArrayLike) -> Array:
    """The order reversed along axis 0. Raises ValueError for arrays of rank 0."""
    return flip(m, 0)


@eager_jit()
def fliplr(m: ArrayLike) -> Array:
    """The order reversed along axis 1. Raises ValueError for arrays of lower rank than 2."""
    return flip(m, 1)


@eager_jit(static="k axes")
def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """`m` [..., m, n] turned by 90 degrees `k` times, from the first of `axes` towards the second: [..., n, m] for odd
    `k`. Raises ValueError where both axes are one."""
    x = array_operand("rot90", m)
    rank = aval_of(x).ndim
    i, j = (one_axis("rot90", a, rank) for a in axes)
    if i == j:
        raise ValueError("rot90 turns in a plane: the axes must differ")
    k = integer("rot90", k, "k", ValueError) % 4
    if k == 0:
        return x
    if k == 2:
        return flipped(x, (i, j))
    return swapaxes(flipped(x, (j,)), i, j) if k == 1 else flipped(swapaxes(x, i, j), (j,))
