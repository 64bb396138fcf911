"""Results that XLA would get wrong if it were let."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.backend.guards import needs
from jitscope.core.primitive import Primitive
from jitscope.xla.cpu_tuning import LIBRARY_FOR_PRODUCTS_ALONE
from tests.extent import examples


NEEDED = LIBRARY_FOR_PRODUCTS_ALONE.holds()
"""jaxlib before 0.10 merges no logarithms: its programs get no guard, and their results are to be right without."""
X = np.random.default_rng(0).random((116, 114)).astype(np.float32) + 0.5

CASES = {
    "two logarithms": lambda np_, x: np_.sum(np_.log(x) + np_.log(2 * x)),
    "row sums": lambda np_, x: np_.sum(np_.log(3 * x) + np_.log(5 * x), 1),
    "largest": lambda np_, x: np_.max(np_.log(x) - np_.log(3 * x)),
    "product": lambda np_, x: np_.sum(np_.log(x) * np_.log(2 * x)),
    "log1p": lambda np_, x: np_.sum(np_.log1p(x) + np_.log1p(2 * x)),
    "log2 and log10": lambda np_, x: np_.sum(np_.log2(x) + np_.log10(4 * x)),
    "expm1": lambda np_, x: np_.sum(np_.expm1(0.7 * x) * np_.expm1(1.3 * x)),
    "sinh": lambda np_, x: np_.sum(np_.sinh(0.7 * x) * np_.expm1(1.3 * x)),
    "arcsinh": lambda np_, x: np_.sum(np_.arcsinh(x) + np_.arcsinh(2 * x)),
    "arctanh": lambda np_, x: np_.sum(np_.arctanh(x / 4) - np_.arctanh(x / 8)),
    "quotients": lambda np_, x: np_.sum(np_.log(x) + np_.log(x / 3)),
    "below a root": lambda np_, x: np_.sum(np_.log(np_.sqrt(2 * x)) + np_.log(np_.sqrt(x * 3))),
    "below a maximum": lambda np_, x: np_.sum(np_.log(np_.maximum(x, 0.1)) + np_.log(2 * np_.maximum(x, 0.1))),
    "negative": lambda np_, x: np_.sum(np_.log1p(-x / 2) + np_.log1p(x / 2)),
    "an array of one constant": lambda np_, x: np_.sum(np_.log(x) + np_.log(x * np_.full(x.shape, 2, x.dtype))),
    "one in the other": lambda np_, x: np_.sum(np_.log(2 + np_.log(2 * x)) + np_.log(2 + np_.log(3 * x))),
    "of a sum": lambda np_, x: np_.sum(np_.log(3 * (x + x[:, :1])) + np_.log(2 * (x + x[:, :1]))),
    "Stirling's formula": lambda np_, x: np_.sum(np_.log(np_.sqrt(6.28 * x)) + x * np_.log(x / 2.718)),
    "a root of a power": lambda np_, x: np_.sum(np_.log((3 * x) ** 1.5) + np_.log(x)),
    "an exponential": lambda np_, x: np_.sum(np_.log1p(np_.log(np_.exp(x))) + np_.log1p(2 * x)),
    "powers": lambda np_, x: np_.sum(np_.log(x**2) + np_.log(2 * x * x)),
    "others": lambda np_, x: np_.sum(np_.exp(x) + np_.exp(2 * x) + np_.sqrt(x) - np_.sqrt(2 * x) + np_.log(x)),
}


@pytest.mark.parametrize("name", CASES)
def test_elementwise_operations_on_multiples_are_summed_rightly(name):
    wanted = CASES[name](np, X.astype(np.float64))
    np.testing.assert_allclose(jx.jit(lambda x: CASES[name](jnp, x))(X), wanted, rtol=1e-4)


# The same operands in another order or grouping: (one, the other).
ORDERS = {
    "product": (lambda np_, x, y, z: (x * y) * z, lambda np_, x, y, z: x * (z * y)),
    "scaled product": (lambda np_, x, y, z: (x * y) * z, lambda np_, x, y, z: x * (2 * (y * z))),
    "quotient": (lambda np_, x, y, z: (x / y) / z, lambda np_, x, y, z: x / (y * z)),
    "product of a quotient": (lambda np_, x, y, z: x * (y / z), lambda np_, x, y, z: (y * x) / z),
    "sum": (lambda np_, x, y, z: (x + y) + z, lambda np_, x, y, z: x + (z + y)),
    "maximum": (lambda np_, x, y, z: np_.maximum(x, y), lambda np_, x, y, z: np_.maximum(y, x)),
    "minima": (
        lambda np_, x, y, z: np_.minimum(np_.minimum(x, y), z),
        lambda np_, x, y, z: np_.minimum(np_.minimum(z, x), y),
    ),
    "choice": (lambda np_, x, y, z: np_.where(x > y, x, z), lambda np_, x, y, z: np_.where(y < x, x, z)),
    "difference": (lambda np_, x, y, z: -(x - 3), lambda np_, x, y, z: 3 - x),
}


@pytest.mark.parametrize("name", ORDERS)
def test_order_and_grouping_make_no_other_operand(name):
    one, other = ORDERS[name]

    def f(np_, x, y, z):
        return np_.sum(np_.log(one(np_, x, y, z)) + np_.log(2 * other(np_, x, y, z)))

    given = [np.random.default_rng(i).random((116, 114)).astype(np.float32) + 0.5 for i in range(3)]
    assert not NEEDED or needs(jx.make_jaxpr(lambda *xs: f(jnp, *xs))(*given).jaxpr)
    wanted = f(np, *[x.astype(np.float64) for x in given])
    np.testing.assert_allclose(jx.jit(lambda *xs: f(jnp, *xs))(*given), wanted, rtol=1e-4)


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    values: np.ndarray


def test_parameters_are_told_apart_by_all_of_their_contents() -> None:
    """`repr` shows the first and last few elements of a large array."""
    scaled = Primitive("scaled_by_table")
    scaled.def_abstract_eval(lambda x, table: x)
    one, two = np.ones(13224, np.float32), np.ones(13224, np.float32)
    two[5000] = 2
    assert repr(Table(one)) == repr(Table(two))

    def program(second: np.ndarray):
        return jx.make_jaxpr(
            lambda x: jnp.sum(jnp.log(scaled(x, table=Table(one))) + jnp.log(scaled(x, table=Table(second))))
        )(X).jaxpr

    assert not NEEDED or needs(program(two))
    assert not needs(program(one.copy()))


def test_logarithms_in_loops_branches_and_calls():
    def f(x):
        def step(total, factor):
            return total + jnp.log(factor * x), None

        total, _ = lax.scan(step, jx.jit(jnp.log)(7 * x), jnp.array([1.0, 2.0, 4.0]), unroll=3)
        return jnp.sum(lax.cond(x[0, 0] > 0, lambda x: x + total, lambda x: x, jnp.log(9 * x)))

    wanted = sum(np.log(k * X.astype(np.float64)).sum() for k in (1, 2, 4, 7, 9))
    np.testing.assert_allclose(jx.jit(f)(X), wanted, rtol=1e-4)


FREE = {
    "of two arrays": lambda np_, x, y: np_.sum(np_.log(x) + np_.log(2 * y)),
    "beside a sum": lambda np_, x, y: np_.sum(np_.log(x) + np_.log(x + 1)),
    "probabilities": lambda np_, x, y: np_.sum(y * np_.log(x / 2) + (1 - y) * np_.log(1 - x / 2)),
    "sigmoids": lambda np_, x, y: np_.sum(np_.log1p(np_.exp(-x)) + np_.log1p(np_.exp(-y))),
    "the same": lambda np_, x, y: np_.sum(np_.log(2 * x) * np_.log(2 * x)),
    "of a product": lambda np_, x, y: np_.sum(np_.log(x) + np_.log(x * y)),
    "losses": lambda np_, x, y: np_.sum(y * np_.log(x / 2 + 1e-7) + (1 - y) * np_.log(1 - x / 2 + 1e-7)),
    "sums and differences": lambda np_, x, y: np_.sum(np_.log(4 + x) - np_.log(4 - x)),
    "two kinds": lambda np_, x, y: np_.sum(np_.log1p(x) + np_.log(2 * x) + np_.expm1(3 * x)),
    "inside": lambda np_, x, y: np_.sum(np_.log(2 + np_.log(1 + x))),
    "a multiple that varies": lambda np_, x, y: np_.sum(np_.log(x) + np_.log(x * y[0, 0])),
}


@pytest.mark.parametrize("name", FREE)
def test_other_operands_keep_xlas_own_choice(name):
    y = X[::-1]
    assert not needs(jx.make_jaxpr(lambda x, y: FREE[name](jnp, x, y))(X, y).jaxpr)
    wanted = FREE[name](np, X.astype(np.float64), y.astype(np.float64))
    np.testing.assert_allclose(jx.jit(lambda x, y: FREE[name](jnp, x, y))(X, y), wanted, rtol=1e-4)


def test_programs_that_hold_each_other_many_times_are_guarded_at_once():
    f = jx.jit(lambda x: jnp.log(x + 1))
    for _ in range(25):
        f = jx.jit(lambda x, inner=f: inner(inner(x)))
    assert not NEEDED or needs(jx.make_jaxpr(f)(X).jaxpr)


def test_one_logarithm_keeps_xlas_own_choice():
    assert not needs(jx.make_jaxpr(lambda x: jnp.sum(jnp.log(x)) + jnp.sum(jnp.exp(x)))(X).jaxpr)
    assert not needs(jx.make_jaxpr(lambda x: jnp.sum(jnp.log(x)) + jnp.sum(jnp.expm1(x)))(X).jaxpr)
    assert not NEEDED or needs(jx.make_jaxpr(lambda x: lax.fori_loop(0, 3, lambda i, x: jnp.log(x), x))(X).jaxpr)


# Any expressions ------------------------------------------------------------------------------------------------------

ONE = {"sqrt": "np.sqrt({})", "tanh": "np.tanh({})", "square": "({}) ** 2", "power": "({}) ** 1.5", "reciprocal": "1 / ({})",
       "exp": "np.exp(-({}))", "cbrt": "np.cbrt({})", "roots": "np.sqrt(np.sqrt({}))", "log1p": "np.log1p({})"}  # fmt: skip
TWO = {"sum": "(({}) + ({}))", "product": "(({}) * ({}))", "quotient": "(({}) / ({}))", "greater": "np.maximum({}, {})"}
NUMBERS = st.sampled_from(["0.5", "2", "3", "1.7"])


def _positive() -> st.SearchStrategy[str]:
    """Expressions of x and y, whose values are positive."""

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.builds(str.format, st.sampled_from(sorted(ONE.values())), inner),
            st.builds(str.format, st.sampled_from(sorted(TWO.values())), inner, inner),
            st.builds("{1} * ({0})".format, inner, NUMBERS),
            st.builds("(({0}) / {1})".format, inner, NUMBERS),
            st.builds("(({0}) + {1})".format, inner, NUMBERS),
        )

    return st.recursive(st.sampled_from(["x", "x", "y"]), larger, max_leaves=4)


@settings(max_examples=examples(40), deadline=None)
@given(st.sampled_from(["log", "log1p", "expm1"]), st.lists(_positive(), min_size=2, max_size=3), st.booleans())
def test_no_two_are_merged_that_differ(name, operands, nested):
    terms = [f"np.{name}(-({e}))" if name == "expm1" else f"np.{name}({e})" for e in operands]
    each = eval(f"lambda np, x, y: [{', '.join(terms)}]")

    def run(np_, x, y):
        return np_.sum(sum(each(np_, 2 + getattr(np_, name)(3 * x) if nested else x, y)))

    x, y = X.astype(np.float64), np.random.default_rng(1).random(X.shape).astype(np.float32) + 0.5
    size = sum(np.sum(np.abs(term)) for term in each(np, 2 + getattr(np, name)(3 * x) if nested else x, y))
    np.testing.assert_allclose(jx.jit(lambda x, y: run(jnp, x, y))(X, y), run(np, x, y), atol=1e-4 * size)


@pytest.mark.parametrize("name", ["tan", "arctan", "cbrt", "sin", "sqrt", "log", "exp", "tanh"])
def test_jit_changes_no_number_at_the_edges(name):
    """XLA's older emitter, which operations outside of jit took, rounded some of these otherwise."""
    x = np.array([1e-45, -1e-40, 3e-39, 0.0, -0.0, 1e-38, 1.0, 3.3e38, -3.3e38], "float32")
    fun = getattr(jnp, name)
    eager, compiled = np.asarray(fun(x)), np.asarray(jx.jit(fun)(x))
    np.testing.assert_array_equal(eager, compiled)
    np.testing.assert_array_equal(np.signbit(eager), np.signbit(compiled))
