"""`jitscope.numpy.linalg`: matrices along the last two axes; leading axes are batches.

Integers become the default float; float16 and bfloat16 are refused, since LAPACK has neither. A matrix for which LAPACK
fails gives NaN instead of an error: a compiled program cannot raise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.avals import aval_of
from ..core.dtypes import real_part
from ..ops import linalg as ops
from ..ops.elementwise import abs_p, eq_p, log_p, sign_p
from ..ops.indexing import iota
from ..ops.linear import add_p, convert, full, mul_p, reduce_sum_p, reshape, transpose, where
from ..ops.reduce import reduce_prod_p
from ._fused import fused
from ._operands import broadcast, broadcast_shape, integer, one_axis, operand, promoted
from .arithmetic import absolute, power
from .linear import (
    cross as cross,
    matmul as matmul,
    outer as outer,
    tensordot as tensordot,
    trace as trace,
    vecdot as vecdot,
)
from .reductions import max as largest, min as smallest, sum as sum_over
from .rounding import real
from .structure import array_operand, matrix_transpose as matrix_transpose
from .transcendental import sqrt
from .triangles import diagonal


def _matrices(name: str, a: Any, square: bool = True) -> Any:
    """An operand of one or more matrices, in floats. Raises ValueError for others."""
    x = array_operand(name, operand(name, a, inexact=True))
    shape = aval_of(x).shape
    if len(shape) < 2 or (square and shape[-1] != shape[-2]):
        raise ValueError(
            f"{name} needs {'square ' if square else ''}matrices along the last two axes; it got shape {shape}"
        )
    return x


@fused(static="upper symmetrize_input")
def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Any:
    """The lower triangular L (upper: its adjoint) with L Lᴴ = a, for Hermitian positive definite matrices [..., n, n]; NaN
    for others. `symmetrize_input`: (a + aᴴ) / 2 is factored, else the lower triangle of `a` is read."""
    x = _matrices("cholesky", a)
    if symmetrize_input:
        x = mul_p(add_p(x, ops.adjoint(x)), aval_of(x).dtype.type(0.5))
    factor = ops.cholesky_p(x)
    return ops.adjoint(factor) if upper else factor


class SlogdetResult(NamedTuple):
    """Sign (or phase) of a determinant, and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


def _pivoted_diagonal(a: Any) -> tuple[Any, Any]:
    """The diagonal of U in P a = L U, and the determinant of P (1 or -1, in a's dtype)."""
    factors, pivots, _ = ops.lu_p(a)
    aval = aval_of(pivots)
    places = iota(aval.dtype, aval.shape, aval.ndim - 1)
    ones = full(aval.shape, 1, aval_of(a).dtype)
    signs = where(eq_p(pivots, places), ones, full(aval.shape, -1, aval_of(a).dtype))
    return diagonal(factors, axis1=-2, axis2=-1), reduce_prod_p(signs, axes=(aval.ndim - 1,))


@fused()
def det(a: Any) -> Any:
    """The determinants of square matrices [..., n, n], shape [...]."""
    values, parity = _pivoted_diagonal(_matrices("det", a))
    return mul_p(reduce_prod_p(values, axes=(aval_of(values).ndim - 1,)), parity)


@fused(static="method")
def slogdet(a: Any, *, method: str | None = None) -> Any:
    """Sign and logarithm of the absolute value of the determinants of square matrices; (0, -inf) for singular ones."""
    if method not in (None, "lu"):
        raise ValueError(f"slogdet: method is 'lu' or None, not {method!r}")
    values, parity = _pivoted_diagonal(_matrices("slogdet", a))
    axes = (aval_of(values).ndim - 1,)
    sign = mul_p(reduce_prod_p(sign_p(values), axes=axes), parity)
    return SlogdetResult(sign, reduce_sum_p(log_p(abs_p(values)), axes=axes))


def _solved(a: Any, b: Any) -> Any:
    """x with a x = b, for matrices of one batch shape and dtype."""
    factors, _, order = ops.lu_p(a)
    y = ops.triangular_solve(factors, ops.rows(b, order), left_side=True, lower=True, unit_diagonal=True)
    return ops.triangular_solve(factors, y, left_side=True, lower=False)


@fused()
def solve(a: Any, b: Any) -> Any:
    """x with `a @ x = b`: `a` is [..., n, n], `b` [n] or [..., n, k]; leading axes broadcast.

    Raises ValueError for shapes that do not fit.
    """
    (x, y), _, _, _ = promoted("solve", (a, b), inexact=True)
    x = _matrices("solve", x)
    left, right = aval_of(x).shape, aval_of(y).shape
    vector = len(right) == 1
    if not right or right[0 if vector else -2] != left[-1]:
        raise ValueError(f"solve of shapes {left} and {right}: b needs {left[-1]} rows")
    y = reshape(y, (*right, 1)) if vector else y
    batch = broadcast_shape(left[:-2], aval_of(y).shape[:-2])
    x = broadcast(x, left, (*batch, *left[-2:]))
    y = broadcast(y, aval_of(y).shape, (*batch, *aval_of(y).shape[-2:]))
    out = _solved(x, y)
    return reshape(out, aval_of(out).shape[:-1]) if vector else out


@fused()
def inv(a: Any) -> Any:
    """The inverses of square matrices [..., n, n]; not finite for singular ones."""
    x = _matrices("inv", a)
    return _solved(x, ops.identity(aval_of(x)))


def matrix_power(a: Any, n: int) -> Any:
    """The n-th powers of square matrices; n is a Python int, negative for powers of the inverse."""
    x, count = _matrices("matrix_power", a), integer("matrix_power", n, "n")
    if count < 0:
        x, count = inv(x), -count
    result = None
    while count:
        if count & 1:
            result = x if result is None else matmul(result, x)
        count >>= 1
        x = matmul(x, x) if count else x
    return ops.identity(aval_of(x)) if result is None else result


# Norms ---------------------------------------------------------------------------------------------------------------


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of vectors along `axis` (an int, a tuple, or None: of all elements): (sum |x|^ord)^(1/ord), the largest
    (smallest) |x| for ord inf (-inf), the number of nonzero elements for ord 0."""
    x = operand("vector_norm", x, inexact=True)
    size = absolute(x)
    if ord in (None, 2):
        return sqrt(sum_over(real(mul_p(x, ops.conjugate(x))), axis=axis, keepdims=keepdims))
    if ord == float("inf"):
        return largest(size, axis=axis, keepdims=keepdims)
    if ord == -float("inf"):
        return smallest(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return sum_over(convert(x != 0, real_part(aval_of(x).dtype)), axis=axis, keepdims=keepdims)
    if ord == 1:
        return sum_over(size, axis=axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"vector_norm: ord is a number, not {ord!r}")
    return power(sum_over(power(size, ord), axis=axis, keepdims=keepdims), 1 / ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of matrices along the last two axes: "fro", 1 and -1 (column sums), inf and -inf (row sums)."""
    x = _matrices("matrix_norm", x, square=False)
    if ord in (None, "fro"):
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (2, -2, "nuc"):
        raise NotImplementedError(f"matrix_norm: ord={ord!r} needs singular values, which come in a later release")
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise ValueError(f"matrix_norm: ord is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, not {ord!r}")
    sums = sum_over(absolute(x), axis=-2 if abs(ord) == 1 else -1, keepdims=True)
    found = (largest if ord > 0 else smallest)(sums, axis=(-2, -1), keepdims=keepdims)
    return found


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of vectors along one axis, of matrices along two, or (axis None, ord None) of all elements; see
    `vector_norm` and `matrix_norm`."""
    x = operand("norm", x, inexact=True)
    rank = aval_of(x).ndim
    if axis is None and ord is None:
        return vector_norm(x, keepdims=keepdims)
    axes = tuple(range(rank)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(one_axis("norm", a, rank) for a in axes)
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"norm is of vectors (one axis) or matrices (two); it got axes {axes}")
    rest = [a for a in range(rank) if a not in axes]
    moved = transpose(x, (*rest, *axes))
    found = matrix_norm(moved, ord="fro" if ord is None else ord)
    if not keepdims:
        return found
    return reshape(found, tuple(1 if a in axes else n for a, n in enumerate(aval_of(x).shape)))
