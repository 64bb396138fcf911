"""`experimental.jet.jet` against Cauchy's integrals of the same functions in NumPy, in complex double precision."""

from __future__ import annotations

import math

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.experimental.jet import jet
from tests.compiling import once


X = np.array([0.3, -0.7, 1.1])
TERMS = [np.array([1.0, 0.5, -0.3]), np.array([0.2, -0.4, 0.7]), np.array([0.1, 0.3, 0.2]), np.array([0.5, 0.0, -0.6])]
POINTS, RADIUS = 64, 0.1


def derivatives(fun):
    """Value and derivatives of t -> fun(x(t)) at 0: k! / (N r^k) times the sum over the points r w^j of fun(x(r w^j)) w^(-jk)."""
    w = np.exp(2j * np.pi * np.arange(POINTS) / POINTS)
    along = [X + sum(c * (RADIUS * z) ** k / math.factorial(k) for k, c in enumerate(TERMS, 1)) for z in w]
    values = np.array([fun(x) for x in along])
    means = [np.tensordot(w**-k, values, 1).real / POINTS for k in range(len(TERMS) + 1)]
    return [m * math.factorial(k) / RADIUS**k for k, m in enumerate(means)]


def check(fun, of_numpy):
    with jx.enable_x64():
        value, terms = jet(fun, (jnp.asarray(X),), ([jnp.asarray(t) for t in TERMS],))
    for found, wanted in zip([value, *terms], derivatives(of_numpy), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


def spread(x, xp):
    return x[:, None] * x[None, :] + 3 * xp.eye(3)


FUNCTIONS = {
    "sines": lambda x, xp: xp.sin(x) * xp.cos(2 * x) + xp.tan(x / 2),
    "exponentials": lambda x, xp: xp.exp(-x * x) + xp.log(2 + x) + xp.sinh(x) + xp.tanh(x),
    "quotients": lambda x, xp: (1 + x) / (2 - x * x) / 3 + 1 / (x[0] + 5),
    "powers": lambda x, xp: (2 + x) ** 1.5 + x**5 + xp.sqrt(3 + x) + (x + 2) ** (x / 3),
    "softmax": lambda x, xp: xp.exp(x) / xp.exp(x).sum(),
    "products": lambda x, xp: (spread(x, xp) @ xp.sin(x)) * x.prod(),
    "running": lambda x, xp: xp.cumprod(x) + xp.cumsum(x * x),
    "pieces": lambda x, xp: xp.sort(x)[::-1] * x + xp.where(x.real > 0, x, -x * x),
    "solutions": lambda x, xp: xp.linalg.solve(spread(x, xp), x * x),
    "moved": lambda x, xp: xp.concatenate([x[1:], x[:1] * x[1:2]]).reshape(3, 1).T * xp.array([[2.0, 0.0, -1.0]]),
    "fourier": lambda x, xp: (lambda z: z.real if xp is jnp else z)(xp.fft.ifft(xp.fft.fft(x) * xp.fft.fft(x * x))),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_series_of_the_operations(name):
    check(lambda x: FUNCTIONS[name](x, jnp), lambda x: FUNCTIONS[name](x, np))


def test_series_through_calls_loops_and_branches():
    @jx.jit
    def inner(x):
        return jnp.sin(x) * x

    def program(x):
        y = jx.checkpoint(inner)(x)
        total, _ = lax.scan(lambda c, a: (c * jnp.cos(a) + a, None), y.sum(), x)
        z = lax.fori_loop(0, jnp.int32(2), lambda i, z: jnp.exp(z / 4), y)
        return z * lax.cond(total > 0, lambda t: t * t, lambda t: -t, total)

    def of_numpy(x):
        y = np.sin(x) * x
        total = y.sum()
        for a in x:
            total = total * np.cos(a) + a
        z = np.exp(np.exp(y / 4) / 4)
        return z * (total * total if total.real > 0 else -total)

    check(program, of_numpy)


def test_rules_of_users_are_followed():
    @jx.custom_jvp
    def cube(x):
        return jnp.zeros_like(x) + x**3

    cube.defjvp(lambda primals, tangents: (cube(primals[0]), 3 * primals[0] ** 2 * tangents[0]))

    @jx.custom_vjp
    def square(x):
        return x * x

    square.defvjp(lambda x: (x * x, x), lambda x, ct: (2 * x * ct,))
    check(lambda x: cube(x) + square(jnp.sin(x)), lambda x: x**3 + np.sin(x) ** 2)


def test_trees_scales_and_what_does_not_change():
    def program(given, n):
        return {"sum": given["a"] * given["b"], "n": n, "fixed": jnp.float32(2.0)}

    given = ({"a": jnp.ones(2), "b": jnp.array([2.0, 3.0])}, 4)
    series = ([{"a": jnp.ones(2), "b": jnp.zeros(2)}, {"a": jnp.zeros(2), "b": jnp.ones(2)}], [0, 0])
    value, terms = jet(program, given, series)
    np.testing.assert_array_equal(value["sum"], [2.0, 3.0])
    np.testing.assert_array_equal(terms["sum"], [[2.0, 3.0], [1.0, 1.0]])
    assert value["n"] == 4
    np.testing.assert_array_equal(terms["n"], [0, 0])
    np.testing.assert_array_equal(terms["fixed"], [0.0, 0.0])
    _, of_taylor = jet(jnp.exp, (0.0,), ([1.0, 0.0, 0.0],), factorial_scaled=False)
    np.testing.assert_allclose(of_taylor, [1, 1 / 2, 1 / 6], rtol=1e-6)


def test_composes_with_the_other_transformations():
    def second(x):
        return jet(jnp.sin, (x,), ([jnp.ones_like(x), jnp.zeros_like(x)],))[1][1]

    x = jnp.asarray(X, "float32")
    np.testing.assert_allclose(second(x), -np.sin(X), rtol=1e-5)
    np.testing.assert_allclose(once(jx.vmap(second))(x), -np.sin(X), rtol=1e-5)
    np.testing.assert_allclose(jx.vmap(jx.grad(second))(x), -np.cos(X), rtol=1e-5)
    _, (outer,) = jet(second, (x,), ([jnp.ones_like(x)],))
    np.testing.assert_allclose(outer, -np.cos(X), rtol=1e-5)


def test_programs_grow_with_a_power_of_the_order():
    def equations(order):
        terms = [jnp.ones(3)] * order
        return len(jx.make_jaxpr(lambda x: jet(lambda x: jnp.sin(x) / jnp.exp(x), (x,), (terms,)))(jnp.ones(3)).eqns)

    assert equations(12) < 8 * equations(6)


@pytest.mark.parametrize(
    ("primals", "series", "kind", "words"),
    [
        ((1.0, 2.0), ([1.0], [1.0, 0.0]), ValueError, "inconsistent lengths"),
        ((1.0,), ([1.0], [1.0]), ValueError, "1 arguments, but 2 series"),
        (1.0, ([1.0],), TypeError, r"jet\(f, \(x,\), \(\[dx, ddx\],\)\)"),
        ((np.ones(3, "float32"),), ([np.ones(2, "float32")],), ValueError, r"f32\[2\].*f32\[3\]"),
        ((np.arange(3),), ([np.ones(3)],), TypeError, "make it a float"),
        (({"a": 1.0},), ([1.0],), ValueError, "argument 0"),
    ],
)
def test_what_does_not_fit_is_refused(primals, series, kind, words):
    with pytest.raises(kind, match=words):
        jet(lambda *xs: xs[0], primals, series)
