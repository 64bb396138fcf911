"""`jitscope.scipy.sparse.linalg`: solutions of A x = b where A is known by what it does to a vector.

Vectors are trees of arrays of any shapes. Derivatives are those of the solution and not of the steps to it: each one is a solve
of its own, as exact as that one gets.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ... import lax, numpy as jnp, tree
from ...core import dtypes
from ...core.annotations import Array, ArrayLike, PyTree, SupportsMatmul
from ...core.avals import aval_of
from ...numpy.operands import weak_as
from .krylov import Tolerances, solve_by_gmres
from .vectors import add, identity, linear_map, norm, real_vdot, scaled, subtract, vdot, vectors


def cg(
    A: Callable[[PyTree], PyTree] | SupportsMatmul,
    b: PyTree,
    x0: PyTree = None,
    *,
    tol: ArrayLike = 1e-5,
    atol: ArrayLike = 0.0,
    maxiter: int | None = None,
    M: Callable[[PyTree], PyTree] | SupportsMatmul | None = None,
) -> tuple[PyTree, None]:
    """(x, None) with A x = b by conjugate gradients, for a Hermitian positive definite A.

    `A` is a function of a vector, a matrix [n, n] or an object with `@`; `b` an array or a tree of arrays, which x resembles;
    `x0` a first guess (zeros). It stops when the norm of b - A x is at most max(tol norm(b), atol), or after `maxiter` steps
    (10 times the size of b). `M`, like A, comes near to the inverse of A and speeds it up. Raises ValueError where shapes or
    structures differ and for matrices that are not square, TypeError for other objects.

    Unlike SciPy's, it does not say whether it converged.
    """
    return _solved("cg", _conjugate_gradients, A, b, x0, tol, atol, maxiter, M, symmetric=True)


def bicgstab(
    A: Callable[[PyTree], PyTree] | SupportsMatmul,
    b: PyTree,
    x0: PyTree = None,
    *,
    tol: ArrayLike = 1e-5,
    atol: ArrayLike = 0.0,
    maxiter: int | None = None,
    M: Callable[[PyTree], PyTree] | SupportsMatmul | None = None,
) -> tuple[PyTree, None]:
    """(x, None) with A x = b by stabilized biconjugate gradients (van der Vorst, 1992), for any A; x has the tree and
    shapes of b. Arguments and errors as for `cg`."""
    return _solved("bicgstab", _stabilized_gradients, A, b, x0, tol, atol, maxiter, M, symmetric=False)


def gmres(
    A: Callable[[PyTree], PyTree] | SupportsMatmul,
    b: PyTree,
    x0: PyTree = None,
    *,
    tol: ArrayLike = 1e-5,
    atol: ArrayLike = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Callable[[PyTree], PyTree] | SupportsMatmul | None = None,
    solve_method: str = "batched",
) -> tuple[PyTree, Array]:
    """(x, info) with A x = b by generalized minimal residuals (Saad and Schultz, 1986), for any A; x has the tree and
    shapes of b, info is 0, or -1 where x is NaN.

    Arguments as for `cg`; but `maxiter` (10 times the size of b) counts rounds of `restart` products with A each, and
    `solve_method` "incremental" ends a round when it is exact enough, while "batched" always solves at its end. Raises
    ValueError for another method, besides the errors of `cg`.
    """
    if solve_method not in ("batched", "incremental"):
        raise ValueError(f"gmres: solve_method is 'batched' or 'incremental', not {solve_method!r}")
    matvec, precondition = linear_map("gmres", A), identity if M is None else linear_map("gmres", M)
    b, x0 = vectors("gmres", b, x0)
    size = _size(b)
    b_norm = norm(b)
    enough = jnp.maximum(tol * b_norm, atol)
    inner = norm(precondition(b)) * jnp.minimum(1.0, enough / b_norm)
    solve = functools.partial(
        solve_by_gmres,
        x0=x0,
        precondition=precondition,
        tolerances=Tolerances(enough, inner),
        restart=min(restart, size),
        maxiter=10 * size if maxiter is None else maxiter,
        early=solve_method == "incremental",
    )
    x = lax.custom_linear_solve(matvec, b, solve=solve, transpose_solve=solve)
    return x, jnp.where(jnp.isnan(norm(x)), -1, 0)


def _size(b: Any) -> int:
    return sum(aval_of(x).size for x in tree.leaves(b))


def _solved(
    name: str, method: Any, A: Any, b: Any, x0: Any, tol: Any, atol: Any, maxiter: Any, M: Any, symmetric: bool
) -> tuple[Any, None]:
    """The solution by `method`; `symmetric` says that a real A is."""
    matvec, precondition = linear_map(name, A), identity if M is None else linear_map(name, M)
    b, x0 = vectors(name, b, x0)
    most = 10 * _size(b) if maxiter is None else maxiter
    solve = functools.partial(method, x0=x0, tol=tol, atol=atol, maxiter=most, precondition=precondition)
    real = not any(dtypes.is_complex(aval_of(x).dtype) for x in tree.leaves(b))
    return lax.custom_linear_solve(matvec, b, solve=solve, transpose_solve=solve, symmetric=symmetric and real), None


def _least_square(b: Any, tol: Any, atol: Any) -> Any:
    """The square of a residual's norm that is small enough."""
    return jnp.maximum(jnp.square(tol) * real_vdot(b, b), jnp.square(atol))


def _conjugate_gradients(A: Any, b: Any, *, x0: Any, tol: Any, atol: Any, maxiter: Any, precondition: Any) -> Any:
    """Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 9.1."""
    enough = _least_square(b, tol, atol)

    def unfinished(state: Any) -> Any:
        _, r, product, _, k = state
        square = product.real if precondition is identity else real_vdot(r, r)
        return (square > enough) & (k < maxiter)

    def body(state: Any) -> Any:
        x, r, product, p, k = state
        image = A(p)
        step = product / real_vdot(p, image).astype(dtype)
        x, r = add(x, scaled(step, p)), subtract(r, scaled(step, image))
        z = precondition(r)
        new = real_vdot(r, z).astype(dtype)
        return x, r, new, add(z, scaled(new / product, p)), k + 1

    r = subtract(b, A(x0))
    z = precondition(r)
    dtype = jnp.result_type(*tree.leaves(z))
    return lax.while_loop(unfinished, body, (x0, r, real_vdot(r, z).astype(dtype), z, 0))[0]


def _stabilized_gradients(A: Any, b: Any, *, x0: Any, tol: Any, atol: Any, maxiter: Any, precondition: Any) -> Any:
    """H. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992), with preconditioning from the right; see also Saad, algorithm 7.7."""
    enough = _least_square(b, tol, atol)

    def unfinished(state: Any) -> Any:
        _, r, *_, k = state
        return (real_vdot(r, r) > enough) & (k < maxiter) & (k >= 0)

    def body(state: Any) -> Any:
        x, r, step, omega, product, p, image, k = state
        new = vdot(shadow, r)
        turn = new / product * step / omega
        p = add(r, scaled(turn, subtract(p, scaled(omega, image))))
        p_near = precondition(p)
        image = A(p_near)
        step = new / vdot(shadow, image)
        s = subtract(r, scaled(step, image))
        done = real_vdot(s, s) < enough
        s_near = precondition(s)
        t = A(s_near)
        omega = vdot(t, s) / vdot(t, t)
        half = add(x, scaled(step, p_near))
        x = _either(done, half, add(half, scaled(omega, s_near)))
        r = _either(done, s, subtract(s, scaled(omega, t)))
        # Negative numbers end the loop: a coefficient by which the next step would divide is 0.
        k = jnp.where((omega == 0) | (step == 0), -11, k + 1)
        return x, r, step, omega, new, p, image, jnp.where(new == 0, -10, k)

    r = shadow = subtract(b, A(x0))
    one = jnp.ones((), jnp.result_type(*tree.leaves(b)))
    x, *_ = lax.while_loop(unfinished, body, (x0, r, one, one, one, r, r, 0))
    return tree.map(weak_as, x, b, x0)


def _either(condition: Any, x: Any, y: Any) -> Any:
    return tree.map(lambda a, b: jnp.where(condition, a, b), x, y)
