"""`jitscope.lax.linalg`: factorizations of matrices along the last two axes."""

from __future__ import annotations

from typing import Any

from ..core.avals import aval_of
from ..ops import linalg as ops
from ..ops.linalg import triangular_solve as triangular_solve
from ..ops.linear import add_p, mul_p


def cholesky(a: Any, *, symmetrize_input: bool = True) -> Any:
    """The lower triangular L with L Lᴴ = a for Hermitian positive definite matrices; NaN for others. `symmetrize_input`:
    (a + aᴴ) / 2 is factored, else the lower triangle of `a` is read. Raises TypeError for other shapes and dtypes."""
    if symmetrize_input:
        a = mul_p(add_p(a, ops.adjoint(a)), aval_of(a).dtype.type(0.5))
    return ops.cholesky_p(a)


def lu(x: Any) -> tuple[Any, Any, Any]:
    """P x = L U with partial pivoting: L (without its unit diagonal) and U in one matrix, the row that each step swapped with,
    and the permutation of the rows. Raises TypeError for what are no matrices of a dtype LAPACK knows."""
    return tuple(ops.lu_p(x))
