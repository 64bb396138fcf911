"""Checkpointed functions, written once for JAX and for jitscope: each gives a function and its arguments, of which the
saved residuals are compared."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np


RESIDUALS: dict[str, Callable[[SimpleNamespace], tuple[Callable[..., Any], tuple]]] = {}
X, W1, W2 = (np.full(shape, 0.5, np.float32) for shape in ((2, 3), (3, 4), (4, 5)))


def _network(m: SimpleNamespace, wrap: Callable[[Any], Any] = lambda f: f) -> Callable[..., Any]:
    @wrap
    def layers(x, w1, w2):
        y = m.jnp.sin(x @ w1)
        z = m.ad_checkpoint.checkpoint_name(m.jnp.sin(y * 2.0), "z")
        u = m.ad_checkpoint.checkpoint_name(m.jnp.sin(z @ w2), "u")
        return m.jnp.sin(u)

    return layers


def _with(name: str, make_policy: Callable[[Any], Any]) -> None:
    def make(m: SimpleNamespace, wrap: Any = lambda f: f) -> tuple[Callable[..., Any], tuple]:
        f = m.jax.checkpoint(_network(m, wrap), policy=make_policy(m.jax.checkpoint_policies))
        return lambda *args: f(*args).sum(), (X, W1, W2)

    RESIDUALS[name] = make
    RESIDUALS[f"{name}, of a jitted function"] = lambda m: make(m, m.jax.jit)


_with("no policy", lambda p: None)
_with("nothing", lambda p: p.nothing_saveable)
_with("dots", lambda p: p.dots_saveable)
_with("dots without batch dimensions", lambda p: p.dots_with_no_batch_dims_saveable)
_with("only z", lambda p: p.save_only_these_names("z"))
_with("only z and u", lambda p: p.save_only_these_names("z", "u"))
_with("any but z", lambda p: p.save_any_names_but_these("z"))
_with("dots or u", lambda p: p.save_from_both_policies(p.dots_saveable, p.save_only_these_names("u")))


def _batched(m: SimpleNamespace, policy: Any) -> tuple[Callable[..., Any], tuple]:
    f = m.jax.checkpoint(
        lambda x, w: m.jnp.sin(m.lax.dot_general(m.jnp.sin(x), w, (((2,), (1,)), ((0,), (0,))))), policy=policy
    )
    return lambda x, w: f(x, w).sum(), (np.ones((2, 3, 4), np.float32), np.ones((2, 4, 5), np.float32))


RESIDUALS["batched product, dots"] = lambda m: _batched(m, m.jax.checkpoint_policies.dots_saveable)
RESIDUALS["batched product, dots without batch dimensions"] = lambda m: _batched(
    m, m.jax.checkpoint_policies.dots_with_no_batch_dims_saveable
)


def _chain(m: SimpleNamespace) -> tuple[Callable[..., Any], tuple]:
    block = m.jax.checkpoint(lambda x: m.jnp.sin(m.jnp.sin(x)))
    return lambda x: block(block(block(x))), (np.float32(0.5),)


RESIDUALS["a chain of blocks"] = _chain


def _unread(m: SimpleNamespace) -> tuple[Callable[..., Any], tuple]:
    f = m.jax.checkpoint(lambda x, y, n: (m.jnp.sin(x) + y) * 2.0)
    return f, (np.float32(0.5), np.float32(0.5), 3)


RESIDUALS["arguments that are not needed"] = _unread


def _loop(m: SimpleNamespace, wrap: Any, policy: Any) -> tuple[Callable[..., Any], tuple]:
    def layer(x, w):
        y = m.ad_checkpoint.checkpoint_name(m.jnp.sin(x @ w), "y")
        return m.jnp.sin(y * 2.0), m.jnp.cos(y)

    def layers(x, ws):
        x, ys = m.lax.scan(layer, x, ws)
        return m.jnp.sin(x).sum() + ys.sum()

    return m.jax.checkpoint(wrap(m)(layers), policy=policy(m.jax.checkpoint_policies)), (
        np.full(3, 0.5, np.float32),
        np.full((5, 3, 3), 0.3, np.float32),
    )


for _name, _policy in {
    "no policy": lambda p: None,
    "dots": lambda p: p.dots_saveable,
    "only y": lambda p: p.save_only_these_names("y"),
    "any but y": lambda p: p.save_any_names_but_these("y"),
}.items():
    RESIDUALS[f"a loop, {_name}, of a jitted function"] = lambda m, policy=_policy: _loop(
        m, lambda m: m.jax.jit, policy
    )
    RESIDUALS[f"a loop, {_name}"] = lambda m, policy=_policy: _loop(m, lambda m: lambda f: f, policy)
