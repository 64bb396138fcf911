"""`jitscope.lax.linalg`: factorizations of matrices along the last two axes; leading axes are batches.

All work in float32, float64, complex64 and complex128 and raise TypeError for other dtypes and for operands that are no
matrices, ValueError for shapes that do not fit. A matrix for which LAPACK fails gives NaN: a compiled program cannot
raise.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..ops import eigen, householder, linalg as ops, schur as forms, svd as singular
from ..ops.linalg import triangular_solve
from ..ops.linear import add_p, mul_p
from ..ops.tridiagonal import tridiagonal_solve_p
from . import primitives
from .polar import qdwh


__all__ = ["EigImplementation", "EighImplementation", "SvdAlgorithm", "cholesky", "cholesky_update", "eig", "eigh",
           "hessenberg", "householder_product", "lu", "lu_pivots_to_permutation", "ormqr", "qdwh", "qr", "schur",
           "svd", "symmetric_product", "triangular_solve", "tridiagonal", "tridiagonal_solve"]  # fmt: skip


class EigImplementation(enum.Enum):
    """Libraries that find eigenvalues of general matrices. The CPU has LAPACK."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """Algorithms for eigenvalues of Hermitian matrices. The CPU has QR (LAPACK's divide and conquer)."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class SvdAlgorithm(enum.Enum):
    """Algorithms for singular values. The CPU has DEFAULT and DIVIDE_AND_CONQUER (LAPACK's gesdd), and QR (gesvd)."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def _only_here(name: str, given: Any, known: tuple[Any, ...], error: type[Exception] = NotImplementedError) -> None:
    if given not in known:
        names = " or ".join(str(k) for k in known if k is not None)
        raise error(f"{name}: {given} is not available on the CPU: leave it out, or give {names}")


# Triangular factors --------------------------------------------------------------------------------------------------


def cholesky(x: ArrayLike, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular L with L Lᴴ = x for Hermitian positive definite matrices [..., n, n]; NaN for others.
    `symmetrize_input`: (x + xᴴ) / 2 is factored, else the lower triangle of `x` is read."""
    return ops.cholesky_p(_symmetrized("cholesky", x) if symmetrize_input else x)


def _symmetrized(name: str, x: Any) -> Any:
    aval = aval_of(x)
    if aval.ndim < 2:
        raise ValueError(f"{name} works on matrices (the last two axes); it got {aval.short()}")
    ops.check_matrix(name, aval, square=True)
    return ops.hermitian_part(x)


def cholesky_update(r_matrix: ArrayLike, w_vector: ArrayLike) -> Array:
    """The upper triangular R' with R'ᵀ R' = Rᵀ R + w wᵀ, for real upper triangular R [..., n, n] and w [..., n]."""
    return ops.cholesky_update_p(r_matrix, w_vector)


def lu(x: ArrayLike) -> list[Array]:
    """P x = L U with partial pivoting, for matrices [..., m, n]: L (without its unit diagonal) and U in one matrix, the
    row that each step swapped with (i32 [..., min(m, n)]), and the permutation of the rows (i32 [..., m])."""
    return ops.lu_p(x)


def lu_pivots_to_permutation(pivots: ArrayLike, permutation_size: int) -> Array:
    """The permutation (i32 [..., permutation_size]) that the swaps of LU, `pivots` (i32 [..., k]), amount to. Raises
    ValueError if there are more pivots than rows."""
    return ops.lu_pivots_to_permutation_p(pivots, permutation_size=int(permutation_size))


def tridiagonal_solve(
    dl: ArrayLike, d: ArrayLike, du: ArrayLike, b: ArrayLike, *, perturb_singular: bool = False
) -> Array:
    """X with A X = b for the tridiagonal matrices with diagonal `d`, `dl` below and `du` above it: each [..., n], of
    `dl` the first and of `du` the last entry are not read; b is [..., n, k]. NaN for singular matrices, unless
    `perturb_singular`: then pivots too small are replaced by small ones."""
    return tridiagonal_solve_p(dl, d, du, b, perturb_singular=perturb_singular)


def symmetric_product(
    a_matrix: ArrayLike, c_matrix: ArrayLike, *, alpha: float = 1.0, beta: float = 0.0, symmetrize_output: bool = False
) -> Array:
    """alpha a aᵀ + beta c for real a [..., m, n] and symmetric c [..., m, m] of one float dtype. `symmetrize_output`: the
    upper triangle is the lower one's mirror image, exactly. Raises TypeError for other dtypes, ValueError for other
    shapes."""
    a, c = aval_of(a_matrix), aval_of(c_matrix)
    for aval in (a, c):
        ops.check_matrix("symmetric_product", aval)
        ops.check_kind("symmetric_product", aval, "f")
    ops.same_dtype("symmetric_product", (a, c))
    if c.shape != (*a.shape[:-1], a.shape[-2]):
        raise ValueError(
            f"symmetric_product: {c.short()} cannot be added to the product of {a.short()} and its transpose"
        )
    scaled = mul_p(ops.product(a_matrix, ops.swapped(a_matrix)), a.dtype.type(alpha))
    total = add_p(scaled, mul_p(c_matrix, c.dtype.type(beta)))
    return ops.hermitian_from(total) if symmetrize_output else total


# Orthogonal factors --------------------------------------------------------------------------------------------------


def qr(
    x: ArrayLike, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None
) -> tuple[Array, ...]:
    """Q with orthonormal columns and upper triangular R with Q R = x [..., m, n]; with `pivoting` also p (i32 [..., n])
    with Q R = x[..., p]. Q is [..., m, m] if `full_matrices`, else [..., m, min(m, n)]. `use_magma` is for GPUs."""
    return tuple(householder.qr_p(x, pivoting=pivoting, full_matrices=full_matrices))


def householder_product(a: ArrayLike, taus: ArrayLike) -> Array:
    """The first n columns of the product of reflections 1 - tau v vᴴ, the v being the columns of `a` [..., m, n] below
    its diagonal (on it, 1), `taus` [..., k] with k ≤ n ≤ m."""
    return householder.householder_product_p(a, taus)


def ormqr(a: ArrayLike, taus: ArrayLike, c: ArrayLike, *, left: bool = True, transpose: bool = False) -> Array:
    """Q c (c Q unless `left`; with `transpose` Qᴴ for Q) for the product Q [..., m, m] of the reflections in `a` and
    `taus` (see `householder_product`), without making Q."""
    return householder.ormqr_p(a, taus, c, left=left, transpose=transpose)


# Eigenvalues and singular values -------------------------------------------------------------------------------------


def eig(
    x: ArrayLike,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Array]:
    """Eigenvalues (complex, [..., n]) of any square matrices [..., n, n], then left (vᴴ x = w vᴴ) and right
    eigenvectors as columns, those asked for, of length 1 and with a real largest component. Vectors have derivatives
    with `enable_eigvec_derivs` only, where eigenvalues are simple. Raises ValueError for an implementation of GPUs."""
    _only_here("eig", implementation, (None, EigImplementation.LAPACK), ValueError)
    return list(
        eigen.eig_p(
            x,
            compute_left_eigenvectors=compute_left_eigenvectors,
            compute_right_eigenvectors=compute_right_eigenvectors,
            enable_eigvec_derivs=enable_eigvec_derivs,
        )
    )


def eigh(
    x: ArrayLike,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Array, Array]:
    """Eigenvectors (columns, [..., n, n]) and eigenvalues (real, [..., n]) of Hermitian matrices; ascending, also
    without `sort_eigenvalues`. `symmetrize_input`: those of (x + xᴴ) / 2, else the `lower` (or upper) triangle is read.
    `subset_by_index` (first, end): only those. Raises NotImplementedError for algorithms of other devices."""
    _only_here("eigh", implementation, (None, EighImplementation.QR))
    if symmetrize_input:
        x = _symmetrized("eigh", x)
    subset = None if subset_by_index is None else (int(subset_by_index[0]), int(subset_by_index[1]))
    return tuple(eigen.eigh_p(x, lower=lower, subset_by_index=subset))


_ROUTINES = {
    None: "gesdd",
    SvdAlgorithm.DEFAULT: "gesdd",
    SvdAlgorithm.DIVIDE_AND_CONQUER: "gesdd",
    SvdAlgorithm.QR: "gesvd",
}


def svd(
    x: ArrayLike,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> tuple[Array, Array, Array] | Array:
    """U, s and Vᴴ with U diag(s) Vᴴ = x [..., m, n], s real and descending [..., min(m, n)]; only s unless
    `compute_uv`. U and Vᴴ are square if `full_matrices` (which has no derivative unless m = n). `subset_by_index`
    (first, end): only those, with full_matrices=False. Raises NotImplementedError for algorithms of other devices."""
    _only_here("svd", algorithm, tuple(_ROUTINES))
    subset = None if subset_by_index is None else (int(subset_by_index[0]), int(subset_by_index[1]))
    s, *vectors = singular.svd_p(
        x,
        full_matrices=full_matrices,
        compute_uv=compute_uv,
        subset_by_index=subset,
        routine=_ROUTINES[algorithm],
    )
    return (vectors[0], s, vectors[1]) if compute_uv else s


# Simpler forms -------------------------------------------------------------------------------------------------------


def schur(
    x: ArrayLike,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> list[Array]:
    """T and unitary Z with Z T Zᴴ = x [..., n, n], T upper triangular (of real matrices with blocks of 2 × 2 for pairs
    of complex eigenvalues); only T, as a list of one, unless `compute_schur_vectors`. No derivative. Raises
    NotImplementedError for `sort_eig_vals`."""
    if sort_eig_vals or select_callable is not None:
        raise NotImplementedError(
            "schur: eigenvalues stand in the order LAPACK finds them; sort_eig_vals is not supported"
        )
    return forms.schur_p(x, compute_schur_vectors=compute_schur_vectors)


def hessenberg(a: ArrayLike) -> list[Array]:
    """H with Q H Qᴴ = a [..., n, n] on and above the first subdiagonal; below it, and in the second result [..., n -
    1], the reflections of which Q is the product (see `householder_product`). No derivative."""
    return forms.hessenberg_p(a)


def tridiagonal(a: ArrayLike, *, lower: bool = True) -> list[Array]:
    """Real tridiagonal T with Q T Qᴴ = a [..., n, n] Hermitian, of which the `lower` (or upper) triangle is read: a
    matrix with T's lower (upper) part and the reflections of which Q is the product, T's diagonal [..., n] and
    off-diagonal [..., n - 1], and the scales of the reflections [..., n - 1]. No derivative. Raises ValueError for n =
    0."""
    return forms.tridiagonal_p(a, lower=lower)


def __getattr__(name: str) -> Any:
    return primitives.find(name, "lax.linalg")


def __dir__() -> list[str]:
    return sorted({*globals(), *primitives.OF_LINALG})
