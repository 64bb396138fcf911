"""Programs of `fact_programs`, more of them: algorithms and networks as people write them, of kinds that the others are not."""

from __future__ import annotations

from functools import partial

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn, random
from jitscope.core import dtypes
from tests.scope.fact_programs import PROGRAMS, bf16, f32, program


__all__ = ["PROGRAMS"]


@program({w: f32(8, 8) for w in "qkvo"}, f32(2, 5, 8), np.uint32(3))
def masked_attention(p, x, seed):
    def heads(y):
        return y.reshape(2, 5, 2, 4).transpose(0, 2, 1, 3)

    def attention(p, x):
        q, k, v = (heads(x @ p[w]) for w in "qkv")
        scores = q @ k.transpose(0, 1, 3, 2) / jnp.sqrt(4.0)
        weights = nn.softmax(jnp.where(jnp.tril(jnp.ones((5, 5), bool)), scores, -jnp.inf), axis=-1)
        kept = random.bernoulli(random.key(seed), 0.8, weights.shape)
        mixed = jnp.where(kept, weights / 0.8, 0.0) @ v
        return mixed.transpose(0, 2, 1, 3).reshape(2, 5, 8) @ p["o"]

    return jx.grad(lambda p: (attention(p, x) ** 2).sum())(p)


@program({"w": f32(3, 3, 2, 4), "scale": f32(4), "shift": f32(4)}, {"mean": f32(4), "var": f32(4)}, f32(2, 6, 6, 2))
def normalised_convolution(params, running, x):
    def loss(params):
        y = lax.conv_general_dilated(x, params["w"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        mean, var = y.mean((0, 1, 2)), y.var((0, 1, 2))
        y = nn.relu((y - mean) * lax.rsqrt(var + 1e-5) * params["scale"] + params["shift"])
        y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        now = {"mean": 0.9 * running["mean"] + 0.1 * mean, "var": 0.9 * running["var"] + 0.1 * var}
        return (y**2).mean(), now

    (value, running), gradient = jx.value_and_grad(loss, has_aux=True)(params)
    return value, running, jx.tree.map(lambda p, g: p - 0.1 * g, params, gradient)


@jx.custom_vjp
def _root(a):
    return lax.fori_loop(0, 6, lambda _, x: 0.5 * (x + a / x), a)


_root.defvjp(lambda a: ((y := _root(a)), y), lambda y, g: (g / (2 * y),))


@program(f32(4), f32(6, 4))
def branches_in_a_scan(c, xs):
    def step(c, x):
        c = lax.cond(x.sum() > c.sum(), lambda c: jnp.sin(c) + x, lambda c: c * jnp.cos(x), c)
        return c, lax.switch(jnp.int32(c.sum() > 2), [jnp.max, jnp.min], c)

    return jx.value_and_grad(lambda c: lax.scan(step, c, xs)[1].sum())(c)


@program(f32(6), np.float32(1e-2))
def loops_until(x, tolerance):
    def outer(s):
        x, k = s
        y = lax.while_loop(lambda y: jnp.abs(y).max() > 0.5, lambda y: y * 0.7, x + 1)
        return jnp.sort(y) - 0.5 * x, k + 1

    return lax.while_loop(lambda s: ((s[0] ** 2).sum() > tolerance) & (s[1] < 5), outer, (x, 0))


@program(f32(6), f32(10, 2), f32(10))
def gaussian_process(theta, x, y):
    def negative_likelihood(theta):
        distance = ((x[:, None] - x[None]) ** 2 / jnp.exp(theta[:2])).sum(-1)
        k = jnp.exp(theta[2] - distance) + (0.1 + jnp.exp(theta[3])) * jnp.eye(10)
        factor = jnp.linalg.cholesky(k)
        a = jx.scipy.linalg.cho_solve((factor, True), y)
        return 0.5 * y @ a + jnp.log(jnp.diag(factor)).sum() + jnp.linalg.slogdet(k)[1]

    return jx.value_and_grad(negative_likelihood)(theta)


@program(f32(4), f32(9, 2), f32(4, 4), f32(2, 4))
def kalman_filter(mean, observed, dynamics, seen):
    q, r = 0.1 * jnp.eye(4), 0.2 * jnp.eye(2)

    def step(state, z):
        m, p = state
        with jx.named_scope("predict"):
            m, p = dynamics @ m, dynamics @ p @ dynamics.T + q
        with jx.named_scope("correct"):
            s = seen @ p @ seen.T + r
            gain = jnp.linalg.solve(s, seen @ p).T
            m, p = m + gain @ (z - seen @ m), (jnp.eye(4) - gain @ seen) @ p
        return (m, p), m

    return lax.scan(step, (mean, jnp.eye(4)), observed)[1]


@program(f32(20, 2), f32(3, 2))
def clusters(x, centres):
    def step(centres, _):
        nearest = ((x[:, None] - centres) ** 2).sum(-1).argmin(1)
        counts = jx.ops.segment_sum(jnp.ones(20), nearest, num_segments=3)
        return jx.ops.segment_sum(x, nearest, num_segments=3) / jnp.maximum(counts, 1)[:, None], nearest

    return lax.scan(step, centres, length=5)


@program(np.uint32(11), f32(2))
def markov_chain(seed, x):
    def density(x):
        return -0.5 * (x @ x) + jnp.log1p(x[0] ** 2)

    def step(i, state):
        key, x, taken = state
        key, move, accept = random.split(key, 3)
        proposed = x + 0.3 * random.normal(move, x.shape)
        better = jnp.log(random.uniform(accept)) < density(proposed) - density(x)
        return key, jnp.where(better, proposed, x), taken + better

    return lax.fori_loop(0, 10, step, (random.key(seed), x, 0))[1:]


@program(f32(4, 5), f32(4, 5))
def complex_numbers(a, b):
    z = lax.complex(a, b)

    def loss(z):
        w = jnp.exp(1j * z) @ z.conj().T
        return (jnp.abs(w) ** 2).sum() + w.real.sum()

    return jx.grad(loss)(z), jnp.angle(z), jnp.sqrt(z).imag


@program(np.arange(13, dtype=np.uint32))
def hashed(x):
    def mixed(h, k):
        h = (h ^ (k * np.uint32(0xCC9E2D51))) * np.uint32(5)
        h = (h << 13) | (h >> 19)
        return h ^ lax.shift_right_logical(h, np.uint32(16)), h & 0xFF

    h, low = lax.scan(mixed, jnp.uint32(42), x)
    return h, low, lax.population_count(x), lax.clz(x), jnp.unpackbits(low.astype(jnp.uint8)).sum()


@program({"w": bf16(6, 5), "b": bf16(5)}, {"w": f32(6, 5), "b": f32(5)}, f32(4, 6).astype(np.float16), np.float32(128))
def mixed_precision(low, exact, x, scale):
    def loss(p):
        y = nn.silu(x.astype(dtypes.bfloat16) @ p["w"] + p["b"])
        return (y.astype(jnp.float32) ** 2).mean() * scale

    gradient = jx.tree.map(lambda g: g.astype(jnp.float32) / scale, jx.grad(loss)(low))
    finite = jx.tree.reduce(lambda a, g: a & jnp.isfinite(g).all(), gradient, True)
    exact = jx.tree.map(lambda p, g: jnp.where(finite, p - 0.1 * g, p), exact, gradient)
    return exact, jx.tree.map(lambda p: p.astype(dtypes.bfloat16), exact)


@program(f32(4))
def derivatives_of_all_kinds(x):
    def f(x):
        return jnp.stack([x.prod(), jnp.sin(x).sum(), x[0] / x[1]])

    return jx.jacfwd(f)(x), jx.jacrev(f)(x), jx.hessian(lambda x: f(x)[1] * f(x)[0])(x), jx.jacrev(jx.jacfwd(f))(x)


@program([f32(5, 5), f32(5, 5), f32(5, 5)], f32(3, 5))
def saved_products_only(ws, x):
    @partial(jx.checkpoint, policy=jx.checkpoint_policies.dots_saveable)
    def block(x, w):
        return jnp.tanh(x @ w) * x

    def loss(ws):
        y, _ = lax.scan(lambda x, w: (block(x, w), None), x, jnp.stack(ws))
        return (y**2).sum()

    return jx.grad(loss)(ws)
