"""Programs of `fact_programs`, more of them: models and methods of many fields, one of a kind."""

from __future__ import annotations

from functools import partial

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn, random
from tests.scope.fact_programs import PROGRAMS, bf16, c64, f32, program


__all__ = ["PROGRAMS"]


@program({"gate": f32(8, 4), "up": f32(4, 8, 6), "down": f32(4, 6, 8)}, f32(10, 8))
def mixture_of_experts(p, x):
    def expert(up, down, x):
        return nn.relu(x @ up) @ down

    def loss(p):
        scores = nn.softmax(x @ p["gate"])
        weights, chosen = lax.top_k(scores, 2)
        mask = nn.one_hot(chosen, 4) * weights[..., None]
        given = jx.vmap(expert, in_axes=(0, 0, None))(p["up"], p["down"], x)
        balance = (scores.mean(0) * (mask.sum(1) > 0).mean(0)).sum()
        return (jnp.einsum("ebd,bke->bd", given, mask) ** 2).mean() + 0.01 * balance

    return jx.value_and_grad(loss)(p)


@program({w: f32(8, 8) for w in "qkvo"}, f32(11, 8), np.int32(3))
def attention_with_a_cache(p, table, start):
    keys, values = jnp.zeros((6, 8)), jnp.zeros((6, 8))

    def unfinished(state):
        step, token, *_ = state
        return (step < 6) & (token != 0)

    def next_token(state):
        step, token, keys, values = state
        x = table[token]
        keys = lax.dynamic_update_slice(keys, (x @ p["k"])[None], (step, 0))
        values = values.at[step].set(x @ p["v"])
        scores = keys @ (x @ p["q"]) / 8**0.5
        seen = jnp.where(jnp.arange(6) <= step, scores, -1e30)
        x = nn.softmax(seen) @ values @ p["o"]
        return step + 1, jnp.argmax(table @ x).astype(jnp.int32), keys, values

    return lax.while_loop(unfinished, next_token, (jnp.int32(0), start, keys, values))


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


@program(f32(5, 3), f32(5, 7))
def scans_of_examples(starts, rows):
    def run(start, row):
        def step(c, x):
            c = jnp.sin(c) * x
            return c, c.max()

        return lax.scan(step, start, row)

    return jx.vmap(run)(starts, rows)


@jx.custom_vjp
def _straight_through(x):
    return jnp.round(x)


_straight_through.defvjp(
    lambda x: (_straight_through(x), None),
    lambda _, g: (g,),
)


@program(f32(4), f32(6, 4))
def derivative_by_hand_in_a_scan(c, xs):
    def step(c, x):
        c = _straight_through(c * x) + x
        return c, (c**2).sum()

    def loss(c):
        return lax.scan(step, c, xs)[1].sum()

    return jx.value_and_grad(loss)(c)


@program(f32(64), f32(64))
def spectrogram(x, window):
    frames = jnp.stack([x[i : i + 16] for i in range(0, 49, 8)])
    power = jnp.abs(jnp.fft.rfft(frames * window[:16])) ** 2
    filters = jnp.maximum(0, 1 - jnp.abs(jnp.linspace(0, 8, 9)[:, None] - jnp.arange(1.0, 8, 2)))
    return jnp.log(power @ filters + 1e-6), jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(window).conj())


@program(f32(12, 3), np.array([0, 2, 2, 5, 1, 0, 3, 4, 5, 5, 2, 1]))
def sparse_sums(values, rows):
    order = jnp.argsort(rows)
    summed = jx.ops.segment_sum(values[order], rows[order], num_segments=6, indices_are_sorted=True)
    largest = jx.ops.segment_max(values, rows, num_segments=6)
    counts = jnp.zeros(6, jnp.int32).at[rows].add(1)
    return summed / jnp.maximum(counts, 1)[:, None], largest[rows], jnp.cumsum(counts)


@program(f32(6, 6), f32(6))
def factorised(a, b):
    s = a @ a.T + 6 * jnp.eye(6)
    low = jnp.linalg.cholesky(s)
    y = jx.scipy.linalg.solve_triangular(low, b, lower=True)
    values, vectors = jnp.linalg.eigh(s)
    again = (vectors * values) @ vectors.T
    return y, again, jnp.linalg.solve(a + 6 * jnp.eye(6), b), jnp.linalg.lstsq(a, b)[0]


@program(c64(4, 4), c64(4))
def quantum_steps(h, state):
    h = (h + h.conj().T) / 2

    def step(psi, t):
        psi = psi - 1j * 0.01 * (h @ psi)
        psi = psi / jnp.sqrt(jnp.vdot(psi, psi).real)
        return psi, jnp.abs(psi) ** 2 * t

    return lax.scan(step, state, jnp.linspace(0.0, 1.0, 12))


@program(np.arange(-24, 24, dtype=np.int8).reshape(8, 6), f32(8), bf16(5, 8), f32(5, 6).astype(np.float16))
def quantised(w, scale, x, residual):
    low = lax.dot_general(
        jnp.clip(jnp.round(x.astype(jnp.float32) * 16), -127, 127).astype(jnp.int8),
        w,
        (((1,), (0,)), ((), ())),
        preferred_element_type=jnp.int32,
    )
    exact = x.astype(jnp.float32) @ (w.astype(jnp.float32) * scale[:, None])
    half = residual + low.astype(jnp.float16) / 16
    return half, exact.astype(jnp.bfloat16), jnp.abs(exact - half).max()


@program(f32(5), np.int32(4))
def asked_back(x, n):
    def step(i, x):
        y = jx.pure_callback(lambda x: np.cumsum(x), jx.ShapeDtypeStruct(x.shape, x.dtype), x)
        return jnp.tanh(y) + i

    x = lax.fori_loop(0, 3, step, x)
    jx.debug.print("x = {x}", x=x.sum())
    return lax.fori_loop(0, n, lambda i, x: x / 2, x)


@program({"w": f32(8, 8), "m": f32(8, 8), "v": f32(8, 8)}, f32(8, 8), donate=(0,))
def optimiser_step(state, g):
    m = 0.9 * state["m"] + 0.1 * g
    v = 0.99 * state["v"] + 0.01 * g**2
    w = state["w"] - 1e-3 * m / (jnp.sqrt(v) + 1e-8)
    return {"w": w, "m": m, "v": v}


@program(f32(40), np.int32(5))
def sliding(x, size):
    def step(i, out):
        window = lax.dynamic_slice(x, (i * 2,), (8,))
        kept = jnp.where(jnp.arange(8) < size, window, 0)
        return lax.dynamic_update_slice(out, kept.sum(keepdims=True) / size, (i,))

    return lax.fori_loop(0, 16, step, jnp.zeros(16))


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


@program(f32(2), np.float32(1.0))
def adaptive_ode(y, end):
    def slope(y):
        return jnp.array([y[1], -y[0] + 0.1 * (1 - y[0] ** 2) * y[1]])

    def step(state):
        t, h, y = state
        k1 = slope(y)
        k2 = slope(y + h * k1)
        low, high = y + h * k1, y + h * (k1 + k2) / 2
        error = jnp.abs(high - low).max()
        accepted = error < 1e-2
        h_new = h * jnp.clip(0.9 * (1e-2 / (error + 1e-9)) ** 0.5, 0.2, 5.0)
        return jnp.where(accepted, t + h, t), h_new, jnp.where(accepted, high, y)

    return lax.while_loop(lambda s: s[0] < end, step, (jnp.float32(0), jnp.float32(0.1), y))


@program(np.uint32(1), f32(7))
def particle_filter(seed, observed):
    def step(state, z):
        key, particles = state
        key, move, draw = random.split(key, 3)
        particles = 0.9 * particles + random.normal(move, (30,))
        weights = nn.softmax(-0.5 * (z - particles) ** 2)
        chosen = random.categorical(draw, jnp.log(weights), shape=(30,))
        return (key, particles[chosen]), (weights * particles).sum()

    return lax.scan(step, (random.key(seed), jnp.zeros(30)), observed)[1]


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


@program(f32(12, 12), np.float32(0.1))
def heat_equation(u, d):
    def laplacian(u):
        return (
            jnp.roll(u, 1, axis=0) + jnp.roll(u, -1, axis=0) + jnp.roll(u, 1, axis=1) + jnp.roll(u, -1, axis=1) - 4 * u
        )

    def step(u, _):
        u = u + d * laplacian(u)
        u = u.at[0].set(0).at[-1].set(0)
        return u, u.sum()

    return lax.scan(step, u, None, length=21)


@program(f32(5, 9), f32(9, 9))
def beam_search(emissions, moves):
    def step(state, row):
        scores, beams = state
        every = scores[:, None] + jnp.log(moves)[beams] + row
        scores, flat = lax.top_k(every.ravel(), 3)
        return (scores, flat % 9), (flat // 9, flat % 9)

    start = lax.top_k(emissions[0], 3)
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


@program({"a": f32(4), "b": f32(3, 4), "c": f32(4, 2)}, f32(16, 3))
def state_space_model(p, u):
    def combine(left, right):
        (a1, b1), (a2, b2) = left, right
        return a1 * a2, a2 * b1 + b2

    def run(p):
        a = jnp.broadcast_to(jnp.exp(-p["a"]), (16, 4))
        _, states = lax.associative_scan(combine, (a, u @ p["b"]))
        return states @ p["c"]

    return run(p), jx.grad(lambda p: (run(p) ** 2).sum())(p)


@program(f32(4, 4), f32(4), np.int32(6))
def power_method(a, v, n):
    def step(_, v):
        w = a @ v
        return w / jnp.linalg.norm(w)

    known = lax.fori_loop(0, 6, step, v)
    unknown = lax.fori_loop(0, n, step, v)
    return known @ a @ known, unknown @ a @ unknown


@program(f32(10, 2), f32(10), f32(2))
def conjugate_gradients(x, y, w):
    def loss(w):
        return ((x @ w - y) ** 2).sum() + (w**4).sum()

    def times(v):
        return jx.jvp(jx.grad(loss), (w,), (v,))[1]

    solution, _ = jx.scipy.sparse.linalg.cg(times, jx.grad(loss)(w), maxiter=5)
    return w - solution


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
