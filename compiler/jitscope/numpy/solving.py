"""Systems of linear equations, inverses and determinants."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..control.custom_jvp import custom_jvp
from ..control.linear_solve import custom_linear_solve
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, PrecisionLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..named_tuple import NamedTuple
from ..ops import householder, linalg as ops
from ..ops.elementwise import abs_p, div_p, eq_p, log_p, ne_p, real_p, sign_p, stop_gradient_p
from ..ops.indexing import iota
from ..ops.linear import (
    add_p,
    concatenate_p,
    convert,
    full,
    mul_p,
    neg_p,
    reduce_sum_p,
    reshape,
    slice_in_dim,
    squeeze_p,
    sub_p,
    where,
)
from ..ops.reduce import reduce_prod_p
from .creation import asarray
from .factoring import arrays_of_floats, matrices, precision_of, svd
from .linear import matmul
from .norms import vector_norm
from .operands import broadcast, broadcast_shape, integer, promoted, weak_as
from .structure import array_operand, moveaxis


__all__ = ["SlogdetResult", "det", "inv", "lstsq", "matrix_power", "multi_dot", "pinv", "slogdet", "solve",
           "tensorinv", "tensorsolve"]  # fmt: skip


# Solving -------------------------------------------------------------------------------------------------------------


def with_factors(a: Any, factors: Any, order: Any, b: Any) -> Any:
    """x with a x = b from the factors of a (all of one batch shape). Derivatives solve with the same factors."""
    factors = stop_gradient_p(factors)
    return custom_linear_solve(
        lambda x: ops.product(a, x),
        b,
        solve=lambda _, y: ops.lu_solved(factors, order, y),
        transpose_solve=lambda _, y: ops.lu_solved(factors, order, y, trans=1),
    )


def solved(a: Any, b: Any) -> Any:
    """x with a x = b, for matrices of one batch shape and dtype."""
    factors, _, order = ops.lu_p(stop_gradient_p(a))
    return with_factors(a, factors, order, b)


def paired(name: str, a: Any, b: Any) -> tuple[Any, Any, Callable[[Any], Any]]:
    """Matrices `a` and right-hand sides `b` of one dtype and batch shape, and what gives solutions the shape that `b`
    asks for. Many right-hand sides of one matrix become columns of one. Raises ValueError where they do not fit."""
    (x, y), _, _, _ = promoted(name, (a, b), inexact=True)
    x, y = matrices(name, x), arrays_of_floats(name, y)
    left, right = aval_of(x).shape, aval_of(y).shape
    vector = len(right) == 1
    if not right or right[0 if vector else -2] != left[-1]:
        raise ValueError(f"{name} of shapes {left} and {right}: b needs {left[-1]} rows")
    return aligned(x, y, vector)


def aligned(x: Any, y: Any, vector: bool) -> tuple[Any, Any, Callable[[Any], Any]]:
    """`paired`, of operands that fit: whether the right-hand sides are vectors is known."""
    left, right = aval_of(x).shape, aval_of(y).shape
    if len(left) == 2 and len(right) > 2 and not vector:
        rows_first = (right[-2], *right[:-2], right[-1])
        columns = reshape(moveaxis(y, -2, 0), (left[-1], math.prod(right[:-2]) * right[-1]))
        return x, columns, lambda out: moveaxis(reshape(out, rows_first), 0, -2)
    y = reshape(y, (*right, 1)) if vector else y
    batch = broadcast_shape(left[:-2], aval_of(y).shape[:-2])
    x = broadcast(x, left, (*batch, *left[-2:]))
    y = broadcast(y, aval_of(y).shape, (*batch, *aval_of(y).shape[-2:]))
    return x, y, lambda out: reshape(out, (*batch, left[-1])) if vector else out


@eager_jit(nested=True)
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """x with `a @ x = b`: `a` is [..., n, n], `b` [n] or [..., n, k]; leading axes broadcast. Not finite for singular
    `a`.

    Raises ValueError for shapes that do not fit.
    """
    x, y, shaped = paired("solve", a, b)
    return weak_as(shaped(solved(x, y)), x, y)


@eager_jit(nested=True)
def inv(a: ArrayLike) -> Array:
    """The inverses of square matrices [..., n, n]; not finite for singular ones."""
    x = matrices("inv", a)
    return solved(x, ops.identity(aval_of(x)))


@eager_jit(static="hermitian", nested=True)
def pinv(
    a: ArrayLike, rtol: ArrayLike | None = None, hermitian: bool = False, *, rcond: ArrayLike | None = None
) -> Array:
    """The pseudoinverses [..., n, m] of matrices [..., m, n]: singular values up to `rtol` times the largest (10 max(m,
    n) eps) count as zero. `rtol`: a number or one for each matrix; `rcond` is its other name. `hermitian`: `a` is.

    Derivatives hold where the rank does not change. Raises ValueError if both `rtol` and `rcond` are given.
    """
    if rcond is not None:
        if rtol is not None:
            raise ValueError("pinv: rtol and rcond are two names for one thing; give one of them")
        rtol = rcond
    x = matrices("pinv", a, square=hermitian)
    aval = aval_of(x)
    if not aval.size:
        return full((*aval.shape[:-2], aval.shape[-1], aval.shape[-2]), 0, aval.dtype)
    small: Any = 10.0 * max(aval.shape[-2:]) * precision_of(x) if rtol is None else rtol
    small = convert(asarray(small), dtypes.real_part(aval.dtype))
    if hermitian:
        x = ops.hermitian_part(x)
    batch = broadcast_shape(aval_of(small).shape, aval.shape[:-2])
    x = broadcast(x, aval.shape, (*batch, *aval.shape[-2:]))
    return _pinv(hermitian, x, broadcast(small, aval_of(small).shape, batch))


@functools.partial(custom_jvp, nondiff_argnums=(0,))
def _pinv(hermitian: bool, a: Any, rtol: Any) -> Any:
    u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
    aval = aval_of(s)
    rtol = reshape(rtol, (*aval_of(rtol).shape, 1))
    largest = slice_in_dim(s, 0, 1, axis=-1)
    cutoff = broadcast(rtol * largest, broadcast_shape(aval_of(rtol).shape, aval_of(largest).shape), aval.shape)
    inverse = where(s > cutoff, div_p(full(aval.shape, 1, aval.dtype), s), full(aval.shape, 0, aval.dtype))
    scaled = mul_p(u, convert(ops.over_rows(inverse, aval_of(u).shape), aval_of(u).dtype))
    return ops.adjoint(ops.product(scaled, vh))


@_pinv.defjvp
def _pinv_jvp(hermitian: bool, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """P' = -P A' P + P Pᴴ A'ᴴ (1 - A P) + (1 - P A) A'ᴴ Pᴴ P (Golub and Pereyra, 1973)."""
    (a, _), (t, _) = primals, tangents
    p = _pinv(hermitian, *primals)
    th, ph = ops.adjoint(t), ops.adjoint(p)
    right = ops.product(p, ops.product(ph, th))
    left = ops.product(ops.product(th, ph), p)
    right = sub_p(right, ops.product(ops.product(right, a), p))
    left = sub_p(left, ops.product(p, ops.product(a, left)))
    return p, add_p(sub_p(right, ops.product(ops.product(p, t), p)), left)


def lstsq(
    a: ArrayLike, b: ArrayLike, rcond: ArrayLike | None = None, *, numpy_resid: bool = False
) -> tuple[Array, Array, Array, Array]:
    """The x [n] or [n, k] of least length for which `a @ x - b` is least, for `a` [m, n] and `b` [m] or [m, k]; the
    sums of squares that remain ([1] or [k]), the rank of `a`, and its singular values, descending.

    Singular values below `rcond` times the largest count as zero (None: max(m, n) eps). `numpy_resid`: the remainders
    are empty where the rank is not n or m ≤ n, as NumPy has it; that depends on values, so not under jit. Raises
    ValueError where the first axes differ, TypeError for arrays of other ranks.
    """
    x, resid, rank, s = _lstsq(a, b, rcond)
    if numpy_resid:
        m, n = aval_of(array_operand("lstsq", a)).shape
        if int(rank) < n or m <= n:
            resid = full((0,), 0, aval_of(resid).dtype)
    return x, resid, rank, s


@eager_jit(nested=True)
def _lstsq(a: Any, b: Any, rcond: Any) -> tuple[Any, Any, Any, Any]:
    (x, y), _, _, _ = promoted("lstsq", (a, b), inexact=True)
    x, y = (arrays_of_floats("lstsq", v) for v in (x, y))
    left, right = aval_of(x).shape, aval_of(y).shape
    if not left or not right or left[0] != right[0]:
        raise ValueError(f"lstsq of shapes {left} and {right}: the first axes must have one size")
    if len(left) != 2 or len(right) > 2:
        raise TypeError(f"lstsq takes one matrix and one vector or matrix; it got shapes {left} and {right}")
    y = reshape(y, (right[0], 1)) if len(right) == 1 else y
    found, rank, s = _least_squares(x, y, rcond)
    resid = vector_norm(sub_p(y, ops.product(x, found)), axis=0) ** 2
    return reshape(found, (left[1], *right[1:])), resid, rank, s


def _least_squares(x: Any, y: Any, rcond: Any) -> tuple[Any, Any, Any]:
    aval, index = aval_of(x), dtypes.default_int()
    if not aval.size:
        empty = full((aval.shape[1], aval_of(y).shape[1]), 0, aval.dtype)
        return empty, full((), 0, index), full((0,), 0, dtypes.real_part(aval.dtype))
    u, s, vh = svd(x, full_matrices=False)
    eps, real = precision_of(x), aval_of(s).dtype
    if rcond is None:
        cutoff = real.type(eps * max(aval.shape))
    else:
        cutoff = convert(asarray(rcond), real)
        cutoff = where(cutoff < 0, full((), eps, real), cutoff)
    least = mul_p(slice_in_dim(s, 0, 1), cutoff)
    kept = (s > 0) & (s >= broadcast(least, (1,), aval_of(s).shape))
    zero, one = (full(aval_of(s).shape, n, real) for n in (0, 1))
    inverse = convert(where(kept, div_p(one, where(kept, s, one)), zero), aval.dtype)
    inner = ops.product(ops.adjoint(u), y)
    found = ops.product(ops.adjoint(vh), mul_p(inner, ops.over_columns(inverse, aval_of(inner).shape)))
    return found, reduce_sum_p(convert(kept, index), axes=(0,)), s


@eager_jit(static="ind", nested=True)
def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse of the linear map that `a`, seen as a matrix from its last axes to its first `ind`, is: of shape
    a.shape[ind:] + a.shape[:ind]. Raises ValueError if the two sides differ in size or ind is not positive."""
    x, count = arrays_of_floats("tensorinv", a), integer("tensorinv", ind, "ind")
    shape = aval_of(x).shape
    if count <= 0:
        raise ValueError(f"tensorinv: ind must be positive, not {ind}")
    left, right = shape[:count], shape[count:]
    if math.prod(left) != math.prod(right):
        raise ValueError(f"tensorinv: shape {shape} is not a square matrix from its last axes to its first {count}")
    return reshape(inv(reshape(x, (math.prod(left), math.prod(right)))), (*right, *left))


@eager_jit(static="axes", nested=True)
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: tuple[int, ...] | None = None) -> Array:
    """x with `tensordot(a, x, x.ndim) = b`, `a` having b's axes first, then x's; `axes` of `a` are moved to the end
    before. Raises ValueError where they do not fit."""
    (x, y), _, _, _ = promoted("tensorsolve", (a, b), inexact=True)
    x, y = arrays_of_floats("tensorsolve", x), arrays_of_floats("tensorsolve", y)
    if axes is not None:
        x = moveaxis(x, tuple(axes), tuple(range(aval_of(x).ndim - len(axes), aval_of(x).ndim)))
    shape, wanted = aval_of(x).shape, aval_of(y).shape
    out = shape[len(wanted) :]
    if shape[: len(wanted)] != wanted or math.prod(out) != math.prod(wanted):
        raise ValueError(
            f"tensorsolve: shape {shape} does not begin with b's, {wanted}, and go on with as many elements"
        )
    found = solve(reshape(x, (math.prod(wanted), math.prod(out))), reshape(y, (math.prod(wanted),)))
    return reshape(found, out)


# Powers and products -------------------------------------------------------------------------------------------------


@eager_jit(static="n", nested=True)
def matrix_power(a: ArrayLike, n: int) -> Array:
    """The n-th powers of square matrices [..., m, m], of that shape; n is a Python int, negative for powers of the
    inverse. Raises TypeError for other n, and for arrays that are not square matrices."""
    x = array_operand("matrix_power", a)
    shape, count = aval_of(x).shape, integer("matrix_power", n, "n", ValueError)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise TypeError(f"matrix_power needs square matrices along the last two axes; it got shape {shape}")
    if count < 0:
        x, count = inv(x), -count
    result = None
    while count:
        if count & 1:
            result = x if result is None else matmul(result, x)
        count >>= 1
        x = matmul(x, x) if count else x
    return ops.identity(aval_of(x)) if result is None else result


@eager_jit(static="precision", nested=True)
def multi_dot(arrays: Sequence[Any], *, precision: PrecisionLike = None) -> Array:
    """The product of two or more matrices [m, k], [k, l], …, [., n], a matrix [m, n], in the order that takes the
    fewest multiplications; the first may be a row, the last a column, given as vectors. Raises ValueError for other
    ranks and sizes that do not meet."""
    given, _, _, _ = promoted("multi_dot", list(arrays))
    xs = [array_operand("multi_dot", x) for x in given]
    shapes = [aval_of(x).shape for x in xs]
    if len(xs) < 2:
        raise ValueError(f"multi_dot takes two arrays or more; it got {len(xs)}")
    ends = {len(shapes[0]), len(shapes[-1])}
    if not ends <= {1, 2} or any(len(s) != 2 for s in shapes[1:-1]):
        raise ValueError(f"multi_dot takes matrices, and vectors at its ends; it got shapes {shapes}")
    if any(s[-1] != t[0] for s, t in itertools.pairwise(shapes)):
        raise ValueError(
            f"multi_dot: the shapes {shapes} do not meet: each last axis must be as long as the next first one"
        )
    sizes = [1 if len(shapes[0]) == 1 else shapes[0][0], *[s[0] for s in shapes[1:]]]
    sizes.append(1 if len(shapes[-1]) == 1 else shapes[-1][1])
    return _in_order(xs, _splits(tuple(sizes)), 0, len(xs) - 1, precision)


def _splits(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """Where to split the product of matrices i to j, matrix i being of sizes[i] × sizes[i + 1]."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs = {k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)}
            split[i, j] = min(costs, key=costs.__getitem__)
            cost[i, j] = costs[split[i, j]]
    return split


def _in_order(xs: Sequence[Any], split: dict[tuple[int, int], int], i: int, j: int, precision: Any) -> Any:
    if i == j:
        return xs[i]
    k = split[i, j]
    parts = (_in_order(xs, split, *at, precision) for at in ((i, k), (k + 1, j)))
    return matmul(*parts, precision=precision)


# Determinants --------------------------------------------------------------------------------------------------------


class SlogdetResult(NamedTuple):
    """Sign (or phase) of a determinant, and the logarithm of its absolute value."""

    sign: Array
    logabsdet: Array


def _parity(pivots: Any, dtype: Any) -> Any:
    """The determinant of the permutation that LU's swaps amount to: 1 or -1."""
    aval = aval_of(pivots)
    places = iota(aval.dtype, aval.shape, aval.ndim - 1)
    ones = full(aval.shape, 1, dtype)
    return reduce_prod_p(where(eq_p(pivots, places), ones, neg_p(ones)), axes=(aval.ndim - 1,))


def _all(x: Any) -> Any:
    return reduce_prod_p(x, axes=(aval_of(x).ndim - 1,))


@eager_jit(nested=True)
def det(a: ArrayLike) -> Array:
    """The determinants of square matrices [..., n, n], shape [...].

    The derivative holds for matrices of rank n, and of rank n - 1 if LU meets the zero last; it is 0 for others.
    """
    x = matrices("det", a)
    n = aval_of(x).shape[-1]
    if not n:
        return full(aval_of(x).shape[:-2], 1, aval_of(x).dtype)
    return _by_minors(_entries(x), tuple(range(n))) if n <= 3 else _det(x)


def _entries(x: Any) -> list[list[Any]]:
    n, batch = aval_of(x).shape[-1], aval_of(x).shape[:-2]
    rows = [slice_in_dim(x, i, i + 1, axis=-2) for i in range(n)]
    return [[reshape(slice_in_dim(r, j, j + 1, axis=-1), batch) for j in range(n)] for r in rows]


def _by_minors(entries: list[list[Any]], columns: tuple[int, ...]) -> Any:
    """The determinant of the last rows and the given columns, expanded along the first of those rows."""
    row = entries[len(entries) - len(columns)]
    if len(columns) == 1:
        return row[columns[0]]
    total = None
    for i, column in enumerate(columns):
        term = mul_p(row[column], _by_minors(entries, columns[:i] + columns[i + 1 :]))
        total = term if total is None else (sub_p if i % 2 else add_p)(total, term)
    return total


@custom_jvp
def _det(a: Any) -> Any:
    factors, pivots, _ = ops.lu_p(a)
    return mul_p(_all(ops.matrix_diagonal(factors)), _parity(pivots, aval_of(a).dtype))


@_det.defjvp
def _det_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """det' = tr(adj(A) A'), where adj(A) = det(A) A⁻¹ is found without dividing by the last pivot."""
    (a,), (t,) = primals, tangents
    aval = aval_of(a)
    n, dtype = aval.shape[-1], aval.dtype
    factors, pivots, order = ops.lu_p(a)
    diagonal = ops.matrix_diagonal(factors)
    others = mul_p(_all(slice_in_dim(diagonal, 0, n - 1, axis=-1)), _parity(pivots, dtype))
    value = mul_p(others, squeeze_p(slice_in_dim(diagonal, n - 1, n, axis=-1), dimensions=(aval.ndim - 2,)))
    # With 1 / (product of the other pivots) as last pivot, and the right-hand sides but the last by the determinant.
    zero, one = (full(aval_of(others).shape, i, dtype) for i in (0, 1))
    usable = ne_p(others, zero)
    safe = where(usable, others, one)
    whole = lambda x: ops.over_columns(ops.over_columns(x, aval.shape[:-1]), aval.shape)
    index = np.dtype(np.int32)
    down, across = (iota(index, aval.shape, aval.ndim - 2 + i) for i in range(2))
    corner = eq_p(add_p(down, across), np.int32(2 * n - 2))
    factors = where(corner, whole(div_p(one, safe)), factors)
    y = ops.triangular_solve(factors, ops.rows(t, order), left_side=True, lower=True, unit_diagonal=True)
    y = concatenate_p(
        mul_p(slice_in_dim(y, 0, n - 1, axis=-2), slice_in_dim(whole(value), 0, n - 1, axis=-2)),
        slice_in_dim(y, n - 1, n, axis=-2),
        dimension=aval.ndim - 2,
    )
    # Where another pivot is zero the first of these systems has no solution: solve with the identity instead.
    factors = where(whole(usable), factors, ops.identity(aval))
    found = ops.triangular_solve(factors, y, left_side=True, lower=False)
    change = reduce_sum_p(ops.matrix_diagonal(found), axes=(aval.ndim - 2,))
    return value, where(usable, change, zero)


@eager_jit(static="method", nested=True)
def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """Sign (of complex matrices: phase) and logarithm of the absolute value of the determinants of square matrices
    [..., n, n], each [...]; (0, -inf) for singular ones. `method`: "lu" (None), or "qr" for real matrices.

    Raises ValueError for another method, NotImplementedError for "qr" of complex matrices.
    """
    if method not in (None, "lu", "qr"):
        raise ValueError(f"slogdet: method is 'lu', 'qr' or None, not {method!r}")
    x = matrices("slogdet", a)
    if method == "qr":
        if dtypes.is_complex(aval_of(x).dtype):
            raise NotImplementedError("slogdet: method 'qr' is for real matrices; use 'lu'")
        return SlogdetResult(*_slogdet_qr(x))
    return SlogdetResult(*_slogdet_lu(x))


def _sign_and_size(values: Any, parity: Any) -> tuple[Any, Any]:
    size = reduce_sum_p(log_p(abs_p(values)), axes=(aval_of(values).ndim - 1,))
    return mul_p(_all(sign_p(values)), parity), size


def _slogdet_tangent(change: Any, sign: Any) -> tuple[Any, Any]:
    """Tangents of sign and logarithm where the determinant's own is `change` times it."""
    if not dtypes.is_complex(aval_of(change).dtype):
        return full(aval_of(sign).shape, 0, aval_of(sign).dtype), change
    turn = sub_p(change, convert(real_p(change), aval_of(change).dtype))
    return mul_p(turn, sign), real_p(change)


@custom_jvp
def _slogdet_lu(a: Any) -> tuple[Any, Any]:
    factors, pivots, _ = ops.lu_p(a)
    return _sign_and_size(ops.matrix_diagonal(factors), _parity(pivots, aval_of(a).dtype))


@_slogdet_lu.defjvp
def _slogdet_lu_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    (a,), (t,) = primals, tangents
    factors, _, order = ops.lu_p(stop_gradient_p(a))
    sign, size = _slogdet_lu(a)
    found = ops.matrix_diagonal(with_factors(a, factors, order, t))
    change = reduce_sum_p(found, axes=(aval_of(found).ndim - 1,))
    return (sign, size), _slogdet_tangent(change, sign)


@custom_jvp
def _slogdet_qr(a: Any) -> tuple[Any, Any]:
    factors, taus = householder.geqrf_p(a)
    # Each reflection that is not trivial turns the sign; that of the last row of a real matrix always is.
    zero = full(aval_of(taus).shape, 0, aval_of(taus).dtype)
    ones = full(aval_of(taus).shape, 1, aval_of(taus).dtype)
    return _sign_and_size(ops.matrix_diagonal(factors), _all(where(eq_p(taus, zero), ones, neg_p(ones))))


@_slogdet_qr.defjvp
def _slogdet_qr_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    (a,), (t,) = primals, tangents
    sign, size = _slogdet_qr(a)
    found = ops.matrix_diagonal(solved(a, t))
    return (sign, size), _slogdet_tangent(reduce_sum_p(found, axes=(aval_of(found).ndim - 1,)), sign)
