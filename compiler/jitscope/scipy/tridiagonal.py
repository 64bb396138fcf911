"""Eigenvalues of Hermitian tridiagonal matrices, by bisection: no matrix is made, unless its eigenvectors are asked
for."""

from __future__ import annotations

import functools
from typing import Any, Literal, overload

import numpy as np

from ..control.custom_jvp import custom_jvp
from ..control.fori_loop import fori_loop
from ..control.scan import scan
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..numpy.factoring import arrays_of_floats
from ..ops import eigen, linalg as ops
from ..ops.elementwise import abs_p, div_p, le_p, lt_p, max_p, min_p, real_p
from ..ops.indexing import iota
from ..ops.linear import (
    add_p,
    broadcast_in_dim,
    concatenate_p,
    convert,
    full,
    mul_p,
    reduce_sum_p,
    slice_in_dim,
    sub_p,
    where,
)
from ..ops.reduce import reduce_max_p, reduce_min_p


__all__ = ["eigh_tridiagonal"]


@overload
def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: Literal[False] = False,
    select: str = "a",
    select_range: tuple[float, float] | None = None,
    tol: float | None = None,
    key: ArrayLike | None = None,
) -> tuple[Array, Array]: ...
@overload
def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: Literal[True],
    select: str = "a",
    select_range: tuple[float, float] | None = None,
    tol: float | None = None,
    key: ArrayLike | None = None,
) -> Array: ...
def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[float, float] | None = None,
    tol: float | None = None,
    key: ArrayLike | None = None,
) -> Array | tuple[Array, Array]:
    """Eigenvalues (real, ascending) and, unless `eigvals_only`, eigenvectors (columns) of the Hermitian matrix with
    diagonal `d` [n] (its real part) and `e` [n - 1] above it.

    `select`: "a" (all) or "i" (number select_range[0] to select_range[1], both included). `tol`: how exact bisection
    must be. Vectors come from LAPACK, not from random starts: `key` changes nothing. Derivatives are those of simple
    eigenvalues. Raises TypeError for other dtypes than single and double precision, real and complex, and for two
    different ones; ValueError for another `select` and an empty or missing range, NotImplementedError for select "v".
    """
    diagonal, beside = arrays_of_floats("eigh_tridiagonal", d), arrays_of_floats("eigh_tridiagonal", e)
    for x, given in ((diagonal, d), (beside, e)):
        if aval_of(given).dtype.name not in ops.LAPACK_DTYPES or aval_of(x).ndim != 1:
            raise TypeError(
                f"eigh_tridiagonal takes vectors of floats or complex numbers; it got {aval_of(given).short()}"
            )
    if aval_of(diagonal).dtype != aval_of(beside).dtype:
        raise TypeError(
            "eigh_tridiagonal takes diagonals of one dtype; it got "
            f"{aval_of(diagonal).short()} and {aval_of(beside).short()}"
        )
    n = aval_of(diagonal).shape[0]
    if aval_of(beside).shape[0] != max(n - 1, 0):
        raise ValueError(
            f"eigh_tridiagonal: {n} diagonal entries go with {max(n - 1, 0)} beside them, not {aval_of(beside)}"
        )
    part = _selected(n, select, select_range)
    if eigvals_only:
        return _eigenvalues(diagonal, beside, part, tol)
    return _eigenpairs(diagonal, beside, part)


def _selected(n: int, select: str, select_range: Any) -> tuple[int, int]:
    if select == "v":
        raise NotImplementedError(
            "eigh_tridiagonal: select='v' is not supported, the number of results would depend on values"
        )
    if select not in ("a", "i"):
        raise ValueError(f"eigh_tridiagonal: select is 'a' or 'i', not {select!r}")
    if select == "a":
        return 0, n
    if select_range is None:
        raise ValueError("eigh_tridiagonal: select='i' needs select_range, the first and the last number")
    first, last = (int(i) for i in select_range)
    if not 0 <= first <= last < n:
        raise ValueError(f"eigh_tridiagonal: select_range {select_range} does not fit {n} eigenvalues")
    return first, last + 1


def _dense(d: Any, e: Any) -> Any:
    """The matrix, its lower triangle filled in."""
    n, dtype = aval_of(d).shape[0], aval_of(d).dtype
    shape, index = (n, n), np.dtype(np.int32)
    down, across = (iota(index, shape, i) for i in range(2))
    zero = full(shape, 0, dtype)
    below = concatenate_p(ops.conjugate(e), full((1,), 0, dtype), dimension=0) if n else d
    main = where(down == across, ops.over_rows(d, shape), zero)
    return add_p(main, where(down == across + 1, ops.over_rows(below, shape), zero))


@eager_jit(static="part", nested=True)
def _eigenpairs(d: Any, e: Any, part: tuple[int, int]) -> tuple[Any, Any]:
    vectors, values = eigen.eigh_p(_dense(d, e), lower=True, subset_by_index=None)
    return slice_in_dim(values, *part), slice_in_dim(vectors, *part, axis=-1)


@eager_jit(static="part tol", nested=True)
def _eigenvalues(d: Any, e: Any, part: tuple[int, int], tol: float | None) -> Any:
    return _bisected(part, tol, d, e)


@functools.partial(custom_jvp, nondiff_argnums=(0, 1))
def _bisected(part: tuple[int, int], tol: float | None, d: Any, e: Any) -> Any:
    """Eigenvalue i is where the number of eigenvalues below passes i: halve intervals round all of them at once."""
    d = real_p(d) if dtypes.is_complex(aval_of(d).dtype) else d
    n, dtype = aval_of(d).shape[0], aval_of(d).dtype
    numbers = iota(np.dtype(np.int32), (part[1] - part[0],)) + np.int32(part[0])
    if n < 2 or not aval_of(numbers).size:
        return slice_in_dim(d, *part)
    info, size = np.finfo(dtype), abs_p(e)
    zero = full((1,), 0, dtype)
    reach = add_p(concatenate_p(size, zero, dimension=0), concatenate_p(zero, size, dimension=0))
    low, high = reduce_min_p(sub_p(d, reach), axes=(0,)), reduce_max_p(add_p(d, reach), axes=(0,))
    largest = max_p(abs_p(low), abs_p(high))
    slack = largest * dtype.type(2 * n * info.eps) + dtype.type(info.tiny)
    shape = aval_of(numbers).shape
    lower, upper = (broadcast_in_dim(x, shape, ()) for x in (low - slack, high + slack))
    squares = concatenate_p(zero, mul_p(size, size), dimension=0)
    least = max_p(reduce_max_p(squares, axes=(0,)), full((), 1, dtype)) * dtype.type(info.tiny)
    wanted = largest * dtype.type(info.eps)
    if tol is not None:
        wanted = max_p(wanted, convert(tol, dtype))

    def halve(_: Any, ends: tuple[Any, Any]) -> tuple[Any, Any]:
        lower, upper = ends
        middle = (lower + upper) * dtype.type(0.5)
        above = lt_p(numbers, _count_below(d, squares, middle, least))
        done = le_p(upper - lower, broadcast_in_dim(wanted, shape, ()))
        return where(above | done, lower, middle), where(above & ~done, middle, upper)

    lower, upper = fori_loop(0, info.nmant + 4, halve, (lower, upper))
    return (lower + upper) * dtype.type(0.5)


def _count_below(d: Any, squares: Any, x: Any, least: Any) -> Any:
    """How many eigenvalues lie below each x: the number of negative pivots of T - x (Sylvester; Sturm)."""
    shape = aval_of(x).shape
    spread = lambda v: broadcast_in_dim(v, shape, ())

    def step(state: tuple[Any, Any], row: tuple[Any, Any]) -> tuple[tuple[Any, Any], None]:
        pivot, count = state
        entry, square = row
        pivot = spread(entry) - x - div_p(spread(square), pivot)
        negative = le_p(pivot, spread(least))
        pivot = where(negative, min_p(pivot, spread(-least)), pivot)
        return (pivot, add_p(count, convert(negative, np.dtype(np.int32)))), None

    start = full(shape, 1, aval_of(x).dtype), full(shape, 0, np.dtype(np.int32))
    return scan(step, start, (d, squares))[0][1]


@_bisected.defjvp
def _bisected_jvp(part: Any, tol: Any, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """λ' = vᴴ T' v, with vectors from LAPACK."""
    _, vectors = _eigenpairs(*primals, part)  # pyright: ignore[reportCallIssue]
    change = ops.hermitian_from(_dense(*tangents))
    moved = reduce_sum_p(mul_p(ops.conjugate(vectors), ops.product(change, vectors)), axes=(0,))
    moved = real_p(moved) if dtypes.is_complex(aval_of(moved).dtype) else moved
    return _bisected(part, tol, *primals), moved
