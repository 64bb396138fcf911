"""Triangles and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Device, DTypeLike, Sharding, Triangle
from ..core.avals import aval_of
from ..core.dtypes import default_float
from ..core.errors import ConcretizationTypeError, ShapeError, TracerIntegerConversionError
from ..core.trace import Tracer, evaluating
from ..eager.functions import eager_jit
from ..ops.elementwise import eq_p, ge_p
from ..ops.indexing import iota
from ..ops.linear import add_p, convert, pad_p, reshape, slice_in_dim, where as choose
from ..symbolic.dimension import is_symbolic_dim
from ._ufunc import describe
from .creation import zeros
from .dtypes import array_of, requested
from .operands import broadcast, check_whole, integer, number_like, one_axis, operand_and_aval, scalar_of, shape_of
from .structure import array_operand, moveaxis


__all__ = ["diag", "diag_indices", "diag_indices_from", "diagflat", "diagonal", "eye", "identity", "tri", "tril",
           "tril_indices", "tril_indices_from", "triu", "triu_indices", "triu_indices_from"]  # fmt: skip


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, *, device: Device | Sharding | None = None
) -> Array:
    """Zeros [N, M] (None: [N, N]) with ones on the k-th diagonal, in `dtype` (None: the default float). Raises
    ValueError for a `k` that is not an integer."""
    rows, columns = shape = shape_of("eye", (N, N if M is None else M))
    to = default_float() if dtype is None else requested(dtype, "eye")
    if isinstance(k, Tracer):
        return triangle("eye", shape, k, eq_p, to)
    if not isinstance(k, (int, np.integer)) and not dtypes.is_integer(operand_and_aval("eye", k)[1].dtype):
        raise ValueError(f"eye: k must be an integer, not {k!r}")
    k = integer("eye", k, "k")
    if evaluating():
        return array_of(np.eye(rows, columns, k, to), device)
    row, column = rows_and_columns(shape, k)
    return convert(eq_p(row, column), to)


def identity(n: int, dtype: DTypeLike | None = None) -> Array:
    """Zeros [n, n] with ones on the diagonal, in `dtype` (None: the default float)."""
    return eye(n, dtype=dtype)


def rows_and_columns(shape: tuple[int, ...], k: int) -> tuple[Array, Array]:
    """The numbers of rows, plus k, and of columns, over the last two axes."""
    index = dtypes.default_int()
    row, column = iota(index, shape, len(shape) - 2), iota(index, shape, len(shape) - 1)
    return (add_p(row, scalar_of(k, index, False)) if k else row), column


def triangle(name: str, shape: tuple[int, ...], k: Any, compare: Any, to: Any) -> Any:
    """Ones where a place, k rows further down, compares so with the diagonal; `k` is traced. Raises ValueError if it is not an
    integer without axes."""
    aval = aval_of(k)
    if aval.shape or not dtypes.is_integer(aval.dtype):
        raise ValueError(f"{name}: k must be an integer, not {aval.short()}")
    row, column = rows_and_columns(shape, 0)
    row = add_p(row, broadcast(convert(k, aval_of(row).dtype), (), shape))
    return convert(compare(row, column), to)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Ones on and below the k-th diagonal of [N, M] (None: [N, N]), zeros above; the default float without `dtype`."""
    rows, columns = shape = shape_of("tri", (N, N if M is None else M))
    to = dtypes.default_float() if dtype is None else requested(dtype, "tri")
    if isinstance(k, Tracer):
        return triangle("tri", shape, k, ge_p, to)
    k = integer("tri", k, "k")
    if evaluating():
        return array_of(np.tri(rows, columns, k).astype(to))
    return convert(ge_p(*rows_and_columns(shape, k)), to)


def _zero_of(x: Any) -> Any:
    """0 as an element of `x`; the key whose words are 0."""
    dtype = aval_of(x).dtype
    return zeros((), dtype) if dtypes.is_extended(dtype) else number_like(x, 0)


def _triangle(name: str, below: bool, doc: str) -> Triangle:
    def fun(m: Any, k: int = 0) -> Any:
        x = array_operand(name, m)
        shape = aval_of(x).shape
        if len(shape) < 2:
            raise ValueError(f"{name} needs two axes or more; the array has shape {shape}")
        row, column = rows_and_columns(shape, integer(name, k, "k", ValueError) - (not below))
        under, zero = ge_p(row, column), _zero_of(x)
        return choose(under, x, zero) if below else choose(under, zero, x)

    return eager_jit(static="k")(describe(fun, name, doc))


_SAID = "The elements [..., n, m] on and {} the k-th diagonal, zeros {}. Raises ValueError for arrays of fewer than two axes."
tril = _triangle("tril", True, _SAID.format("below", "above"))
triu = _triangle("triu", False, _SAID.format("above", "below"))


def _matrix(name: str, n: Any, k: Any, m: Any) -> tuple[int, int, int]:
    """The arguments as ints. Raises ShapeError (a TypeError and a ValueError) for negative sizes."""
    rows, columns = shape_of(name, (n, n if m is None else m), ConcretizationTypeError)
    return rows, integer(name, k, "k"), columns


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Row and column numbers, two vectors, of the elements on and below the k-th diagonal of an array [n, m] (None: [n,
    n])."""
    rows, columns = np.tril_indices(*_matrix("tril_indices", n, k, m))
    return array_of(rows, named=False), array_of(columns, named=False)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Row and column numbers, two vectors, of the elements on and above the k-th diagonal of an array [n, m] (None: [n,
    n])."""
    rows, columns = np.triu_indices(*_matrix("triu_indices", n, k, m))
    return array_of(rows, named=False), array_of(columns, named=False)


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The index of the main diagonal of an array with `ndim` axes of size n: `ndim` vectors [n]. Raises ValueError for
    negative numbers."""
    if integer("diag_indices", n, "n") < 0 or integer("diag_indices", ndim, "ndim") < 0:
        raise ValueError(f"diag_indices: n and ndim must not be negative, they are {n} and {ndim}")
    return (array_of(np.arange(n), named=False),) * ndim


def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """`tril_indices` for the shape of a matrix [n, m]. Raises ValueError for other ranks."""
    return tril_indices(*_matrix_shape("tril_indices_from", arr, k))


def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """`triu_indices` for the shape of a matrix [n, m]. Raises ValueError for other ranks."""
    return triu_indices(*_matrix_shape("triu_indices_from", arr, k))


def _matrix_shape(name: str, arr: Any, k: int) -> tuple[int, int, int]:
    shape = operand_and_aval(name, arr)[1].shape
    if len(shape) != 2:
        raise ValueError(f"{name} needs a matrix; the array has shape {shape}")
    return shape[0], k, shape[1]


def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """`diag_indices` for the shape of an array of two or more equal axes. Raises ValueError for other shapes."""
    shape = operand_and_aval("diag_indices_from", arr)[1].shape
    if len(shape) < 2 or len(set(shape)) > 1:
        raise ValueError(f"diag_indices_from needs two or more axes of one size; the array has shape {shape}")
    return diag_indices(shape[0], len(shape))


# Diagonals -----------------------------------------------------------------------------------------------------------


def diag(v: ArrayLike, k: int = 0) -> Array:
    """A matrix [n + |k|, n + |k|] with the vector `v` [n] on its k-th diagonal, or the k-th diagonal, a vector, of the
    matrix `v` [m, n].

    Raises ValueError for other ranks.
    """
    return _diag(v, integer("diag", k, "k", TracerIntegerConversionError))


@eager_jit(static="k")
def _diag(v: Any, k: int) -> Any:
    x = array_operand("diag", v)
    if aval_of(x).ndim == 2:
        return diagonal(x, k)
    if aval_of(x).ndim != 1:
        raise ValueError(f"diag takes a vector or a matrix; it got shape {aval_of(x).shape}")
    size = aval_of(x).size + abs(k)
    zero = _zero_of(x)
    row = pad_p(x, zero, padding_config=((max(0, k), max(0, -k), 0),))
    row = broadcast(reshape(row, (1, size)), (1, size), (size, size))
    return choose(eq_p(*rows_and_columns((size, size), k)), row, zero)


def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """A matrix [n + |k|, n + |k|] with the n elements of the raveled array on its k-th diagonal."""
    return _diagflat(v, integer("diagflat", k, "k"))


@eager_jit(static="k")
def _diagflat(v: Any, k: int) -> Any:
    x = array_operand("diagflat", v)
    return _diag(reshape(x, (aval_of(x).size,)), k)


@eager_jit(static="offset axis1 axis2")
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The `offset`-th diagonal over two axes, as last axis of the result. Raises ValueError for lower ranks than 2, TypeError
    (a ShapeError) for equal axes."""
    x = array_operand("diagonal", a)
    rank = aval_of(x).ndim
    i, j = (one_axis("diagonal", axis, rank) for axis in (axis1, axis2))
    offset = integer("diagonal", offset, "offset", ValueError)
    if i == j:
        raise ShapeError("diagonal: axis1 and axis2 must differ")
    check_whole("diagonal", aval_of(x), (i, j))
    x = moveaxis(x, (i, j), (-2, -1))
    *batch, n, m = aval_of(x).shape
    size = max(0, min(n + min(offset, 0), m - max(offset, 0)))
    # In the rows laid end to end, neighbours on a diagonal are m + 1 apart.
    start = max(offset, 0) + max(-offset, 0) * m if size else 0
    flat = reshape(x, (*batch, n * m))
    edge = start + (size - 1) * (m + 1) + 1 if size else start
    out = slice_in_dim(flat, start, edge, m + 1 if is_symbolic_dim(size) or size > 1 else 1, axis=rank - 2)
    return convert(out, aval_of(x).dtype)  # a strong one of a weak array, as in JAX
