"""Many small real matrices side by side, factored and solved all at once: their leading axes go last, so that vectors run over the matrices, and LAPACK
need not be called for each. The sums have their terms in the order of the textbook's right-looking algorithms (Golub and Van Loan, "Matrix
Computations", 4th ed., sections 3.1, 3.4 and 4.2), whose bounds on errors hold; results differ from LAPACK's by rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, aval_of
from ..core.dtypes import bool_, float32, float64, int32
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import SMALL_SYSTEMS
from .elementwise import abs_p, and_p, div_p, eq_p, ge_p, gt_p, le_p, not_p, sqrt_p
from .indexing import dynamic_slice_p, iota
from .linear import broadcast_in_dim, full, mul_p, reshape, sub_p, transpose, where
from .marks import in_memory
from .small_products import at_place


WORDS = "computed for all matrices at once"


def are_small_systems(platform: str, a: ShapedArray, b: ShapedArray | None = None) -> bool:
    """Whether square matrices are factored so, or solved with these sides."""
    limits, sizes = SMALL_SYSTEMS.value, (*a.shape[-2:], *(b.shape[-2:] if b is not None else ()))
    if a.dtype not in (float32, float64) or not is_static((*a.shape, *sizes)) or not SMALL_SYSTEMS.holds(platform):
        return False
    square = a.shape[-1] == a.shape[-2] > 1
    return square and max(sizes) <= limits["most"] and math.prod(a.shape[:-2]) >= limits["matrices"]


def cholesky_side_by_side(ctx: Any, a: Any) -> Any:
    """The lower triangular factor of symmetric matrices, of which the lower triangle is read; NaN where a matrix is not positive definite."""
    own = _behind(ctx.avals_in[0])
    valid = ShapedArray(own.shape[2:], bool_)

    def step(i: Any, rest: Any, positive: Any) -> list[Any]:
        column = _column(rest, i)
        squared = _row(column, i)
        column = in_memory(div_p(column, _over(sqrt_p(squared), column)))
        later = sub_p(rest, mul_p(_wide(column, rest, 0), _wide(column, rest, 1)))
        rest = _from_column_on(i, rest, _wide(column, rest, 0), later)
        return [rest, and_p(positive, not_p(le_p(squared, _like(squared, 0))))]  # as LAPACK, which goes on with NaN

    def finished(rest: Any, positive: Any) -> Any:
        lower = ge_p(_places(rest, 0), _places(rest, 1))
        found = where(_over(positive, rest), rest, _like(rest, np.nan))
        return _first(where(lower, found, _like(rest, 0)))

    begun = [ctx.inline(_last, a), ctx.full(True, valid)]
    made = ctx.counted_loop(own.shape[0], [own, valid], begun, step)
    return ctx.inline(finished, *made, avals=[own, valid])


def lu_side_by_side(ctx: Any, a: Any) -> list[Any]:
    """L (without its unit diagonal) and U in one matrix, the row that each step swapped with, and the permutation of the rows, with partial
    pivoting: the first of the largest numbers of a column."""
    own = _behind(ctx.avals_in[0])
    vectors = ShapedArray(own.shape[1:], int32)

    def step(i: Any, rest: Any, pivots: Any, order: Any) -> list[Any]:
        pivot = in_memory(_largest(_column(rest, i), i))
        rest, order = in_memory(_swapped(rest, i, pivot)), _swapped(order, i, pivot)
        divisor = _row(_column(rest, i), i)
        divisor = where(eq_p(divisor, _like(divisor, 0)), _like(divisor, 1), divisor)
        factors = in_memory(div_p(_column(rest, i), _over(divisor, order)))
        later = sub_p(rest, mul_p(_wide(factors, rest, 0), _wide(_row(rest, i), rest, 1)))
        below = gt_p(_places(rest, 0), _filled(rest, i))
        rest = where(below, _from_column_on(i, rest, _wide(factors, rest, 0), later), rest)
        return [rest, where(eq_p(_places(pivots, 0), _filled(pivots, i)), _over(pivot, pivots), pivots), order]

    begun = [ctx.inline(_last, a), ctx.zeros(vectors), ctx.iota(vectors, 0)]
    made = ctx.counted_loop(own.shape[0], [own, vectors, vectors], begun, step)
    return ctx.inline(
        lambda rest, *both: [_first(rest), *[_first(v, 1) for v in both]], *made, avals=[own, vectors, vectors]
    )


def triangular_solve_side_by_side(
    ctx: Any, a: Any, b: Any, *, left_side: bool, lower: bool, transpose_a: bool, unit_diagonal: bool
) -> Any:
    """X with op(A) X = B, or X op(A) = B, of real matrices; op transposes if `transpose_a`."""
    turned = transpose_a == left_side  # X A = B is A' X' = B'
    from_first = lower != turned
    last = ctx.avals_in[0].shape[-1] - 1

    def begun(a: Any, b: Any) -> list[Any]:
        a, b = _last(a), _last(b)
        return [_exchanged(a) if turned else a, b if left_side else _exchanged(b)]

    def step(i: Any, a: Any, x: Any) -> list[Any]:
        i = i if from_first else sub_p(int32.type(last), i)
        column, row = _column(a, i), _row(x, i)
        row = row if unit_diagonal else in_memory(div_p(row, _over(_row(column, i), row)))
        place, here = _places(x, 0), _filled(x, i)
        rest = sub_p(x, mul_p(_wide(column, x, 0), _over(row, x)))
        after = gt_p(place, here) if from_first else gt_p(here, place)
        return [a, where(eq_p(place, here), _over(row, x), where(after, rest, x))]

    avals = [_behind(ctx.avals_in[0]), _behind(ctx.avals_in[1])]
    avals[1] = avals[1] if left_side else avals[1].update(shape=_with_exchanged(avals[1].shape))
    made = ctx.counted_loop(last + 1, avals, ctx.inline(begun, a, b), step)[1]
    return ctx.inline(lambda x: _first(x if left_side else _exchanged(x)), made, avals=[avals[1]])


# Matrices whose leading axes go last ----------------------------------------------------------------------------------


def _behind(aval: ShapedArray) -> ShapedArray:
    return aval.update(shape=(*aval.shape[-2:], *aval.shape[:-2]))


def _last(x: Any) -> Any:
    """Matrices with their leading axes behind their own."""
    rank = aval_of(x).ndim
    return transpose(x, (rank - 2, rank - 1, *range(rank - 2)))


def _first(x: Any, own: int = 2) -> Any:
    """Matrices (vectors, with one axis of their own) with their leading axes first again."""
    return transpose(x, (*range(own, aval_of(x).ndim), *range(own)))


def _exchanged(x: Any) -> Any:
    return transpose(x, _with_exchanged(tuple(range(aval_of(x).ndim))))


def _with_exchanged(values: tuple[int, ...]) -> tuple[int, ...]:
    return (values[1], values[0], *values[2:])


def _at(x: Any, i: Any, axis: int) -> Any:
    """An array at place i along an axis, without it."""
    shape = aval_of(x).shape
    starts = [i if a == axis else np.int32(0) for a in range(len(shape))]
    part = dynamic_slice_p(x, *starts, slice_sizes=(*shape[:axis], 1, *shape[axis + 1 :]))
    return reshape(part, (*shape[:axis], *shape[axis + 1 :]))


def _row(x: Any, i: Any) -> Any:
    return _at(x, i, 0)


def _column(x: Any, i: Any) -> Any:
    return _at(x, i, 1)


def _over(x: Any, like: Any) -> Any:
    """The same for each place of the leading axes of `like`."""
    shape = aval_of(like).shape
    return broadcast_in_dim(x, shape, tuple(range(len(shape) - aval_of(x).ndim, len(shape))))


def _wide(x: Any, like: Any, axis: int) -> Any:
    """Vectors along one of the first two axes of `like`."""
    shape = aval_of(like).shape
    return broadcast_in_dim(x, shape, (axis, *range(2, len(shape))))


def _places(like: Any, axis: int) -> Any:
    return iota(int32, aval_of(like).shape, axis)


def _filled(like: Any, i: Any) -> Any:
    return broadcast_in_dim(i, aval_of(like).shape, ())


def _like(x: Any, value: float) -> Any:
    aval = aval_of(x)
    return full(aval.shape, value, aval.dtype)


def _from_column_on(i: Any, x: Any, here: Any, later: Any) -> Any:
    """`x` before column i, `here` in it and `later` behind it."""
    place, own = _places(x, 1), _filled(x, i)
    return where(gt_p(place, own), later, where(eq_p(place, own), here, x))


def _largest(x: Any, first: Any) -> Any:
    """The place of the first of the numbers of largest size along the first axis, from `first` on."""
    size = abs_p(_row(x, first))
    place = _filled(size, first)
    for i in range(1, aval_of(x).shape[0]):
        other = abs_p(at_place(x, 0, i))
        larger = and_p(gt_p(_like(place, i), _filled(place, first)), gt_p(other, size))
        size, place = where(larger, other, size), where(larger, _like(place, i), place)
    return place


def _swapped(x: Any, i: Any, other: Any) -> Any:
    """Row i in the place of row number `other`, and that in its place."""
    taken = here = _row(x, i)
    for r in range(aval_of(x).shape[0]):
        row = at_place(x, 0, r)
        taken = where(_over(eq_p(other, _like(other, r)), row), row, taken)
    place = _places(x, 0)
    there = eq_p(place, _over(other, x))
    return where(eq_p(place, _filled(x, i)), _over(taken, x), where(there, _over(here, x), x))
