"""Functions of matrices: the exponential, the square root, and any other through the Schur form."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..api import jvp
from ..control.cond import cond
from ..control.custom_jvp import custom_jvp
from ..control.fori_loop import fori_loop
from ..control.scan import scan
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..numpy import norms, solving
from ..numpy.creation import asarray
from ..numpy.factoring import arrays_of_floats, matrices
from ..numpy.operands import broadcast
from ..ops import linalg as ops, schur as forms
from ..ops.elementwise import abs_p, ceil_p, eq_p, exp2_p, floor_p, le_p, log_p, max_p, sqrt_p, stop_gradient_p
from ..ops.indexing import dynamic_slice_p, dynamic_update_slice_p, iota
from ..ops.linear import add_p, convert, full, mul_p, neg_p, reshape, sub_p, where
from ..ops.reduce import reduce_max_p, reduce_min_p
from .decompositions import rsf2csf, schur
from .equations import sylvester


__all__ = ["expm", "expm_frechet", "funm", "sqrtm"]


# The exponential -----------------------------------------------------------------------------------------------------

_PADE = {
    "float32": (3.925724783138660, (17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1)),
    "float64": (5.371920351148152, (
        64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600, 670442572800,
        33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
    )),
}  # fmt: skip
"""For each precision, the largest norm for which the Padé approximant with these coefficients is exact (Higham,
2005)."""


@eager_jit(static="upper_triangular max_squarings", nested=True)
def expm(A: ArrayLike, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """The exponentials of square matrices [..., n, n], by scaling and squaring of a Padé approximant.

    `upper_triangular`: they are, which saves a factorization. NaN for matrices so large that they would take more than
    `max_squarings` squarings. Raises ValueError for what is not a square matrix, TypeError for half precision.
    """
    x = matrices("expm", A)
    aval = aval_of(x)
    real = dtypes.real_part(aval.dtype)
    if real.name not in _PADE:
        raise TypeError(f"expm works in single and double precision; it got {aval.short()}")
    if not aval.size:
        return x
    limit, coefficients = _PADE[real.name]
    size = stop_gradient_p(norms.norm(x, 1, axis=(-2, -1)))
    least = max_p(size, full(aval_of(size).shape, np.finfo(real).tiny, real))
    halvings = mul_p(log_p(least * real.type(1 / limit)), full(aval_of(size).shape, 1 / math.log(2), real))
    zero = full(aval_of(size).shape, 0, real)
    count, bound = max_p(ceil_p(halvings), zero), real.type(max_squarings)
    scale = exp2_p(neg_p(count))
    spread = lambda v: broadcast(reshape(v, (*aval.shape[:-2], 1, 1)), (*aval.shape[:-2], 1, 1), aval.shape)
    odd, even = _pade(mul_p(x, convert(spread(scale), aval.dtype)), coefficients)
    above, below = add_p(even, odd), sub_p(even, odd)
    if upper_triangular:
        found = ops.triangular_solve(below, above, left_side=True, lower=False)
    else:
        found = solving.solved(below, above)
    found = _squared(found, count, spread, max_squarings + 1)
    too_large = floor_p(halvings) > bound
    return where(spread(too_large), full(aval.shape, math.nan, aval.dtype), found)


def _pade(x: Any, coefficients: tuple[int, ...]) -> tuple[Any, Any]:
    """The odd and the even part of the numerator, in as few products as it takes."""
    aval = aval_of(x)
    number = lambda i: aval.dtype.type(coefficients[i])
    one, square = ops.identity(aval), ops.product(x, x)
    fourth = ops.product(square, square)
    powers = [one, square, fourth, ops.product(fourth, square)]

    def combined(first: int) -> Any:
        """The sum of coefficients first, first + 2, … times 1, x², x⁴, x⁶."""
        total = None
        for i, power in enumerate(powers):
            if first + 2 * i < len(coefficients):
                term = mul_p(power, number(first + 2 * i))
                total = term if total is None else add_p(total, term)
        return total

    odd, even = combined(1), combined(0)
    if len(coefficients) > 8:
        # Coefficients from x⁸ on: x⁶ times their own polynomial in x², x⁴, x⁶.
        for i in (0, 1):
            high = None
            for j, power in enumerate(powers[1:], start=1):
                term = mul_p(power, number(i + 6 + 2 * j))
                high = term if high is None else add_p(high, term)
            more = ops.product(powers[3], high)
            odd, even = (odd, add_p(even, more)) if i == 0 else (add_p(odd, more), even)
    return ops.product(x, odd), even


def _squared(x: Any, count: Any, spread: Any, most: int) -> Any:
    """Matrices squared `count` times, `most` at the most; nothing is computed once none is left."""
    real = aval_of(count).dtype

    def step(x: Any, i: Any) -> tuple[Any, None]:
        more = count > i
        square = lambda x: where(spread(more), ops.product(x, x), x)
        axes = tuple(range(aval_of(more).ndim))
        largest = reduce_max_p(count, axes=axes) if axes else count
        return cond(largest > i, square, lambda x: x, x), None

    return scan(step, x, np.arange(most, dtype=real))[0]


def expm_frechet(
    A: ArrayLike, E: ArrayLike, *, method: str | None = None, compute_expm: bool = True
) -> Array | tuple[Array, Array]:
    """The exponential of A and its derivative in the direction E, both [..., n, n]; the derivative alone unless
    `compute_expm`. `method` changes nothing. Raises ValueError for what are not square matrices of one shape."""
    return _expm_frechet(A, E, compute_expm)


@eager_jit(static="compute_expm", nested=True)
def _expm_frechet(A: Any, E: Any, compute_expm: bool) -> Any:
    (x, t) = (matrices("expm_frechet", v) for v in (A, E))
    if aval_of(x).shape != aval_of(t).shape:
        raise ValueError(f"expm_frechet: A and E differ in shape, {aval_of(x).shape} and {aval_of(t).shape}")
    value, change = jvp(expm, (x,), (convert(t, aval_of(x).dtype),))
    return (value, change) if compute_expm else change


# Through the Schur form ----------------------------------------------------------------------------------------------


def _by_columns(start: Any, column: Callable[[Any, Any, Any], Any]) -> Any:
    """Fill in the strict upper triangles column by column: `column(j, x, pick)` gives column j, of which what stands
    above the diagonal is taken; `pick(x)` is column j of x."""
    *batch, n, _ = aval_of(start).shape
    zeros = [0] * len(batch)
    places = iota(np.dtype(np.int32), (*batch, n, 1), len(batch))

    def step(j: Any, x: Any) -> Any:
        pick = lambda x: dynamic_slice_p(x, *zeros, 0, j, slice_sizes=(*batch, n, 1))
        above = places < convert(j, np.dtype(np.int32))
        found = where(above, column(j, x, pick), pick(x))
        return dynamic_update_slice_p(x, found, *zeros, 0, j)

    return fori_loop(0, n, step, start)


def _entry(diagonal: Any, j: Any) -> Any:
    """Entry j of vectors as the diagonal's shape, and as one-column matrices' shape."""
    *batch, _ = aval_of(diagonal).shape
    return dynamic_slice_p(diagonal, *[0] * len(batch), j, slice_sizes=(*batch, 1))


def _diagonal_matrix(values: Any) -> Any:
    shape = (*aval_of(values).shape, aval_of(values).shape[-1])
    return mul_p(ops.identity(aval_of(values).update(shape=shape)), ops.over_rows(values, shape))


def sqrtm(A: ArrayLike, blocksize: int = 1) -> Array:
    """A square root of square matrices [..., n, n], complex: that whose eigenvalues have no negative real part. NaN
    where there is none that is a function of the matrix. Differentiable where no two eigenvalues of the root add up to
    zero.

    Raises NotImplementedError for `blocksize` above 1, ValueError for what is not a square matrix.
    """
    if blocksize > 1:
        raise NotImplementedError("sqrtm works column by column; leave out blocksize")
    return _sqrtm(A)


@eager_jit(nested=True)
def _sqrtm(A: Any) -> Any:
    x = matrices("sqrtm", A)
    return _root(convert(x, dtypes.complex_of(aval_of(x).dtype)))


@custom_jvp
def _root(x: Any) -> Any:
    if not aval_of(x).size:
        return x
    t, z = forms.schur_p(x, compute_schur_vectors=True)
    roots = sqrt_p(ops.matrix_diagonal(t))
    aval = aval_of(t)
    none = full((*aval.shape[:-1], 1), 0, aval.dtype)
    eps = np.finfo(aval.dtype).eps * aval.shape[-1]

    def column(j: Any, u: Any, pick: Any) -> Any:
        """(U + u_jj) f = t_j above the diagonal."""
        sums = add_p(roots, broadcast(_entry(roots, j), (*aval.shape[:-2], 1), aval_of(roots).shape))
        shape = (*aval.shape[:-1], 1)
        nothing = eq_p(sums, full(aval_of(sums).shape, 0, aval.dtype))
        own = where(nothing, full(aval_of(sums).shape, math.inf, aval.dtype), sums)
        strict = ops.triangle(u, lower=False, offset=1)
        right = pick(t)
        found = ops.triangular_solve(add_p(strict, _finite_diagonal(own)), right, left_side=True, lower=False)
        # A zero on the diagonal: the entry is free (zero, then) if the rest of its equation holds, else there is none.
        rest = abs_p(sub_p(right, ops.product(strict, found)))
        holds = le_p(rest, full(shape, eps, aval_of(rest).dtype) * (abs_p(right) + full(shape, 1, aval_of(rest).dtype)))
        free = where(holds, none, full(shape, math.nan, aval.dtype))
        return where(reshape(nothing, shape), free, found)

    root = _by_columns(_diagonal_matrix(roots), column)
    return ops.product(z, ops.product(root, ops.adjoint(z)))


def _finite_diagonal(values: Any) -> Any:
    """Values on the diagonal of zeros, whatever they are: infinity times zero is not meant."""
    shape = (*aval_of(values).shape, aval_of(values).shape[-1])
    down, across = (iota(np.dtype(np.int32), shape, len(shape) - 2 + i) for i in range(2))
    return where(eq_p(down, across), ops.over_rows(values, shape), full(shape, 0, aval_of(values).dtype))


@_root.defjvp
def _root_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """X X' + X' X = A'."""
    root = _root(*primals)
    return root, sylvester(root, root, tangents[0]) if aval_of(root).size else tangents[0]


def funm(A: ArrayLike, func: Callable[[Any], Any], disp: bool = True) -> Array | tuple[Array, Array]:
    """The function `func` of a square matrix [n, n], complex: `func` is applied to the array of eigenvalues. With
    `disp` False, also an estimate of the relative error.

    By Parlett's recurrence on the Schur form, which is inexact where eigenvalues are close to each other. No
    derivative. Raises ValueError for what is not a square matrix.
    """
    x = arrays_of_floats("funm", A)
    if aval_of(x).ndim != 2 or aval_of(x).shape[0] != aval_of(x).shape[1]:
        raise ValueError(f"funm takes one square matrix; it got shape {aval_of(x).shape}")
    t, z = schur(x)
    t, z = rsf2csf(t, z)
    if not aval_of(t).size:
        return t if disp else (t, full((), 0, dtypes.real_part(aval_of(t).dtype)))
    values = convert(asarray(func(ops.matrix_diagonal(t))), aval_of(t).dtype)
    found, least = _parlett(t, z, values)
    return found if disp else (found, _error_of(found, t, least))


@eager_jit(nested=True)
def _parlett(t: Any, z: Any, values: Any) -> tuple[Any, Any]:
    """F with F T = T F and the given diagonal, and the smallest gap between eigenvalues."""
    aval = aval_of(t)
    n, eigenvalues = aval.shape[0], ops.matrix_diagonal(t)
    strict = ops.triangle(t, lower=False, offset=1)

    def column(j: Any, f: Any, pick: Any) -> Any:
        """(T - t_jj) f_j = (F - f_jj) t_j above the diagonal; where eigenvalues are equal the right side stands."""
        gaps = sub_p(eigenvalues, broadcast(_entry(eigenvalues, j), (1,), (n,)))
        gaps = where(eq_p(gaps, full((n,), 0, aval.dtype)), full((n,), -1, aval.dtype), gaps)
        above = pick(strict)
        scaled = mul_p(above, broadcast(_entry(values, j), (1,), (n, 1)))
        right = sub_p(ops.product(f, above), scaled)
        return ops.triangular_solve(add_p(strict, _diagonal_matrix(gaps)), right, left_side=True, lower=False)

    f = _by_columns(_diagonal_matrix(values), column)
    return ops.product(z, ops.product(f, ops.adjoint(z))), _least_gap(eigenvalues)


def _least_gap(values: Any) -> Any:
    n = aval_of(values).shape[0]
    real = dtypes.real_part(aval_of(values).dtype)
    if n < 2:
        return full((), math.inf, real)
    gaps = abs_p(sub_p(ops.over_rows(values, (n, n)), ops.over_columns(values, (n, n))))
    down, across = (iota(np.dtype(np.int32), (n, n), i) for i in range(2))
    return reduce_min_p(where(eq_p(down, across), full((n, n), math.inf, real), gaps), axes=(0, 1))


@eager_jit(nested=True)
def _error_of(found: Any, t: Any, least: Any) -> Any:
    real = aval_of(least).dtype
    eps = real.type(np.finfo(real).eps)
    least = where(eq_p(least, real.type(0)), full((), eps, real), least)
    size = norms.norm(ops.triangle(t, lower=False, offset=1), 1)
    wide = max_p(full((), eps, real), eps / least * size)
    estimate = where(wide < 1, wide, full((), 1, real))
    infinite = reduce_max_p(abs_p(found), axes=(0, 1))
    return where(eq_p(infinite, real.type(math.inf)), full((), math.inf, real), estimate)
