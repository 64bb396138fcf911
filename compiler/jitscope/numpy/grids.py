"""Index tricks: grids by slices, flat indices, and joining between brackets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from ..ops.elementwise import div_p, max_p, min_p, rem_p
from ..ops.linear import add_p, convert, mul_p, reshape
from ._fused import fused
from ._operands import operands, scalar_of, shape_of
from ._ufunc import kind_of
from .arithmetic import remainder
from .dtypes import requested
from .joining import concatenate
from .ranges import arange, linspace, made
from .reading import from_front
from .selecting import nonzero
from .structure import array_operand, atleast_1d, expand_dims


s_ = np.s_
index_exp = np.index_exp


class _Grid:
    """`mgrid[0:3, 0:1:5j]`: the dense or open grid of ranges; an imaginary step is a number of points."""

    def __init__(self, sparse: bool):
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        grid = (np.ogrid if self.sparse else np.mgrid)[key]
        return tuple(map(made, grid)) if isinstance(grid, tuple) else made(grid)


mgrid, ogrid = _Grid(False), _Grid(True)


class _Joined:
    """`r_[a, 0:3, 5]`: arrays, numbers and ranges one after another, along axis 0 (`c_`: vectors as columns)."""

    def __init__(self, columns: bool):
        self.columns = columns

    def __getitem__(self, key: Any) -> Any:
        parts = [self._part(item) for item in (key if isinstance(key, tuple) else (key,))]
        if not self.columns:
            return concatenate(parts, 0)
        return concatenate([expand_dims(x, 1) if aval_of(x).ndim == 1 else x for x in parts], -1)

    def _part(self, item: Any) -> Any:
        if isinstance(item, str):
            raise NotImplementedError("r_ and c_ with directives as text")
        if not isinstance(item, slice):
            return atleast_1d(item)
        start, step = item.start or 0, 1 if item.step is None else item.step
        return (
            linspace(start, item.stop, int(abs(step))) if isinstance(step, complex) else arange(start, item.stop, step)
        )


r_, c_ = _Joined(False), _Joined(True)


def ix_(*args: Any) -> tuple[Any, ...]:
    """Vectors shaped so that together they index the grid of all combinations; boolean ones stand for where they hold."""
    places = []
    for i, arg in enumerate(args):
        x = array_operand("ix_", arg)
        if aval_of(x).ndim != 1:
            raise ValueError(f"ix_ takes vectors; argument {i} has shape {aval_of(x).shape}")
        x = nonzero(x)[0] if aval_of(x).dtype == dtypes.bool_ else x
        places.append(reshape(x, tuple(aval_of(x).size if j == i else 1 for j in range(len(args)))))
    return tuple(places)


@fused(static="shape")
def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """The index along each axis of an array of `shape` that each flat index stands for; those out of bounds are moved in."""
    sizes = shape_of("unravel_index", shape)
    flat = array_operand("unravel_index", indices)
    if kind_of(flat) not in "iu":
        raise TypeError(f"unravel_index: indices must be integers, not {aval_of(flat).short()}")
    total = int(np.prod(sizes))
    flat = from_front(flat, total)
    dtype = aval_of(flat).dtype
    flat = max_p(min_p(flat, scalar_of(max(total - 1, 0), dtype, False)), scalar_of(0, dtype, False))
    columns = []
    for n in reversed(sizes):
        size = scalar_of(n, dtype, False)
        columns.append(rem_p(flat, size))
        flat = div_p(flat, size)
    return tuple(columns[::-1])


@fused(static="dims mode order dtype")
def ravel_multi_index(
    multi_index: Sequence[Any], dims: Any, mode: str = "raise", order: str = "C", *, dtype: Any = None
) -> Any:
    """The flat index of indices along each axis. `mode` for those out of bounds: "clip" or "wrap" ("raise" cannot, in a
    program: it is "clip")."""
    sizes = shape_of("ravel_multi_index", dims)
    columns = operands("ravel_multi_index", *multi_index)
    if len(columns) != len(sizes):
        raise ValueError(f"ravel_multi_index: {len(columns)} arrays of indices for {len(sizes)} axes")
    if mode not in ("raise", "clip", "wrap") or order not in ("C", "F"):
        raise ValueError(f"ravel_multi_index: mode {mode!r} and order {order!r} are not both known")
    pairs = list(zip(columns, sizes))
    flat: Any = None
    for column, n in pairs if order == "C" else pairs[::-1]:
        size = scalar_of(n, aval_of(column).dtype, False)
        last, zero = (scalar_of(v, aval_of(column).dtype, False) for v in (max(n - 1, 0), 0))
        column = remainder(column, size) if mode == "wrap" else max_p(min_p(column, last), zero)
        flat = column if flat is None else add_p(mul_p(flat, size), column)
    return flat if dtype is None else convert(flat, requested(dtype, "ravel_multi_index"))
