"""NaNs planted at a known operation, in a known iteration of nested loops, among others that are masked: found exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.backend import hunt
from tests.extent import examples


AROUND = ("plain", "scan", "reversed", "fori", "while", "cond", "jit", "checkpoint")
LAYERS = st.lists(st.tuples(st.sampled_from(AROUND), st.integers(1, 6), st.booleans()), min_size=1, max_size=4)


def harmless(x):
    """Makes a NaN that is not taken."""
    return jnp.where(x * x >= 0, jnp.sin(x) + 0.5, jnp.sqrt(-1 - x * x))


def planted(x, here):
    return jnp.where(here, jnp.log(-1 - x * x), x)


def looped(kind, length, body, x):
    """`body(x, number of the iteration)`, some times."""
    if kind == "scan":
        return lax.scan(lambda c, i: (body(c, i), c.sum()), x, jnp.arange(length))[0]
    if kind == "reversed":
        return lax.scan(lambda c, i: (body(c, length - 1 - i), None), x, jnp.arange(length), reverse=True)[0]
    if kind == "fori":
        return lax.fori_loop(0, length, lambda i, c: body(c, i), x)
    return lax.while_loop(lambda s: s[1] < length, lambda s: (body(s[0], s[1]), s[1] + 1), (x, 0))[0]


def build(layers, where, iterations, depth=0):
    """A function of (x, still in the planned iterations?) with the plant inside of all layers."""
    if not layers:
        return planted
    (kind, length, masked), rest = layers[0], layers[1:]
    inner = build(rest, where, iterations, depth + 1)

    def run(x, here):
        x = harmless(x) if masked else x * 0.5
        if kind in ("scan", "reversed", "fori", "while"):
            iteration = iterations[depth] % length
            return looped(kind, length, lambda c, i: inner(c, here & (i == iteration)) + 0.1, x)
        if kind == "cond":
            return lax.cond(here, lambda x: inner(x, here), lambda x: harmless(x), x)
        if kind == "jit":
            return jx.jit(inner)(x, here)
        return jx.checkpoint(inner)(x, here) if kind == "checkpoint" else inner(x, here)

    return run


@settings(max_examples=examples(10), deadline=None)
@given(LAYERS, st.lists(st.integers(0, 5), min_size=4, max_size=4))
def test_the_operation_and_its_iterations_are_found(layers, iterations):
    function = build(layers, "log", iterations)

    def f(x):
        return harmless(function(x, x[0] > 0)).sum()

    x = jnp.asarray(np.array([0.5, -0.25, 0.75], np.float32))
    found = hunt.find_first(jx.make_jaxpr(f)(x), [x])
    assert found is not None and found.primitive == "log"
    expected = [
        iterations[i] % n for i, (kind, n, _) in enumerate(layers) if kind in ("scan", "reversed", "fori", "while")
    ]
    assert [one.number for one in found.iterations] == expected
    assert np.isnan(found.results[0]).all() and (found.operands[0] < 0).all()
    assert found.steps[-1].path.count("/") == 0 and found.steps[-1].primitive == "reduce_sum"


def test_a_carry_that_is_nan_from_the_start_is_told_from_one_that_becomes_so():
    def f(x):
        def body(i, c):
            best, y = c
            y = jnp.where(i == 30, (y - y) / (y - y), y)
            return jnp.where(i < 0, y, best), y + 1

        return lax.fori_loop(0, 40, body, (jnp.nan * x, x))[1]

    found = hunt.find_first(jx.make_jaxpr(f)(1.0), [1.0])
    assert (found.primitive, found.iterations[0].number) == ("div", 30)


def test_a_nan_that_wanders_through_the_carry():
    def f(x):
        def body(i, c):
            return c[1], c[2], jnp.where(i == 17, jnp.log(-c[0] - 1), c[0])

        return sum(lax.fori_loop(0, 2000, body, (x, x, x)))

    found = hunt.find_first(jx.make_jaxpr(f)(1.0), [1.0])
    assert (found.primitive, found.iterations[0].number) == ("log", 17)


def test_what_reaches_the_loop_by_its_elements_was_made_before_it():
    def f(x):
        return lax.scan(lambda c, y: (c + y, None), x, jnp.log(jnp.arange(10.0) - 5 + x), reverse=True)[0]

    found = hunt.find_first(jx.make_jaxpr(f)(1.0), [1.0])
    assert found.primitive == "log" and found.iterations == () and found.operands[0].shape == (10,)


@pytest.mark.parametrize("masked", [False, True])
def test_arguments_are_told_if_they_reach_the_result(masked):
    def f(x, y):
        return jnp.where(jnp.isnan(x), 0.0, x) + jnp.log(y) if masked else x + jnp.log(y)

    args = [jnp.asarray(np.array([np.nan, 1], np.float32)), jnp.asarray(np.array([2, -1], np.float32))]
    found = hunt.Hunt(jx.make_jaxpr(f)(*args), args)
    assert [one.name for one in found.given] == ([] if masked else ["x"])
    assert (found.finding.primitive if masked else found.finding) == ("log" if masked else None)


def test_the_infinity_before_the_nan():
    def f(x):
        return lax.fori_loop(0, 6, lambda i, c: jnp.exp(c), x) * 0

    one = hunt.Hunt(jx.make_jaxpr(f)(1.0), [1.0])
    assert one.finding.primitive == "mul" and one.finding.iterations == ()
    before = one.cause_of(0, hunt.infinities).finding
    assert before.primitive == "exp" and before.iterations[0].number == 3 and np.isfinite(before.operands[0])
