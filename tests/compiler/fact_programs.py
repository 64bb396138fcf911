"""Some thirty programs of many kinds, each a function and its arguments, to hold documents against the compiler's texts."""

from __future__ import annotations

from importlib import import_module

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn


PROGRAMS = {}
_random = np.random.default_rng(0)


def f32(*shape):
    return _random.uniform(0.1, 0.9, shape).astype(np.float32)


def program(*args):
    def keep(fun):
        PROGRAMS[fun.__name__] = (fun, args)
        return fun

    return keep


for _name, _sizes in (("transformer", {"layers": 3}), ("lstm", {}), ("resnet", {}), ("unrolled", {})):
    _module = import_module(f"tests.programs.{_name}")
    PROGRAMS[_name] = (_module.program, _module.arguments(**_sizes))


@program(f32(5))
def elementwise(x):
    return jnp.sin(x) * 2 + jnp.exp(-x)


@program(f32(8, 8), f32(8, 8))
def product(a, b):
    return a @ b + a


@program(f32(9, 4))
def reductions(x):
    return x.sum(axis=0), x.max(axis=1), x.mean()


@program(f32(6, 10))
def log_softmax(x):
    return nn.log_softmax(x)


@program(f32(6, 10))
def log_softmax_gradient(x):
    return jx.grad(lambda x: -nn.log_softmax(x)[:, 0].mean())(x)


@program({"w": f32(4, 3), "b": f32(3)}, f32(5, 4))
def dense(params, x):
    return nn.relu(x @ params["w"] + params["b"])


@program({"w": f32(4, 3), "b": f32(3)}, f32(5, 4))
def update(params, x):
    def loss(params):
        return (jnp.tanh(x @ params["w"] + params["b"]) ** 2).mean()

    gradient = jx.grad(loss)(params)
    return jx.tree.map(lambda p, g: p - 0.1 * g, params, gradient)


@program(f32(3))
def counted_loop(x):
    return lax.fori_loop(0, 17, lambda i, x: jnp.sin(x) + i, x)


@program(f32(3))
def open_loop(x):
    return lax.while_loop(lambda x: x.sum() < 100, lambda x: x * 1.5, x)


@program(f32(4), f32(23, 4))
def scanned(c, xs):
    def step(c, x):
        c = jnp.tanh(c * x)
        return c, c.sum()

    return lax.scan(step, c, xs)


@program(f32(4), f32(5, 4))
def scan_gradient(c, xs):
    return jx.grad(lambda c: lax.scan(lambda c, x: (jnp.tanh(c * x), None), c, xs)[0].sum())(c)


@program(f32(3), f32(2, 6, 3))
def loops_in_loops(c, xs):
    inner = lambda c, x: (jnp.sin(c + x), None)
    return lax.scan(lambda c, x: lax.scan(inner, c, x), c, xs)[0]


@program(f32(3))
def branches(x):
    return lax.cond(x.sum() > 1, lambda x: jnp.sin(x), lambda x: jnp.cos(x) * 2, x)


@program(np.int32(1), f32(3))
def three_branches(i, x):
    return lax.switch(i, [jnp.sin, jnp.cos, lambda x: x * 2], x)


@program(f32(7, 3))
def mapped(x):
    return jx.vmap(lambda row: (row * row).sum() / (1 + row.max()))(x)


@program(f32(7, 3))
def mapped_gradient(x):
    return jx.vmap(jx.grad(lambda row: jnp.sin(row).prod()))(x)


@program(f32(4), f32(4))
def forward_derivative(x, t):
    return jx.jvp(lambda x: jnp.exp(jnp.sin(x)) * x, (x,), (t,))


@program(f32(4))
def hessian(x):
    return jx.hessian(lambda x: (jnp.sin(x) * x).sum())(x)


@program(f32(8, 12, 12, 3), f32(3, 3, 3, 4))
def convolution(x, w):
    return nn.relu(lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))


@program(f32(9, 4), np.array([3, 1, 4]))
def picked(x, i):
    return x[i].sum(axis=1), x.at[i].add(1.0)


@program(f32(12))
def ordered(x):
    return jnp.sort(x)[::-1], jnp.argmax(x), jnp.cumsum(x)


@program(f32(5, 5))
def solved(a):
    return jnp.linalg.inv(a + 5 * jnp.eye(5)), jnp.linalg.eigvalsh(a + a.T)


@program(f32(16))
def transformed(x):
    return jnp.abs(jnp.fft.rfft(x))


@program(np.uint32(7))
def sampled(seed):
    return jx.random.normal(jx.random.key(seed), (6,))


@jx.jit
def _inner(x):
    return jnp.sin(x) * 2


@program(f32(3))
def nested(x):
    return _inner(_inner(x)) + _inner(jnp.cos(x))


@program(f32(3))
def in_named_scopes(x):
    with jx.named_scope("first"):
        x = jnp.sin(x) * 2
    with jx.named_scope("second"):
        return jnp.cos(x) + 1


@program(f32(6, 6))
def checkpointed(x):
    return jx.grad(lambda x: jx.checkpoint(lambda x: jnp.sin(jnp.sin(x) @ x))(x).sum())(x)


@program(f32(3), f32(3))
def unread(x, y):
    jnp.exp(y)
    return jnp.sin(x)


@program(f32(3))
def same_again(x):
    return x


@program({"a": [f32(2), f32(3)], "b": (f32(4),)})
def trees(t):
    return jx.tree.map(lambda x: x * 2, t)
