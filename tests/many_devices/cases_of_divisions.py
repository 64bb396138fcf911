"""Larger programs, one for each way to divide work."""

from __future__ import annotations

import math
from functools import partial
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
def everything_divided_by_the_compiler(o: Any) -> Any:
    """Weights and moments lie in rows over all devices, given away and laid as before in each step."""
    jx = o.jx
    spread = {"in": o.at(("x", "y")), "b": o.at(("x", "y")), "out": o.at(None, ("x", "y"))}
    w = jx.device_put(weights(), spread)
    m = jx.tree.map(lambda p: p * 0, w)
    x, y = jx.device_put((drawn(16, 8, seed=3), drawn(16, 8, seed=4)), o.at("x"))

    @partial(jx.jit, donate_argnums=(0, 1), out_shardings=((spread, spread), None))
    def step(w: Any, m: Any, x: Any, y: Any) -> Any:
        loss, grad = jx.value_and_grad(lambda w: ((perceptron(o, w, x) - y) ** 2).mean())(w)
        m = jx.tree.map(lambda m, g: 0.9 * m + g, m, grad)
        return (jx.tree.map(lambda p, m: p - 0.1 * m, w, m), m), loss

    first = w["in"]
    for _ in range(3):
        (w, m), loss = step(w, m, x, y)
    return [leaves(o, (w, m)), np.asarray(loss), first.is_deleted()]


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
def keys_and_values_in_a_ring(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    q, k, v = drawn(16, 4), drawn(16, 4, seed=1), drawn(16, 4, seed=2)
    ring = [(i, (i + 1) % 8) for i in range(8)]

    def attend(q: Any, k: Any, v: Any) -> Any:
        def turn(i: Any, c: Any) -> Any:
            k, v, top, low, acc = c
            s = q @ k.T / 2
            new = jnp.maximum(top, s.max(-1))
            old, p = jnp.exp(top - new), jnp.exp(s - new[:, None])
            low, acc = low * old + p.sum(-1), acc * old[:, None] + p @ v
            return lax.ppermute(k, "x", ring), lax.ppermute(v, "x", ring), new, low, acc

        start = (k, v, jnp.full_like(q[:, 0], -1e9), jnp.zeros_like(q[:, 0]), jnp.zeros_like(q))
        *_, low, acc = lax.fori_loop(0, 8, turn, start)
        return acc / low[:, None]

    f = jx.shard_map(attend, mesh=o.line, in_specs=P("x"), out_specs=P("x"))
    return leaves(o, (jx.jit(f)(q, k, v), jx.jit(jx.grad(lambda *a: (f(*a) ** 2).sum(), (0, 1, 2)))(q, k, v)))


@case
def heat_in_tiles(o: Any) -> Any:
    """Borders go to the four neighbours; outside it is cold."""
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    u = drawn(16, 8)

    def exchange(u: Any, axis: int, name: str, n: int) -> Any:
        last, first = lax.slice_in_dim(u, -1, None, axis=axis), lax.slice_in_dim(u, 0, 1, axis=axis)
        before = lax.ppermute(last, name, [(i, i + 1) for i in range(n - 1)])
        after = lax.ppermute(first, name, [(i + 1, i) for i in range(n - 1)])
        return jnp.concatenate([before, u, after], axis)

    def move(u: Any) -> Any:
        a = exchange(u, 0, "x", 4)
        b = exchange(u, 1, "y", 2)
        return u + 0.1 * (a[:-2] + a[2:] + b[:, :-2] + b[:, 2:] - 4 * u)

    def step(u: Any, _: Any) -> Any:
        new = move(u)
        return new, lax.pmax(jnp.abs(new - u).max(), ("x", "y"))

    f = jx.shard_map(
        lambda u: lax.scan(step, u, length=5), mesh=o.mesh, in_specs=P("x", "y"), out_specs=(P("x", "y"), P())
    )
    g = jx.shard_map(
        lambda u: lax.scan(lambda u, _: (move(u), None), u, length=5)[0],
        mesh=o.mesh,
        in_specs=P("x", "y"),
        out_specs=P("x", "y"),
    )
    slope = jx.jit(jx.grad(lambda u: (g(u) * u).sum()))(u)
    return leaves(o, (jx.jit(f)(u), slope, jx.jvp(g, (u,), (u,))))


@case
def layers_one_after_another_in_a_scan(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    w, x = drawn(8, 4, 4) / 2, drawn(6, 3, 4, seed=1)

    def run(w: Any, x: Any) -> Any:
        i = lax.axis_index("x")

        def tick(c: Any, t: Any) -> Any:
            fed = jnp.where(i == 0, x[jnp.clip(t, 0, 5)], c)
            out = jnp.tanh(fed @ w[0])
            return lax.ppermute(out, "x", [(j, (j + 1) % 8) for j in range(8)]), jnp.where(i == 7, out, 0)

        start = lax.pcast(jnp.zeros((3, 4)), "x", to="varying")
        _, outs = lax.scan(tick, start, jnp.arange(13))
        return lax.psum(outs[7:], "x")

    f = jx.shard_map(run, mesh=o.line, in_specs=(P("x"), P()), out_specs=P())
    return leaves(o, (jx.jit(f)(w, x), jx.jit(jx.grad(lambda *a: (f(*a) ** 2).sum(), (0, 1)))(w, x)))


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
def words_of_a_divided_table(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    table, words = drawn(32, 4), np.arange(24, dtype=np.int32).reshape(4, 6) * 7 % 32

    def look(table: Any, words: Any) -> Any:
        first = lax.axis_index("y") * table.shape[0]
        own = words - first
        here = (own >= 0) & (own < table.shape[0])
        return lax.psum(jnp.where(here[..., None], table[jnp.clip(own, 0, table.shape[0] - 1)], 0), "y")

    f = jx.shard_map(look, mesh=o.mesh, in_specs=(P("y"), P("x")), out_specs=P("x"))
    spread = jx.device_put(table, o.at("y")), jx.device_put(words, o.at("x"))
    slope = jx.jit(jx.grad(lambda t: (f(t, words) ** 2).sum()))(spread[0])
    auto = jx.jit(jx.value_and_grad(lambda t, w: (t[w] ** 2).sum()), out_shardings=(None, o.at("y")))(*spread)
    return leaves(o, (jx.jit(f)(*spread), slope, auto))


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
def products_in_two_dimensions(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    a, b = drawn(8, 16), drawn(16, 4, seed=1)

    def gathered(a: Any, b: Any) -> Any:
        return lax.all_gather(a, "y", axis=1, tiled=True) @ lax.all_gather(b, "x", axis=0, tiled=True)

    square = jx.make_mesh((2, 2), ("r", "c"), axis_types=(o.S.AxisType.Auto,) * 2)

    def cannon(a: Any, b: Any) -> Any:
        r, c = lax.axis_index("r"), lax.axis_index("c")
        a = jnp.where(r == 1, lax.ppermute(a, "c", [(0, 1), (1, 0)]), a)
        b = jnp.where(c == 1, lax.ppermute(b, "r", [(0, 1), (1, 0)]), b)
        total = a @ b
        return total + lax.ppermute(a, "c", [(0, 1), (1, 0)]) @ lax.ppermute(b, "r", [(0, 1), (1, 0)])

    f = jx.shard_map(gathered, mesh=o.mesh, in_specs=(P("x", "y"), P("x", "y")), out_specs=P("x", "y"))
    g = jx.shard_map(cannon, mesh=square, in_specs=P("r", "c"), out_specs=P("r", "c"))
    slope = lambda f: jx.jit(jx.grad(lambda a, b: (f(a, b) ** 2).sum(), (0, 1)))(a, b)
    return leaves(o, (jx.jit(f)(a, b), slope(f), jx.jit(g)(a, b), slope(g)))


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
def sums_that_run_over_devices(o: Any) -> Any:
    jx, jnp, lax, P = o.jx, o.jnp, o.lax, o.P
    x = drawn(32, 2)

    def run(a: Any) -> Any:
        own = jnp.cumsum(a, 0)
        all_ = lax.all_gather(own[-1], "x")
        before = jnp.where(jnp.arange(8)[:, None] < lax.axis_index("x"), all_, 0).sum(0)
        return own + before

    def best(a: Any) -> Any:
        i = jnp.argmax(a[:, 0])
        top = lax.pmax(a[i, 0], "x")
        at = jnp.where(a[i, 0] == top, lax.axis_index("x") * a.shape[0] + i, 10_000)
        return top, lax.pmin(at, "x")

    f = jx.shard_map(run, mesh=o.line, in_specs=P("x"), out_specs=P("x"))
    g = jx.shard_map(best, mesh=o.line, in_specs=P("x"), out_specs=P())
    return leaves(o, (jx.jit(f)(x), jx.jit(jx.grad(lambda a: (f(a) ** 2).sum()))(x), jx.jit(g)(x), x[:, 0].argmax()))


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
def own_backward_pass_with_a_sum(o: Any) -> Any:
    """Two functions of a known paper: one sums forward, the other backward."""
    jx, lax, P = o.jx, o.lax, o.P

    @jx.custom_vjp
    def forward_sum(x: Any) -> Any:
        return lax.psum(x, "y")

    forward_sum.defvjp(lambda x: (lax.psum(x, "y"), None), lambda _, g: (g,))

    @jx.custom_vjp
    def backward_sum(x: Any) -> Any:
        return x

    backward_sum.defvjp(lambda x: (x, None), lambda _, g: (lax.psum(g, "y"),))
    w, x = weights(), drawn(8, 8, seed=5)
    specs = {"in": P(None, "y"), "b": P("y"), "out": P("y", None)}
    f = jx.shard_map(
        lambda w, x: forward_sum(perceptron(o, w, backward_sum(x))),
        mesh=o.mesh,
        in_specs=(specs, P("x")),
        out_specs=P("x"),
        check_vma=False,
    )
    return leaves(o, (jx.jit(f)(w, x), jx.jit(f)(w, x * 2)))


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
