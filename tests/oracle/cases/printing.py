"""Programs of single operations whose jaxprs are compared, character by character."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.oracle.library import Library
from tests.oracle.programs import Cases, jaxpr


CASES = Cases()


def operations(o: Library) -> SimpleNamespace:
    """Operations under short names."""
    lax = o.lax
    short = {
        "and_": lax.bitwise_and, "or_": lax.bitwise_or, "not_": lax.bitwise_not,
        "iota": lambda dtype, shape, dimension: lax.broadcasted_iota(dtype, shape, dimension),
        "argmax": lambda x, axis: lax.argmax(x, axis, np.int32), "argmin": lambda x, axis: lax.argmin(x, axis, np.int32),
    }  # fmt: skip
    return SimpleNamespace(
        **{**vars(lax), "jit": o.jx.jit, "grad": o.jx.grad, "vmap": o.jx.vmap, "jvp": o.jx.jvp, **short}
    )


def program(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function gets the operations and arguments like `args`."""

    def register(fun: Callable[..., Any]) -> Callable[..., Any]:
        CASES.named(fun.__name__)(lambda o: jaxpr(o, lambda *xs: fun(operations(o), *xs), *args))
        return fun

    return register


V, W, M = np.ones(3, np.float32), np.ones(4, np.float32), np.ones((3, 4), np.float32)
I, B = np.arange(3, dtype=np.int32), np.array([True, False, True])
BIG = np.arange(20, dtype=np.float32)


@program(V)
def identity(o, x):
    return x


@program(V)
def one_operation(o, x):
    return o.sin(x)


@program(V)
def literals(o, x):
    return o.add(o.mul(x, 2.0), np.float32(0.1))


@program(2.0)
def numbers_with_the_digits_they_were_written_with(o, x):
    return o.gt(o.add(o.mul(0.1, x * 1234567.891), 1e-20), 0.3), x - np.pi, x * (0.1 + 0.2j)


@program(V)
def scalar_results(o, x):
    return 1.0, x, 2, True, np.float16(3)


@program(1.0, 2)
def weak_arguments(o, x, n):
    return o.mul(x, x), o.add(n, 1)


@program(V)
def unread_results(o, x):
    o.cos(x)
    return o.sin(x)


@program(V, M)
def unread_arguments(o, x, y):
    return o.neg(x)


@program(V)
def many_names(o, x):
    for _ in range(60):
        x = o.sin(x)
    return x


@program(I)
def integers(o, x):
    return o.rem(o.sub(x, -3), 7), o.neg(x)


@program(V, V)
def comparisons(o, x, y):
    return o.lt(x, y), o.eq(x, 0.5), o.select_n(o.gt(x, y), x, y)


@program(B, B)
def booleans(o, x, y):
    return o.or_(x, o.not_(o.and_(x, y)))


@program(V)
def special_numbers(o, x):
    return o.max(x, -np.inf), o.add(x, np.float32(1e-30)), o.mul(x, 1e10)


@program(V.astype(np.float16))
def half(o, x):
    return o.add(o.exp(x), np.float16(0.1))


@program(V)
def powers(o, x):
    return o.integer_pow(x, 3), o.pow(x, 2.5), o.sqrt(x), o.rsqrt(x)


@program(M)
def conversions(o, x):
    return o.convert_element_type(x, np.dtype("int32")), o.convert_element_type(x, np.dtype("float16"))


@program(V, np.float32(1))
def broadcasting(o, x, y):
    return o.broadcast_in_dim(x, (2, 3), (1,)), o.broadcast_in_dim(y, (2,), ())


@program(M)
def reshaping(o, x):
    return o.reshape(x, (2, 6)), o.transpose(x, (1, 0)), o.rev(x, (0,))


@program(np.ones((1, 3, 1), np.float32))
def squeezing(o, x):
    return o.squeeze(x, (0, 2))


@program(M)
def slicing(o, x):
    return o.slice(x, (0, 1), (3, 3), None), o.slice(x, (0, 0), (3, 4), (2, 1))


@program(M, V)
def padding(o, x, y):
    return o.pad(x, 0.0, ((1, 2, 0), (0, 0, 1))), o.concatenate([y, y], 0)


@program(M)
def reductions(o, x):
    return o.reduce_max(x, (1,)), o.reduce_min(x, (0,)), o.reduce_prod(x, (0, 1))


@program(M)
def sums(o, x):
    return o.reduce_sum(x, (0,)), o.reduce_sum(x, (0, 1))


@program(M)
def places(o, x):
    return o.argmax(x, 1), o.argmin(x, 0)


@program(M)
def running(o, x):
    return o.cumsum(x, 0), o.cumsum(x, 1)


@program(M, M)
def products(o, x, y):
    return o.dot_general(x, y, (((1,), (1,)), ((), ()))), o.dot_general(x, y, (((0,), (0,)), ((1,), (1,))))


@program()
def counting(o):
    return o.iota(np.dtype("int32"), (3, 4), 1)


@program(V)
def clamping(o, x):
    return o.clamp(0.0, x, 1.0)


@program(V)
def rounding(o, x):
    return o.floor(x), o.ceil(x), o.sign(x), o.abs(x), o.is_finite(x)


@program(np.ones(3, np.complex64))
def complex_numbers(o, z):
    return o.real(z), o.imag(z), o.mul(z, 1j), o.complex(o.real(z), o.imag(z))


@program(V)
def captured(o, x):
    return o.add(x, V), o.reduce_max(BIG, (0,))


@program(V)
def nested(o, x):
    def inner(x, y):
        return o.mul(o.sin(x), y)

    call = o.jit(inner)
    return call(x, 2.0), call(x, 2.0)


@program(V)
def nested_deeply(o, x):
    def innermost(x):
        return o.exp(x)

    def inner(x):
        return o.add(o.jit(innermost)(x), 1.0)

    return o.cos(o.jit(inner)(x))


@program(V)
def nested_long(o, x):
    def a_function_with_a_rather_long_name_for_a_line(x, y, z):
        return o.mul(o.sin(x), o.add(y, z)), o.sub(o.cos(x), 1.0)

    return o.jit(a_function_with_a_rather_long_name_for_a_line)(x, x, x)


@program(V)
def derivative(o, x):
    return o.jvp(lambda x: o.mul(o.sin(x), x), (x,), (x,))


@program(1.0)
def gradient(o, x):
    return o.grad(lambda x: o.sin(o.mul(x, x)))(x)


@program(M)
def mapped(o, x):
    return o.vmap(lambda v: o.add(o.sin(v), 1.0))(x)


@program(V)
def per_example_gradient(o, x):
    return o.vmap(o.grad(lambda v: o.mul(o.sin(v), v)))(x)


@program(M, W)
def mapped_product(o, x, v):
    return o.vmap(lambda row: o.dot_general(row, v, (((0,), (0,)), ((), ()))))(x)


@program(*[V] * 20)
def twenty_arguments(o, *xs):
    return o.concatenate(xs, 0)


@program(V)
def shared_in_shared(o, x):
    def deepest(x):
        return o.exp(x)

    deepest = o.jit(deepest)

    def f(x):
        return o.sin(deepest(x))

    f = o.jit(f)
    return f(x), f(o.cos(x)), deepest(x)


@program(V)
def two_of_one_name(o, x):
    one, two = o.jit(lambda x: o.exp(x)), o.jit(lambda x: o.sin(x))
    return one(x), one(x), two(x), two(x)


@program(V, V)
def swapped(o, x, y):
    return o.jit(lambda a, b: (b, o.add(a, b)))(y, x), o.jit(lambda a, b: (b, a))(y, y)


@program(V)
def partly_read(o, x):
    return o.jit(lambda a: (a, o.sin(a), o.cos(a)))(x)[0]


@program(V)
def gradient_of_nested(o, x):
    return o.vmap(o.grad(lambda x: o.jit(lambda y: o.sin(y))(x)))(x)


@program(np.zeros((0, 3), np.float32), np.float32(1))
def empty_and_scalar(o, x, y):
    return o.add(x, y)
