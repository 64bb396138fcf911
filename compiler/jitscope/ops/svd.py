"""Singular values and vectors."""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..symbolic.dimension import min_dim
from .elementwise import div_p, eq_p
from .householder import eye
from .linalg import (
    LastAxesPrimitive,
    adjoint,
    check_matrix,
    factors,
    identity,
    matrix_diagonal,
    over_columns,
    over_rows,
    product,
    status_of,
    valid_or_nan,
)
from .linear import add_p, convert, full, mul_p, slice_in_dim, sub_p, where


class SVD(LastAxesPrimitive):
    """A = U diag(s) Vᴴ: s real and descending, then U and Vᴴ if `compute_uv`, square if `full_matrices`.

    `routine`: gesdd (divide and conquer) or gesvd. `subset_by_index` (first, end): only those singular values and
    vectors. Derivatives are those of singular values that are simple and not zero; there are none of the vectors that
    `full_matrices` adds.
    """

    multiple_results = True

    def abstract(self, a, /, *, full_matrices, compute_uv, subset_by_index, routine):
        check_matrix("svd", a)
        *batch, m, n = a.shape
        rank = min_dim(m, n)
        first, end = subset_by_index or (0, rank)
        if not 0 <= first <= end <= rank:
            raise ValueError(f"svd: subset_by_index {subset_by_index} does not fit {rank} singular values")
        if compute_uv and full_matrices and end - first < rank:
            raise ValueError("svd: a part of the singular vectors (subset_by_index) needs full_matrices=False")
        k = end - first
        u, v = (m, n) if full_matrices else (k, k)
        outs = [ShapedArray((*batch, k), dtypes.real_part(a.dtype))]
        if compute_uv:
            outs += [ShapedArray((*batch, m, u), a.dtype), ShapedArray((*batch, v, n), a.dtype)]
        return factors(a, *outs)

    def lower(self, ctx, a, /, *, full_matrices, compute_uv, subset_by_index, routine):
        aval, outs = ctx.avals_in[0], ctx.avals_out
        *batch, m, n = aval.shape
        if subset_by_index not in (None, (0, min_dim(m, n))):
            return ctx.inline(lambda a: _subset(a, compute_uv, subset_by_index, routine), a)
        if not aval.size:
            empty = ctx.inline(lambda a: [eye(tuple(batch), o.shape[-2], o.shape[-1], o.dtype) for o in outs[1:]], a)
            return [ctx.zeros(outs[0]), *empty]
        status, k = status_of(aval), min_dim(m, n)
        u, v = (m, n) if full_matrices and compute_uv else (k, k)
        whole = [
            aval,
            outs[0],
            ShapedArray((*batch, m, u), aval.dtype),
            ShapedArray((*batch, v, n), aval.dtype),
            status,
        ]
        mode = "N" if not compute_uv else "A" if full_matrices else "S"
        _, *found, info = ctx.lapack(routine, [a], [aval], whole, [(0, 0)], mode=mode)
        return [valid_or_nan(ctx, x, o, info, status.shape) for x, o in zip(found, outs)]

    def jvp(self, primals, tangents, /, *, full_matrices, compute_uv, subset_by_index, routine):
        *_, m, n = aval_of(primals[0]).shape
        if subset_by_index not in (None, (0, min_dim(m, n))):
            raise NotImplementedError(
                "svd has no derivative for a part of the singular values: leave out subset_by_index"
            )
        if compute_uv and full_matrices and m != n:
            raise NotImplementedError(
                f"svd has no derivative of the vectors that full_matrices adds to those of {m} × {n} matrices: they are "
                "not determined by the matrix. Call it with full_matrices=False"
            )
        s, u, vh = svd_p(*primals, full_matrices=False, compute_uv=True, subset_by_index=None, routine=routine)
        (t,) = tangents
        v, half = adjoint(vh), product(adjoint(u), t)
        change = product(half, v)
        moved = convert(matrix_diagonal(change), aval_of(s).dtype)
        if not compute_uv:
            return [s], [moved]
        du, dv = _vector_tangents(s, change)
        du, dv = product(u, du), product(v, dv)
        scale = lambda x: div_p(x, over_rows(convert(s, aval_of(x).dtype), aval_of(x).shape))
        if m > n:
            along = product(t, v)
            du = add_p(du, scale(sub_p(along, product(u, change))))
        if n > m:
            along = adjoint(half)
            dv = add_p(dv, scale(sub_p(along, product(v, adjoint(change)))))
        return [s, u, vh], [moved, du, adjoint(dv)]


svd_p = SVD("svd")


def _subset(a: Any, compute_uv: bool, subset: tuple[int, int], routine: str) -> list[Any]:
    s, *vectors = svd_p(a, full_matrices=False, compute_uv=compute_uv, subset_by_index=None, routine=routine)
    axes = (-1, -1, -2)
    return [slice_in_dim(x, *subset, axis=axis) for x, axis in zip((s, *vectors), axes)]


def _vector_tangents(s: Any, change: Any) -> tuple[Any, Any]:
    """What U and V turn by, in their own bases: for C = Uᴴ A' V, (s_j C + s_i Cᴴ) / (s_j² - s_i²) and its mirror image;
    the free phase of a pair of complex vectors goes to U."""
    aval = aval_of(change)
    real = aval_of(s).dtype
    right, below = over_rows(s, aval.shape), over_columns(s, aval.shape)
    one = identity(aval.update(dtype=real))
    gaps = add_p(mul_p(add_p(right, below), sub_p(right, below)), one)
    factor = convert(sub_p(div_p(full(aval.shape, 1, real), gaps), one), aval.dtype)
    right, below = convert(right, aval.dtype), convert(below, aval.dtype)
    other = adjoint(change)
    of_u = add_p(mul_p(right, change), mul_p(below, other))
    of_v = add_p(mul_p(below, change), mul_p(right, other))
    none, ones = (full(aval_of(s).shape, i, real) for i in (0, 1))
    missing = eq_p(s, none)
    inverse = where(missing, none, div_p(ones, where(missing, ones, s)))
    scale = convert(mul_p(over_rows(inverse, aval.shape), one), aval.dtype)
    phase = mul_p(mul_p(sub_p(change, other), aval.dtype.type(0.5)), scale)
    return add_p(mul_p(factor, of_u), phase), mul_p(factor, of_v)
