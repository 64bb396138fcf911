"""Factorizations under SciPy's names. `overwrite_…` and `check_finite` are accepted and change nothing: arrays are not
written to, and a compiled program cannot look for NaN and raise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..control.fori_loop import fori_loop
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..lax.polar import qdwh
from ..numpy.applying import vectorize
from ..numpy.factoring import arrays_of_floats, eigvals, matrices
from ..numpy.linear import matmul
from ..numpy.operands import broadcast, broadcast_shape, promoted
from ..ops import eigen, householder, linalg as ops, schur as forms, svd as singular
from ..ops.elementwise import eq_p
from ..ops.indexing import dynamic_slice_p, dynamic_update_slice_p, iota
from ..ops.linear import add_p, concatenate_p, convert, full, pad_p, reshape, slice_in_dim, where


__all__ = ["cho_factor", "cholesky", "eigh", "hessenberg", "lu", "lu_factor", "polar", "qr", "qr_multiply", "rsf2csf",
           "schur", "svd"]  # fmt: skip


_IGNORED = "overwrite_a check_finite"
_BY_RANK = (TypeError, ValueError)


# Triangular factors --------------------------------------------------------------------------------------------------


@eager_jit(static="lower " + _IGNORED, nested=True)
def cholesky(a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The upper triangular U with Uᴴ U = a (`lower`: L with L Lᴴ = a), for Hermitian positive definite matrices [...,
    n, n] of which that triangle is read; NaN for others. Raises ValueError for what is not a square matrix."""
    x = matrices("cholesky", a)
    return ops.cholesky_p(x) if lower else ops.adjoint(ops.cholesky_p(ops.adjoint(x)))


def cho_factor(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """The Cholesky factor [..., n, n] of `a` and `lower`, ready for `cho_solve`; see `cholesky`."""
    return cholesky(a, lower=lower), lower


@eager_jit(static=_IGNORED, nested=True)
def lu_factor(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """L (without its unit diagonal) and U in one matrix [..., m, n], and the row that each step swapped with, ready for
    `lu_solve`."""
    factors, pivots, _ = ops.lu_p(matrices("lu_factor", a, square=False, errors=_BY_RANK))
    return factors, pivots


@eager_jit(static="permute_l " + _IGNORED, nested=True)
def lu(
    a: ArrayLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, ...]:
    """Permutation P (real, [..., m, m]), L [..., m, k] with unit diagonal and U [..., k, n] with P L U = a [..., m, n],
    where k = min(m, n); with `permute_l`, P L and U."""
    x = matrices("lu", a, square=False)
    *batch, m, n = aval_of(x).shape
    k, dtype = min(m, n), aval_of(x).dtype
    factors, _, order = ops.lu_p(x)
    one = householder.eye(tuple(batch), m, k, dtype)
    lower = add_p(ops.triangle(slice_in_dim(factors, 0, k, axis=-1), offset=-1), one)
    upper = ops.triangle(slice_in_dim(factors, 0, k, axis=-2), lower=False)
    if permute_l:
        return ops.rows(lower, ops.inverse_order(order)), upper
    shape = (*batch, m, m)
    places = iota(np.dtype(np.int32), shape, len(batch))
    chosen = eq_p(ops.over_rows(order, shape), places)
    return convert(chosen, dtypes.real_part(dtype)), lower, upper


# Orthogonal factors --------------------------------------------------------------------------------------------------


@eager_jit(static="overwrite_a lwork mode pivoting check_finite", nested=True)
def qr(
    a: ArrayLike,
    overwrite_a: bool = False,
    lwork: int | None = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]:
    """Q with orthonormal columns and upper triangular R with Q R = a [..., m, n]; with `pivoting` also p, Q R = a[...,
    p].

    `mode`: "full" (Q [..., m, m]), "economic" (Q [..., m, min(m, n)]) or "r" (no Q; of the full R). Always a tuple.
    Raises ValueError for another mode.
    """
    if mode not in ("full", "r", "economic"):
        raise ValueError(f"qr: mode is 'full', 'economic' or 'r', not {mode!r}")
    x = matrices("qr", a, square=False, errors=_BY_RANK)
    q, r, *order = householder.qr_p(x, pivoting=pivoting, full_matrices=mode != "economic")
    return (r, *order) if mode == "r" else (q, r, *order)


@eager_jit(static="mode pivoting conjugate overwrite_a overwrite_c", nested=True)
def qr_multiply(
    a: ArrayLike,
    c: ArrayLike,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, ...]:
    """c Q (`mode` "right") or Q c ("left") and R, for the economic QR factorization of a [..., m, n], without making Q;
    with `pivoting` also the order of the columns; with `conjugate` Q is conjugated. `c` may be a vector.

    Raises ValueError for shapes that do not fit and for another mode.
    """
    if mode not in ("right", "left"):
        raise ValueError(f"qr_multiply: mode is 'right' or 'left', not {mode!r}")
    (x, y), _, _, _ = promoted("qr_multiply", (a, c), inexact=True)
    x, y = matrices("qr_multiply", x, square=False), arrays_of_floats("qr_multiply", y)
    *_, m, n = aval_of(x).shape
    k, vector, left = min(m, n), aval_of(y).ndim == 1, mode == "left"
    if vector:
        y = reshape(y, (aval_of(y).size, 1) if left else (1, aval_of(y).size))
    if aval_of(y).shape[-2 if left else -1] != (k if left else m):
        raise ValueError(
            f"qr_multiply of shapes {aval_of(x).shape} and {aval_of(y).shape}: Q has {m} rows and {k} columns, which "
            f"must meet c on the {mode}"
        )
    batch = broadcast_shape(aval_of(x).shape[:-2], aval_of(y).shape[:-2])
    x, y = (broadcast(v, aval_of(v).shape, (*batch, *aval_of(v).shape[-2:])) for v in (x, y))
    if pivoting:
        factors, order, taus = householder.geqp3_p(x)
    else:
        (factors, taus), order = householder.geqrf_p(x), None
    if left and m > k:
        below = full((*batch, m - k, aval_of(y).shape[-1]), 0, aval_of(y).dtype)
        y = concatenate_p(y, below, dimension=aval_of(y).ndim - 2)
    used = (ops.conjugate(factors), ops.conjugate(taus)) if conjugate else (factors, taus)
    out = householder.ormqr_p(*used, y, left=left, transpose=False)
    out = out if left else slice_in_dim(out, 0, k, axis=-1)
    r = ops.triangle(slice_in_dim(factors, 0, k, axis=-2), lower=False)
    out = reshape(out, (aval_of(out).size,)) if vector else out
    return (out, r, order) if pivoting else (out, r)  # pyright: ignore[reportReturnType]


@eager_jit(static="full_matrices compute_uv lapack_driver " + _IGNORED, nested=True)
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Array | tuple[Array, Array, Array]:
    """U [..., m, m], s [..., k] and Vᴴ [..., n, n] with U diag(s) Vᴴ = a [..., m, n], k = min(m, n), or without
    `full_matrices` [..., m, k] and [..., k, n]; s alone unless `compute_uv`. `lapack_driver`: "gesdd" or "gesvd". See
    `numpy.linalg.svd`."""
    x = matrices("svd", a, square=False, errors=_BY_RANK)
    routine = "gesvd" if lapack_driver == "gesvd" else "gesdd"
    s, *vectors = singular.svd_p(
        x, full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=None, routine=routine
    )
    return (vectors[0], s, vectors[1]) if compute_uv else s


@eager_jit(static="side method eps max_iterations", nested=True)
def polar(
    a: ArrayLike,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """The polar decomposition of matrices [..., m, n]: U with orthonormal columns (or rows) and P, Hermitian and
    positive semidefinite, with U P = a (`side` "left": P U = a).

    `method`: "qdwh" (Halley's iteration; `eps` and `max_iterations` are its) or "svd". Raises ValueError for other
    words and for arrays of lower rank.
    """
    if side not in ("right", "left"):
        raise ValueError(f"polar: side is 'right' or 'left', not {side!r}")
    if method not in ("qdwh", "svd"):
        raise ValueError(f"polar: method is 'qdwh' or 'svd', not {method!r}")
    x = matrices("polar", a, square=False)
    u = _polar_by_svd(x) if method == "svd" else _polar_by_qdwh(x, eps, max_iterations)
    inner = ops.product(ops.adjoint(u), x) if side == "right" else ops.product(x, ops.adjoint(u))
    return u, ops.hermitian_part(inner)


def _polar_by_svd(x: Any) -> Any:
    _, u, vh = singular.svd_p(x, full_matrices=False, compute_uv=True, subset_by_index=None, routine="gesdd")
    return ops.product(u, vh)


def _polar_by_qdwh(x: Any, eps: float | None, max_iterations: int | None) -> Any:
    wide = aval_of(x).shape[-2] < aval_of(x).shape[-1]
    tall = ops.adjoint(x) if wide else x
    of_one = lambda x: qdwh(x, eps=eps, max_iterations=max_iterations)[0]
    u = of_one(tall) if aval_of(tall).ndim == 2 else vectorize(of_one, signature="(m,n)->(m,n)")(tall)
    return ops.adjoint(u) if wide else u


# Eigenvalues ---------------------------------------------------------------------------------------------------------


@eager_jit(static="lower eigvals_only turbo eigvals type overwrite_b " + _IGNORED, nested=True)
def eigh(
    a: ArrayLike,
    b: ArrayLike | None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Array | tuple[Array, Array]:
    """Eigenvalues w (real, ascending) and eigenvectors v (columns) of Hermitian matrices [..., n, n], taken as (a + aᴴ) /
    2; the eigenvalues alone if `eigvals_only`.

    With a positive definite `b` [..., n, n] those of a v = w b v (`type` 1; vᴴ b v = 1), a b v = w v (2), or b a v = w v
    (3). Raises NotImplementedError for `eigvals`, ValueError for other types.
    """
    if eigvals is not None:
        raise NotImplementedError("eigh solves a x = w x, for all w: eigvals= is not supported")
    if type not in (1, 2, 3):
        raise ValueError(f"eigh: type is 1, 2 or 3, not {type!r}")
    x = ops.hermitian_part(matrices("eigh", a))
    if b is None:
        vectors, values = eigen.eigh_p(x, lower=lower, subset_by_index=None)
        return values if eigvals_only else (values, vectors)
    (x, y), _, _, _ = promoted("eigh", (x, ops.hermitian_part(matrices("eigh", b))), inexact=True)
    factor = ops.cholesky_p(y)
    solved = lambda v, left, transposed: ops.triangular_solve_p(
        factor, v, left_side=left, lower=True, transpose_a=transposed, conjugate_a=transposed, unit_diagonal=False
    )
    if type == 1:  # with b = L Lᴴ the matrix L⁻¹ a L⁻ᴴ has the same eigenvalues, and the eigenvectors Lᴴ v
        reduced = solved(solved(x, True, False), False, True)
    else:
        reduced = matmul(ops.adjoint(factor), matmul(x, factor))
    vectors, values = eigen.eigh_p(ops.hermitian_part(reduced), lower=lower, subset_by_index=None)
    if eigvals_only:
        return values
    return values, matmul(factor, vectors) if type == 3 else solved(vectors, True, True)


@eager_jit(static="output", nested=True)
def schur(a: ArrayLike, output: str = "real") -> list[Array]:
    """T and unitary Z with Z T Zᴴ = a [..., n, n]. T is upper triangular if `a` is complex or `output` "complex", else
    real with blocks of 2 × 2 for pairs of complex eigenvalues. No derivative. Raises ValueError for another output."""
    if output not in ("real", "complex"):
        raise ValueError(f"schur: output is 'real' or 'complex', not {output!r}")
    x = matrices("schur", a, errors=_BY_RANK)
    if output == "complex":
        x = convert(x, dtypes.complex_of(aval_of(x).dtype))
    return forms.schur_p(x, compute_schur_vectors=True)


@eager_jit(static="check_finite", nested=True)
def rsf2csf(T: ArrayLike, Z: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """The complex Schur form T, Z (upper triangular, unitary) of what has the real one given, both [..., n, n]. Raises
    ValueError for matrices that are not square or differ in shape."""
    (t, z), _, _, _ = promoted("rsf2csf", (T, Z), inexact=True)
    t, z = matrices("rsf2csf", t), matrices("rsf2csf", z)
    if aval_of(t).shape[-1] != aval_of(z).shape[-1]:
        raise ValueError(f"rsf2csf: T and Z differ in size, {aval_of(t).shape} and {aval_of(z).shape}")
    dtype = dtypes.complex_of(aval_of(t).dtype)
    t, z = convert(t, dtype), convert(z, dtype)
    if aval_of(t).ndim == aval_of(z).ndim == 2:
        return _to_complex_form(t, z)
    return vectorize(_to_complex_form, signature="(n,n),(n,n)->(n,n),(n,n)")(t, z)


def _to_complex_form(t: Any, z: Any) -> tuple[Any, Any]:
    n = aval_of(t).shape[0]
    eps = np.finfo(aval_of(t).dtype).eps
    columns = iota(np.dtype(np.int32), (2, n), 1)
    across = iota(np.dtype(np.int32), (n, 2), 0)
    zero = np.int32(0)

    def step(i: Any, forms_: tuple[Any, Any]) -> tuple[Any, Any]:
        """Rotate rows and columns m - 1 and m so that the entry below the diagonal there becomes zero."""
        t, z = forms_
        m = convert(n - i, np.dtype(np.int32))
        before = m - 1
        block = dynamic_slice_p(t, before, before, slice_sizes=(2, 2))
        a, c, d = block[0, 0], block[1, 0], block[1, 1]
        moved = abs(c) > eps * (abs(a) + abs(d))
        one, none = full((), 1, aval_of(t).dtype), full((), 0, aval_of(t).dtype)
        # Where nothing is done it is another matrix whose eigenvalues are taken: those of this may have no slopes.
        gap = eigvals(where(moved, block, np.diag([1, 2]).astype(aval_of(t).dtype)))[0] - where(moved, d, none)
        length = convert(_hypot(gap, where(moved, c, one)), aval_of(t).dtype)
        cos, sin = where(moved, gap / length, one), where(moved, c / length, none)
        turn = _matrix([[ops.conjugate(cos), sin], [-sin, cos]])
        rows = dynamic_slice_p(t, before, zero, slice_sizes=(2, n))
        rows = where(columns >= before, ops.product(turn, where(columns >= before, rows, 0 * rows)), rows)
        t = dynamic_update_slice_p(t, rows, before, zero)
        back = ops.adjoint(turn)
        pair = dynamic_slice_p(t, zero, before, slice_sizes=(n, 2))
        pair = where(across <= m, ops.product(where(across <= m, pair, 0 * pair), back), pair)
        t = dynamic_update_slice_p(t, pair, zero, before)
        t = dynamic_update_slice_p(t, full((1, 1), 0, aval_of(t).dtype), m, before)
        pair = dynamic_slice_p(z, zero, before, slice_sizes=(n, 2))
        return t, dynamic_update_slice_p(z, ops.product(pair, back), zero, before)

    return fori_loop(1, n, step, (t, z)) if n > 1 else (t, z)


def _hypot(x: Any, y: Any) -> Any:
    return ((x * ops.conjugate(x) + y * ops.conjugate(y)).real) ** 0.5


def _matrix(entries: list[list[Any]]) -> Any:
    flat = [reshape(x, (1,)) for row in entries for x in row]
    return reshape(concatenate_p(*flat, dimension=0), (2, 2))


@eager_jit(static="calc_q " + _IGNORED, nested=True)
def hessenberg(
    a: ArrayLike, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array | tuple[Array, Array]:
    """H, zero below the first subdiagonal, with Q H Qᴴ = a [..., n, n]; with `calc_q` also the unitary Q. No
    derivative."""
    x = matrices("hessenberg", a)
    *batch, n, _ = aval_of(x).shape
    reduced, taus = forms.hessenberg_p(x)
    h = ops.triangle(reduced, lower=False, offset=-1)
    if not calc_q:
        return h
    if n < 2:
        return h, householder.eye(tuple(batch), n, n, aval_of(x).dtype)
    inner = slice_in_dim(slice_in_dim(reduced, 1, n, axis=-2), 0, n - 1, axis=-1)
    q = householder.householder_product_p(inner, taus)
    return h, _bordered(q)


def _bordered(q: Any) -> Any:
    """1 in the corner, the matrices below and right of it."""
    aval = aval_of(q)
    config = [(0, 0, 0)] * (aval.ndim - 2) + [(1, 0, 0), (1, 0, 0)]
    whole = pad_p(q, aval.dtype.type(0), padding_config=tuple(config))
    shape = aval_of(whole).shape
    down, across = (iota(np.dtype(np.int32), shape, aval.ndim - 2 + i) for i in range(2))
    corner = convert(eq_p(add_p(down, across), np.int32(0)), aval.dtype)
    return add_p(whole, corner)
