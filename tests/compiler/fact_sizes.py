"""Programs of `fact_programs`, more of them: methods of many fields on arrays of some thousand elements, which XLA compiles in other
ways than small ones (sums in two steps, matrix products by a library, values computed again in several kernels)."""

from __future__ import annotations

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn, ops, random
from jitscope.experimental import sparse
from tests.compiler.fact_programs import PROGRAMS, f32, program


__all__ = ["PROGRAMS"]


@program(f32(100, 3), f32(100), f32(3))
def likelihood_of_a_gaussian_process(x, y, scales):
    def loss(scales):
        apart = (((x[:, None] - x[None]) / scales) ** 2).sum(-1)
        factor = jnp.linalg.cholesky(jnp.exp(-0.5 * apart) + 0.1 * jnp.eye(100))
        alpha = jx.scipy.linalg.cho_solve((factor, True), y)
        return 0.5 * y @ alpha + jnp.log(jnp.diag(factor)).sum()

    return jx.value_and_grad(loss)(scales)


@program(
    {"w": f32(40, 64), "b": f32(64), "out": f32(64, 10)}, f32(96, 40), np.arange(96, dtype=np.int32) % 10, np.uint32(1)
)
def private_gradients(p, xs, ys, seed):
    def loss(p, x, y):
        scores = nn.log_softmax(nn.relu(x @ p["w"] + p["b"]) @ p["out"])
        return -scores[y]

    def clipped(x, y):
        g = jx.grad(loss)(p, x, y)
        norm = jnp.sqrt(sum((leaf**2).sum() for leaf in jx.tree.leaves(g)))
        return jx.tree.map(lambda leaf: leaf / jnp.maximum(1.0, norm), g)

    total = jx.tree.map(lambda g: g.sum(0), jx.vmap(clipped)(xs, ys))
    keys = dict(zip(total, random.split(random.key(seed), 3)))
    return {k: p[k] - 0.1 * (g + random.normal(keys[k], g.shape)) / 96 for k, g in total.items()}


@program(f32(60, 2), f32(70, 2))
def transport_until_it_fits(a, b):
    cost = ((a[:, None] - b[None]) ** 2).sum(-1) / 0.05

    def apart(state):
        step, _, _, err = state
        return (step < 100) & (err > 1e-3)

    def turn(state):
        step, f, g, _ = state
        f = -nn.logsumexp(g[None] - cost, axis=1) - jnp.log(60.0)
        new = -nn.logsumexp(f[:, None] - cost, axis=0) - jnp.log(70.0)
        return step + 1, f, new, jnp.abs(new - g).max()

    _, f, g, err = lax.while_loop(apart, turn, (0, jnp.zeros(60), jnp.zeros(70), jnp.inf))
    plan = jnp.exp(f[:, None] + g[None] - cost)
    return (plan * cost).sum(), err


@program(f32(500, 4), f32(7, 4))
def clusters_until_they_rest(x, centres):
    def turn(state):
        step, centres, _ = state
        near = jnp.argmin(((x[:, None] - centres[None]) ** 2).sum(-1), axis=1)
        sums = ops.segment_sum(x, near, 7)
        counts = ops.segment_sum(jnp.ones(500), near, 7)
        new = jnp.where(counts[:, None] > 0, sums / jnp.maximum(counts, 1)[:, None], centres)
        return step + 1, new, jnp.linalg.norm(new - centres)

    return lax.while_loop(lambda s: (s[0] < 50) & (s[2] > 1e-4), turn, (0, centres, 1.0))


_MATRIX = np.where(f32(80, 60) > 0.8, f32(80, 60), 0).astype(np.float32)


@program(sparse.BCOO.fromdense(_MATRIX), f32(60, 8), f32(80, 8))
def sparse_regression(matrix, w, y):
    def loss(data, w):
        held = sparse.BCOO((data, matrix.indices), shape=matrix.shape)
        return ((held @ w - y) ** 2).mean() + 0.01 * jnp.abs(data).sum()

    value, (slope, step) = jx.value_and_grad(loss, argnums=(0, 1))(matrix.data, w)
    return value, matrix.data - 0.1 * slope, w - 0.1 * step


@program(f32(2, 64, 64), f32(2, 9, 9))
def convolution_by_transform(images, windows):
    def loss(windows):
        there = jnp.fft.rfft2(images) * jnp.fft.rfft2(windows, s=(64, 64))
        return (jnp.tanh(jnp.fft.irfft2(there, s=(64, 64))) ** 2).sum()

    return jx.value_and_grad(loss)(windows)


@program({"w": f32(6, 32), "v": f32(32, 4)}, np.uint32(4))
def rollouts_of_many_worlds(p, seed):
    def world(key):
        start, key = random.split(key)

        def step(carry, key):
            state, total = carry
            scores = jnp.tanh(state @ p["w"]) @ p["v"]
            chosen = random.categorical(key, scores)
            state = 0.9 * state + 0.1 * nn.one_hot(chosen, 6) + 0.01 * random.normal(key, (6,))
            gain = lax.cond(chosen == 0, lambda s: s.sum(), lambda s: -(s**2).mean(), state)
            return (state, total + gain), (gain, nn.log_softmax(scores)[chosen])

        (_, total), (gains, logp) = lax.scan(step, (random.uniform(start, (6,)), 0.0), random.split(key, 20))
        return total, (gains[::-1].cumsum()[::-1] * logp).sum()

    totals, losses = jx.vmap(world)(random.split(random.key(seed), 48))
    return totals.mean(), losses.std()


@program(f32(50), np.uint32(2))
def hamiltonian_chain(start, seed):
    def energy(x):
        return 0.5 * (x**2).sum() + 0.25 * ((x[1:] - x[:-1]) ** 4).sum()

    def proposal(x, key):
        key, other = random.split(key)
        v = random.normal(key, x.shape)

        def leap(state, _):
            x, v = state
            v = v - 0.05 * jx.grad(energy)(x)
            x = x + 0.1 * v
            return (x, v - 0.05 * jx.grad(energy)(x)), None

        (new, w), _ = lax.scan(leap, (x, v), None, length=10)
        change = energy(x) + 0.5 * (v**2).sum() - energy(new) - 0.5 * (w**2).sum()
        taken = jnp.log(random.uniform(other)) < change
        return jnp.where(taken, new, x), (taken, energy(new))

    return lax.scan(proposal, start, random.split(random.key(seed), 15))


@program({"in": f32(48, 32), "mean": f32(32, 5), "spread": f32(32, 5), "out": f32(5, 48)}, f32(64, 48), np.uint32(7))
def variational_autoencoder(p, x, seed):
    def loss(p):
        h = nn.softplus(x @ p["in"] / 48)
        mean, spread = h @ p["mean"], h @ p["spread"]
        z = mean + jnp.exp(0.5 * spread) * random.normal(random.key(seed), mean.shape)
        scores = z @ p["out"]
        told = (jnp.logaddexp(0, scores) - x * scores).sum(-1)
        return (told - 0.5 * (1 + spread - mean**2 - jnp.exp(spread)).sum(-1)).mean()

    return jx.value_and_grad(loss)(p)


@program([f32(3, 8, 16) for _ in range(3)], f32(4, 64, 8))
def dilated_waves(windows, x):
    def loss(windows):
        h, skipped = x, 0.0
        for i, w in enumerate(windows):
            padded = jnp.pad(h, ((0, 0), (2 * 2**i, 0), (0, 0)))
            both = lax.conv_general_dilated(
                padded, w, (1,), "VALID", rhs_dilation=(2**i,), dimension_numbers=("NWC", "WIO", "NWC")
            )
            a, b = jnp.split(both, 2, -1)
            gated = jnp.tanh(a) * nn.sigmoid(b)
            h, skipped = h + gated, skipped + gated
        return ((skipped[:, :-1] - x[:, 1:]) ** 2).mean()

    return jx.grad(loss)(windows)


@program([{"s": f32(3, 3), "t": f32(3, 3)} for _ in range(4)], f32(200, 6))
def coupling_layers(layers, x):
    def loss(layers):
        z, logdet = x, 0.0
        for i, p in enumerate(layers):
            a, b = (z[:, :3], z[:, 3:]) if i % 2 else (z[:, 3:], z[:, :3])
            s, t = jnp.tanh(a @ p["s"]), a @ p["t"]
            z, logdet = jnp.concatenate([a, b * jnp.exp(s) + t], 1), logdet + s.sum(1)
        return (0.5 * (z**2).sum(1) - logdet).mean()

    return jx.grad(loss)(layers)


@program(f32(40, 12), np.array([3, 1, 4, 1, 5], np.int32))
def labels_without_times(scores, labels):
    def loss(scores):
        logp = nn.log_softmax(scores)
        wide = jnp.zeros(11, jnp.int32).at[1::2].set(labels)
        skips = jnp.concatenate([jnp.zeros(2, bool), (wide[2:] != 0) & (wide[2:] != wide[:-2])])

        def step(alpha, at):
            one = jnp.concatenate([jnp.array([-1e30]), alpha[:-1]])
            two = jnp.where(skips, jnp.concatenate([jnp.full(2, -1e30), alpha[:-2]]), -1e30)
            new = nn.logsumexp(jnp.stack([alpha, one, two]), axis=0) + at[wide]
            return new, new.max()

        start = jnp.full(11, -1e30).at[0].set(logp[0, 0]).at[1].set(logp[0, labels[0]])
        last, _ = lax.scan(step, start, logp[1:])
        return -jnp.logaddexp(last[-1], last[-2])

    return jx.value_and_grad(loss)(scores)


@program(f32(50, 40), f32(40, 40))
def likeliest_path(emitted, moves):
    def forth(best, now):
        ways = best[:, None] + moves
        return ways.max(0) + now, jnp.argmax(ways, axis=0)

    last, came = lax.scan(forth, emitted[0], emitted[1:])
    end = jnp.argmax(last)
    _, path = lax.scan(lambda at, row: (row[at], row[at]), end, came, reverse=True)
    return last.max(), jnp.concatenate([path, end[None]])


@program(f32(64, 3), f32(64, 3), {"w": f32(24, 32), "out": f32(32, 4)})
def rays_through_a_field(origins, directions, p):
    def colour(p):
        depth = jnp.linspace(0.5, 2.0, 24)
        points = origins[:, None] + directions[:, None] * depth[:, None]
        waves = points[..., None] * 2.0 ** jnp.arange(4)
        encoded = jnp.concatenate([jnp.sin(waves), jnp.cos(waves)], -1).reshape(64, 24, 24)
        raw = nn.relu(encoded @ p["w"]) @ p["out"]
        opacity = 1 - jnp.exp(-nn.relu(raw[..., 3]) * 0.06)
        left = jnp.cumprod(1 - opacity + 1e-6, axis=1)
        weights = opacity * jnp.concatenate([jnp.ones((64, 1)), left[:, :-1]], 1)
        return (weights[..., None] * nn.sigmoid(raw[..., :3])).sum(1)

    return jx.grad(lambda p: ((colour(p) - 0.5) ** 2).mean())(p)


@program(f32(9, 40, 40))
def lattice_of_fluid(f):
    cx, cy = jnp.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), jnp.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    weights = jnp.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)

    def step(f, _):
        density = f.sum(0)
        ux = jnp.tensordot(cx.astype(f.dtype), f, 1) / density
        uy = jnp.tensordot(cy.astype(f.dtype), f, 1) / density
        along = 3 * (cx[:, None, None] * ux + cy[:, None, None] * uy)
        rest = weights[:, None, None] * density * (1 + along + 0.5 * along**2 - 1.5 * (ux**2 + uy**2))
        f = f - (f - rest) / 0.6
        moved = [jnp.roll(f[i], (int(x), int(y)), (0, 1)) for i, (x, y) in enumerate(_WAYS)]
        return jnp.stack(moved), (ux**2 + uy**2).mean()

    return lax.scan(step, f, None, length=8)


_WAYS = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))


@program({"w": f32(20, 64), "v": f32(64, 1)}, f32(256, 20), f32(256))
def adam_over_minibatches(p, xs, ys):
    def loss(p, x, y):
        return (((jnp.tanh(x @ p["w"]) @ p["v"])[:, 0] - y) ** 2).mean()

    def step(state, t):
        p, m, v = state
        x = lax.dynamic_slice_in_dim(xs, t * 32, 32)
        y = lax.dynamic_slice_in_dim(ys, t * 32, 32)
        value, g = jx.value_and_grad(loss)(p, x, y)
        m = jx.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jx.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        fix = lambda a, b: a / (1 - b ** (t + 1.0))
        p = jx.tree.map(lambda p, m, v: p - 0.01 * fix(m, 0.9) / (jnp.sqrt(fix(v, 0.999)) + 1e-8), p, m, v)
        return (p, m, v), value

    zeros = jx.tree.map(jnp.zeros_like, p)
    return lax.scan(step, (p, zeros, zeros), jnp.arange(8))


@program(f32(2, 48, 48), f32(2, 48, 48))
def likeness_of_images(a, b):
    def smooth(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 7, 7), (1, 1, 1), "VALID") / 49

    def likeness(a):
        ma, mb = smooth(a), smooth(b)
        va, vb, vab = smooth(a * a) - ma**2, smooth(b * b) - mb**2, smooth(a * b) - ma * mb
        return ((2 * ma * mb + 1e-4) * (2 * vab + 9e-4) / ((ma**2 + mb**2 + 1e-4) * (va + vb + 9e-4))).mean()

    return jx.value_and_grad(likeness)(a)


@program({"a": f32(40, 16), "b": f32(30, 16)}, {"a": f32(40, 16), "b": f32(30, 16)}, f32(64, 40), f32(64, 30))
def contrast_of_two_towers(p, slow, xs, ys):
    def unit(z):
        return z / jnp.sqrt((z**2).sum(-1, keepdims=True) + 1e-6)

    def loss(p):
        near = unit(xs @ p["a"]) @ lax.stop_gradient(unit(ys @ slow["b"])).T / 0.1
        back = unit(ys @ p["b"]) @ lax.stop_gradient(unit(xs @ slow["a"])).T / 0.1
        return -(jnp.diag(nn.log_softmax(near)) + jnp.diag(nn.log_softmax(back))).mean()

    value, g = jx.value_and_grad(loss)(p)
    p = jx.tree.map(lambda p, g: p - 0.1 * g, p, g)
    return value, p, jx.tree.map(lambda s, p: 0.99 * s + 0.01 * p, slow, p)


@program(f32(300), f32(20), np.float32(0.3))
def quantiles_and_splines(x, knots, q):
    ordered = jnp.sort(x)
    knots = jnp.sort(knots)
    at = jnp.clip(jnp.searchsorted(knots, ordered) - 1, 0, 18)
    t = (ordered - knots[at]) / (knots[at + 1] - knots[at])
    smooth = jnp.sin(knots)[at] * (1 - t) + jnp.sin(knots)[at + 1] * t
    return jnp.quantile(x, q), smooth, jnp.histogram(x, knots)[0], jnp.interp(x, knots, jnp.cos(knots)).sum()


@program(f32(40, 3), f32(40, 3))
def molecules(x, v):
    def energy(x):
        apart = x[:, None] - x[None]
        apart = apart - jnp.round(apart)
        r2 = jnp.where(jnp.eye(40, dtype=bool), 1.0, (apart**2).sum(-1) + 0.05)
        pulls = jnp.where(r2 < 0.25, (0.01 / r2) ** 6 - (0.01 / r2) ** 3, 0.0)
        return 2 * (pulls * (1 - jnp.eye(40))).sum()

    def step(_, state):
        x, v, f = state
        v = v + 0.5e-3 * f
        x = (x + 1e-3 * v) % 1.0
        f = -jx.grad(energy)(x)
        return x, v + 0.5e-3 * f, f

    x, v, _ = lax.fori_loop(0, 12, step, (x, v, -jx.grad(energy)(x)))
    return energy(x), 0.5 * (v**2).sum()


@program({"q": f32(64, 64), "k": f32(64, 64), "v": f32(64, 64)}, f32(2, 128, 64))
def attention_in_pieces(p, x):
    """Attention with the sums of the softmax carried from piece to piece of the keys."""

    def loss(p):
        q, k, v = (x @ p[name] for name in "qkv")
        pieces = jx.tree.map(lambda a: a.reshape(2, 4, 32, 64).transpose(1, 0, 2, 3), (k, v))

        def piece(carry, kv):
            most, norm, out = carry
            scores = jnp.einsum("bqd,bkd->bqk", q, kv[0]) / 8
            new = jnp.maximum(most, scores.max(-1))
            e, old = jnp.exp(scores - new[..., None]), jnp.exp(most - new)
            out = out * old[..., None] + jnp.einsum("bqk,bkd->bqd", e, kv[1])
            return (new, norm * old + e.sum(-1), out), None

        start = (jnp.full((2, 128), -1e30), jnp.zeros((2, 128)), jnp.zeros((2, 128, 64)))
        (_, norm, out), _ = lax.scan(jx.checkpoint(piece), start, pieces)
        return ((out / norm[..., None]) ** 2).mean()

    return jx.grad(loss)(p)
