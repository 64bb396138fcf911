"""Larger programs, one for each way to divide work."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.many_devices.cases import case, tells


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def leaves(o: Any, tree: Any) -> list[Any]:
    return [tells(x) if hasattr(x, "sharding") else np.asarray(x) for x in o.jx.tree.leaves(tree)]


def perceptron(o: Any, w: Any, x: Any) -> Any:
    return o.jnp.tanh(x @ w["in"] + w["b"]) @ w["out"]


def weights() -> dict[str, np.ndarray]:
    return {"in": drawn(8, 16), "b": drawn(16, seed=1), "out": drawn(16, 8, seed=2)}


@case
def moments_divided_gradients_scattered(o: Any) -> Any:
    """Each device keeps the moments of its rows of each weight, updates these, and all gather the new weights."""
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    w, x, y = weights(), drawn(16, 8, seed=3), drawn(16, 8, seed=4)
    zeros = jx.tree.map(np.zeros_like, w)

    def step(w: Any, m: Any, v: Any, x: Any, y: Any) -> Any:
        loss, grad = jx.value_and_grad(lambda w: ((perceptron(o, w, x) - y) ** 2).mean())(
            lax.pcast(w, "x", to="varying")
        )
        grad = jx.tree.map(lambda g: lax.psum_scatter(g, "x", tiled=True) / 8, grad)
        m = jx.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grad)
        v = jx.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, grad)
        mine = jx.tree.map(
            lambda p: lax.dynamic_slice_in_dim(p, lax.axis_index("x") * (p.shape[0] // 8), p.shape[0] // 8), w
        )
        mine = jx.tree.map(lambda p, m, v: p - 0.1 * m / (jnp.sqrt(v) + 1e-3), mine, m, v)
        return jx.tree.map(lambda p: lax.all_gather(p, "x", tiled=True), mine), m, v, lax.pmean(loss, "x")

    rows = P("x")
    f = jx.jit(
        jx.shard_map(
            step, mesh=o.line, in_specs=(P(), rows, rows, rows, rows), out_specs=(P(), rows, rows, P()), check_vma=False
        )
    )
    state = (w, zeros, zeros)
    for _ in range(3):
        *state, loss = f(*state, x, y)
    return [leaves(o, state), np.asarray(loss)]


@case
def columns_then_rows_of_a_perceptron(o: Any) -> Any:
    jx, lax, P = o.jx, o.lax, o.P
    w, x = weights(), drawn(8, 8, seed=5)
    specs = {"in": P(None, "y"), "b": P("y"), "out": P("y", None)}

    def both(check: bool) -> list[Any]:
        def block(w: Any, x: Any) -> Any:
            return x + lax.psum(perceptron(o, w, x), "y")

        f = jx.shard_map(block, mesh=o.mesh, in_specs=(specs, P("x")), out_specs=P("x"), check_vma=check)
        loss = lambda w, x: (f(w, f(w, x)) ** 2).mean()
        return leaves(o, (jx.jit(f)(w, x), jx.jit(jx.grad(loss, (0, 1)))(w, x)))

    return [both(True), both(False)]


@case
def causal_attention_by_heads_and_rows(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    x, qkv, out = drawn(4, 6, 8), drawn(3, 8, 4, 2, seed=1) / 3, drawn(4, 2, 8, seed=2) / 3

    def attend(x: Any, qkv: Any, out: Any) -> Any:
        q, k, v = jnp.einsum("btd,sdhe->sbhte", x, qkv)
        scores = jnp.einsum("bhte,bhse->bhts", q, k) / math.sqrt(2)
        t = lax.broadcasted_iota(jnp.int32, scores.shape, 2) >= lax.broadcasted_iota(jnp.int32, scores.shape, 3)
        p = jx.nn.softmax(jnp.where(t, scores, -jnp.inf), -1)
        return lax.psum(jnp.einsum("bhts,bhse,hed->btd", p, v, out), "y")

    f = jx.shard_map(attend, mesh=o.mesh, in_specs=(P("x"), P(None, None, "y"), P("y")), out_specs=P("x"))
    grad = jx.grad(lambda *a: (f(*a) ** 2).sum(), (0, 1, 2))
    return leaves(o, (jx.jit(f)(x, qkv, out), jx.jit(grad)(x, qkv, out)))


@case
def tokens_sent_to_experts(o: Any) -> Any:
    """Each of eight devices has one expert, and room for two tokens of each device."""
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    x, gate, w = drawn(32, 4), drawn(4, 8, seed=1), drawn(8, 4, 4, seed=2)

    def layer(x: Any, gate: Any, w: Any) -> Any:
        p = jx.nn.softmax(x @ gate)
        chosen = jx.nn.one_hot(jnp.argmax(p, -1), 8)
        place = (jnp.cumsum(chosen, 0) - 1) * chosen
        to = chosen[..., None] * jx.nn.one_hot(place.astype(jnp.int32), 2) * chosen[..., None]
        sent = lax.all_to_all(jnp.einsum("tec,td->ecd", to, x), "x", 0, 0, tiled=True)
        done = jnp.tanh(sent @ w[0])
        back = lax.all_to_all(done, "x", 0, 0, tiled=True)
        return jnp.einsum("tec,ecd,te->td", to, back, p), lax.pmean(chosen.mean(0), "x")

    f = jx.shard_map(layer, mesh=o.line, in_specs=(P("x"), P(), P("x")), out_specs=(P("x"), P()))
    grad = jx.grad(lambda *a: (f(*a)[0] ** 2).sum(), (0, 1, 2))
    return leaves(o, (jx.jit(f)(x, gate, w), jx.jit(grad)(x, gate, w)))


@case
def normalized_over_the_whole_batch(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    x, scale, state = drawn(16, 4), drawn(4, seed=1), np.zeros(4, np.float32)

    def norm(x: Any, scale: Any, running: Any) -> Any:
        mean = lax.pmean(x.mean(0), "batch")
        var = lax.pmean(((x - mean) ** 2).mean(0), "batch")
        return (x - mean) / jnp.sqrt(var + 1e-5) * scale, 0.9 * running + 0.1 * mean

    line = jx.make_mesh((8,), ("batch",), axis_types=(o.S.AxisType.Auto,))
    cut = jx.shard_map(norm, mesh=line, in_specs=(P("batch"), P(), P()), out_specs=(P("batch"), P()))
    mapped = jx.vmap(norm, (0, None, None), (0, None), axis_name="batch")
    pm = jx.pmap(norm, "batch", in_axes=(0, None, None), out_axes=(0, None))
    slope = lambda f, x: jx.jit(jx.grad(lambda x, s: (f(x, s, state)[0] ** 3).sum(), (0, 1)))(x, scale)
    return leaves(o, (jx.jit(cut)(x, scale, state), slope(cut, x), mapped(x.reshape(8, 2, 4), scale, state),
                      slope(mapped, x.reshape(8, 2, 4)), jx.tree.map(np.asarray, pm(x.reshape(8, 2, 4), scale, state))))  # fmt: skip


@case
def a_transform_of_fourier_turned_between_axes(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    x = (drawn(16, 8) + 1j * drawn(16, 8, seed=1)).astype(np.complex64)

    def both(a: Any) -> Any:
        a = jnp.fft.fft(a, axis=1)
        a = lax.all_to_all(a, "x", 1, 0, tiled=True)
        a = jnp.fft.fft(a, axis=0)
        return lax.all_to_all(a, "x", 0, 1, tiled=True)

    f = jx.jit(jx.shard_map(both, mesh=o.line, in_specs=P("x"), out_specs=P("x")))
    g = jx.jit(
        jx.grad(lambda r: (jnp.abs(jx.shard_map(both, mesh=o.line, in_specs=P("x"), out_specs=P("x"))(r)) ** 2).sum())
    )(x.real.astype(np.complex64))
    plain = jx.jit(lambda a: jnp.fft.fft2(a))(jx.device_put(x, o.at("x")))
    told = lambda z: [np.asarray(z.real), np.asarray(z.imag), str(z.sharding)]
    return [told(f(x)), [np.asarray(g.real), str(g.sharding)], told(plain)]


@case
def sorted_over_devices(o: Any) -> Any:
    """Even and odd neighbours merge in turns."""
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    x = drawn(32)

    def merge(a: Any) -> Any:
        i, n = lax.axis_index("x"), a.shape[0]
        a = jnp.sort(a)
        for turn in range(8):
            pairs = [(j, j + 1) for j in range(turn % 2, 7, 2)]
            other = lax.ppermute(a, "x", pairs + [(b, a) for a, b in pairs])
            both = jnp.sort(jnp.concatenate([a, other]))
            low = (i % 2 == turn % 2) & (i < 7)
            high = (i % 2 != turn % 2) & (i > 0)
            alone = ~(low | high) | ((i == 0) & ~low)
            a = jnp.where(alone, a, jnp.where(low, both[:n], both[n:]))
        return a

    f = jx.jit(jx.shard_map(merge, mesh=o.line, in_specs=P("x"), out_specs=P("x")))
    s = jx.device_put(x, o.at("x", mesh=o.line))
    auto = jx.jit(
        lambda a: (
            jnp.sort(a),
            jnp.argsort(a),
            jnp.cumsum(a),
            jnp.argmax(a),
            lax.top_k(a, 3),
            jnp.median(a),
            jnp.unique(a, size=5),
        )
    )(s)
    return leaves(o, (f(x), auto))


@case
def random_numbers_on_each_device(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    key = jx.random.key(7)

    def drop(key: Any, x: Any) -> Any:
        own = jx.random.fold_in(key, lax.axis_index("x"))
        return jnp.where(jx.random.bernoulli(own, 0.5, x.shape), x, 0), jx.random.permutation(own, jnp.arange(4))

    f = jx.jit(jx.shard_map(drop, mesh=o.line, in_specs=(P(), P("x")), out_specs=P("x")))
    keys = jx.device_put(jx.random.split(key, 8), o.at("x", mesh=o.line))
    each = jx.jit(
        jx.shard_map(lambda k: jx.random.normal(k[0], (1, 2)), mesh=o.line, in_specs=P("x"), out_specs=P("x"))
    )(keys)
    laid = jx.jit(
        lambda k: (
            jx.random.normal(k, (8, 2)),
            jx.random.choice(k, 8, (4,)),
            jx.random.categorical(k, jnp.zeros((8, 3))),
        ),
        out_shardings=o.at("x"),
    )(key)
    raw = jx.jit(lambda k: jx.random.uniform(k, (4,)), out_shardings=o.at("y"))(jx.random.PRNGKey(1))
    return leaves(o, (f(key, drawn(8, 4)), each, laid, raw))


@case
def conjugate_gradients_over_devices(o: Any) -> Any:
    """The loop ends by a sum over all devices; derivatives by the implicit rule."""
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    root = drawn(8, 8)
    a, b = root @ root.T + 8 * np.eye(8, dtype=np.float32), drawn(8, seed=1)

    def solve(a: Any, b: Any) -> Any:
        dot = lambda u, v: lax.psum(u @ v, "x")
        by = lambda p: a @ lax.all_gather(p, "x", tiled=True)

        def step(c: Any) -> Any:
            x, r, p, rr, n = c
            q = by(p)
            alpha = rr / dot(p, q)
            x, r = x + alpha * p, r - alpha * q
            new = dot(r, r)
            return x, r, r + new / rr * p, new, n + 1

        x, *_, n = lax.while_loop(lambda c: (c[3] > 1e-10) & (c[4] < 30), step, (jnp.zeros_like(b), b, b, dot(b, b), 0))
        return x, n

    f = jx.jit(jx.shard_map(solve, mesh=o.line, in_specs=(P("x"), P("x")), out_specs=(P("x"), P())))
    x, n = f(a, b)
    return [[float(np.abs(a @ np.asarray(x) - b).max()) < 1e-3, str(x.sharding), str(n.sharding)]]


@case
def remembered_in_part(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    w, x = drawn(4, 4), drawn(8, 4, seed=1)

    def block(w: Any, x: Any) -> Any:
        return jnp.sin(lax.psum(jnp.sin(x @ w), "y") / 2)

    def slopes(policy: Any) -> list[Any]:
        again = jx.checkpoint(block, policy=policy)
        inner = lambda w, x: again(w, again(w, x)).sum(keepdims=True)
        f = jx.shard_map(inner, mesh=o.mesh, in_specs=(P(), P("x")), out_specs=P("x"))
        outer = jx.checkpoint(lambda w, x: f(w, x).sum(), policy=policy)
        return leaves(o, jx.jit(jx.grad(outer, (0, 1)))(w, x))

    policies = jx.checkpoint_policies
    return [slopes(p) for p in (None, policies.dots_saveable, policies.everything_saveable)]


@case
def clusters_and_powers(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    x = drawn(32, 2)

    def step(x: Any, centres: Any) -> Any:
        near = jnp.argmin(((x[:, None] - centres) ** 2).sum(-1), 1)
        sums = lax.psum(jnp.zeros((3, 2)).at[near].add(x), "x")
        counts = lax.psum(jnp.bincount(near, length=3), "x")
        return sums / jnp.maximum(counts, 1)[:, None], near

    f = jx.jit(jx.shard_map(step, mesh=o.line, in_specs=(P("x"), P()), out_specs=(P(), P("x"))))
    auto = jx.jit(lambda x, c: jx.ops.segment_sum(x, jnp.argmin(((x[:, None] - c) ** 2).sum(-1), 1), 3))
    return leaves(o, (f(x, x[:3]), auto(jx.device_put(x, o.at("x")), x[:3])))
