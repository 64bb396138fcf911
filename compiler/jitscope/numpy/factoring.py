"""Factorizations of matrices, their eigenvalues and singular values."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..core.dtypes import is_extended, real_part
from ..eager.functions import eager_jit
from ..named_tuple import NamedTuple
from ..ops import eigen, householder, linalg as ops, svd as singular
from ..ops.elementwise import abs_p, sign_p
from ..ops.indexing import iota
from ..ops.linear import convert, mul_p, rev_p, slice_in_dim
from ..ops.sort import sort_p, take_along
from .creation import asarray
from .operands import operand
from .structure import array_operand


__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult", "cholesky", "eig", "eigh", "eigvals", "eigvalsh", "qr",
           "svd", "svdvals"]  # fmt: skip


class EighResult(NamedTuple):
    """Eigenvalues of Hermitian matrices, ascending, and eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """Eigenvalues of matrices, and eigenvectors as columns; both complex."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """The orthogonal and the triangular factor of matrices."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values, right singular vectors as rows, conjugated."""

    U: Array
    S: Array
    Vh: Array


def arrays_of_floats(name: str, a: Any) -> Any:
    """An operand as an array, integers as floats. Raises TypeError for keys."""
    x = array_operand(name, operand(name, a, inexact=True))
    if is_extended(aval_of(x).dtype):
        raise TypeError(f"{name} takes numbers; it got {aval_of(x).short()}")
    return asarray(x) if isinstance(x, (np.ndarray, np.generic)) else x


def matrices(name: str, a: Any, square: bool = True, errors: tuple[Any, Any] = (ValueError, ValueError)) -> Any:
    """An operand of one or more matrices, in floats. Raises the first of `errors` for arrays of lower rank, the second
    for matrices that had to be square."""
    x = arrays_of_floats(name, a)
    shape = aval_of(x).shape
    if len(shape) < 2 or (square and shape[-1] != shape[-2]):
        raise errors[len(shape) >= 2](
            f"{name} needs {'square ' if square else ''}matrices along the last two axes; it got shape {shape}"
        )
    return x


_BY_RANK = (TypeError, ValueError)
_ALIKE = (ValueError, ValueError)
"""Which errors JAX raises, function by function."""


@eager_jit(static="upper symmetrize_input", nested=True)
def cholesky(a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The lower triangular L (upper: its adjoint) with L Lᴴ = a, for Hermitian positive definite matrices [..., n, n];
    NaN for others. `symmetrize_input`: (a + aᴴ) / 2 is factored, else the lower triangle of `a` is read."""
    x = matrices("cholesky", a, errors=_ALIKE if symmetrize_input else _BY_RANK)
    factor = ops.cholesky_p(ops.hermitian_part(x) if symmetrize_input else x)
    return ops.adjoint(factor) if upper else factor


@overload
def qr(a: ArrayLike, mode: Literal["reduced", "complete", "raw", "full"] = "reduced") -> QRResult: ...
@overload
def qr(a: ArrayLike, mode: Literal["r"]) -> Array: ...
@overload
def qr(a: ArrayLike, mode: str = "reduced") -> QRResult | Array: ...
@eager_jit(static="mode", nested=True)
def qr(a: ArrayLike, mode: str = "reduced") -> QRResult | Array:
    """Q with orthonormal columns and upper triangular R with Q R = a, for matrices [..., m, n], k = min(m, n).

    `mode`: "reduced" (Q [..., m, k], R [..., k, n]), "complete" (Q [..., m, m], R [..., m, n]), "r" (R [..., k, n]
    alone) or "raw" (the reflections of which Q is the product, [..., n, m], and their scales [..., k]). Raises
    ValueError for others.
    """
    x = matrices("qr", a, square=False, errors=_BY_RANK)
    if mode == "raw":
        factors, taus = householder.geqrf_p(x)
        return QRResult(ops.swapped(factors), taus)
    if mode not in ("reduced", "r", "full", "complete"):
        raise ValueError(f"qr: mode is 'reduced', 'complete', 'r' or 'raw', not {mode!r}")
    q, r = householder.qr_p(x, pivoting=False, full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: Literal[True] = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> SVDResult: ...
@overload
def svd(
    a: ArrayLike,
    full_matrices: bool,
    compute_uv: Literal[False],
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Array: ...
@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    *,
    compute_uv: Literal[False],
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Array: ...
@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Array | SVDResult: ...
@eager_jit(static="full_matrices compute_uv hermitian subset_by_index", nested=True)
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Array | SVDResult:
    """U, S and Vᴴ with U diag(S) Vᴴ = a [..., m, n]; S is real and descending, [..., k], k = min(m, n); S alone unless
    `compute_uv`.

    `full_matrices`: U is [..., m, m] and Vᴴ [..., n, n], else [..., m, k] and [..., k, n]; those that are added have no
    derivative. `hermitian`: `a` is, which is quicker. `subset_by_index` (first, end): only those singular values and
    vectors. Derivatives are finite where singular values are simple and not zero.
    """
    x = matrices("svd", a, square=hermitian, errors=_ALIKE if hermitian else _BY_RANK)
    subset = None if subset_by_index is None else (int(subset_by_index[0]), int(subset_by_index[1]))
    if hermitian:
        return _hermitian_svd(x, compute_uv, subset)
    found = singular.svd_p(
        x, full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=subset, routine="gesdd"
    )
    s, *vectors = found
    return SVDResult(vectors[0], s, vectors[1]) if compute_uv else s


def _hermitian_svd(x: Any, compute_uv: bool, subset: tuple[int, int] | None) -> Any:
    """Singular values are the absolute eigenvalues, in another order."""
    vectors, values = eigen.eigh_p(ops.hermitian_part(x), lower=True, subset_by_index=None)
    last = aval_of(values).ndim - 1
    part = lambda v, axis=-1: v if subset is None else slice_in_dim(v, *subset, axis=axis)
    places = iota(np.dtype(np.int32), aval_of(values).shape, last)
    params = {"dimension": last, "is_stable": True, "num_keys": 1}
    s, order = (rev_p(v, dimensions=(last,)) for v in sort_p(abs_p(values), places, **params))
    if not compute_uv:
        return part(s)
    shape = aval_of(vectors).shape
    u = take_along(vectors, ops.over_rows(order, shape), last + 1)
    signs = sign_p(take_along(values, order, last))
    vh = ops.adjoint(mul_p(u, convert(ops.over_rows(signs, shape), aval_of(u).dtype)))
    return SVDResult(part(u), part(s), part(vh, -2))


@eager_jit(nested=True)
def svdvals(x: ArrayLike, /) -> Array:
    """The singular values of matrices [..., m, n], descending: real, [..., min(m, n)]."""
    return svd(x, compute_uv=False)


@eager_jit(static="UPLO symmetrize_input", nested=True)
def eigh(a: ArrayLike, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues (real, ascending, [..., n]) and eigenvectors (columns, [..., n, n]) of Hermitian matrices.

    `symmetrize_input`: those of (a + aᴴ) / 2; else the lower triangle is read, or, for UPLO "U", the upper one.
    Derivatives are finite where eigenvalues are simple. Raises ValueError for another UPLO.
    """
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"eigh: UPLO is 'L', 'U' or None, not {UPLO!r}")
    x = matrices("eigh", a, errors=_ALIKE if symmetrize_input else _BY_RANK)
    if symmetrize_input:
        x = ops.hermitian_part(x)
    vectors, values = eigen.eigh_p(x, lower=UPLO != "U", subset_by_index=None)
    return EighResult(values, vectors)


@eager_jit(static="UPLO symmetrize_input", nested=True)
def eigvalsh(a: ArrayLike, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """The eigenvalues of Hermitian matrices [..., n, n]: real, ascending, [..., n]; see `eigh`."""
    return eigh(a, UPLO, symmetrize_input=symmetrize_input).eigenvalues


def _eig(name: str, a: Any, vectors: bool) -> list[Any]:
    x = matrices(name, a, errors=_BY_RANK)
    return eigen.eig_p(
        x, compute_left_eigenvectors=False, compute_right_eigenvectors=vectors, enable_eigvec_derivs=False
    )


@eager_jit(nested=True)
def eig(a: ArrayLike) -> EigResult:
    """Eigenvalues ([..., n]) and eigenvectors (columns, of length 1, [..., n, n]) of square matrices, all complex.

    No derivatives: `eigvals` has them, and lax.linalg.eig with enable_eigvec_derivs=True.
    """
    return EigResult(*_eig("eig", a, True))


@eager_jit(nested=True)
def eigvals(a: ArrayLike) -> Array:
    """The eigenvalues of square matrices [..., n, n]: complex, [..., n]. Derivatives are finite where they are
    simple."""
    return _eig("eigvals", a, False)[0]


def precision_of(x: Any) -> Any:
    """The distance from 1 to the next float, in the dtype of an array's real part."""
    return np.finfo(real_part(aval_of(x).dtype)).eps
