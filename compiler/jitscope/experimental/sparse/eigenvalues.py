"""The largest eigenvalues of a symmetric matrix that is known by its products alone: LOBPCG (Knyazev 2001), with bases that stay
orthonormal (Duersch, Shao, Yang, Gu 2018)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import numpy as jnp
from ...core import dtypes
from ...core.annotations import Array, ArrayLike
from ...lax import while_loop


def lobpcg_standard(
    A: ArrayLike | Callable[[Array], Array], X: ArrayLike, m: int = 100, tol: float | Array | None = None
) -> tuple[Array, Array, Array]:
    """The k largest eigenvalues [k] of a symmetric matrix, from above, their eigenvectors [n, k] as columns, and the number of steps.

    `A` [n, n], or a function that multiplies it with columns [n, ...]; `X` [n, k]: where the search begins, linearly independent columns,
    0 < 5 k < n. It ends after `m` steps, or where for all pairs |A v - λ v| < tol · 10 n (λ + |A v|); `tol` is the dtype's precision
    unless it is given. It has no derivative. Raises ValueError for other shapes, and where `A` gives another dtype than that of `X`.
    """
    start: Any = jnp.asarray(X)
    if not callable(A):
        matrix: Any = jnp.asarray(A)
        return lobpcg_standard(lambda v: matrix @ v, start, m, tol)
    _check(A, start)
    n, k = start.shape
    bound = 10 * n * (float(jnp.finfo(start.dtype).eps) if tol is None else tol)

    def residuals(x: Any, values: Any) -> tuple[Any, Any]:
        ax: Any = A(x)
        rest = ax - values[None] * x
        return rest, jnp.all(_lengths(rest) < bound * (_lengths(ax) + values[None]))

    def step(state: Any) -> Any:
        i, x, p, rest, _, _ = state
        before = jnp.concatenate([x, p], axis=1)
        s = jnp.concatenate([before, _outside(before, rest)], axis=1)
        values, q = _ritz(A, s)
        x = _normalised(s @ q[:, :k])
        rest, done = residuals(x, values[:k])
        return i + 1, x, _outside(x, s[:, k:] @ q[k:, :k]), rest, done, values[:k]

    x = _basis(start)
    values = jnp.sum(x * A(x), axis=0)
    rest, done = residuals(x, values)
    state = (0, x, jnp.zeros_like(x), rest, jnp.zeros_like(done), values)
    i, x, _, _, _, values = while_loop(lambda s: (s[0] < m) & ~s[4], step, state)
    return values, x, i


def _check(A: Callable[[Array], Array], X: Any) -> None:
    if X.ndim != 2 or not 0 < 5 * X.shape[1] < X.shape[0]:
        raise ValueError(f"lobpcg_standard: X is [n, k] with 0 < 5 k < n, not {list(X.shape)}")
    if not dtypes.is_float(X.dtype):
        raise ValueError(f"lobpcg_standard: X holds floats, not {X.dtype.name}")
    column = jnp.zeros((X.shape[0], 1), X.dtype)
    given: Any = A(column)
    if given.dtype != X.dtype or given.shape != column.shape:
        raise ValueError(
            f"lobpcg_standard: of a column {X.dtype.name}{list(column.shape)} A makes {given.dtype.name}{list(given.shape)}; it keeps shape and dtype"
        )


def _lengths(x: Any) -> Any:
    return jnp.sqrt(jnp.sum(x * x, axis=0, keepdims=True))


def _normalised(x: Any) -> Any:
    length = _lengths(x)
    return x / jnp.where(length == 0, 1, length)


def _basis(x: Any) -> Any:
    """An orthonormal basis of what the columns span; 0 for those that add nothing. Twice, as once leaves errors of the squared condition."""
    for _ in range(2):
        x = _normalised(x)
        weights, vectors = jnp.linalg.eigh(x.T @ x)
        weights, vectors = weights[::-1], vectors[:, ::-1]
        kept = weights > jnp.finfo(x.dtype).eps * weights[0] * len(weights)
        x = x @ (vectors * jnp.where(kept, 1 / jnp.sqrt(jnp.where(kept, weights, 1)), 0)[None])
    return _normalised(x)


def _outside(basis: Any, x: Any) -> Any:
    """An orthonormal basis of what the columns of `x` add to those of another basis; 0 for those that add nothing."""
    for _ in range(2):
        x = _basis(x - basis @ (basis.T @ x))
    for _ in range(2):
        x = x - basis @ (basis.T @ x)
    length = _lengths(x)
    return jnp.where(length > 0.9, x / jnp.where(length == 0, 1, length), 0)


def _ritz(A: Callable[[Array], Array], s: Any) -> tuple[Any, Any]:
    """The eigenvalues of A on the span of orthonormal columns, from above, and the eigenvectors by these; columns of 0 come last."""
    small = s.T @ A(s)
    below = jnp.where(_lengths(s)[0] == 0, -1 - jnp.sum(jnp.abs(small)), 0)
    values, vectors = jnp.linalg.eigh((small + small.T) / 2 + jnp.diag(below))
    return values[::-1], vectors[:, ::-1]
