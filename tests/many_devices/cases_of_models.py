"""Models over many devices: their parameters, heads, experts, layers and sequences divided. Cases as in `cases.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.many_devices.cases import case, tells


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32) / 2


def perceptron(o: Any, weights: Any, x: Any) -> Any:
    for w, b in weights:
        x = o.jnp.tanh(x @ w + b)
    return x


@case
def matrices_in_columns_and_rows(o: Any) -> Any:
    jx, lax, P = o.jx, o.lax, o.P
    w, v, x = drawn(4, 16), drawn(16, 4), drawn(8, 4)

    def block(x: Any, w: Any, v: Any) -> Any:
        return x + lax.psum(jx.nn.gelu(x @ w) @ v, "y")

    f = jx.shard_map(block, mesh=o.mesh, in_specs=(P("x"), P(None, "y"), P("y")), out_specs=P("x"))
    loss = lambda x, w, v: (f(x, w, v) ** 2).mean()
    return [tells(jx.jit(f)(x, w, v)), [tells(g) for g in jx.jit(jx.grad(loss, (0, 1, 2)))(x, w, v)]]


@case
def heads_of_attention_divided(o: Any) -> Any:
    jx, jnp, lax = o.jx, o.jnp, o.lax
    x = drawn(4, 6, 16)
    wq, wk, wv, wo = (drawn(16, 4, 4, seed=i) for i in range(4))
    hold = lambda a, *spec: lax.with_sharding_constraint(a, o.at(*spec))

    def attention(x: Any, wq: Any, wk: Any, wv: Any, wo: Any) -> Any:
        q, k, v = (hold(jnp.einsum("bsd,dhk->bshk", x, w), "x", None, "y") for w in (wq, wk, wv))
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / 2
        scores = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), scores, -1e9)
        out = jnp.einsum("bhqs,bshk->bqhk", jx.nn.softmax(scores), v)
        return hold(jnp.einsum("bqhk,dhk->bqd", out, wo), "x")

    heads = o.at(None, "y")
    f = jx.jit(attention, in_shardings=(o.at("x"), heads, heads, heads, heads))
    slopes = jx.jit(jx.grad(lambda *a: (attention(*a) ** 2).sum(), argnums=(1, 4)))
    return [tells(f(x, wq, wk, wv, wo)), [np.asarray(g) for g in slopes(x, wq, wk, wv, wo)]]


@case
def attention_in_a_ring(o: Any) -> Any:
    """Keys and values go round; the softmax is gathered on the way."""
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    q, k, v = drawn(16, 4), drawn(16, 4, seed=1), drawn(16, 4, seed=2)
    turn = [(i, (i + 1) % 8) for i in range(8)]

    def ring(q: Any, k: Any, v: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            k, v, top, total, out = carry
            scores = q @ k.T
            new = jnp.maximum(top, scores.max(-1))
            weights, old = jnp.exp(scores - new[:, None]), jnp.exp(top - new)
            out = out * old[:, None] + weights @ v
            total = total * old + weights.sum(-1)
            return (lax.ppermute(k, "x", turn), lax.ppermute(v, "x", turn), new, total, out), new.max()

        start = (k, v, jnp.full_like(q[:, 0], -jnp.inf), jnp.zeros_like(q[:, 0]), jnp.zeros_like(q))
        (*_, total, out), _ = lax.scan(step, start, None, length=8)
        return out / total[:, None]

    f = jx.jit(jx.shard_map(ring, mesh=o.line, in_specs=P("x"), out_specs=P("x")))
    whole = jx.nn.softmax(q @ k.T) @ v
    return [tells(f(q, k, v)), float(abs(f(q, k, v) - whole).max()) < 1e-5,
            [tells(g) for g in jx.jit(jx.grad(lambda *a: (f(*a) ** 2).sum(), (0, 1, 2)))(q, k, v)]]  # fmt: skip


@case
def borders_exchanged(o: Any) -> Any:
    """Heat on a grid that is cut in both directions."""
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    grid = drawn(16, 8)

    def neighbours(a: Any, name: str, axis: int, count: int) -> Any:
        last, first = lax.slice_in_dim(a, -1, None, axis=axis), lax.slice_in_dim(a, 0, 1, axis=axis)
        before = lax.ppermute(last, name, [(i, (i + 1) % count) for i in range(count)])
        after = lax.ppermute(first, name, [(i, (i - 1) % count) for i in range(count)])
        return jnp.concatenate([before, a, after], axis)

    def step(a: Any) -> Any:
        tall, wide = neighbours(a, "x", 0, 4), neighbours(a, "y", 1, 2)
        return a + 0.1 * (tall[2:] + tall[:-2] + wide[:, 2:] + wide[:, :-2] - 4 * a)

    f = lambda a: lax.fori_loop(0, 5, lambda _, b: step(b), a)
    cut = jx.jit(jx.shard_map(f, mesh=o.mesh, in_specs=P("x", "y"), out_specs=P("x", "y")))
    roll = lambda a: a + 0.1 * sum([jnp.roll(a, s, d) for s in (1, -1) for d in (0, 1)], -4 * a)
    whole = lax.fori_loop(0, 5, lambda _, b: roll(b), grid)
    return [tells(cut(grid)), float(abs(cut(grid) - whole).max()) < 1e-5,
            tells(jx.jit(jx.grad(lambda a: (cut(a) ** 3).sum()))(grid))]  # fmt: skip


@case
def layers_in_a_scan_over_explicit_axes(o: Any) -> Any:
    jx, jnp, lax = o.jx, o.jnp, o.lax
    weights, x = drawn(3, 4, 8), drawn(8, 4)
    outs = drawn(3, 8, 4, seed=1)

    def run(w: Any, v: Any, x: Any) -> Any:
        def layer(x: Any, wv: Any) -> Any:
            w, v = wv
            h = jnp.tanh(jnp.einsum("bd,df->bf", x, w))
            return x + jnp.einsum("bf,fd->bd", h, v, out_sharding=o.P("x", None)), h.sum(1)

        return lax.scan(layer, x, (w, v))

    w, v = (jx.device_put(a, o.Named(o.typed, o.P(*s))) for a, s in ((weights, (None, None, "y")), (outs, (None, "y"))))
    x = jx.device_put(x, o.Named(o.typed, o.P("x")))
    with jx.set_mesh(o.typed):
        last, sums = jx.jit(run)(w, v, x)
        slopes = jx.jit(jx.grad(lambda *a: (run(*a)[0] ** 2).sum(), (0, 1)))(w, v, x)
    return [tells(last), str(jx.typeof(last)), str(jx.typeof(sums)), [[*tells(g), str(jx.typeof(g))] for g in slopes]]
