"""The polar decomposition by dynamically weighted Halley iteration (Nakatsukasa, Bai and Gygi, 2010)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.annotations import Array, ArrayLike
from ..core.avals import ShapedArray, aval_of
from ..ops import householder, linalg as ops
from ..ops.elementwise import abs_p, and_p, div_p, eq_p, le_p, lt_p, real_p, sqrt_p
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
from ..ops.reduce import reduce_max_p


MOST = 10
"""Iterations; six are enough for any matrix in double precision."""


def qdwh(
    x: ArrayLike,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """The polar decomposition u h = x of a matrix [m, n], m ≥ n: u has orthonormal columns, h is Hermitian and positive
    semidefinite. Also the number of iterations (i32) and whether they converged (bool).

    `max_iterations`: at most so many (10). `eps`: the precision (that of the dtype). `dynamic_shape`: the part of `x`
    that counts, which may be computed; the rest is taken as zeros. Raises ValueError if m < n or max_iterations < 1.

    How far the least singular value has come after each step depends on the dtype alone, and so does the number of
    steps: there is no loop, and derivatives are to be had both ways. `is_hermitian` is believed, and changes nothing.
    """
    aval = aval_of(x)
    ops.check_matrix("qdwh", aval)
    if aval.ndim != 2 or aval.shape[0] < aval.shape[1]:
        raise ValueError(f"qdwh takes one matrix with at least as many rows as columns; it got {aval.short()}")
    most = MOST if max_iterations is None else int(max_iterations)
    if most < 1:
        raise ValueError(f"qdwh: max_iterations must be 1 or more, not {max_iterations}")
    if dynamic_shape is not None:
        x = _part(x, dynamic_shape)
    real = np.finfo(aval.dtype).dtype.type
    precision = float(np.finfo(aval.dtype).eps if eps is None else eps)
    steps = _weights(precision, most)
    u, before = _scaled(x), None
    for a, b, c in steps:
        u, before = (_by_qr if c > 100 else _by_cholesky)(u, a, b, c), u
    # One step of Newton and Schulz takes off what rounding has left.
    u = sub_p(mul_p(u, _number(u, 1.5)), mul_p(ops.product(u, ops.product(ops.adjoint(u), u)), _number(u, 0.5)))
    change = _norm(sub_p(u, before))
    converged = le_p(change, real((4 * precision) ** (1 / 3)) * real(math.sqrt(max(aval.shape[1], 1))))
    count = full((), len(steps), np.dtype(np.int32))
    return u, ops.hermitian_part(ops.product(ops.adjoint(u), x)), count, converged


def _number(x: Any, value: float) -> Any:
    return aval_of(x).dtype.type(value)


def _weights(precision: float, most: int) -> list[tuple[float, float, float]]:
    """The weights of the steps, as long as the least singular value (at first `precision` times the largest) is not
    1."""
    found, least = [], precision
    while len(found) < most and abs(1 - least) > 5 * precision:
        square = least * least
        root = math.sqrt(1 + (4 * (1 / square - 1) / square) ** (1 / 3))
        inner = 8 - 4 * (root * root - 1) + 8 * (2 - square) / (square * root)
        a = root + math.sqrt(max(inner, 0)) / 2
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        found.append((a, b, c))
        least = min(1.0, least * (a + b * square) / (1 + c * square))
    return found or [(3.0, 1.0, 3.0)]


def _part(x: Any, shape: tuple[Any, Any]) -> Any:
    aval, index = aval_of(x), np.dtype(np.int32)
    inside = None
    for axis, size in enumerate(shape):
        size = broadcast_in_dim(convert(size, index), aval.shape, ()) if hasattr(size, "aval") else np.int32(size)
        mine = lt_p(iota(index, aval.shape, axis), size)
        inside = mine if inside is None else and_p(inside, mine)
    return where(inside, x, full(aval.shape, 0, aval.dtype))


def _scaled(x: Any) -> Any:
    """`x` by a bound of its largest singular value."""
    size = abs_p(x)
    if not aval_of(x).size:
        return x
    bounds = [reduce_max_p(reduce_sum_p(size, axes=(i,)), axes=(0,)) for i in range(2)]
    bound = sqrt_p(mul_p(*bounds))
    one = aval_of(bound).dtype.type(1)
    return div_p(x, convert(where(eq_p(bound, aval_of(bound).dtype.type(0)), one, bound), aval_of(x).dtype))


def _by_qr(x: Any, a: float, b: float, c: float) -> Any:
    """A step that stands any condition number: through the orthogonal factor of √c X above 1."""
    m, n = aval_of(x).shape
    one = ops.identity(ShapedArray((n, n), aval_of(x).dtype))
    stacked = concatenate_p(mul_p(x, _number(x, math.sqrt(c))), one, dimension=0)
    q, _ = householder.qr_p(stacked, pivoting=False, full_matrices=False)
    upper, lower = slice_in_dim(q, 0, m), slice_in_dim(q, m, m + n)
    step = mul_p(ops.product(upper, ops.adjoint(lower)), _number(x, (a - b / c) / math.sqrt(c)))
    return add_p(mul_p(x, _number(x, b / c)), step)


def _by_cholesky(x: Any, a: float, b: float, c: float) -> Any:
    """The same step where 1 + c Xᴴ X is well conditioned."""
    n = aval_of(x).shape[1]
    one = ops.identity(ShapedArray((n, n), aval_of(x).dtype))
    factor = ops.cholesky_p(add_p(mul_p(ops.product(ops.adjoint(x), x), _number(x, c)), one))
    y = ops.triangular_solve(factor, x, lower=True, transpose_a=True, conjugate_a=True)
    y = ops.triangular_solve(factor, y, lower=True)
    return add_p(mul_p(x, _number(x, b / c)), mul_p(y, _number(x, a - b / c)))


def _norm(x: Any) -> Any:
    square = mul_p(x, ops.conjugate(x))
    square = real_p(square) if aval_of(x).dtype.kind == "c" else square
    return sqrt_p(reduce_sum_p(square, axes=(0, 1)))
