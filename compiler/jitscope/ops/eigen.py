"""Eigenvalues and eigenvectors, of Hermitian matrices and of any."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from .elementwise import abs_p, complex_p, conj_p, div_p, eq_p, imag_p, real_p
from .indexing import iota
from .linalg import (
    LastAxesPrimitive,
    adjoint,
    check_matrix,
    factors,
    hermitian_from,
    identity,
    matrix_diagonal,
    over_columns,
    over_rows,
    product,
    solved,
    status_of,
    valid_or_nan,
)
from .linear import (
    add_p,
    broadcast_in_dim,
    convert,
    full,
    mul_p,
    neg_p,
    reduce_sum_p,
    slice_in_dim,
    sub_p,
    where,
)
from .reduce import argmax_p


def inverse_gaps(values: Any) -> Any:
    """1 / (w_j - w_i) off the diagonal, zeros on it."""
    aval = aval_of(values)
    shape = (*aval.shape, aval.shape[-1])
    one = identity(ShapedArray(shape, aval.dtype))
    gaps = add_p(sub_p(over_rows(values, shape), over_columns(values, shape)), one)
    return sub_p(div_p(full(shape, 1, aval.dtype), gaps), one)


class Eigh(LastAxesPrimitive):
    """Eigenvectors (as columns) and eigenvalues (real, ascending) of Hermitian matrices, of which one triangle is read.

    Derivatives are those of simple eigenvalues; where two are equal they are not finite. That of a complex eigenvector
    has no part along the vector itself. `subset_by_index` (first, end): only those, counted in ascending order; no
    derivatives.
    """

    multiple_results = True

    def abstract(self, a, /, *, lower, subset_by_index):
        check_matrix("eigh", a, square=True)
        *batch, n, _ = a.shape
        first, end = subset_by_index or (0, n)
        if not 0 <= first <= end <= n:
            raise ValueError(f"eigh: subset_by_index {subset_by_index} does not fit {n} eigenvalues")
        values = ShapedArray((*batch, end - first), dtypes.real_part(a.dtype))
        return factors(a, ShapedArray((*batch, n, end - first), a.dtype), values)

    def lower(self, ctx, a, /, *, lower, subset_by_index):
        if subset_by_index is not None:
            return ctx.inline(lambda a: _subset(a, lower, subset_by_index), a)
        aval, outs = ctx.avals_in[0], ctx.avals_out
        if not aval.size:
            return [a, ctx.zeros(outs[1])]
        routine, status = "heevd" if dtypes.is_complex(aval.dtype) else "syevd", status_of(aval)
        uplo = "L" if lower else "U"
        vectors, values, info = ctx.lapack(routine, [a], [aval], [*outs, status], [(0, 0)], mode="V", uplo=uplo)
        return [valid_or_nan(ctx, x, o, info, status.shape) for x, o in zip((vectors, values), outs)]

    def jvp(self, primals, tangents, /, *, lower, subset_by_index):
        if subset_by_index not in (None, (0, aval_of(primals[0]).shape[-1])):
            raise NotImplementedError("eigh has no derivative for a part of the eigenvalues: leave out subset_by_index")
        vectors, values = eigh_p(*primals, lower=lower, subset_by_index=None)
        change = product(adjoint(vectors), product(hermitian_from(tangents[0], lower), vectors))
        turn = mul_p(convert(inverse_gaps(values), aval_of(change).dtype), change)
        moved = matrix_diagonal(change)
        return [vectors, values], [product(vectors, turn), convert(moved, aval_of(values).dtype)]


eigh_p = Eigh("eigh")


def _subset(a: Any, lower: bool, subset: tuple[int, int]) -> list[Any]:
    vectors, values = eigh_p(a, lower=lower, subset_by_index=None)
    return [slice_in_dim(x, *subset, axis=-1) for x in (vectors, values)]


class Eig(LastAxesPrimitive):
    """Eigenvalues (complex) of any square matrices, then their left and right eigenvectors as columns, those asked for.

    Vectors have length 1 and a real largest component. Derivatives are those of simple eigenvalues. Those of vectors
    hold where the choice of the largest component does not change, and must be asked for (`enable_eigvec_derivs`).
    """

    multiple_results = True

    def abstract(self, a, /, *, compute_left_eigenvectors, compute_right_eigenvectors, enable_eigvec_derivs):
        check_matrix("eig", a, square=True)
        dtype = dtypes.complex_of(dtypes.real_part(a.dtype))
        count = compute_left_eigenvectors + compute_right_eigenvectors
        return factors(a, ShapedArray(a.shape[:-1], dtype), *[ShapedArray(a.shape, dtype)] * count)

    def lower(self, ctx, a, /, *, compute_left_eigenvectors, compute_right_eigenvectors, enable_eigvec_derivs):
        aval, outs = ctx.avals_in[0], ctx.avals_out
        if not aval.size:
            return [ctx.zeros(o) for o in outs]
        status, real = status_of(aval), not dtypes.is_complex(aval.dtype)
        parts = [ShapedArray(outs[0].shape, aval.dtype)] * (2 if real else 1)
        whole = [ShapedArray(aval.shape, outs[0].dtype)] * 2
        wanted = {"compute_left": compute_left_eigenvectors, "compute_right": compute_right_eigenvectors}
        attributes = {name: "V" if yes else "N" for name, yes in wanted.items()}
        *values, left, right, info = ctx.lapack("geev", [a], [aval], [*parts, *whole, status], **attributes)
        found = [ctx.hlo.complex(*values) if real else values[0]]
        found += [x for x, yes in zip((left, right), wanted.values()) if yes]
        return [valid_or_nan(ctx, x, o, info, status.shape) for x, o in zip(found, outs)]

    def jvp(self, primals, tangents, /, *, compute_left_eigenvectors, compute_right_eigenvectors, enable_eigvec_derivs):
        vectors_too = compute_left_eigenvectors or compute_right_eigenvectors
        if vectors_too and not enable_eigvec_derivs:
            raise NotImplementedError(
                "eigenvectors of general matrices have derivatives only where eigenvalues are simple and no two "
                "components of a vector are largest, which is not checked: take eigvals where eigenvalues are enough, "
                "or call lax.linalg.eig with enable_eigvec_derivs=True"
            )
        values, *found, right = eig_p(
            *primals,
            compute_left_eigenvectors=compute_left_eigenvectors,
            compute_right_eigenvectors=True,
            enable_eigvec_derivs=True,
        )
        t = convert(tangents[0], aval_of(values).dtype)
        change = product(solved(right, t), right)
        outs, moved = [values], [matrix_diagonal(change)]
        for left in found:
            other = product(solved(left, adjoint(t)), left)
            outs.append(left)
            moved.append(_vector_tangent(conj_p(values, input_dtype=aval_of(values).dtype), left, other))
        if compute_right_eigenvectors:
            outs.append(right)
            moved.append(_vector_tangent(values, right, change))
        return outs, moved


eig_p = Eig("eig")


def _vector_tangent(values: Any, vectors: Any, change: Any) -> Any:
    """Tangents of eigenvectors: what first-order perturbation gives, plus the multiple of the vector itself that keeps
    its length and keeps its largest component real."""
    aval = aval_of(vectors)
    if not aval.size:
        return vectors
    free = product(vectors, mul_p(inverse_gaps(values), change))
    rank, complex_ = aval.ndim, aval.dtype
    down = (rank - 2,)
    inner = reduce_sum_p(mul_p(conj_p(vectors, input_dtype=complex_), free), axes=down)
    largest = argmax_p(abs_p(vectors), axes=down, index_dtype=np.dtype(np.int32))
    places = iota(np.dtype(np.int32), aval.shape, rank - 2)
    mask = eq_p(places, broadcast_in_dim(largest, aval.shape, (*range(rank - 2), rank - 1)))
    picked = [reduce_sum_p(where(mask, x, full(aval.shape, 0, complex_)), axes=down) for x in (free, vectors)]
    phase = div_p(imag_p(picked[0]), real_p(picked[1]))
    along = complex_p(neg_p(real_p(inner)), neg_p(phase))
    return add_p(free, mul_p(vectors, over_rows(along, aval.shape)))
