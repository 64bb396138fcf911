"""The method of Broyden, Fletcher, Goldfarb and Shanno (J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., algorithm 6.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import lax, numpy as jnp
from ...api.gradients import value_and_grad
from ...core.annotations import ArrayLike
from ...named_tuple import NamedTuple
from ...numpy import linalg
from .line_search import dot, line_search


class _State(NamedTuple):
    converged: Any
    failed: Any
    steps: Any
    evaluations: Any
    x: Any
    value: Any
    gradient: Any
    inverse: Any
    before: Any
    why: Any


def vector(x0: Any) -> Any:
    """The place to begin. Raises TypeError for what is not an array, ValueError for one of another rank than 1."""
    if not hasattr(x0, "shape"):
        raise TypeError(f"minimize: x0 must be a vector, it is {type(x0).__name__}: wrap it in jnp.array(...)")
    if len(x0.shape) != 1:
        raise ValueError(f"minimize: x0 must be a vector, it has the shape {x0.shape}")
    return jnp.asarray(x0)


def minimize_bfgs(
    fun: Callable[[Any], Any],
    x0: ArrayLike,
    maxiter: int | None = None,
    norm: float = np.inf,
    gtol: float = 1e-5,
    line_search_maxiter: int = 10,
) -> tuple[Any, ...]:
    """The parts of an `OptimizeResults`; see `minimize`. `status` is 2 plus what the line search said where that failed."""
    x = vector(x0)
    most = x.size * 200 if maxiter is None else maxiter
    value, gradient = value_and_grad(fun)(x)

    def small(gradient: Any) -> Any:
        return linalg.norm(gradient, ord=norm) < gtol

    def body(old: _State) -> _State:
        direction = -dot(old.inverse, old.gradient)
        found = line_search(fun, old.x, direction, old.value, old.gradient, old.before, line_search_maxiter)
        moved = found.step.length * direction
        turned = found.step.gradient - old.gradient
        return _State(
            converged=small(found.step.gradient),
            failed=found.failed,
            steps=old.steps + 1,
            evaluations=old.evaluations + found.evaluations,
            x=old.x + moved,
            value=found.step.value,
            gradient=found.step.gradient,
            inverse=_updated(old.inverse, moved, turned),
            before=old.value,
            why=found.status,
        )

    identity, before = jnp.eye(x.size, dtype=x.dtype), value + linalg.norm(gradient) / 2
    start = _State(small(gradient), jnp.asarray(False), 0, 1, x, value, gradient, identity, before, 0)
    end = lax.while_loop(lambda s: ~s.converged & ~s.failed & (s.steps < most), body, start)
    unfinished = jnp.where(end.steps == most, 1, jnp.where(end.failed, 2 + end.why, -1))
    return (
        end.x,
        end.converged & ~end.failed,
        jnp.where(end.converged, 0, unfinished),
        end.value,
        end.gradient,
        end.inverse,
        end.evaluations,
        end.evaluations,
        end.steps,
    )


def _updated(inverse: Any, moved: Any, turned: Any) -> Any:
    """(I - r s yᵀ) H (I - r y sᵀ) + r s sᵀ with r = 1 / sᵀy, without products of matrices; H is symmetric."""
    r = 1 / dot(turned, moved)
    image = dot(inverse, turned)
    cross = jnp.outer(image, moved)
    new = inverse + (1 + r * dot(turned, image)) * r * jnp.outer(moved, moved) - r * (cross + cross.T)
    return jnp.where(jnp.isfinite(r), new, inverse)
