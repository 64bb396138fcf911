"""Programs that are compiled for chips that are not here, with what they are called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("f")


def softmax(x: Any) -> Any:
    e = jnp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer(x: Any, w: Any) -> Any:
    y = jnp.tanh(x) * 2
    return y.T @ w, y.sum(0), jnp.exp(y)


def layer_norm(x: Any, g: Any) -> Any:
    mean = x.mean(1, keepdims=True)
    var = ((x - mean) ** 2).mean(1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-5) * g


def attention(q: Any, k: Any, v: Any) -> Any:
    s = jnp.einsum("bqd,bkd->bqk", q, k) / 8.0
    return jnp.einsum("bqk,bkd->bqd", jx.nn.softmax(s), v)


def training(w: Any, v: Any, x: Any) -> Any:
    loss = lambda w, v: jnp.mean((jnp.tanh(x @ w) @ v) ** 2)
    a, b = jx.grad(loss, (0, 1))(w, v)
    return w - 0.1 * a, v - 0.1 * b


def recurrence(x: Any, w: Any) -> Any:
    return jx.lax.scan(lambda h, row: (jnp.tanh(h @ w + row), h.sum()), x[0], x)


def ordered(x: Any) -> Any:
    return jnp.sort(x, axis=1).cumsum(1)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "softmax": (softmax, (_numbers(1024, 1024),)),
    "layer": (layer, (_numbers(512, 256), _numbers(512, 128))),
    "layer norm": (layer_norm, (_numbers(512, 1024), _numbers(1024))),
    "attention": (attention, (_numbers(8, 128, 64), _numbers(8, 128, 64), _numbers(8, 128, 64))),
    "training step": (training, (_numbers(256, 512), _numbers(512, 64), _numbers(128, 256))),
    "scan": (recurrence, (_numbers(16, 128), _numbers(128, 128))),
    "sort": (ordered, (_numbers(64, 512),)),
}
