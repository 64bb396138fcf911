"""Ways to wrap a function of a vector that do not change what it computes, and what its derivatives must be whichever
of them it goes through."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.custom_batching import custom_vmap


Fun = Callable[[Any], Any]


def with_jvp_rule(f: Fun) -> Fun:
    wrapped = jx.custom_jvp(lambda x: f(x))
    wrapped.defjvp(lambda primals, tangents: jx.jvp(f, primals, tangents))
    return wrapped


def with_vjp_rules(f: Fun) -> Fun:
    wrapped = jx.custom_vjp(lambda x: f(x))
    wrapped.defvjp(lambda x: (f(x), x), lambda x, ct: jx.vjp(f, x)[1](ct))
    return wrapped


def with_gradient(f: Fun) -> Fun:
    return jx.custom_gradient(lambda x: (f(x), lambda ct: jx.vjp(f, x)[1](ct)))


def with_vmap_rule(f: Fun) -> Fun:
    wrapped = custom_vmap(lambda x: f(x))
    wrapped.def_vmap(lambda size, batched, x: (jx.vmap(f)(x), True))
    return wrapped


WRAPPERS: dict[str, Callable[[Fun], Fun]] = {
    "custom_jvp": with_jvp_rule,
    "custom_vjp": with_vjp_rules,
    "custom_gradient": with_gradient,
    "custom_vmap": with_vmap_rule,
    "checkpoint": jx.checkpoint,
    "dots": lambda f: jx.checkpoint(f, policy=jx.checkpoint_policies.dots_saveable),
    "jit": lambda f: jx.jit(lambda x: f(x)),
    "vmap": lambda f: lambda x: jx.vmap(f)(x[None])[0],
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0],
    "cond": lambda f: lambda x: lax.cond(x[0] > -10, f, lambda x: x, x),
}


def pairs(first: str) -> list[tuple[str, str]]:
    """All pairs of ways of which one is `first`."""
    return sorted({p for p in itertools.product(WRAPPERS, WRAPPERS) if first in p})


XS = np.array([0.3, -0.7, 1.1], np.float32)


def base(x: Any) -> Any:
    """sin(xᵢ) |x|²"""
    return jnp.sin(x) * jnp.dot(x, x)


def check(outer: str, inner: str) -> None:
    """Value, gradient, second derivatives, and their mapped forms, eagerly and compiled, against formulas."""
    f = WRAPPERS[outer](WRAPPERS[inner](base))
    loss = lambda x: jnp.sum(f(x))
    slope = lambda x: jnp.sum(jx.grad(loss)(x))

    def everything(x: Any, rows: Any) -> list[Any]:
        mapped = lambda rows: jnp.sum(jx.vmap(f)(rows))
        return [f(x), jx.grad(loss)(x), jx.grad(slope)(x), jx.vmap(jx.grad(loss))(rows), jx.grad(mapped)(rows),
                jx.grad(lambda rows: jnp.sum(jx.vmap(jx.grad(loss))(rows)))(rows)]  # fmt: skip

    rows = np.stack([XS, 2 * XS])
    wanted = [np.sin(XS) * (XS @ XS), gradient(XS), hessian(XS).sum(0), np.stack([*map(gradient, rows)]),
              np.stack([*map(gradient, rows)]), np.stack([hessian(r).sum(0) for r in rows])]  # fmt: skip
    for found in (jx.jit(everything)(XS, rows), [f(XS), jx.grad(loss)(XS)]):
        for i, (got, want) in enumerate(zip(found, wanted)):
            np.testing.assert_allclose(got, want, 2e-5, 2e-5, err_msg=f"{outer} of {inner}, number {i}")


def gradient(x: np.ndarray) -> np.ndarray:
    return 2 * x * np.sin(x).sum() + (x @ x) * np.cos(x)


def hessian(x: np.ndarray) -> np.ndarray:
    cross = 2 * np.outer(x, np.cos(x))
    return np.diag(2 * np.sin(x).sum() - (x @ x) * np.sin(x)) + cross + cross.T
