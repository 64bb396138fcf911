"""Programs of `fact_programs`, more of them: models and methods of many fields, one of a kind."""

from __future__ import annotations

from functools import partial

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn, random
from tests.scope.fact_programs import PROGRAMS, f32, program


__all__ = ["PROGRAMS"]


@program(
    {"down": f32(3, 3, 1, 4), "middle": f32(3, 3, 4, 4), "up": f32(2, 2, 4, 4), "out": f32(1, 1, 8, 1)}, f32(2, 8, 8, 1)
)
def image_to_image(p, x):
    numbers = ("NHWC", "HWIO", "NHWC")

    def forward(p, x):
        a = nn.gelu(lax.conv_general_dilated(x, p["down"], (1, 1), "SAME", dimension_numbers=numbers))
        b = lax.reduce_window(a, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
        b = nn.gelu(lax.conv_general_dilated(b, p["middle"], (1, 1), "SAME", dimension_numbers=numbers))
        c = lax.conv_transpose(b, p["up"], (2, 2), "VALID", dimension_numbers=numbers)
        return lax.conv_general_dilated(
            jnp.concatenate([a, c], -1), p["out"], (1, 1), "SAME", dimension_numbers=numbers
        )

    return jx.grad(lambda p: ((forward(p, x) - x) ** 2).mean())(p)


@program({"r": f32(7, 4), "z": f32(7, 4), "h": f32(7, 4)}, f32(9, 2, 3))
def gated_recurrence_again_computed(p, xs):
    def run(p, transform):
        def cell(h, x):
            both = jnp.concatenate([h, x], -1)
            r, z = nn.sigmoid(both @ p["r"]), nn.sigmoid(both @ p["z"])
            new = jnp.tanh(jnp.concatenate([r * h, x], -1) @ p["h"])
            return (1 - z) * h + z * new, None

        return lax.scan(transform(cell), jnp.zeros((2, 4)), xs)[0]

    return jx.grad(lambda p: (run(p, jx.checkpoint) ** 2).sum())(p), run(p, lambda cell: cell)


@jx.custom_vjp
def _straight_through(x):
    return jnp.round(x)


_straight_through.defvjp(
    lambda x: (_straight_through(x), None),
    lambda _, g: (g,),
)


@program(f32(64), f32(64))
def spectrogram(x, window):
    frames = jnp.stack([x[i : i + 16] for i in range(0, 49, 8)])
    power = jnp.abs(jnp.fft.rfft(frames * window[:16])) ** 2
    filters = jnp.maximum(0, 1 - jnp.abs(jnp.linspace(0, 8, 9)[:, None] - jnp.arange(1.0, 8, 2)))
    return jnp.log(power @ filters + 1e-6), jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(window).conj())


@program(f32(5), np.int32(4))
def asked_back(x, n):
    def step(i, x):
        y = jx.pure_callback(lambda x: np.cumsum(x), jx.ShapeDtypeStruct(x.shape, x.dtype), x)
        return jnp.tanh(y) + i

    x = lax.fori_loop(0, 3, step, x)
    jx.debug.print("x = {x}", x=x.sum())
    return lax.fori_loop(0, n, lambda i, x: x / 2, x)


@program(f32(3), np.float32(1e-6))
def newton(x, tolerance):
    def f(x):
        return jnp.stack([x[0] ** 2 + x[1] - 1, x[1] * x[2] - 0.1, x[0] - x[2] ** 2])

    def step(state):
        x, error, n = state
        move = jnp.linalg.solve(jx.jacfwd(f)(x) + 1e-3 * jnp.eye(3), f(x))
        moved = x - move
        better = jnp.abs(f(moved)).max()
        x, error = lax.cond(better < error, lambda: (moved, better), lambda: (x - 0.5 * move, error * 0.9))
        return x, error, n + 1

    return lax.while_loop(lambda s: (s[1] > tolerance) & (s[2] < 20), step, (x, jnp.float32(10), 0))


@program(np.uint32(2), f32(3), f32(8, 3), np.array([0, 1, 1, 0, 1, 0, 0, 1], np.float32))
def hamiltonian_step(seed, theta, x, y):
    def energy(theta):
        logits = x @ theta
        return jnp.logaddexp(0, logits).sum() - y @ logits + 0.5 * theta @ theta

    force = jx.grad(energy)
    first, second = random.split(random.key(seed))
    momentum = random.normal(first, theta.shape)

    def leap(_, state):
        q, p = state
        p = p - 0.05 * force(q)
        q = q + 0.1 * p
        return q, p - 0.05 * force(q)

    q, p = lax.fori_loop(0, 7, leap, (theta, momentum))
    change = energy(theta) - energy(q) + 0.5 * (momentum @ momentum - p @ p)
    return lax.select(jnp.log(random.uniform(second)) < change, q, theta)


@program(
    {"message": [f32(8, 4), f32(8, 4)], "update": [f32(8, 4), f32(8, 4)]},
    f32(6, 4),
    np.array([0, 1, 2, 3, 4, 5, 0, 2]),
    np.array([1, 2, 3, 4, 5, 0, 3, 5]),
)
def message_passing(p, nodes, senders, receivers):
    def loss(p):
        h = nodes
        for message, update in zip(p["message"], p["update"], strict=True):
            sent = nn.relu(jnp.concatenate([h[senders], h[receivers]], axis=-1) @ message)
            got = jx.ops.segment_sum(sent, receivers, num_segments=6)
            h = h + jnp.tanh(jnp.concatenate([h, got], axis=-1) @ update)
        return (h.mean(0) ** 2).sum()

    return jx.value_and_grad(loss)(p)


@program(f32(5, 9), f32(9, 9))
def beam_search(emissions, moves):
    def step(state, row):
        scores, beams = state
        every = scores[:, None] + jnp.log(moves)[beams] + row
        scores, flat = lax.top_k(every.ravel(), 3)
        return (scores, flat % 9), (flat // 9, flat % 9)

    start = tuple(lax.top_k(emissions[0], 3))
    (scores, last), (parents, tokens) = lax.scan(step, start, emissions[1:])
    _, path = lax.scan(lambda b, t: (t[0][b], t[1][b]), jnp.argmax(scores), (parents, tokens), reverse=True)
    return scores, last, path


@program({"in": f32(5, 16), "out": f32(16, 4)}, np.uint32(5), f32(6, 4))
def diffusion_step(p, seed, x):
    steps = jnp.linspace(1e-3, 0.2, 10)
    kept = jnp.cumprod(1 - steps)

    def predict(p, x, t):
        t = jnp.broadcast_to(t[..., None] / 10, (*x.shape[:-1], 1))
        return nn.silu(jnp.concatenate([x, t], -1) @ p["in"]) @ p["out"]

    def loss(p, key):
        when, what = random.split(key)
        t = random.randint(when, (6,), 0, 10)
        noise = random.normal(what, x.shape)
        noisy = jnp.sqrt(kept[t])[:, None] * x + jnp.sqrt(1 - kept[t])[:, None] * noise
        return ((predict(p, noisy, t) - noise) ** 2).mean()

    value, gradient = jx.value_and_grad(loss)(p, random.key(seed))

    def denoise(i, y):
        t = 9 - i
        return (y - steps[t] / jnp.sqrt(1 - kept[t]) * predict(p, y, t)) / jnp.sqrt(1 - steps[t])

    return value, jx.tree.map(lambda p, g: p - g, p, gradient), lax.fori_loop(0, 10, denoise, x)


@program(f32(6, 3), np.array([5, 2, 2]))
def lookups(table, ids):
    def loss(table):
        taken = jnp.take(table, ids, axis=0)
        near = jnp.einsum("id,jd->ij", taken, taken)
        return (near - jnp.diag(jnp.diag(near))).sum() + table[ids[0], 1]

    return jx.grad(loss)(table), jnp.isin(jnp.arange(6), ids), jnp.nonzero(table > 0.5, size=4)


@partial(jx.jit, static_argnames="power")
def _raised(x, power):
    return x**power


@program(f32(4), f32(3, 3))
def unequal_work(x, a):
    heavy = lambda a: a @ a @ a @ a
    light = lambda a: a + 1
    return lax.cond(x[0] > 2, heavy, light, a), _raised(x, power=3), _raised(x, power=5), jnp.linalg.matrix_power(a, 5)
