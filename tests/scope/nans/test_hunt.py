"""The first equation that gives a NaN is found: in calls, branches, loops (with the iteration) and backward passes."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.backend import hunt, watching


def find(f, *args, test=watching.nans):
    args = [jnp.asarray(a) for a in args]
    return hunt.find_first(jx.make_jaxpr(f)(*args), args, test)


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def test_the_line_the_columns_and_the_operands():
    def f(x):
        y = x - 2
        return jnp.exp(y) + jnp.log(y)

    found = find(f, np.array([1.0, 3.0], np.float32))
    assert found.primitive == "log" and found.path == "e2" and found.iterations == ()
    assert found.position.line == line_of(f, "jnp.log(y)")
    assert found.position.text[found.position.column : found.position.end_column] == "jnp.log(y)"
    assert found.operands[0].tolist() == [-1, 1] and np.isnan(found.results[0][0])


@pytest.mark.parametrize("reverse", [False, True])
def test_the_turn_of_a_scan(reverse):
    def f(x):
        return lax.scan(lambda c, i: (jnp.sqrt(c - i * 0.3), c), x, jnp.arange(6.0), reverse=reverse)

    found = find(f, 2.0)
    c, number = 2.0, 0
    for i in reversed(range(6)) if reverse else range(6):
        if c - i * 0.3 < 0:
            break
        c, number = np.sqrt(c - i * 0.3), number + 1
    (iteration,) = found.iterations
    assert (found.primitive, iteration.number, iteration.count) == ("sqrt", number, 6)
    assert found.path.count("/") == 1 and iteration.loop.line == line_of(f, "lax.scan")


def test_a_scan_in_a_call_in_a_branch_in_a_while_loop():
    @jx.jit
    def inner(x):
        return lax.scan(lambda c, i: (c / (i - 2), None), x, jnp.arange(4.0))[0] * 0

    def f(x):
        def body(s):
            return lax.cond(s[1] == 3, lambda x: inner(x), lambda x: x + 1, s[0]), s[1] + 1

        return lax.while_loop(lambda s: s[1] < 6, body, (x, 0))[0]

    found = find(f, 1.0)
    assert found.primitive == "mul" and [t.number for t in found.iterations] == [3]
    infinite = find(f, 1.0, test=watching.nans_and_infinities)
    assert infinite.primitive == "div" and [(t.number, t.count) for t in infinite.iterations] == [(3, None), (2, 4)]


def test_the_backward_pass_points_at_the_forward_line():
    def norm(x):
        return jnp.sqrt(jnp.sum(x**2))

    assert find(norm, np.zeros(3, np.float32)) is None
    found = find(jx.jit(jx.grad(norm)), np.zeros(3, np.float32))
    assert found.primitive == "mul" and found.position.line == line_of(norm, "x**2")
    infinite = find(jx.grad(norm), np.zeros(3, np.float32), test=watching.nans_and_infinities)
    assert infinite.primitive == "div" and infinite.position.text.strip() == "return jnp.sqrt(jnp.sum(x**2))"


def test_functions_with_rules_of_their_own_and_checkpoints():
    @jx.custom_jvp
    def f(x):
        return jnp.log(x)

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] / primals[0]))
    assert find(lambda x: f(x) + 1, -1.0).primitive == "log"
    found = find(jx.grad(lambda x: jx.checkpoint(lambda x: jnp.sin(jnp.log(x)))(x)), -1.0)
    assert found.primitive == "log"
    root = jx.custom_vjp(lambda x: jnp.sqrt(x))
    root.defvjp(lambda x: (root(x), root(x)), lambda y, g: (g * 0 / y,))
    found = find(jx.grad(lambda x: root(x).sum()), np.array([1, 0], np.float32))
    assert found.primitive == "div" and found.position.line == line_of(
        test_functions_with_rules_of_their_own_and_checkpoints, "g * 0 / y"
    )


def test_the_turn_of_a_scan_that_is_mapped():
    f = jx.vmap(lambda xs: lax.scan(lambda c, x: (c * x, c**0.5), 1.0, xs)[1])
    found = find(f, np.array([[1, 1, 1], [1, -1, 1]], np.float32))
    assert found.primitive == "pow" and [turn.number for turn in found.iterations] == [2]


def test_nothing_is_found_where_there_is_nothing():
    assert find(lambda x: jnp.where(x > 0, x, 0.0), np.array([np.nan, 1.0])) is None
    assert find(lambda k: jx.random.uniform(k), jx.random.key(0)) is None
    assert "another order or precision" in hunt.message("f", None, "NaN")


def test_the_message():
    def f(x):
        return lax.fori_loop(0, 9, lambda i, c: jnp.log(c), x).sum()

    text = hunt.message("f", find(f, np.full((2, 5), 3.0, np.float32)), "NaN")
    assert text.startswith("f gave NaN: first made by log in line ")
    assert "in iteration 3 of 9 (from 0) of the loop in line " in text
    assert "operand 0: f32[2,5] [[" in text and "10 of 10 not finite, the first at [0, 0]" in text


def test_a_hunt_that_has_nothing_to_look_for_compiles_nothing():
    x = jnp.arange(7.0)
    closed = jx.make_jaxpr(lambda x: jnp.sqrt(x) * 3.25)(x)
    one = hunt.Hunt(closed, [x], results=[jnp.ones(7)])
    assert one.finding is None and not one.whole.flat.closed.derived
    assert hunt.Hunt(closed, [x - 1], results=[jnp.full(7, jnp.nan)]).whole.flat.closed.derived


def test_keys_among_the_results_are_no_nan_and_no_trouble():
    def step(key, x):
        key, sub = jx.random.split(key)
        return key, jnp.log(x), jx.random.normal(sub)

    assert not jx.find_nan(step)(jx.random.key(0), jnp.ones(2)).found
    hunt = jx.find_nan(step)(jx.random.key(0), -jnp.ones(2))
    assert hunt.found and hunt.primitive == "log"


def test_a_value_that_is_bad_itself_is_no_wheres_doing():
    """A Cholesky factor is chosen from what LAPACK gives: the value of the loss is NaN, too."""

    def loss(s, x):
        return jnp.log(jnp.diag(jnp.linalg.cholesky(x - s * jnp.eye(3)))).sum()

    for function in (jx.grad(loss), jx.jit(jx.grad(loss)), jx.value_and_grad(loss)):
        hunt = jx.find_nan(function)(1.5, jnp.eye(3))
        assert hunt.primitive == "cholesky" and hunt.document["where"] is None
        assert "where" not in hunt.document["cause"]
