"""Some twenty-five programs of many kinds, each a function, its arguments and options, to hold documents against the compiler's
texts."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn
from jitscope.core import dtypes
from tests.programs import resnet


PROGRAMS = {}
_random = np.random.default_rng(0)


def f32(*shape):
    return _random.uniform(0.1, 0.9, shape).astype(np.float32)


def c64(*shape):
    return f32(*shape) + np.complex64(1j) * f32(*shape)


def bf16(*shape):
    return f32(*shape).astype(dtypes.bfloat16)


class Program(NamedTuple):
    fun: Callable
    args: tuple
    donate: tuple = ()
    x64: bool = False

    def jit(self):
        return jx.jit(self.fun, donate_argnums=self.donate)


def program(*args, **options):
    def keep(fun):
        PROGRAMS[fun.__name__] = Program(fun, args, **options)
        return fun

    return keep


for _name, _sizes in (("transformer", {"layers": 3}), ("lstm", {}), ("resnet", {}), ("unrolled", {})):
    _module = import_module(f"tests.programs.{_name}")
    PROGRAMS[_name] = Program(_module.program, _module.arguments(**_sizes))
PROGRAMS["resnet_of_one_block"] = Program(resnet.program, resnet.arguments(blocks=1, widths=(8,)))


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


@program(f32(3))
def branches(x):
    return lax.cond(x.sum() > 1, lambda x: jnp.sin(x), lambda x: jnp.cos(x) * 2, x)


@program(np.int32(1), f32(3))
def three_branches(i, x):
    return lax.switch(i, [jnp.sin, jnp.cos, lambda x: x * 2], x)


@program(f32(8, 12, 12, 3), f32(3, 3, 3, 4))
def convolution(x, w):
    return nn.relu(lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))


@program(f32(12))
def ordered(x):
    return jnp.sort(x)[::-1], jnp.argmax(x), jnp.cumsum(x)


@jx.jit
def _inner(x):
    return jnp.sin(x) * 2


@program(f32(3))
def nested(x):
    return _inner(_inner(x)) + _inner(jnp.cos(x))


@program(f32(3))
def same_again(x):
    return x


# --- of kinds that are seldom: library calls, derivatives by hand, other dtypes, callbacks, loops in branches in loops -------


@program(c64(6, 8), f32(5, 5), f32(5, 2))
def libraries(z, a, b):
    spectrum = jnp.fft.fft2(z)
    q, r = jnp.linalg.qr(a)
    u, s, vt = jnp.linalg.svd(a)
    x = jnp.linalg.solve(a + 5 * jnp.eye(5), b)
    return (
        jnp.abs(jnp.fft.ifft2(spectrum)),
        q @ r,
        u * s @ vt,
        x,
        jnp.linalg.det(a),
        jnp.linalg.cholesky(a @ a.T + jnp.eye(5)),
    )


@program(np.int32(3), f32(4))
def scan_in_cond_in_while(n, x):
    def step(c, k):
        c = jnp.sin(c) + k
        return c, c[0]

    def body(state):
        i, x = state
        x = lax.cond(
            x.sum() > 1,
            lambda x: lax.scan(step, x, jnp.arange(7.0))[0],
            lambda x: lax.fori_loop(0, 3, lambda i, x: x * 0.5, x),
            x,
        )
        return i + 1, x

    return lax.while_loop(lambda s: s[0] < n, body, (0, x))


@jx.custom_vjp
def _clipped(x):
    return jnp.sin(x)


_clipped.defvjp(lambda x: (jnp.sin(x), jnp.cos(x)), lambda c, g: (jnp.clip(g * c, -1, 1),))


@jx.custom_jvp
def _softened(x):
    return jnp.log1p(jnp.exp(x))


@_softened.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return _softened(x), t / (1 + jnp.exp(-x))


@program(np.arange(12.0).reshape(3, 4), np.arange(4), x64=True)
def in_double(a, i):
    return jnp.linalg.norm(a @ a.T), a.sum(axis=1) / 3, i * 2**40, jnp.fft.fft(a)


@program(np.arange(1, 40, dtype=np.uint32))
def integers(n):
    def collatz(n):
        def step(s):
            n, k = s
            return jnp.where(n % 2 == 0, n >> 1, 3 * n + 1), k + 1

        return lax.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]

    steps = jx.vmap(collatz)(n)
    return jnp.bincount(steps, length=8), jnp.bitwise_xor(n, steps.astype(jnp.uint32)), lax.population_count(n)


@program(f32(5))
def with_callbacks(x):
    y = jx.pure_callback(lambda x: np.sort(x), jx.ShapeDtypeStruct(x.shape, x.dtype), jnp.sin(x))
    jx.debug.callback(lambda y: None, y)
    return y * 2


class Layer:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x, w):
        return self.norm(x @ w) * self.scale

    def norm(self, x):
        with jx.named_scope("norm"):
            return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


@program(f32(5, 6), [f32(6, 6), f32(6, 6), f32(6, 6)])
def in_classes(x, ws):
    layers = [Layer(s) for s in (1.0, 0.5, 2.0)]
    with jx.named_scope("model"):
        for layer, w in zip(layers, ws, strict=True):
            x = nn.relu(layer(x, w))
    return x


@program(f32(33))
def prefixes(x):
    return lax.associative_scan(jnp.add, x), lax.cummax(x), jnp.median(x), jnp.unique(x, size=4)
