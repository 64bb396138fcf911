"""Programs of `fact_programs`, more of them: what people run as a whole, with loops in loops, random numbers and rules by hand."""

from __future__ import annotations

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn, random
from jitscope.experimental.ode import odeint
from tests.scope.fact_programs import PROGRAMS, f32, program


__all__ = ["PROGRAMS"]


@program({"w": f32(4, 16), "pi": f32(16, 3), "v": f32(16, 1)}, f32(8, 6, 4), f32(8, 6), np.uint32(3))
def proximal_policy(params, seen, rewards, seed):
    def policy(params, x):
        h = jnp.tanh(x @ params["w"])
        return nn.log_softmax(h @ params["pi"]), (h @ params["v"])[..., 0]

    def loss(params, batch):
        x, chosen, before, gain, goal = batch
        scores, value = policy(params, x)
        logp = jnp.take_along_axis(scores, chosen[:, None], axis=-1)[:, 0]
        ratio = jnp.exp(logp - before)
        clipped = jnp.clip(ratio, 0.8, 1.2) * gain
        entropy = -(jnp.exp(scores) * scores).sum(-1).mean()
        return -jnp.minimum(ratio * gain, clipped).mean() + 0.5 * ((value - goal) ** 2).mean() - 0.01 * entropy

    def earlier(after, t):
        reward, value = t
        gain = reward + 0.99 * after[1] - value + 0.95 * 0.99 * after[0]
        return (gain, value), gain

    key = random.key(seed)
    scores, values = policy(params, seen)
    chosen = random.categorical(key, scores)
    logp = jnp.take_along_axis(scores, chosen[..., None], axis=-1)[..., 0]
    _, gains = lax.scan(earlier, (jnp.zeros(6), values[-1]), (rewards, values), reverse=True)
    data = jx.tree.map(lambda a: a.reshape(48, *a.shape[2:]), (seen, chosen, logp, gains, gains + values))

    def step(params, part):
        batch = jx.tree.map(lambda a: a[part], data)
        value, slope = jx.value_and_grad(loss)(params, batch)
        return jx.tree.map(lambda p, g: p - 0.01 * g, params, slope), value

    def epoch(params, key):
        return lax.scan(step, params, random.permutation(key, 48).reshape(4, 12))

    return lax.scan(epoch, params, random.split(key, 2))


@program({"w": f32(4, 16), "pi": f32(16, 3)}, f32(6, 4), np.uint32(5))
def policy_in_its_world(params, state, seed):
    def act(params, state, key):
        scores = jnp.tanh(state @ params["w"]) @ params["pi"]
        chosen = random.categorical(key, scores)
        return chosen, jnp.take_along_axis(nn.log_softmax(scores), chosen[:, None], axis=-1)[:, 0]

    def gain(params, state):
        def step(carry, key):
            state, total = carry
            chosen, logp = act(params, state, key)
            push = (chosen[:, None] - 1) * 0.1
            state = state + 0.05 * jnp.roll(state, 1, axis=1) + push
            reward = -(state**2).sum(-1)
            return (state, total + reward), logp * lax.stop_gradient(reward)

        (_, total), parts = lax.scan(step, (state, jnp.zeros(6)), random.split(random.key(seed), 5))
        return parts.sum(0).mean(), total.mean()

    (value, reward), slope = jx.value_and_grad(gain, has_aux=True)(params, state)
    return jx.tree.map(lambda p, g: p + 0.1 * g, params, slope), value, reward


@program(
    {"a": f32(1, 16), "b": f32(16, 3)}, f32(4, 64, 1), np.tile(np.arange(64, dtype=np.int32) % 3, (4, 1)), f32(4, 64)
)
def steps_on_one_feature(w, xs, labels, gains):
    def loss(w, x, label, gain):
        scores = nn.log_softmax(jnp.tanh(x @ w["a"]) @ w["b"])
        gain = (gain - gain.mean()) / gain.std()
        return -(scores[jnp.arange(64), label] * gain).mean()

    def step(w, batch):
        slope = jx.grad(loss)(w, *batch)
        norm = jnp.sqrt(sum((g**2).sum() for g in jx.tree.leaves(slope)))
        return jx.tree.map(lambda w, g: w - 0.1 * g * jnp.minimum(1.0, 0.5 / norm), w, slope), norm

    return lax.scan(step, w, (xs, labels, gains))


@program({"big": f32(9, 9), "small": f32(9, 9)}, np.int32(2), np.uint32(1))
def speculative_decoding(p, token, seed):
    def draft(carry, key):
        token, _ = carry
        scores = nn.log_softmax(p["small"][token])
        token = random.categorical(key, scores).astype(jnp.int32)
        return (token, scores), (token, scores)

    def decode(state):
        length, token, key, out = state
        key, guess, accept, again = random.split(key, 4)
        _, (guesses, small) = lax.scan(draft, (token, jnp.zeros(9)), random.split(guess, 4))
        before = jnp.concatenate([token[None], guesses[:-1]])
        big = nn.log_softmax(p["big"][before])
        pick = lambda scores: jnp.take_along_axis(scores, guesses[:, None], axis=1)[:, 0]
        taken = random.uniform(accept, (4,)) < jnp.exp(jnp.minimum(pick(big) - pick(small), 0.0))
        count = jnp.cumprod(taken.astype(jnp.int32)).sum()
        row = jnp.minimum(count, 3)
        rest = jnp.maximum(jnp.exp(big[row]) - jnp.exp(small[row]), 1e-6)
        token = random.categorical(again, jnp.log(rest)).astype(jnp.int32)
        out = lax.dynamic_update_slice(out, jnp.where(jnp.arange(4) < count, guesses, token), (length,))
        return length + count + 1, token, key, out

    start = (jnp.int32(0), token, random.key(seed), jnp.zeros(24, jnp.int32))
    return lax.while_loop(lambda s: s[0] < 16, decode, start)[3]


@program({"a": f32(6, 4), "b": f32(6, 4), "c": f32(6, 4), "step": f32(6, 6), "mix": f32(2, 6)}, f32(3, 10, 6))
def selective_scan(p, xs):
    def one(xs):
        shifted = jnp.pad(xs, ((1, 0), (0, 0)))[:-1]
        mixed = xs * p["mix"][0] + shifted * p["mix"][1]
        steps = nn.softplus(mixed @ p["step"])
        decay = jnp.exp(-steps[..., None] * p["a"])
        given = steps[..., None] * p["b"] * mixed[..., None]

        def turn(h, t):
            keep, new = t
            h = keep * h + new
            return h, (h * p["c"]).sum(-1)

        _, ys = lax.scan(turn, jnp.zeros((6, 4)), (decay, given))
        return ys * nn.silu(xs)

    return (jx.vmap(one)(xs) ** 2).mean()


@program({"in": f32(3, 16), "out": f32(16, 2), "time": f32(16)}, np.uint32(4))
def guided_sampler(p, seed):
    steps = 12
    noise = jnp.cos(jnp.linspace(0, 1.5, steps + 1)) ** 2

    def predict(x, t):
        h = jnp.concatenate([x, jnp.full((x.shape[0], 1), t)], axis=1) @ p["in"]
        return nn.gelu(h + p["time"] * t) @ p["out"]

    def step(carry, i):
        x, key = carry
        key, sub = random.split(key)
        now, after = noise[steps - i], noise[steps - i - 1]
        eps = predict(x, now)
        clean = jnp.clip((x - jnp.sqrt(1 - now) * eps) / jnp.sqrt(now + 1e-3), -3, 3)
        pull = jx.grad(lambda x: ((x - 1) ** 2).sum())(x)
        x = jnp.sqrt(after) * clean + jnp.sqrt(1 - after) * eps - 0.01 * pull
        x = lax.cond(i < steps - 1, lambda x: x + 0.05 * random.normal(sub, x.shape), lambda x: x, x)
        return (x, key), (x**2).mean()

    start = random.normal(random.key(seed), (5, 2))
    return lax.scan(step, (start, random.key(seed)), jnp.arange(steps))


@program(
    {"q": f32(5, 8), "k": f32(5, 8), "v": f32(5, 8)},
    f32(7, 5),
    np.array([0, 1, 2, 3, 4, 5, 6, 0, 2]),
    np.array([1, 2, 3, 4, 5, 6, 0, 3, 5]),
)
def graph_attention(p, nodes, senders, receivers):
    def layer(nodes):
        q, k, v = (nodes @ p[name] for name in "qkv")
        scores = (q[receivers] * k[senders]).sum(-1) / 8**0.5
        most = jx.ops.segment_max(scores, receivers, 7)
        weights = jnp.exp(scores - most[receivers])
        total = jx.ops.segment_sum(weights, receivers, 7)
        return jx.ops.segment_sum(weights[:, None] * v[senders], receivers, 7) / (total[:, None] + 1e-6)

    return jx.value_and_grad(lambda nodes: (layer(nodes) ** 2).sum())(nodes)


@jx.custom_vjp
def _fixed_point(theta, x):
    return lax.while_loop(
        lambda s: jnp.abs(s[0] - s[1]).max() > 1e-5, lambda s: (jnp.tanh(theta @ s[0] + x), s[0]), (x, x + 1.0)
    )[0]


def _fixed_forward(theta, x):
    found = _fixed_point(theta, x)
    return found, (theta, x, found)


def _fixed_backward(kept, given):
    theta, x, found = kept
    _, pull = jx.vjp(lambda z: jnp.tanh(theta @ z + x), found)
    solved = lax.fori_loop(0, 20, lambda _, u: given + pull(u)[0], given)
    _, back = jx.vjp(lambda theta, x: jnp.tanh(theta @ found + x), theta, x)
    return back(solved)


_fixed_point.defvjp(_fixed_forward, _fixed_backward)


@program(f32(4, 4) * 0.3, f32(4))
def implicit_derivative(theta, x):
    return jx.value_and_grad(lambda theta: (_fixed_point(theta, x) ** 2).sum())(theta)


@program(f32(3), f32(12), f32(12))
def gauss_newton(theta, t, y):
    def residual(theta):
        return theta[0] * jnp.exp(-theta[1] * t) + theta[2] - y

    def step(state):
        theta, damping, i = state
        r, jac = residual(theta), jx.jacfwd(residual)(theta)
        move = jnp.linalg.solve(jac.T @ jac + damping * jnp.eye(3), jac.T @ r)
        better = (residual(theta - move) ** 2).sum() < (r**2).sum()
        return jnp.where(better, theta - move, theta), jnp.where(better, damping * 0.5, damping * 2), i + 1

    return lax.while_loop(lambda s: (s[2] < 10) & (s[1] < 1e3), step, (theta, jnp.float32(1e-2), jnp.int32(0)))


@program(f32(40), np.uint32(2))
def bootstrap_filter(observed, seed):
    def step(carry, t):
        particles, key = carry
        z, key = t, random.split(key)[0]
        move, resample = random.split(key)
        particles = 0.9 * particles + 0.3 * random.normal(move, particles.shape)
        logw = -0.5 * ((z - particles) / 0.2) ** 2
        weights = nn.softmax(logw)
        few = 1 / (weights**2).sum() < 16
        places = jnp.searchsorted(jnp.cumsum(weights), (jnp.arange(32) + random.uniform(resample)) / 32)
        particles = lax.cond(few, lambda p: p[jnp.minimum(places, 31)], lambda p: p, particles)
        return (particles, key), (nn.logsumexp(logw), (weights * particles).sum())

    start = (random.normal(random.key(seed), (32,)), random.key(seed))
    return lax.scan(step, start, observed)[1]


@program(f32(2, 64), f32(9))
def long_convolution(x, kernel):
    def filtered(kernel):
        size = 64 + 8
        return jnp.fft.irfft(jnp.fft.rfft(x, size) * jnp.fft.rfft(kernel, size), size)[:, :64]

    return jx.value_and_grad(lambda kernel: (jnp.abs(filtered(kernel)) ** 1.5).mean())(kernel)


@program(f32(4), f32(4))
def until_the_orbit_closes(q, p):
    def energy(q, p):
        return 0.5 * (p**2).sum() + (jnp.cos(q) * q).sum()

    def leap(state):
        q, p, n, first = state
        p = p - 0.05 * jx.grad(energy)(q, p)
        q = q + 0.1 * jx.grad(energy, argnums=1)(q, p)
        p = p - 0.05 * jx.grad(energy)(q, p)
        return q, p, n + 1, first

    return lax.while_loop(
        lambda s: (s[2] < 50) & (jnp.abs(energy(s[0], s[1]) - s[3]) < 1.0), leap, (q, p, jnp.int32(0), energy(q, p))
    )


@program(f32(2, 16, 8), f32(2, 16, 8), f32(2, 16, 8), np.tile(np.array([[0, 1], [0, 1], [1, 2], [2, 3]]), (2, 1, 1)))
def sparse_attention(q, k, v, table):
    def head(q, k, v, table):
        blocks = lambda x: x.reshape(4, 4, 8)
        near = lambda x: blocks(x)[table].reshape(4, 8, 8)
        scores = jnp.einsum("bqd,bkd->bqk", blocks(q), near(k)) / 8**0.5
        return jnp.einsum("bqk,bkd->bqd", nn.softmax(scores), near(v)).reshape(16, 8)

    def loss(q, k, v):
        return (jx.vmap(head)(q, k, v, table) ** 2).sum()

    return jx.grad(loss, argnums=(0, 1, 2))(q, k, v)


@program((f32(6, 12) * 100).astype(np.int8), (f32(12, 5) * 100).astype(np.int8), f32(6, 1), f32(5))
def quantised_product(a, b, left, right):
    whole = lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
    y = nn.relu(whole.astype(jnp.float32) * left * right)
    scale = jnp.abs(y).max() / 127
    return jnp.clip(jnp.round(y / scale), -128, 127).astype(jnp.int8), scale


@program(f32(12, 4), f32(3, 4, 5), f32(4, 3))
def experts_of_ragged_groups(x, weights, gate):
    chosen = jnp.argmax(x @ gate, axis=-1)
    order = jnp.argsort(chosen)
    sizes = jnp.bincount(chosen, length=3).astype(jnp.int32)
    out = lax.ragged_dot(x[order], weights, sizes)
    return jnp.zeros((12, 5)).at[order].set(out)


@program(f32(3), f32(2))
def adjoint_of_an_ode(theta, y):
    def slope(y, t, theta):
        return jnp.stack([theta[0] * y[0] - theta[1] * y[0] * y[1], theta[2] * y[0] * y[1] - y[1]])

    def loss(theta):
        return (odeint(slope, y, jnp.linspace(0.0, 1.0, 4), theta) ** 2).sum()

    return jx.value_and_grad(loss)(theta)


@program(f32(6, 2), f32(6, 2))
def springs_by_runge_kutta(x, v):
    def acceleration(x):
        between = x[:, None] - x[None]
        length = jnp.sqrt((between**2).sum(-1) + 1e-3)
        return -((1 - 0.5 / length)[..., None] * between).sum(1)

    def step(_, state):
        x, v = state
        k1, l1 = v, acceleration(x)
        k2, l2 = v + 0.05 * l1, acceleration(x + 0.05 * k1)
        k3, l3 = v + 0.05 * l2, acceleration(x + 0.05 * k2)
        k4, l4 = v + 0.1 * l3, acceleration(x + 0.1 * k3)
        return x + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), v + 0.1 / 6 * (l1 + 2 * l2 + 2 * l3 + l4)

    return lax.fori_loop(0, 10, step, (x, v))


@program(f32(4, 100), f32(6, 4, 100))
def sums_in_mapped_loops(starts, rows):
    """XLA computes `c * x` once, and both sums in two steps."""

    def run(start, row):
        return lax.scan(lambda c, x: (c * x / jnp.sqrt((c * c).sum()), (c * x).mean()), start, row)

    return jx.vmap(run, (0, 1))(starts, rows)


@program(f32(30, 60))
def sums_of_negated_values_in_a_loop(x):
    """XLA negates the sum, not what is summed."""

    def loss(x):
        def step(c, _):
            c = c - c.mean(1, keepdims=True)
            c = c / jnp.sqrt(c.var(1, keepdims=True) + 1)
            return nn.softmax(c), (c**2).sum()

        c, sums = lax.scan(step, x, None, length=4)
        return sums.sum() + c.sum()

    return jx.value_and_grad(loss)(x)


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


@program(f32(9, 40, 40))
def lattice_of_fluid(f):
    ways = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
    cx, cy = (jnp.array(part) for part in zip(*ways, strict=True))
    weights = jnp.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)

    def step(f, _):
        density = f.sum(0)
        ux = jnp.tensordot(cx.astype(f.dtype), f, 1) / density
        uy = jnp.tensordot(cy.astype(f.dtype), f, 1) / density
        along = 3 * (cx[:, None, None] * ux + cy[:, None, None] * uy)
        rest = weights[:, None, None] * density * (1 + along + 0.5 * along**2 - 1.5 * (ux**2 + uy**2))
        f = f - (f - rest) / 0.6
        moved = [jnp.roll(f[i], way, (0, 1)) for i, way in enumerate(ways)]
        return jnp.stack(moved), (ux**2 + uy**2).mean()

    return lax.scan(step, f, None, length=8)


@program(f32(2, 48, 48), f32(2, 48, 48))
def likeness_of_images(a, b):
    def smooth(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 7, 7), (1, 1, 1), "VALID") / 49

    def likeness(a):
        ma, mb = smooth(a), smooth(b)
        va, vb, vab = smooth(a * a) - ma**2, smooth(b * b) - mb**2, smooth(a * b) - ma * mb
        return ((2 * ma * mb + 1e-4) * (2 * vab + 9e-4) / ((ma**2 + mb**2 + 1e-4) * (va + vb + 9e-4))).mean()

    return jx.value_and_grad(likeness)(a)


@program(f32(6), f32(6, 6), f32(3, 6), f32(3, 6), f32(3))
def limited_memory(x, a, steps, changes, weights):
    """A quasi-Newton method: two loops over what it remembers, and one for the length of the step, in a loop."""

    def fun(x):
        return x @ (a @ a.T) @ x / 2 - x.sum() + jnp.log1p(x**2).sum()

    def body(state):
        count, x, value, gradient, steps, changes, weights = state

        def first(i, both):
            q, kept = both
            scale = weights[i] * (steps[i] @ q)
            return q - scale * changes[i], kept.at[i].set(scale)

        def second(i, r):
            j = 2 - i
            return r + steps[j] * (kept[j] - weights[j] * (changes[j] @ r))

        q, kept = lax.fori_loop(0, 3, first, (gradient, jnp.zeros(3)))
        way = -lax.fori_loop(0, 3, second, q)
        length, _ = lax.while_loop(
            lambda s: (fun(x + s[0] * way) > value + 1e-4 * s[0] * (gradient @ way)) & (s[1] < 10),
            lambda s: (s[0] * 0.5, s[1] + 1),
            (1.0, 0),
        )
        after = x + length * way
        new, slope = jx.value_and_grad(fun)(after)
        rolled = [
            jnp.concatenate([new[None], old[:-1]])
            for new, old in ((after - x, steps), (slope - gradient, changes), (1 / (slope @ after), weights))
        ]
        return count + 1, after, new, slope, *rolled

    start = (0, x, *jx.value_and_grad(fun)(x), steps, changes, weights)
    return lax.while_loop(lambda s: (s[0] < 5) & (s[3] @ s[3] > 1e-6), body, start)[:4]
