"""Index tricks: grids by slices, flat indices, and joining between brackets."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike
from ..core.avals import aval_of
from ..core.errors import ConcretizationTypeError, TracerArrayConversionError
from ..core.messages import message_here
from ..eager.functions import eager_jit
from ..ops.elementwise import div_p, lt_p, max_p, min_p, rem_p
from ..ops.linear import add_p, convert, mul_p, reshape, sub_p, where as choose
from ._ufunc import kind_of
from .arithmetic import remainder
from .creation import asarray, full_like
from .dtypes import array_of, requested
from .joining import concatenate
from .operands import number_like, operand_and_aval, operands, scalar_of, shape_of
from .ranges import arange, linspace
from .selecting import concrete_value, is_traced, nonzero
from .structure import array_operand, atleast_2d, expand_dims, with_new_axes


__all__ = ["c_", "index_exp", "ix_", "mgrid", "ogrid", "r_", "ravel_multi_index", "s_", "unravel_index"]


s_ = np.s_
index_exp = np.index_exp


class _Grid:
    """`mgrid[0:3, 0:1:5j]`: the dense or open grid of ranges; an imaginary step is a number of points."""

    def __init__(self, sparse: bool):
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        try:
            grid = (np.ogrid if self.sparse else np.mgrid)[key]
        except TracerArrayConversionError as error:
            raise ConcretizationTypeError(str(error)) from None
        grids = [array_of(x, named=False) for x in (grid if isinstance(grid, tuple) else [grid])]
        return grids if isinstance(grid, tuple) else grids[0]


mgrid, ogrid = _Grid(False), _Grid(True)


class _Concatenator:
    """`r_[a, 0:3, 5]`: arrays, numbers and ranges one after another, along axis 0 (`c_`: vectors as columns).

    A text in front says how: "axis,rank,place", where arrays of lower rank get new axes so that their own begin at `place`
    (-1: at the end); of these the first or the first two may be given. "r" and "c" make the result a matrix, of a row or a
    column. Raises ValueError for other texts and for those further behind.
    """

    def __init__(self, axis: int, rank: int, place: int):
        self.default = axis, rank, place

    def __getitem__(self, key: Any) -> Any:
        items = list(key if isinstance(key, tuple) else (key,))
        words = items.pop(0) if items and isinstance(items[0], str) else ""
        axis, rank, place = self._read(words)
        parts = [_widened(_part(item), rank, place) for item in items]
        joined = concatenate(parts, axis)
        if words not in ("r", "c"):
            return joined
        column = words == "c" and aval_of(joined).ndim == 1
        return expand_dims(joined, 1) if column else atleast_2d(joined)

    def _read(self, words: str) -> tuple[int, int, int]:
        if words in ("", "r", "c"):
            return self.default
        try:
            given = [int(word) for word in words.split(",")]
        except ValueError:
            given = []
        if not 1 <= len(given) <= 3:
            raise ValueError(f"r_ and c_: {words!r} is none of 'r', 'c' and 'axis,rank,place'")
        return (*given, *self.default[len(given) :])  # pyright: ignore[reportReturnType]


def _part(item: Any) -> Any:
    if isinstance(item, str):
        raise ValueError(f"r_ and c_: the text {item!r} must stand first")
    if not isinstance(item, slice):
        return array_operand("r_", asarray(item))
    start, step = item.start or 0, 1 if item.step is None else item.step
    return linspace(start, item.stop, int(abs(step))) if isinstance(step, complex) else arange(start, item.stop, step)


def _widened(x: Any, rank: int, place: int) -> Any:
    """`x` with at least `rank` axes; its own begin at `place` of the result (-1: they are the last)."""
    own = aval_of(x).ndim
    new = max(rank, 1) - own
    if new <= 0:
        return x
    front = place + new + 1 if place < 0 else min(place, new)
    return with_new_axes(x, [*range(front), *range(front + own, own + new)])


r_, c_ = _Concatenator(0, 1, -1), _Concatenator(-1, 2, 0)


def ix_(*args: ArrayLike) -> tuple[Array, ...]:
    """Vectors shaped so that together they index the grid of all combinations; boolean ones stand for where they hold. Raises
    ValueError for what is not a vector."""
    places = []
    for i, arg in enumerate(args):
        x = array_operand("ix_", arg)
        if aval_of(x).ndim != 1:
            raise ValueError(f"ix_ takes vectors; argument {i} has shape {aval_of(x).shape}")
        x = nonzero(x)[0] if aval_of(x).dtype == dtypes.bool_ else x
        x = x if aval_of(x).size else convert(x, dtypes.default_int())
        places.append(reshape(x, tuple(aval_of(x).size if j == i else 1 for j in range(len(args)))))
    return tuple(places)


def unravel_index(indices: ArrayLike, shape: int | Sequence[int]) -> tuple[Array, ...]:
    """The index along each axis of an array of `shape`, whose sizes may be traced, as a tuple, that each flat index [...]
    stands for; those out of bounds are moved into bounds. Raises TypeError for indices that are not integers."""
    sizes: Sequence[Any] = shape if isinstance(shape, (tuple, list)) else [shape]
    if any(map(is_traced, sizes)):
        return _unravel_index(indices, tuple(sizes))
    return _unravel_static(indices, shape_of("unravel_index", shape))


@eager_jit(static="shape")
def _unravel_static(indices: Any, shape: tuple[int, ...]) -> Any:
    return _unravel_index(indices, shape)


def _unravel_index(indices: Any, sizes: tuple[Any, ...]) -> Any:
    flat = array_operand("unravel_index", indices)
    if kind_of(flat) not in "iu":
        raise TypeError(f"unravel_index: indices must be integers, not {aval_of(flat).short()}")
    known = not any(map(is_traced, sizes))
    numbers = [_size_like(flat, n) for n in sizes]
    total = number_like(flat, math.prod(sizes)) if known else functools.reduce(mul_p, numbers)
    if kind_of(flat) == "i":
        flat = choose(lt_p(flat, number_like(flat, 0)), add_p(flat, total), flat)
        flat = max_p(flat, number_like(flat, 0))
    last = number_like(flat, max(math.prod(sizes) - 1, 0)) if known else sub_p(total, number_like(total, 1))
    flat = min_p(flat, last)
    columns = []
    for size in reversed(numbers):
        columns.append(rem_p(flat, size))
        flat = div_p(flat, size)
    return tuple(columns[::-1])


def _size_like(flat: Any, n: Any) -> Any:
    """A size as an operand beside `flat`: a number, or an array of its shape where it is traced."""
    return full_like(flat, n) if is_traced(n) else number_like(flat, n)


def ravel_multi_index(
    multi_index: Sequence[Any],
    dims: int | Sequence[int],
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """The flat index of indices along each axis. `mode` for those out of bounds: "clip", "wrap", "ignore" (the result means
    nothing) or "raise", a ValueError.

    Raises ValueError for another number of arrays than of `dims`, for indices that are not integers and for other modes;
    ConcretizationTypeError for mode "raise" while tracing, when the values are not known.
    """
    given = [operand_and_aval("ravel_multi_index", x) for x in multi_index]
    columns = [x for x, _ in given]
    for _, aval in given:
        if dtypes.kind(aval.dtype) not in "biu":
            raise ValueError(f"ravel_multi_index: indices must be integers, not {aval.short()}")
    if mode == "raise":
        for x, n in zip(columns, shape_of("ravel_multi_index", dims)):
            if is_traced(x):
                raise ConcretizationTypeError(
                    message_here(
                        "ravel_multi_index: mode='raise' looks at the indices, which are not known while tracing.",
                        "use mode='clip' or mode='wrap'",
                    )
                )
            values = np.asarray(concrete_value(x))
            if values.size and not 0 <= values.min() <= values.max() < n:
                raise ValueError(
                    f"invalid entry in coordinates array: ravel_multi_index got indices from {values.min()} to {values.max()} "
                    f"for an axis of size {n}"
                )
    return _ravel_multi_index(columns, dims, mode, order, dtype)


@eager_jit(static="dims mode order dtype")
def _ravel_multi_index(multi_index: Any, dims: Any, mode: str, order: str, dtype: Any) -> Any:
    sizes = shape_of("ravel_multi_index", dims)
    columns = operands("ravel_multi_index", *multi_index)
    if len(columns) != len(sizes):
        raise ValueError(f"ravel_multi_index: {len(columns)} arrays of indices for {len(sizes)} axes")
    if mode not in ("raise", "clip", "wrap", "ignore") or order not in ("C", "F"):
        raise ValueError(f"ravel_multi_index: mode {mode!r} and order {order!r} are not both known")
    pairs = list(zip(columns, sizes))
    flat: Any = None
    for column, n in pairs if order == "C" else pairs[::-1]:
        size = scalar_of(n, aval_of(column).dtype, False)
        last, zero = (scalar_of(v, aval_of(column).dtype, False) for v in (max(n - 1, 0), 0))
        if mode != "ignore":
            column = remainder(column, size) if mode == "wrap" else max_p(min_p(column, last), zero)
        flat = column if flat is None else add_p(mul_p(flat, size), column)
    return flat if dtype is None else convert(flat, requested(dtype, "ravel_multi_index"))
