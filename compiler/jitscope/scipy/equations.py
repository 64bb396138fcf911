"""Systems of linear equations under SciPy's names; `overwrite_…`, `check_finite` and `debug` are accepted and change
nothing."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..control.fori_loop import fori_loop
from ..control.linear_solve import custom_linear_solve
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..core.source import stack_level
from ..eager.functions import eager_jit
from ..numpy import solving
from ..numpy.factoring import arrays_of_floats, matrices
from ..numpy.operands import broadcast, broadcast_shape, promoted
from ..ops import eigen, linalg as ops, schur as forms
from ..ops.elementwise import abs_p, div_p, real_p, stop_gradient_p
from ..ops.indexing import dynamic_slice_p, dynamic_update_slice_p
from ..ops.linear import add_p, convert, full, mul_p, reshape, sub_p, where
from ..ops.reduce import reduce_min_p


__all__ = ["cho_solve", "det", "inv", "lu_solve", "solve", "solve_sylvester", "solve_triangular"]


# Right-hand sides ----------------------------------------------------------------------------------------------------


def _paired(name: str, a: Any, b: Any) -> tuple[Any, Any, Callable[[Any], Any]]:
    """`solving.paired`, which takes batches of vectors, too. Raises ValueError where they do not fit."""
    (x, y), _, _, _ = promoted(name, (a, b), inexact=True)
    x, y = matrices(name, x), arrays_of_floats(name, y)
    left, right = aval_of(x).shape, aval_of(y).shape
    vector = len(right) == 1
    if len(left) == len(right) + 1 > 2 and left[-1] == right[-1]:
        vector = True
        warnings.warn(
            f"{name}: b of shape {right} is taken as a batch of vectors, which is deprecated and will be as one of "
            "matrices: write b[..., None], and [..., 0] after it",
            FutureWarning,
            stacklevel=stack_level(),
        )
    if not right or right[-1 if vector else -2] != left[-1]:
        raise ValueError(f"{name} of shapes {left} and {right}: b needs {left[-1]} rows")
    return solving.aligned(x, y, vector)


# Solving -------------------------------------------------------------------------------------------------------------


def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """x with `a @ x = b`: `a` is [..., n, n], `b` [n] or [..., n, k]. `assume_a`: "gen", "sym", "her", or "pos", for
    which the `lower` (or upper) triangle of `a` is factored by Cholesky. Raises ValueError for other words and shapes
    that do not fit."""
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise ValueError(f"solve: assume_a is 'gen', 'sym', 'her' or 'pos', not {assume_a!r}")
    return _solve_positive(a, b, lower) if assume_a == "pos" else solving.solve(a, b)


@eager_jit(static="lower", nested=True)
def _solve_positive(a: Any, b: Any, lower: bool) -> Any:
    x, y, shaped = solving.paired("solve", a, b)
    factor = ops.cholesky_p(stop_gradient_p(x if lower else ops.adjoint(x)))

    def solved(factor: Any, y: Any) -> Any:
        y = ops.triangular_solve(factor, y, left_side=True, lower=True)
        return ops.triangular_solve(factor, y, left_side=True, lower=True, transpose_a=True, conjugate_a=True)

    out = custom_linear_solve(
        lambda v: ops.product(x, v),
        y,
        solve=lambda _, v: solved(factor, v),
        transpose_solve=lambda _, v: solved(ops.conjugate(factor), v),
    )
    return shaped(out)


def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinants of square matrices [..., n, n]; see `numpy.linalg.det`."""
    return solving.det(a)


def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverses of square matrices [..., n, n]; see `numpy.linalg.inv`."""
    return solving.inv(a)


_TRANS = {
    0: (False, False),
    "N": (False, False),
    1: (True, False),
    "T": (True, False),
    2: (True, True),
    "C": (True, True),
}


@eager_jit(static="trans lower unit_diagonal overwrite_b debug check_finite", nested=True)
def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: object = None,
    check_finite: bool = True,
) -> Array:
    """x with op(a) x = b for triangular `a` [..., n, n], of which only the `lower` (or upper) triangle is read; `b` is
    [n] or [..., n, k]. `trans`: op is none (0 or "N"), the transpose (1, "T") or the adjoint (2, "C"). `unit_diagonal`:
    the diagonal counts as ones. Raises ValueError for another `trans` and shapes that do not fit."""
    if trans not in _TRANS:
        raise ValueError(f"solve_triangular: trans is 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    transpose, conjugate = _TRANS[trans]
    x, y, shaped = _paired("solve_triangular", a, b)
    flags = {"transpose_a": transpose, "conjugate_a": conjugate, "unit_diagonal": unit_diagonal}
    return shaped(ops.triangular_solve(x, y, left_side=True, lower=lower, **flags))


def cho_solve(
    c_and_lower: tuple[Any, bool], b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """x with a x = b from what `cho_factor(a)` gave; `b` is [n] or [..., n, k]. Raises ValueError for other shapes."""
    c, lower = c_and_lower
    return _cho_solve(c, b, bool(lower))


@eager_jit(static="lower", nested=True)
def _cho_solve(c: Any, b: Any, lower: bool) -> Any:
    x, y, shaped = _paired("cho_solve", c, b)
    for adjoint in (not lower, lower):
        y = ops.triangular_solve(x, y, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint)
    return shaped(y)


def lu_solve(
    lu_and_piv: tuple[Any, Any], b: ArrayLike, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """x with op(a) x = b from what `lu_factor(a)` gave; op is none (`trans` 0), the transpose (1) or the adjoint (2).
    Raises ValueError for another `trans` and shapes that do not fit."""
    lu, pivots = lu_and_piv
    return _lu_solve(lu, pivots, b, trans)


@eager_jit(static="trans", nested=True)
def _lu_solve(lu: Any, pivots: Any, b: Any, trans: int) -> Any:
    if trans not in (0, 1, 2):
        raise ValueError(f"lu_solve: trans is 0, 1 or 2, not {trans!r}")
    n = aval_of(lu).shape[-1]
    order = ops.lu_pivots_to_permutation_p(pivots, permutation_size=n)
    x, y, shaped = _paired("lu_solve", lu, b)
    order = broadcast(order, aval_of(order).shape, aval_of(x).shape[:-1])
    return shaped(ops.lu_solved(x, order, y, trans))


# Sylvester's equation ------------------------------------------------------------------------------------------------


@eager_jit(static="method", nested=True)
def solve_sylvester(A: ArrayLike, B: ArrayLike, C: ArrayLike, *, method: str = "schur", tol: float = 1e-8) -> Array:
    """X with A X + X B = C, for A [..., m, m], B [..., n, n] and C [..., m, n]; NaN where an eigenvalue of A and one of
    -B are closer than `tol`. `method`: "schur", or "eigen" (quicker on small matrices, less exact). Differentiable,
    whatever the method. Raises ValueError for another method and shapes that do not fit."""
    if method not in ("schur", "eigen"):
        raise ValueError(f"solve_sylvester: method is 'schur' or 'eigen', not {method!r}")
    (a, b, c), _, _, _ = promoted("solve_sylvester", (A, B, C), inexact=True)
    a, b, c = (matrices("solve_sylvester", x, square=False) for x in (a, b, c))
    shapes = [aval_of(x).shape for x in (a, b, c)]
    m, n = shapes[2][-2:]
    if shapes[0][-2:] != (m, m) or shapes[1][-2:] != (n, n):
        raise ValueError(f"solve_sylvester: A {shapes[0]}, B {shapes[1]} and C {shapes[2]} do not fit together")
    batch = broadcast_shape(*[s[:-2] for s in shapes])
    a, b, c = (broadcast(x, s, (*batch, *s[-2:])) for x, s in zip((a, b, c), shapes))
    if not aval_of(c).size:
        return c
    return sylvester(a, b, c, method, tol)


def sylvester(a: Any, b: Any, c: Any, method: str = "schur", tol: Any = 0.0) -> Any:
    """X with a X + X b = c, all of one dtype and batch shape. Derivatives are those of the equation."""
    maker = _by_schur if method == "schur" else _by_eigenvectors
    left, right = stop_gradient_p(a), stop_gradient_p(b)
    there = maker(left, right, tol)
    return custom_linear_solve(
        lambda x: add_p(ops.product(a, x), ops.product(x, b)),
        c,
        solve=lambda _, c: there(c),
        transpose_solve=lambda _, c: maker(ops.swapped(left), ops.swapped(right), tol)(c),
    )


def _by_schur(a: Any, b: Any, tol: Any) -> Any:
    """Solver by the Schur forms R of a and S of b: R Y + Y S is solved column by column."""
    dtype = dtypes.complex_of(aval_of(a).dtype)
    (r, u), (s, v) = (forms.schur_p(convert(x, dtype), compute_schur_vectors=True) for x in (a, b))
    close = _any_close(ops.matrix_diagonal(r), ops.matrix_diagonal(s), tol)

    def solve(c: Any) -> Any:
        f = ops.product(ops.adjoint(u), ops.product(convert(c, dtype), v))
        y = triangular_sylvester(r, s, f)
        return _like(ops.product(u, ops.product(y, ops.adjoint(v))), c, close)

    return solve


def triangular_sylvester(r: Any, s: Any, f: Any) -> Any:
    """Y with r Y + Y s = f for upper triangular r and s: (r + s_jj) y_j = f_j - sum over k < j of y_k s_kj."""
    *batch, m, n = aval_of(f).shape
    zeros, none = [0] * len(batch), full((*batch, m, n), 0, aval_of(f).dtype)
    one = ops.identity(aval_of(r))
    shifts = ops.matrix_diagonal(s)

    def column(j: Any, y: Any) -> Any:
        pick = lambda x, rows: dynamic_slice_p(x, *zeros, 0, j, slice_sizes=(*batch, rows, 1))
        right = sub_p(pick(f, m), ops.product(y, pick(s, n)))
        shift = dynamic_slice_p(shifts, *zeros, j, slice_sizes=(*batch, 1))
        shifted = add_p(r, mul_p(one, broadcast(reshape(shift, (*batch, 1, 1)), (*batch, 1, 1), aval_of(r).shape)))
        found = ops.triangular_solve(shifted, right, left_side=True, lower=False)
        return dynamic_update_slice_p(y, found, *zeros, 0, j)

    return fori_loop(0, n, column, none)


def _by_eigenvectors(a: Any, b: Any, tol: Any) -> Any:
    names = ("compute_left_eigenvectors", "compute_right_eigenvectors", "enable_eigvec_derivs")
    params = dict(zip(names, (False, True, False)))
    (wa, va), (wb, vb) = (eigen.eig_p(x, **params) for x in (a, b))
    close = _any_close(wa, wb, tol)

    def solve(c: Any) -> Any:
        wide = convert(c, aval_of(va).dtype)
        inner = ops.solved(va, ops.product(wide, vb))
        shape = aval_of(inner).shape
        inner = div_p(inner, add_p(ops.over_columns(wa, shape), ops.over_rows(wb, shape)))
        # X = Va Y Vb⁻¹, or Vbᵀ Xᵀ = (Va Y)ᵀ.
        return _like(ops.swapped(ops.solved(ops.swapped(vb), ops.swapped(ops.product(va, inner)))), c, close)

    return solve


def _any_close(x: Any, y: Any, tol: Any) -> Any:
    """Whether an eigenvalue and the negative of another one differ by less than `tol`, for each pair of matrices."""
    shape = (*aval_of(x).shape, aval_of(y).shape[-1])
    gaps = abs_p(add_p(ops.over_columns(x, shape), ops.over_rows(y, shape)))
    least = reduce_min_p(gaps, axes=(len(shape) - 2, len(shape) - 1))
    return least < convert(tol, aval_of(least).dtype)


def _like(x: Any, c: Any, bad: Any) -> Any:
    """A complex solution in the dtype of the right-hand side; NaN where there is none."""
    aval = aval_of(c)
    x = x if dtypes.is_complex(aval.dtype) else real_p(x)
    bad = broadcast(reshape(bad, (*aval.shape[:-2], 1, 1)), (*aval.shape[:-2], 1, 1), aval.shape)
    return where(bad, full(aval.shape, float("nan"), aval.dtype), x)
