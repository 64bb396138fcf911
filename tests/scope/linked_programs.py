"""Ten programs of other kinds than those of `fact_programs`, for the links between lines, equations, HLO, kernels and machine code."""

from __future__ import annotations

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn


def uniform(*shape):
    return np.random.default_rng(sum(shape)).uniform(0.1, 0.9, shape).astype(np.float32)


def lstm(w, xs):
    def loss(w):
        def step(state, x):
            h, c = state
            gates = jnp.concatenate([x, h]) @ w
            i, f, o, g = jnp.split(gates, 4)
            c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
            h = nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        _, hs = lax.scan(step, (jnp.zeros(8), jnp.zeros(8)), xs)
        return (hs**2).mean()

    return jx.grad(loss)(w)


def convolve(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME")


def unet(p, x):
    down = nn.relu(convolve(x, p["down"]))
    low = nn.relu(convolve(down, p["low"], stride=2))
    up = jx.image.resize(low, (*low.shape[:2], 16, 16), "nearest")
    joined = jnp.concatenate([down, up], axis=1)
    return convolve(joined, p["out"]).mean(axis=1)


def ranked(x):
    order = jnp.argsort(x, axis=1)
    best = jnp.take_along_axis(x, order[:, -3:], axis=1)
    return best / best.sum(axis=1, keepdims=True)


def scattered(table, rows, values):
    near = table[rows] * 2
    changed = table.at[rows].add(values)
    return jnp.tanh(changed) + near.sum()


def filtered(x):
    spectrum = jnp.fft.rfft(x)
    strength = jnp.abs(spectrum) ** 2
    kept = jnp.where(strength > strength.mean(), spectrum, 0)
    return jnp.fft.irfft(kept, n=x.shape[0])


def likelihood(x, y):
    apart = (x[:, None] - x[None, :]) ** 2
    kernel = jnp.exp(-apart / 2) + 0.1 * jnp.eye(x.shape[0])
    factor = jnp.linalg.cholesky(kernel)
    white = jx.scipy.linalg.solve_triangular(factor, y, lower=True)
    return -(white**2).sum() / 2 - jnp.log(jnp.diagonal(factor)).sum()


def stepping(x):
    def step(state):
        count, x = state
        grown = lax.cond(
            count % 2 == 0,
            lambda x: jnp.sin(x) * 1.5,
            lambda x: jnp.sqrt(x) + 0.1,
            x,
        )
        return count + 1, grown

    return lax.while_loop(lambda state: state[0] < 9, step, (0, x))[1]


@jx.custom_vjp
def clamped(x):
    return jnp.clip(x, 0.2, 0.8)


def clamped_forward(x):
    return clamped(x), jnp.abs(x)


def clamped_backward(size, cotangent):
    return (cotangent / (1 + size),)


clamped.defvjp(clamped_forward, clamped_backward)


def steered(w, x):
    def loss(w):
        hidden = clamped(x @ w)
        return jnp.log1p(hidden).sum()

    return jx.value_and_grad(loss)(w)


def solve_one(a, b):
    def step(_, x):
        return x - 0.1 * (a @ x - b)

    return lax.fori_loop(0, 20, step, jnp.zeros_like(b))


def solved(a, b):
    rough = jx.vmap(solve_one)(a, b)
    exact = jnp.linalg.solve(a, b[..., None])[..., 0]
    return jnp.abs(rough - exact).max()


@jx.jit
def normed(x):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


@jx.jit
def gated(x, w):
    return nn.silu(x @ w) * x


def several(x, v, w):
    for _ in range(2):
        x = x + gated(normed(x), v)
    return normed(x) @ w


PROGRAMS = {
    "lstm": (lstm, uniform(20, 32), uniform(12, 12)),
    "unet": (
        unet,
        {"down": uniform(4, 3, 3, 3), "low": uniform(4, 4, 3, 3), "out": uniform(2, 8, 3, 3)},
        uniform(1, 3, 16, 16),
    ),
    "ranked": (ranked, uniform(40, 30)),
    "scattered": (scattered, uniform(50, 8), np.arange(0, 40, 4, dtype=np.int32), uniform(10, 8)),
    "filtered": (filtered, uniform(256)),
    "likelihood": (likelihood, uniform(24), uniform(24)),
    "stepping": (stepping, uniform(3000)),
    "steered": (steered, uniform(30, 40), uniform(50, 30)),
    "solved": (solved, uniform(6, 5, 5) + 5 * np.eye(5, dtype=np.float32), uniform(6, 5)),
    "several": (several, uniform(20, 32), uniform(32, 32), uniform(32, 8)),
}
