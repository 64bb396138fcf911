"""Orthogonal factors: QR, and the products of elementary reflections that LAPACK writes them as."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.avals import ShapedArray, aval_of
from ..symbolic.dimension import min_dim
from .elementwise import eq_p
from .families import check_kind, is_linear, pure, same_dtype, zero_of
from .indexing import iota
from .linalg import (
    FactorizationWithoutDerivative,
    LastAxesPrimitive,
    adjoint,
    check_matrix,
    conjugate,
    factors,
    identity,
    over_columns,
    product,
    rows,
    solved,
    swapped,
    triangle,
    triangular_solve,
)
from .linear import (
    add_p,
    concatenate_p,
    convert,
    full,
    instantiate,
    mul_p,
    neg_p,
    pad_p,
    slice_in_dim,
    sub_p,
)


INDEX = np.dtype(np.int32)


def _prefix(dtype: Any) -> str:
    """The first letters of LAPACK's names: orthogonal or unitary."""
    return "un" if dtype.kind == "c" else "or"


def eye(batch: tuple[int, ...], m: int, n: int, dtype: Any) -> Any:
    """Matrices with ones on the diagonal and zeros elsewhere."""
    shape = (*batch, m, n)
    first, second = (iota(INDEX, shape, len(batch) + i) for i in range(2))
    return convert(eq_p(first, second), dtype)


class Geqrf(FactorizationWithoutDerivative):
    """R in the upper triangle; below it, and in the second result, the reflections whose product is Q."""

    multiple_results = True
    advice = "Q and R themselves have derivatives (numpy.linalg.qr)"

    def abstract(self, a, /):
        check_matrix("geqrf", a)
        return factors(a, ShapedArray(a.shape, a.dtype), ShapedArray((*a.shape[:-2], min_dim(*a.shape[-2:])), a.dtype))

    def lower(self, ctx, a, /):
        outs = ctx.avals_out
        if not ctx.avals_in[0].size:
            return [a, ctx.zeros(outs[1])]
        return ctx.lapack("geqrf", [a], ctx.avals_in, outs, [(0, 0)])


class Geqp3(FactorizationWithoutDerivative):
    """As `geqrf`, of matrices whose columns are permuted; the second result is the permutation, counted from 0."""

    multiple_results = True
    advice = "Q and R themselves have derivatives (numpy.linalg.qr)"

    def abstract(self, a, /):
        check_matrix("geqp3", a)
        *batch, m, n = a.shape
        return pure(
            [
                ShapedArray(a.shape, a.dtype),
                ShapedArray((*batch, n), INDEX),
                ShapedArray((*batch, min_dim(m, n)), a.dtype),
            ]
        )

    def lower(self, ctx, a, /):
        outs = ctx.avals_out
        if not ctx.avals_in[0].size:
            return [a, ctx.iota(outs[1], outs[1].ndim - 1), ctx.zeros(outs[2])]
        free = ctx.zeros(outs[1])
        factors, order, taus = ctx.lapack("geqp3", [a, free], [outs[0], outs[1]], outs, [(0, 0), (1, 1)])
        return [factors, ctx.hlo.subtract(order, ctx.full(1, outs[1])), taus]


geqrf_p = Geqrf("geqrf")
geqp3_p = Geqp3("geqp3")


def _check_reflections(name: str, a: ShapedArray, taus: ShapedArray) -> None:
    check_matrix(name, a)
    check_kind(name, taus, "fc")
    same_dtype(name, (a, taus))
    if taus.ndim != a.ndim - 1 or taus.shape[:-1] != a.shape[:-2] or taus.shape[-1] > min_dim(*a.shape[-2:]):
        raise ValueError(f"{name}: {taus.short()} are not the scales of the reflections in the columns of {a.short()}")


class HouseholderProduct(LastAxesPrimitive):
    """The first n columns of the product of the reflections 1 - tau v vᴴ; v stands below the diagonal of column i of an
    m × n matrix (m ≥ n), 1 on it being understood."""

    def abstract(self, a, taus, /):
        _check_reflections("householder_product", a, taus)
        if a.shape[-2] < a.shape[-1]:
            raise ValueError(f"householder_product takes at least as many rows as columns; it got {a.short()}")
        return pure(ShapedArray(a.shape, a.dtype))

    def lower(self, ctx, a, taus, /):
        aval = ctx.avals_in[0]
        return ctx.lapack(_prefix(aval.dtype) + "gqr", [a, taus], ctx.avals_in, [aval], [(0, 0)])[0] if aval.size else a

    def jvp(self, primals, tangents, /):
        (a, taus), (ta, ttaus) = primals, map(instantiate, tangents)
        n = aval_of(a).shape[-1]
        block, moved = _block(a, taus, ta, ttaus)
        first = [slice_in_dim(x, 0, n, axis=-2) for x in (block[0], moved[0])]
        return householder_product_p(a, taus), neg_p(_block_tangent(block, moved, *map(adjoint, first)))


householder_product_p = HouseholderProduct("householder_product")


class MultiplyByReflections(LastAxesPrimitive):
    """Q C (C Q unless `left`; with `transpose` Qᴴ for Q), where Q is the whole product of reflections; see
    `HouseholderProduct`."""

    def abstract(self, a, taus, c, /, *, left, transpose):
        _check_reflections("ormqr", a, taus)
        same_dtype("ormqr", (a, c))
        if c.ndim != a.ndim or c.shape[:-2] != a.shape[:-2] or c.shape[-2 if left else -1] != a.shape[-2]:
            raise ValueError(
                f"ormqr: {c.short()} does not fit the factor of {a.short()}, which stands {_side(left)} of it"
            )
        return pure(ShapedArray(c.shape, c.dtype))

    def lower(self, ctx, a, taus, c, /, *, left, transpose):
        aval = ctx.avals_in[2]
        if not aval.size or not ctx.avals_in[1].size:
            return c
        name = _prefix(aval.dtype) + "mqr"
        return ctx.lapack(name, [a, taus, c], ctx.avals_in, [aval], [(2, 0)], left=left, transpose=transpose)[0]

    def jvp(self, primals, tangents, /, *, left, transpose):
        (a, taus, c), (ta, ttaus, tc) = primals, map(instantiate, tangents)
        (v, inner), (tv, tinner) = _block(a, taus, ta, ttaus)
        if transpose:
            inner, tinner = adjoint(inner), adjoint(tinner)
        block, moved = (v, inner), (tv, tinner)
        if left:
            change = _block_tangent(block, moved, *[product(adjoint(x), c) for x in (v, tv)])
        else:
            change = adjoint(
                _block_tangent((v, adjoint(inner)), (tv, adjoint(tinner)), *[adjoint(product(c, x)) for x in (v, tv)])
            )
        params = {"left": left, "transpose": transpose}
        return ormqr_p(a, taus, c, **params), sub_p(ormqr_p(a, taus, tc, **params), change)

    def transpose(self, ct, a, taus, c, /, *, left, transpose):
        if not is_linear(c):
            raise self.missing("transpose")
        return [None, None, ormqr_p(conjugate(a), conjugate(taus), ct, left=left, transpose=not transpose)]


def _side(left: bool) -> str:
    return "left" if left else "right"


ormqr_p = MultiplyByReflections("ormqr")


def _block(a: Any, taus: Any, ta: Any, ttaus: Any) -> tuple[Any, Any]:
    """V and T with Q = 1 - V T Vᴴ, and their tangents: T = (1 + diag(taus) striu(Vᴴ V))⁻¹ diag(taus)."""
    *batch, m, _ = aval_of(a).shape
    k = aval_of(taus).shape[-1]
    shape = (*batch, k, k)
    v, tv = (triangle(slice_in_dim(x, 0, k, axis=-1), offset=-1) for x in (a, ta))
    v = add_p(v, eye(tuple(batch), m, k, aval_of(a).dtype))
    scale, tscale = (over_columns(x, shape) for x in (taus, ttaus))
    gram = triangle(product(adjoint(v), v), lower=False, offset=1)
    tgram = triangle(add_p(product(adjoint(tv), v), product(adjoint(v), tv)), lower=False, offset=1)
    one = eye(tuple(batch), k, k, aval_of(a).dtype)
    solve = lambda b: triangular_solve(add_p(mul_p(scale, gram), one), b, left_side=True, unit_diagonal=True)
    inner = solve(mul_p(scale, one))
    moved = product(add_p(mul_p(tscale, gram), mul_p(scale, tgram)), inner)
    return (v, inner), (tv, solve(sub_p(mul_p(tscale, one), moved)))


def _block_tangent(block: Any, moved: Any, right: Any, tright: Any) -> Any:
    """The tangent of V T `right`."""
    (v, inner), (tv, tinner) = block, moved
    first = product(tv, product(inner, right))
    return add_p(add_p(first, product(v, product(tinner, right))), product(v, product(inner, tright)))


# QR ------------------------------------------------------------------------------------------------------------------


class QR(LastAxesPrimitive):
    """A = Q R (A[:, p] = Q R if `pivoting`, p being the third result): Q with orthonormal columns, R upper triangular.
    Q is square if `full_matrices`, else as wide as it must be."""

    multiple_results = True

    def abstract(self, a, /, *, pivoting, full_matrices):
        check_matrix("qr", a)
        *batch, m, n = a.shape
        k = m if full_matrices else min_dim(m, n)
        outs = [ShapedArray((*batch, m, k), a.dtype), ShapedArray((*batch, k, n), a.dtype)]
        return factors(a, *outs, *[ShapedArray((*batch, n), INDEX)] * bool(pivoting))

    def lower(self, ctx, a, /, **params):
        return ctx.inline(lambda a: _factored(a, **params), a)

    def jvp(self, primals, tangents, /, *, pivoting, full_matrices):
        q, r, *order = qr_p(*primals, pivoting=pivoting, full_matrices=full_matrices)
        (t,) = tangents
        *_, m, n = aval_of(t).shape
        if order:
            t = swapped(rows(swapped(t), order[0]))
        if m < n:
            dq, dr = _thin_tangent(q, slice_in_dim(r, 0, m, axis=-1), slice_in_dim(t, 0, m, axis=-1))
            # Of the other columns R₂ = Qᴴ A₂, and A₂ = Q R₂.
            rest = product(q, slice_in_dim(r, m, n, axis=-1))
            more = add_p(product(adjoint(dq), rest), product(adjoint(q), slice_in_dim(t, m, n, axis=-1)))
            dr = concatenate_p(dr, more, dimension=aval_of(r).ndim - 1)
        else:
            dq, dr = _thin_tangent(slice_in_dim(q, 0, n, axis=-1), slice_in_dim(r, 0, n, axis=-2), t)
            if full_matrices and m > n:
                dq = concatenate_p(dq, _complement_tangent(q, dq), dimension=aval_of(q).ndim - 1)
                config = (*[(0, 0, 0)] * (aval_of(r).ndim - 2), (0, m - n, 0), (0, 0, 0))
                dr = pad_p(dr, aval_of(r).dtype.type(0), padding_config=config)
        return [q, r, *order], [dq, dr, *map(zero_of, order)]


qr_p = QR("qr")


def _factored(a: Any, pivoting: bool, full_matrices: bool) -> list[Any]:
    """Q, R and, if asked for, the order of the columns."""
    aval = aval_of(a)
    *batch, m, n = aval.shape
    k = m if full_matrices else min_dim(m, n)
    if not m or not n:
        order = [iota(INDEX, (*batch, n), len(batch))] if pivoting else []
        return [eye(tuple(batch), m, k, aval.dtype), full((*batch, k, n), 0, aval.dtype), *order]
    if pivoting:
        factors, order, taus = geqp3_p(a)
    else:
        (factors, taus), order = geqrf_p(a), None
    q = slice_in_dim(factors, 0, min_dim(m, n), axis=-1)
    if k > n:
        q = pad_p(q, aval.dtype.type(0), padding_config=(*[(0, 0, 0)] * (len(batch) + 1), (0, k - n, 0)))
    r = triangle(slice_in_dim(factors, 0, k, axis=-2), lower=False)
    return [householder_product_p(q, taus), r, *([order] if pivoting else [])]


def _thin_tangent(q: Any, r: Any, t: Any) -> tuple[Any, Any]:
    """Tangents of Q and R for A of full column rank: with C = Qᴴ A' R⁻¹ and Ω the skew-Hermitian matrix whose strict
    lower triangle, and imaginary diagonal, are C's: Q' = Q (Ω - C) + A' R⁻¹ and R' = (C - Ω) R."""
    scaled = triangular_solve(r, t)
    c = product(adjoint(q), scaled)
    below = triangle(c, offset=-1)
    turn = sub_p(below, adjoint(below))
    if aval_of(c).dtype.kind == "c":
        half = aval_of(c).dtype.type(0.5)
        turn = add_p(turn, mul_p(identity(aval_of(c)), mul_p(sub_p(c, conjugate(c)), half)))
    rest = sub_p(c, turn)
    return sub_p(scaled, product(q, rest)), product(rest, r)


def _complement_tangent(q: Any, dq: Any) -> Any:
    """The tangent of the columns of a square Q beyond those of A.

    Q = 1 - V T Vᴴ with V unit lower trapezoidal. Let E be the first n columns of 1, Q₁ those of Q, whose upper rows are
    P and lower ones S. Then Z = S (P - 1)⁻¹ is V's lower part times the inverse of its upper one, and the other columns
    are those of 1 plus (Q₁ - E) Zᴴ. Not defined where P - 1 is singular: where a reflection is trivial.
    """
    *batch, m, n = aval_of(dq).shape
    dtype = aval_of(q).dtype
    thin = slice_in_dim(q, 0, n, axis=-1)
    parts = lambda x: (slice_in_dim(x, 0, n, axis=-2), slice_in_dim(x, n, m, axis=-2))
    (upper, lower), (dupper, dlower) = parts(thin), parts(dq)
    gap = adjoint(sub_p(upper, eye(tuple(batch), n, n, dtype)))
    z = solved(gap, adjoint(lower))
    dz = solved(gap, sub_p(adjoint(dlower), product(adjoint(dupper), z)))
    return add_p(product(dq, z), product(sub_p(thin, eye(tuple(batch), m, n, dtype)), dz))
