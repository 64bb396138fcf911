"""BFGS with limited memory: the last steps stand for the matrix (J. Nocedal and S. Wright, Numerical Optimization, 2nd ed.,
algorithms 7.4 and 7.5; for complex vectors L. Sorber, M. Van Barel and L. De Lathauwer, SIAM J. Optim. 22, 2012)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import lax, numpy as jnp
from ...api.gradients import value_and_grad
from ...core.annotations import ArrayLike
from ...named_tuple import NamedTuple
from ...numpy import linalg
from .bfgs import vector
from .line_search import dot, line_search


class _State(NamedTuple):
    converged: Any
    failed: Any
    steps: Any
    evaluations: Any
    x: Any
    value: Any
    gradient: Any
    moves: Any
    turns: Any
    weights: Any
    scale: Any
    status: Any


def minimize_lbfgs(
    fun: Callable[[Any], Any],
    x0: ArrayLike,
    maxiter: float | None = None,
    norm: float = np.inf,
    maxcor: int = 10,
    ftol: float = 2.220446049250313e-09,
    gtol: float = 1e-05,
    maxfun: float | None = None,
    maxgrad: float | None = None,
    maxls: int = 20,
) -> tuple[Any, ...]:
    """The parts of an `OptimizeResults`; see `minimize`. `status`: 1 as many steps, 2 or 3 as many evaluations of the function
    or its gradient as allowed, 4 too little progress (`ftol`), 5 the line search failed."""
    x = vector(x0)
    if maxiter is None and maxfun is None and maxgrad is None:
        maxiter = x.size * 200
    limits = [np.inf if limit is None else limit for limit in (maxiter, maxfun, maxgrad)]
    value, gradient = value_and_grad(fun)(x)

    def body(old: _State) -> _State:
        direction = _direction(old)
        found = line_search(fun, old.x, direction, old.value, old.gradient, most=maxls)
        moved = found.step.length.astype(direction.dtype) * direction
        turned = found.step.gradient - old.gradient
        product = jnp.real(dot(turned, moved))
        converged = linalg.norm(found.step.gradient, ord=norm) < gtol
        status = jnp.where(old.value - found.step.value < ftol, 4, 0)
        counts = (old.steps, old.evaluations, old.evaluations)
        for code, count, limit in reversed(list(zip((1, 2, 3), counts, limits))):
            status = jnp.where(count >= limit, code, status)
        status = jnp.where(found.failed, 5, status)
        place = old.steps % maxcor
        return _State(
            converged=converged,
            failed=(status > 0) & ~converged,
            steps=old.steps + 1,
            evaluations=old.evaluations + found.evaluations,
            x=old.x + moved,
            value=found.step.value,
            gradient=found.step.gradient,
            moves=old.moves.at[place].set(moved),
            turns=old.turns.at[place].set(turned),
            weights=old.weights.at[place].set(1 / product),
            scale=product / jnp.real(dot(jnp.conj(turned), turned)),
            status=jnp.where(converged, 0, status),
        )

    false, rows = jnp.asarray(False), jnp.zeros((maxcor, x.size), x.dtype)
    weights = jnp.zeros(maxcor, jnp.real(x).dtype)
    start = _State(false, false, 0, 1, x, value, gradient, rows, rows, weights, jnp.ones((), weights.dtype), 0)
    end = lax.while_loop(lambda s: ~s.converged & ~s.failed, body, start)
    success = end.converged & ~end.failed
    return end.x, success, end.status, end.value, end.gradient, None, end.evaluations, end.evaluations, end.steps


def _direction(state: _State) -> Any:
    """Minus the estimated inverse Hessian times the gradient, by two loops over the steps kept: from the last to the first,
    and back. They lie in a ring."""
    room = state.weights.shape[0]
    kept = jnp.minimum(state.steps, room)

    def back(j: Any, carry: Any) -> Any:
        q, shares = carry
        i = (state.steps - 1 - j) % room
        share = state.weights[i] * jnp.real(dot(jnp.conj(state.moves[i]), q))
        return q - share.astype(q.dtype) * jnp.conj(state.turns[i]), shares.at[i].set(share)

    def forth(j: Any, q: Any) -> Any:
        i = (state.steps - kept + j) % room
        share = shares[i] - state.weights[i] * jnp.real(dot(state.turns[i], q))
        return q + share.astype(q.dtype) * state.moves[i]

    q, shares = lax.fori_loop(0, kept, back, (-jnp.conj(state.gradient), jnp.zeros_like(state.weights)))
    return lax.fori_loop(0, kept, forth, state.scale.astype(q.dtype) * q)
