"""Reductions of matrices to simpler ones with the same eigenvalues: Schur, Hessenberg and tridiagonal form."""

from __future__ import annotations

from ..core import dtypes
from ..core.avals import ShapedArray
from .linalg import FactorizationWithoutDerivative, check_matrix, factors, status_of, valid_or_nan


class Schur(FactorizationWithoutDerivative):
    """A = Z T Zᴴ: T upper triangular (of real matrices: but for blocks of 2 × 2, one for each pair of complex
    eigenvalues), then the unitary Z if `compute_schur_vectors`."""

    multiple_results = True
    advice = "eigenvalues (numpy.linalg.eigvals) have derivatives, and so have expm, sqrtm and solve_sylvester"

    def abstract(self, a, /, *, compute_schur_vectors):
        check_matrix("schur", a, square=True)
        return factors(a, *[ShapedArray(a.shape, a.dtype)] * (1 + compute_schur_vectors))

    def lower(self, ctx, a, /, *, compute_schur_vectors):
        aval, outs = ctx.avals_in[0], ctx.avals_out
        if not aval.size:
            return [a] * len(outs)
        status, values = status_of(aval), ShapedArray(aval.shape[:-1], aval.dtype)
        whole = [aval, aval, *[values] * (1 if dtypes.is_complex(aval.dtype) else 2), status, status]
        mode = "V" if compute_schur_vectors else "N"
        *found, info = ctx.lapack("gees", [a], [aval], whole, [(0, 0)], mode=mode, sort="N")
        return [valid_or_nan(ctx, x, o, info, status.shape) for x, o in zip(found, outs)]


class Hessenberg(FactorizationWithoutDerivative):
    """A = Q H Qᴴ, H zero below the first subdiagonal: H and, below it and in the second result, the reflections of
    which Q is the product."""

    multiple_results = True
    advice = "numpy.linalg.qr has derivatives, and eigenvalues (numpy.linalg.eigvals)"

    def abstract(self, a, /):
        check_matrix("hessenberg", a, square=True)
        *batch, n, _ = a.shape
        return factors(a, ShapedArray(a.shape, a.dtype), ShapedArray((*batch, max(n - 1, 0)), a.dtype))

    def lower(self, ctx, a, /):
        aval, outs = ctx.avals_in[0], ctx.avals_out
        if not outs[1].size:
            return [a, ctx.zeros(outs[1])]
        status = status_of(aval)
        *found, info = ctx.lapack("gehrd", [a], [aval], [*outs, status], [(0, 0)], low=1, high=aval.shape[-1])
        return [valid_or_nan(ctx, x, o, info, status.shape) for x, o in zip(found, outs)]


class Tridiagonal(FactorizationWithoutDerivative):
    """A = Q T Qᴴ of Hermitian matrices, of which one triangle is read: the reflections of which Q is the product,
    beside T; T's diagonal and its off-diagonal (real), and the scales of the reflections."""

    multiple_results = True
    advice = "eigenvalues and eigenvectors (numpy.linalg.eigh) have derivatives"

    def abstract(self, a, /, *, lower):
        check_matrix("tridiagonal", a, square=True)
        *batch, n, _ = a.shape
        if not n:
            raise ValueError(f"tridiagonal takes matrices of one row or more; it got {a.short()}")
        real = dtypes.real_part(a.dtype)
        vectors = [ShapedArray((*batch, n), real), ShapedArray((*batch, n - 1), real)]
        return factors(a, ShapedArray(a.shape, a.dtype), *vectors, ShapedArray((*batch, n - 1), a.dtype))

    def lower(self, ctx, a, /, *, lower):
        aval, outs = ctx.avals_in[0], ctx.avals_out
        if not aval.size:
            return [a, *[ctx.zeros(o) for o in outs[1:]]]
        status, routine = status_of(aval), "hetrd" if dtypes.is_complex(aval.dtype) else "sytrd"
        uplo = "L" if lower else "U"
        *found, info = ctx.lapack(routine, [a], [aval], [*outs, status], [(0, 0)], uplo=uplo)
        return [valid_or_nan(ctx, x, o, info, status.shape) for x, o in zip(found, outs)]


schur_p = Schur("schur")
hessenberg_p = Hessenberg("hessenberg")
tridiagonal_p = Tridiagonal("tridiagonal")
