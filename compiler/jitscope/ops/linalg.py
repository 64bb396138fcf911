"""Factorizations and solutions of matrices along the last two axes; leading axes are batches. LAPACK does the work."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import ShapedArray, aval_of
from ..core.effects import Effects
from ..core.primitive import Primitive
from ..symbolic.dimension import min_dim
from ..xla.cpu_tuning import SMALL_SYSTEMS
from .dot import dot_general
from .elementwise import abs_p, conj_p, div_p, eq_p, ge_p, max_p, sqrt_p
from .families import Discrete, add_tangents, check_kind, is_linear, is_zero, pure, same_dtype, zero_of
from .indexing import (
    GatherDimensionNumbers,
    GatherScatterMode,
    dynamic_slice_p,
    dynamic_update_slice_p,
    gather,
    iota,
)
from .linear import (
    add_p,
    broadcast_in_dim,
    convert,
    full,
    instantiate,
    mul_p,
    neg_p,
    pad_p,
    reduce_sum_p,
    reshape,
    slice_in_dim,
    sub_p,
    transpose,
    where,
    zeros,
)
from .small_systems import (
    WORDS,
    are_small_systems,
    cholesky_side_by_side,
    lu_side_by_side,
    triangular_solve_side_by_side,
)
from .sort import sort_p


LAPACK_DTYPES = ("float32", "float64", "complex64", "complex128")


def factors(a: ShapedArray, *outs: ShapedArray) -> tuple[Any, Effects]:
    """What an operation of a matrix results in: weak where the matrix is, integers too, as in JAX."""
    return pure([out.update(weak_type=True) for out in outs] if a.weak_type else list(outs))


def check_matrix(name: str, aval: ShapedArray, square: bool = False) -> None:
    """Raise TypeError unless the aval is of matrices of a dtype LAPACK knows; ValueError for matrices that had to be
    square."""
    check_kind(name, aval, "fc")
    if aval.dtype.name not in LAPACK_DTYPES:
        raise TypeError(
            f"{name} works in float32, float64, complex64 and complex128, not {aval.dtype.name}: use .astype"
        )
    if aval.ndim < 2:
        raise TypeError(f"{name} works on matrices (the last two axes); it got {aval.short()}")
    if square and aval.shape[-1] != aval.shape[-2]:
        raise ValueError(f"{name} works on square matrices (the last two axes); it got {aval.short()}")


def swapped(x: Any) -> Any:
    """The transposes of matrices."""
    rank = aval_of(x).ndim
    return transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def adjoint(x: Any) -> Any:
    """The conjugate transposes of matrices."""
    return swapped(conjugate(x))


def conjugate(x: Any) -> Any:
    return conj_p(x, input_dtype=aval_of(x).dtype) if dtypes.is_complex(aval_of(x).dtype) else x


def product(x: Any, y: Any) -> Any:
    """The products of matrices."""
    rank = aval_of(x).ndim
    batch = tuple(range(rank - 2))
    return dot_general(x, y, (((rank - 1,), (rank - 2,)), (batch, batch)))


def triangle(x: Any, lower: bool = True, offset: int = 0) -> Any:
    """The triangle of matrices on and below (above) the diagonal number `offset`, zeros elsewhere."""
    shape = aval_of(x).shape
    rows, columns = (iota(np.dtype(np.int32), shape, len(shape) - 2 + i) for i in range(2))
    inside = ge_p(add_p(rows, np.int32(offset)), columns) if lower else ge_p(columns, add_p(rows, np.int32(offset)))
    return where(inside, x, zeros(aval_of(x)))


def identity(aval: ShapedArray) -> Any:
    """Identity matrices of the shape of `aval`."""
    rows, columns = (iota(np.dtype(np.int32), aval.shape, aval.ndim - 2 + i) for i in range(2))
    return convert(eq_p(rows, columns), aval.dtype)


def matrix_diagonal(x: Any) -> Any:
    """The main diagonals of square matrices."""
    aval = aval_of(x)
    rows, columns = (iota(np.dtype(np.int32), aval.shape, aval.ndim - 2 + i) for i in range(2))
    kept = where(eq_p(rows, columns), x, full(aval.shape, 0, aval.dtype))
    return reduce_sum_p(kept, axes=(aval.ndim - 1,))


def over_rows(x: Any, shape: tuple[int, ...]) -> Any:
    """Vectors repeated as the rows of matrices of the given shape: entry i multiplies column i."""
    rank = len(shape)
    return broadcast_in_dim(x, shape, (*range(rank - 2), rank - 1))


def over_columns(x: Any, shape: tuple[int, ...]) -> Any:
    """Vectors repeated as the columns of matrices of the given shape: entry i multiplies row i."""
    return broadcast_in_dim(x, shape, tuple(range(len(shape) - 1)))


def hermitian_part(x: Any) -> Any:
    """(x + xᴴ) / 2 of square matrices."""
    aval = aval_of(x)
    half = aval.dtype.type(0.5)
    return mul_p(add_p(x, adjoint(x)), half.item() if aval.weak_type else half)


def hermitian_from(x: Any, lower: bool = True) -> Any:
    """The Hermitian matrices of which one triangle is that of `x`; the diagonal's imaginary part is dropped."""
    strict = triangle(x, lower, -1 if lower else 1)
    diagonal = mul_p(identity(aval_of(x)), hermitian_part(x))
    return add_p(add_p(strict, adjoint(strict)), diagonal)


def status_of(aval: ShapedArray) -> ShapedArray:
    """The aval of what LAPACK reports: one number for each matrix."""
    return ShapedArray(aval.shape[:-2], np.dtype(np.int32))


def valid_or_nan(ctx: Any, value: Any, aval: ShapedArray, info: Any, batch: tuple[int, ...]) -> Any:
    """The value where LAPACK reported success, NaN elsewhere."""
    status = ShapedArray(batch, np.dtype(np.int32))
    good = ctx.compare(info, ctx.full(0, status), "EQ")
    good = ctx.broadcast_in_dim(good, ShapedArray(aval.shape, dtypes.bool_), range(len(batch)))
    nan = complex(np.nan, np.nan) if dtypes.is_complex(aval.dtype) else np.nan
    return ctx.hlo.select(good, value, ctx.full(nan, aval))


class LastAxesPrimitive(Primitive):
    """Base of operations on the last axes of their operands: a mapped axis becomes a leading one."""

    def batch(self, axis, args, dims, /, **params):
        out = self.bind(*[axis.move(x, d, 0) for x, d in zip(args, dims)], **params)
        return out, [0] * len(out) if self.multiple_results else 0


class FactorizationWithoutDerivative(LastAxesPrimitive):
    """Base of factorizations without derivatives; `advice` says what has them."""

    advice = ""

    def jvp(self, primals, tangents, /, **params):
        raise type(self.missing("jvp"))(f"{self.missing('jvp')}: {self.advice}")


class Cholesky(LastAxesPrimitive):
    """The lower triangular L with L Lᴴ = A for Hermitian positive definite A, of which the lower triangle is read; NaN
    where A is not positive definite."""

    def abstract(self, a, /):
        check_matrix("cholesky", a, square=True)
        return pure(ShapedArray(a.shape, a.dtype, a.weak_type))

    def lower(self, ctx, a, /):
        aval = ctx.avals_in[0]
        if not aval.size:
            return a
        if are_small_systems(ctx.module.platform, aval):
            ctx.rewritten(WORDS, SMALL_SYSTEMS)
            return cholesky_side_by_side(ctx, a)
        status = ShapedArray(aval.shape[:-2], np.dtype(np.int32))
        found, info = ctx.lapack("potrf", [a], [aval], [aval, status], [(0, 0)], uplo="L")
        checked = valid_or_nan(ctx, found, aval, info, status.shape)
        return ctx.inline(triangle, checked)

    def jvp(self, primals, tangents, /):
        factor = cholesky_p(*primals)
        return factor, factor_tangent(factor, hermitian_from(tangents[0]))


cholesky_p = Cholesky("cholesky")


def factor_tangent(factor: Any, t: Any) -> Any:
    """L' of A = L Lᴴ for a Hermitian A': L Φ(L⁻¹ A' L⁻ᴴ), Φ the lower triangle with half the diagonal (Murray,
    2016)."""
    inner = triangular_solve(factor, t, left_side=True, lower=True)
    inner = triangular_solve(factor, inner, left_side=False, lower=True, transpose_a=True, conjugate_a=True)
    diagonal = mul_p(identity(aval_of(inner)), mul_p(inner, aval_of(t).dtype.type(0.5)))
    return product(factor, add_p(triangle(inner, offset=-1), diagonal))


class CholeskyUpdate(LastAxesPrimitive):
    """The upper triangular R' with R'ᵀ R' = Rᵀ R + w wᵀ, of real upper triangular matrices R and vectors w."""

    def abstract(self, r, w, /):
        check_matrix("cholesky_update", r, square=True)
        check_kind("cholesky_update", r, "f")
        same_dtype("cholesky_update", (r, w))
        if w.shape != r.shape[:-1]:
            raise ValueError(
                f"cholesky_update takes a vector as long as each matrix; it got {r.short()} and {w.short()}"
            )
        return pure(ShapedArray(r.shape, r.dtype))

    def lower(self, ctx, r, w, /):
        avals, n = ctx.avals_in, ctx.avals_in[0].shape[-1]
        if not avals[0].size:
            return r
        r = ctx.inline(lambda r, w: triangle(r, lower=False), r, w)
        return ctx.counted_loop(n, avals, [r, w], _rotate)[0]

    def jvp(self, primals, tangents, /):
        (r, w), (tr, tw) = primals, map(instantiate, tangents)
        out = cholesky_update_p(r, w)
        r, tr = triangle(r, lower=False), triangle(tr, lower=False)
        half = add_p(product(swapped(r), tr), mul_p(over_columns(w, aval_of(r).shape), over_rows(tw, aval_of(r).shape)))
        return out, swapped(factor_tangent(swapped(out), add_p(half, swapped(half))))


cholesky_update_p = CholeskyUpdate("cholesky_update")


def _rotate(i: Any, r: Any, w: Any) -> list[Any]:
    """Rotate row number i of R and w so that entry number i of w becomes zero."""
    *batch, n = aval_of(w).shape
    zeros_, dtype = [np.int32(0)] * len(batch), aval_of(w).dtype
    row = dynamic_slice_p(r, *zeros_, i, np.int32(0), slice_sizes=(*batch, 1, n))
    x = reshape(dynamic_slice_p(r, *zeros_, i, i, slice_sizes=(*batch, 1, 1)), (*batch, 1))
    y = dynamic_slice_p(w, *zeros_, i, slice_sizes=(*batch, 1))
    nothing = eq_p(y, dtype.type(0))
    size = where(nothing, full((*batch, 1), 1, dtype), max_p(abs_p(x), abs_p(y)))
    x, y = div_p(x, size), div_p(y, size)
    length = sqrt_p(add_p(mul_p(x, x), mul_p(y, y)))
    cos = where(nothing, full((*batch, 1), 1, dtype), div_p(x, length))
    sin = where(nothing, full((*batch, 1), 0, dtype), div_p(y, length))
    cos, sin = (broadcast_in_dim(v, (*batch, n), tuple(range(len(batch) + 1))) for v in (cos, sin))
    flat = reshape(row, (*batch, n))
    turned = reshape(add_p(mul_p(cos, flat), mul_p(sin, w)), aval_of(row).shape)
    w = sub_p(mul_p(cos, w), mul_p(sin, flat))
    return [dynamic_update_slice_p(r, turned, *zeros_, i, np.int32(0)), w]


class TriangularSolve(Primitive):
    """X with op(A) X = B (X op(A) = B unless `left_side`), A lower or upper triangular; op transposes and conjugates.
    The other triangle of A is not read, with `unit_diagonal` neither is its diagonal."""

    def abstract(self, a, b, /, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
        check_matrix("triangular_solve", a, square=True)
        same_dtype("triangular_solve", (a, b))
        if b.ndim != a.ndim or a.shape[:-2] != b.shape[:-2]:
            raise TypeError(f"triangular_solve: {a.short()} and {b.short()} differ in their leading axes")
        if b.shape[-2 if left_side else -1] != a.shape[-1]:
            raise ValueError(f"triangular_solve: {a.short()} and {b.short()} do not fit together")
        return pure(ShapedArray(b.shape, b.dtype, a.weak_type and b.weak_type))

    def lower(self, ctx, a, b, /, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
        if not ctx.avals_in[1].size:
            return b
        if are_small_systems(ctx.module.platform, *ctx.avals_in):
            ctx.rewritten(WORDS, SMALL_SYSTEMS)
            own = {"left_side": left_side, "lower": lower, "transpose_a": transpose_a, "unit_diagonal": unit_diagonal}
            return triangular_solve_side_by_side(ctx, a, b, **own)
        how = ("C" if conjugate_a else "T") if transpose_a else "N"
        if conjugate_a and not transpose_a:
            a = ctx.inline(lambda a, b: conjugate(a), a, b)
        sides = {"side": "L" if left_side else "R", "uplo": "L" if lower else "U"}
        diagonal = "U" if unit_diagonal else "N"
        avals = ctx.avals_in
        return ctx.lapack("trsm", [a, b], avals, [avals[1]], [(1, 0)], **sides, trans_x=how, diag=diagonal)[0]

    def jvp(self, primals, tangents, /, *, left_side, **params):
        (a, b), (ta, tb) = primals, tangents
        x = triangular_solve_p(a, b, left_side=left_side, **params)
        right: Any = tb
        if not is_zero(ta):
            moved = _operator(_read_triangle(ta, params["lower"], params["unit_diagonal"]), **params)
            effect = product(moved, x) if left_side else product(x, moved)
            right = add_tangents(right, neg_p(effect))
        return x, triangular_solve_p(a, right, left_side=left_side, **params)

    def transpose(self, ct, a, b, /, *, transpose_a, **params):
        if not is_linear(b):
            raise self.missing("transpose")
        return [None, triangular_solve_p(a, ct, transpose_a=not transpose_a, **params)]

    def batch(self, axis, args, dims, /, *, left_side, **params):
        if dims[0] is None:
            # One matrix for all examples: they are further columns (rows) of B.
            solve = lambda b: triangular_solve_p(args[0], b, left_side=left_side, **params)
            return beside(axis, args[1], dims[1], solve, columns=left_side)
        a, b = (axis.move(x, d, 0) for x, d in zip(args, dims))
        return triangular_solve_p(a, b, left_side=left_side, **params), 0


triangular_solve_p = TriangularSolve("triangular_solve")


def beside(axis: Any, b: Any, dim: int, solve: Any, columns: bool = True) -> tuple[Array, int]:
    """`solve` of all examples of B at once, as further columns (rows) of one matrix: the result and its mapped axis."""
    rank = aval_of(b).ndim
    to = rank - 1 if columns else rank - 2
    b = axis.move(b, dim, to)
    *outer, m, n, k = aval_of(b).shape
    flat = solve(reshape(b, (*outer, m, n * k) if columns else (*outer, m * n, k)))
    return reshape(flat, (*outer, m, n, k)), to


def _read_triangle(a: Any, lower: bool, unit_diagonal: bool) -> Any:
    return triangle(a, lower, (-1 if lower else 1) if unit_diagonal else 0)


def _operator(a: Any, *, lower: bool, transpose_a: bool, conjugate_a: bool, unit_diagonal: bool) -> Any:
    a = conjugate(a) if conjugate_a else a
    return swapped(a) if transpose_a else a


def triangular_solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """X with op(A) X = B, or X op(A) = B unless `left_side`; see `TriangularSolve`. `b` may be a vector less than `a`'s
    matrices have axes. Raises TypeError for shapes that do not fit."""
    a_aval, b_aval = aval_of(a), aval_of(b)
    conjugate_a = conjugate_a and dtypes.is_complex(a_aval.dtype)
    vector = b_aval.ndim == a_aval.ndim - 1
    if vector:
        axis = b_aval.ndim if left_side else b_aval.ndim - 1
        b = reshape(b, (*b_aval.shape[:axis], 1, *b_aval.shape[axis:]))
    x = triangular_solve_p(
        a,
        b,
        left_side=left_side,
        lower=lower,
        transpose_a=transpose_a,
        conjugate_a=conjugate_a,
        unit_diagonal=unit_diagonal,
    )
    return reshape(x, b_aval.shape) if vector else x


class LU(LastAxesPrimitive):
    """P A = L U with partial pivoting. Results: L (without its unit diagonal) and U in one matrix, the row each step
    swapped with (i32), and the permutation of the rows (i32)."""

    multiple_results = True

    def abstract(self, a, /):
        check_matrix("lu", a)
        *batch, m, n = a.shape
        index = np.dtype(np.int32)
        pivots, order = ShapedArray((*batch, min_dim(m, n)), index), ShapedArray((*batch, m), index)
        return factors(a, ShapedArray(a.shape, a.dtype), pivots, order)

    def lower(self, ctx, a, /):
        aval, (_, pivot_aval, order_aval) = ctx.avals_in[0], ctx.avals_out
        if not aval.size:
            return [a, ctx.zeros(pivot_aval), ctx.iota(order_aval, order_aval.ndim - 1)]
        if are_small_systems(ctx.module.platform, aval):
            ctx.rewritten(WORDS, SMALL_SYSTEMS)
            return lu_side_by_side(ctx, a)
        status = ShapedArray(aval.shape[:-2], np.dtype(np.int32))
        found, pivots, _ = ctx.lapack("getrf", [a], [aval], [aval, pivot_aval, status], [(0, 0)])
        # What LAPACK reports here is that U is singular, which is no failure.
        pivots = ctx.hlo.subtract(pivots, ctx.full(1, pivot_aval))
        return [found, pivots, _order(ctx, pivots, pivot_aval, order_aval)]

    def jvp(self, primals, tangents, /):
        """With L' = L strict(F) and U' = upper(F) U, F = L⁻¹ P A' U⁻¹; of matrices that are not square L and U are
        completed by the identity."""
        out, pivots, order = lu_p(*primals)
        *_, m, n = aval_of(out).shape
        k = min_dim(m, n)
        lower = _completed(triangle(slice_in_dim(out, 0, k, axis=-1), offset=-1), m, 0)
        upper = _completed(triangle(slice_in_dim(out, 0, k, axis=-2), lower=False), n, k)
        inner = triangular_solve(lower, rows(tangents[0], order), left_side=True, lower=True, unit_diagonal=True)
        inner = triangular_solve(upper, inner, left_side=False, lower=False)
        of_lower = product(add_p(lower, identity(aval_of(lower))), triangle(inner, offset=-1))
        of_upper = product(triangle(inner, lower=False), upper)
        return [out, pivots, order], [add_p(of_lower, of_upper), zero_of(pivots), zero_of(order)]


lu_p = LU("lu")


class PivotsToPermutation(Discrete, LastAxesPrimitive):
    """The permutation of `permutation_size` rows that LU's swaps amount to: step i swaps row i with row `pivots[i]`."""

    def abstract(self, pivots, /, *, permutation_size):
        if pivots.dtype != np.int32 or not pivots.ndim:
            raise TypeError(f"lu_pivots_to_permutation takes int32 vectors of pivots; it got {pivots.short()}")
        if permutation_size < pivots.shape[-1]:
            raise ValueError(
                f"lu_pivots_to_permutation: {pivots.shape[-1]} pivots cannot permute {permutation_size} rows"
            )
        return pure(ShapedArray((*pivots.shape[:-1], permutation_size), pivots.dtype))

    def lower(self, ctx, pivots, /, *, permutation_size):
        return _order(ctx, pivots, ctx.avals_in[0], ctx.avals_out[0])


lu_pivots_to_permutation_p = PivotsToPermutation("lu_pivots_to_permutation")


def _order(ctx: Any, pivots: Any, pivot_aval: ShapedArray, order_aval: ShapedArray) -> Any:
    """The order of the rows after all swaps."""
    start = ctx.iota(order_aval, order_aval.ndim - 1)
    if not order_aval.size or not pivot_aval.size:
        return start
    avals = [pivot_aval, order_aval]
    swap = _swap if pivot_aval.ndim == 1 else _swap_side_by_side
    return ctx.counted_loop(pivot_aval.shape[-1], avals, [pivots, start], swap)[1]


def lu_solved(factors: Any, order: Any, b: Any, trans: int = 0) -> Any:
    """X with A X = B (`trans` 1: Aᵀ X = B; 2: Aᴴ X = B) from A's factors and the order of its rows; of one batch
    shape."""
    how = {"left_side": True, "transpose_a": trans > 0, "conjugate_a": trans == 2}
    if not trans:
        y = triangular_solve(factors, rows(b, order), lower=True, unit_diagonal=True, **how)
        return triangular_solve(factors, y, lower=False, **how)
    y = triangular_solve(factors, b, lower=False, **how)
    y = triangular_solve(factors, y, lower=True, unit_diagonal=True, **how)
    return rows(y, inverse_order(order))


def inverse_order(order: Any) -> Any:
    """The inverse of permutations."""
    aval = aval_of(order)
    places = iota(aval.dtype, aval.shape, aval.ndim - 1)
    return sort_p(order, places, dimension=aval.ndim - 1, is_stable=False, num_keys=1)[1]


def solved(a: Any, b: Any) -> Any:
    """X with A X = B for matrices of one batch shape and dtype, differentiated through the factorization."""
    factors, _, order = lu_p(a)
    return lu_solved(factors, order, b)


def _swap(i: Any, pivots: Any, order: Any) -> list[Any]:
    """Swap entry number i of `order` with the one that pivot number i names."""
    other = reshape(dynamic_slice_p(pivots, i, slice_sizes=(1,)), ())
    mine, others = (dynamic_slice_p(order, place, slice_sizes=(1,)) for place in (i, other))
    return [pivots, dynamic_update_slice_p(dynamic_update_slice_p(order, others, i), mine, other)]


def _swap_side_by_side(i: Any, pivots: Any, order: Any) -> list[Any]:
    """The same in each of a batch of vectors."""
    aval = aval_of(order)
    steps, places = (
        iota(aval_of(pivots).dtype, aval_of(pivots).shape, aval.ndim - 1),
        iota(aval.dtype, aval.shape, aval.ndim - 1),
    )
    other = _picked(pivots, eq_p(steps, i))
    here, there = eq_p(places, i), eq_p(places, broadcast_in_dim(other, aval.shape, tuple(range(aval.ndim - 1))))
    mine, others = (
        broadcast_in_dim(_picked(order, where_), aval.shape, tuple(range(aval.ndim - 1))) for where_ in (here, there)
    )
    return [pivots, where(here, others, where(there, mine, order))]


def _picked(x: Any, chosen: Any) -> Any:
    """The element along the last axis that `chosen` marks."""
    nothing = full(aval_of(x).shape, 0, aval_of(x).dtype)
    return reduce_sum_p(where(chosen, x, nothing), axes=(aval_of(x).ndim - 1,))


def _completed(x: Any, size: int, first: int) -> Any:
    """A triangle of `size` × `size` matrices, whose rows from number `first` on are those of the identity, unless it is
    0. (The unit diagonal of L is not written.)"""
    *batch, m, n = aval_of(x).shape
    config = [(0, 0, 0)] * len(batch) + [(0, size - m, 0), (0, size - n, 0)]
    whole = pad_p(x, aval_of(x).dtype.type(0), padding_config=tuple(config))
    if not first or first == size:
        return whole
    aval = aval_of(whole)
    places = iota(np.dtype(np.int32), aval.shape, aval.ndim - 2)
    return where(ge_p(places, np.int32(first)), identity(aval), whole)


def rows(x: Any, order: Any) -> Any:
    """Rows of matrices in the given order (i32, one for each batch)."""
    aval, rank = aval_of(x), aval_of(x).ndim
    batch = tuple(range(rank - 2))
    numbers = GatherDimensionNumbers((rank - 1,), (rank - 2,), (rank - 2,), batch, batch)
    sizes = (*[1] * (rank - 1), aval.shape[-1])
    indices = reshape(order, (*aval_of(order).shape, 1))
    return gather(x, indices, numbers, sizes, mode=GatherScatterMode.PROMISE_IN_BOUNDS)
