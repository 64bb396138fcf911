"""Functions whose shapes do not fit, and in which nothing was kept beyond its trace: for the compiler and for jax, given as `jax`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def misfits(jax: Any, jnp: Any) -> dict[str, Callable[[Any], Any]]:
    """By name; each takes f32[4] and fails at an operation on what it has computed."""

    def plain(x: Any) -> Any:
        return x * 2 + jnp.ones(9)

    def body(c: Any, z: Any) -> Any:
        return (c * 2) @ jnp.ones(9), z

    return {
        "plain": plain,
        "scan": lambda x: jax.lax.scan(body, x, jnp.ones(2)),
        "grad": lambda x: jax.grad(lambda v: plain(v).sum())(x),
        "vmap": lambda x: jax.vmap(lambda v: plain(v).sum())(x[None]),
        "cond": lambda x: jax.lax.cond(x.sum() > 0, lambda v: (v * 2) @ jnp.ones(9), lambda v: v.sum(), x),
        "jit in jit": jax.jit(lambda x: jax.jit(plain)(x * 3)),
        "remat": jax.grad(lambda x: jax.checkpoint(plain)(x * 3).sum()),
    }
