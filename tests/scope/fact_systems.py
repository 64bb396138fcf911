"""Programs of `fact_programs`, more of them: what people run as a whole, with loops in loops, random numbers and rules by hand."""

from __future__ import annotations

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn, random
from jitscope.experimental.ode import odeint
from tests.scope.fact_programs import PROGRAMS, f32, program


__all__ = ["PROGRAMS"]


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


@program(f32(2, 64), f32(9))
def long_convolution(x, kernel):
    def filtered(kernel):
        size = 64 + 8
        return jnp.fft.irfft(jnp.fft.rfft(x, size) * jnp.fft.rfft(kernel, size), size)[:, :64]

    return jx.value_and_grad(lambda kernel: (jnp.abs(filtered(kernel)) ** 1.5).mean())(kernel)


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
