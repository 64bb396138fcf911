"""Programs of `fact_programs`, more of them: what is computed is small, how it is written is not."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn, tree
from tests.programs import lstm, transformer
from tests.scope.fact_programs import PROGRAMS, f32, program


__all__ = ["PROGRAMS"]


@jx.jit
def _scaled(x, by=2.0):
    return x * by


@jx.jit
def _twice(x):
    return _scaled(_scaled(x)) + _scaled(x, 3.0)


@program(f32(5))
def jitted_functions_that_call_each_other(x):
    y = _twice(x)
    return _twice(y - x) + _scaled(y)


@functools.partial(tree.register_dataclass, data_fields=["w", "b"], meta_fields=["activation"])
@dataclass
class Affine:
    w: object
    b: object
    activation: str = "tanh"

    def __call__(self, x):
        return getattr(jnp, self.activation)(x @ self.w + self.b)


@functools.partial(tree.register_dataclass, data_fields=["layers", "scale"], meta_fields=[])
@dataclass
class Stack:
    layers: list
    scale: object

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.scale * x

    def loss(self, x):
        return (self(x) ** 2).mean()


@program(
    Stack([Affine(f32(4, 4), f32(4)), Affine(f32(4, 4), f32(4), "sin"), Affine(f32(4, 2), f32(2))], f32()), f32(3, 4)
)
def dataclass_model(model, x):
    value, gradient = jx.value_and_grad(Stack.loss)(model, x)
    return value, jx.tree.map(lambda p, g: p - 0.1 * g, model, gradient)


@program(lstm.arguments(steps=5, batch=2, inputs=3, hidden=4), f32(4))
def functions_of_other_files(given, x):
    params, xs, ys = given
    outer = lstm.loss(params, xs, ys)
    state = (jnp.zeros((2, 4)), jnp.zeros((2, 4)))
    (h, _), _ = lstm.cell(params["cell"], state, xs[0])
    return outer * x + h.sum(0), jx.grad(lstm.loss)(params, xs, ys)["out"]


def _logged(fun):
    @functools.wraps(fun)
    def wrapper(*args, **kwargs):
        result = fun(*args, **kwargs)
        return result + 0.5 * (result - result.mean())

    return wrapper


def _repeated(times):
    def decorate(fun):
        @functools.wraps(fun)
        def wrapper(x):
            for _ in range(times):
                x = fun(x)
            return x

        return wrapper

    return decorate


@_logged
@_repeated(3)
def _decorated(x):
    return jnp.sin(x) + x[::-1]


@program(f32(6))
def decorators(x):
    return _decorated(x) * 2


@program(f32(5), f32(5))
def lambdas(x, y):
    f, g = lambda x: jnp.sin(x) * 2, lambda x: jnp.cos(x) + 1
    compose = lambda *fs: lambda x: functools.reduce(lambda x, f: f(x), fs, x)
    return compose(f, g, f)(x), (lambda x, y: (x * y).sum())(x, y), sorted([1, 2], key=lambda n: -n)[0] * y


@program([f32(3), f32(3), f32(3)], f32(3))
def comprehensions(ws, x):
    squares = {i: (w * x) ** (i + 1) for i, w in enumerate(ws)}
    total = sum(jnp.exp(-s) for s in squares.values())
    return total, [a - b for a in ws for b in ws if a is not b][:2], functools.reduce(operator.mul, ws)


@program(f32(4, 4), f32(4))
def expressions_over_lines(a, x):
    y = jnp.sin(a @ x + 1) * jnp.cos(x) - (x.sum() if x.ndim == 1 else 0)
    z = jnp.where(
        y > 0,
        jnp.log1p(
            jnp.abs(y),
        ),
        -y * 3,
    )
    return {
        "first": z.sum(),
        "second": jnp.max(
            z,
        ),
    }


@program(f32(6))
def functions_of_one_name(x):
    def inner(x):
        def inner(x):
            return jnp.sin(x)

        return inner(x) * 2

    def other(x):
        def inner(x):
            return jnp.cos(x)

        return inner(x) + inner(x * 2)

    return inner(x) + other(x)


@program(f32(3, 4))
def several_on_a_line(x):
    a = jnp.sin(x); b = jnp.cos(x); c = a @ b.T; return c + jx.grad(lambda x: (jnp.sin(x) * jnp.cos(x)).sum())(x).sum()  # fmt: skip # noqa: E702


class _Counter:
    def __init__(self, by):
        self.by = by

    @property
    def doubled(self):
        return jnp.multiply(self.by, 2)

    @staticmethod
    def halved(x):
        return x / 2

    @classmethod
    def made(cls, x):
        return cls(jnp.exp(x))

    def __add__(self, other):
        return _Counter(self.by + other.by)

    def __matmul__(self, x):
        return self.by @ x

    def __iter__(self):
        yield self.by * 1.5
        yield self.by - 1


@program(f32(3), f32(3))
def operators_of_classes(x, y):
    total = _Counter.made(x) + _Counter(y)
    first, second = total
    return total @ x, total.doubled, _Counter.halved(first) - second


@program(f32(5))
def generators_and_context(x):
    def parts(x):
        with jx.named_scope("parts"):
            for k in range(3):
                yield jnp.sin(k * x)

    out = 0
    try:
        for part in parts(x):
            out += part
    finally:
        out = out / 3
    match x.ndim:
        case 1:
            out = jnp.tanh(out)
        case _:
            out = jnp.exp(out)
    if (n := out.sum()) is not None:
        out -= n
    return out


@program(f32(4, 4), f32(4, 4))
def recursion(a, b):
    def power(a, n):
        if n == 1:
            return a
        half = power(a, n // 2)
        return half @ half if n % 2 == 0 else half @ half @ a

    return power(a, 9) + power(b, 4)


@program(f32(3, 3), f32(2, 3))
def gradient_and_map_of_one_function(w, x):
    def f(w, x):
        h = jnp.tanh(w @ x)
        return h @ h

    forward = jx.vmap(f, (None, 0))(w, x)
    backward = jx.grad(lambda w: jx.vmap(f, (None, 0))(w, x).sum())(w)
    tangent = jx.jvp(lambda w: f(w, x[0]), (w,), (w,))[1]
    return forward, backward, tangent


def _block(x, w, *, activation=nn.relu):
    return activation(x @ w)


@program(f32(3, 5), [f32(5, 5)] * 4)
def partials_and_maps(x, ws):
    tanh_block = functools.partial(_block, activation=jnp.tanh)
    for w in ws[:2]:
        x = tanh_block(x, w)
    *_, x = map(functools.partial(_block, x), ws[2:])
    return x, list(map(jnp.sum, ws))[-1]


@program(f32(4))
def a_program_of_text(x):
    names = {"jnp": jnp}
    exec(compile("def f(x):\n    y = jnp.sin(x)\n    return y * 2\n", "<made>", "exec"), names)
    return names["f"](x) + eval("jnp.cos(x)", {"jnp": jnp, "x": x})


@program(f32(2, 3), f32(3, 3))
def loops_inside_transformed(x, w):
    def model(w, row):
        return lax.fori_loop(0, 5, lambda i, h: jnp.tanh(w @ h) + i, row).sum()

    return jx.vmap(jx.value_and_grad(model), (None, 0))(w, x)


@program(transformer.arguments(layers=1)[0]["layers"][0], f32(3, 32))
def imported_blocks(layer, x):
    return transformer.block(x, layer), transformer.softmax(x)
