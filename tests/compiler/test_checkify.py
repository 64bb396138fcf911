"""What fails first in a compiled function comes back as a value, with the user's line."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import checkify, lax


def failure(f, *args, errors=checkify.user_checks, wrap=jx.jit):
    error, _ = wrap(checkify.checkify(f, errors=errors))(*args)
    return error.get()


@pytest.mark.parametrize("wrap", [lambda f: f, jx.jit])
def test_user_checks_tell_their_values(wrap):
    def f(x, i):
        checkify.check(jnp.all(x > 0), "x[{i}] is {x}, not {0}", jnp.ones(2), x=x[i], i=i)
        return jnp.log(x)

    error, out = wrap(checkify.checkify(f))(jnp.array([1.0, -2.0]), 1)
    assert error.get() == "x[1] is -2.0, not [1. 1.] (line " + error.get().partition("(line ")[2]
    with pytest.raises(checkify.CheckError, match=r"x\[1\] is -2\.0"):
        error.throw()
    assert np.isnan(out[1])
    error, out = wrap(checkify.checkify(f))(jnp.array([1.0, 2.0]), 1)
    assert error.get() is None and error.throw() is None
    np.testing.assert_allclose(out, np.log([1, 2]), rtol=1e-6)


def test_without_checkify_a_check_raises_or_says_how():
    def f(x):
        checkify.check(x > 0, "x is {}", x)
        return x

    assert float(f(jnp.float32(2))) == 2
    with pytest.raises(checkify.CheckError, match=r"x is -2\.0 \(line \d+ of f\)"):
        f(jnp.float32(-2))
    with pytest.raises(ValueError, match=r"jit\(checkify\(f\)\)"):
        jx.jit(f)(2.0)

    def quiet(x):
        checkify.debug_check(x > 0, "x is {}", x)
        return x

    assert float(jx.jit(quiet)(-2.0)) == -2
    assert failure(quiet, -2.0).startswith("x is -2.0")


def test_bad_checks_are_refused_where_they_are_written():
    with pytest.raises(TypeError, match=r"pred is a boolean scalar, not bool\[2\].*jnp\.all"):
        checkify.check(jnp.array([True, False]), "no")
    with pytest.raises(IndexError):
        checkify.check(True, "{0} and {1}", 1.0)
    with pytest.raises(KeyError):
        checkify.check(True, "{a}", b=1.0)


def test_each_kind_of_automatic_check():
    x = jnp.array([1.0, 0.0, -1.0])
    cases = [
        (lambda x: jnp.log(x), checkify.nan_checks, "log gave a NaN (line "),
        (lambda x: 1 / x, checkify.div_checks, "division by zero (line "),
        (lambda x: x[jnp.int32(7)], checkify.index_checks, "index 7 is out of bounds for axis 0 of size 3"),
        (lambda x: x.at[jnp.array([0, 5])].set(1.0), checkify.index_checks, "index 5 is out of bounds for axis 0"),
        (lambda x: lax.dynamic_slice(x, (2,), (2,)), checkify.index_checks, "index 2 is out of bounds for axis 0"),
        (lambda x: jnp.arange(6).reshape(2, 3)[jnp.int32(1), jnp.int32(4)], checkify.index_checks, "index 4 is out of bounds for axis 1 of size 3"),
    ]  # fmt: skip
    for f, kinds, text in cases:
        assert failure(f, x, errors=kinds).startswith(text)
        assert failure(f, x, errors=checkify.all_checks).startswith(text)
        assert failure(f, x, errors=checkify.all_checks - kinds) is None
    assert failure(lambda x: x[jnp.int32(-1)] + x[::-1][jnp.array([0, 2])].sum(), x, errors=checkify.all_checks) is None
    assert failure(lambda i: i // 0, jnp.int32(3), errors=checkify.div_checks) is not None


def test_the_first_failure_counts():
    def f(x):
        y = jnp.log(x)
        checkify.check(x > 0, "user")
        return y / 0

    assert failure(f, -1.0, errors=checkify.all_checks).startswith("log gave")
    assert failure(f, -1.0, errors=checkify.user_checks | checkify.div_checks).startswith("user")
    assert failure(f, 1.0, errors=checkify.all_checks).startswith("division by zero")


def turns(x, limit):
    def step(c, i):
        checkify.check(c < limit, "c is {c} in turn {i}", c=c, i=i)
        return c + i, c

    return lax.scan(step, x, jnp.arange(5.0))


@given(x=st.integers(0, 9), limit=st.integers(0, 20))
@settings(max_examples=30, deadline=None)
def test_in_a_scan_the_turn_is_told(x, limit):
    wanted, c = None, float(x)
    for i in range(5):
        if wanted is None and c >= limit:
            wanted = f"c is {c} in turn {float(i)}"
        c += i
    found = failure(turns, float(x), float(limit))
    assert (found and found.partition(" (line")[0]) == wanted
    _, (total, _) = checkify.checkify(turns)(float(x), float(limit))
    assert float(total) == c


def test_in_while_loops_and_their_conditions():
    def f(x):
        def going(s):
            checkify.check(s != 8, "condition saw {}", s)
            return s < 100

        def body(s):
            checkify.check(s != 4, "body saw {}", s)
            return s * 2

        return lax.while_loop(going, body, x)

    assert failure(f, 2).startswith("body saw 4")
    assert failure(f, 8).startswith("condition saw 8")
    assert failure(f, 3) is None
    assert failure(f, 1).startswith("body saw 4")


def test_in_branches_calls_and_checkpoints():
    @jx.jit
    def inner(x, i):
        checkify.check(x < 5, "inner saw {}", x)
        return lax.switch(i, [lambda x: 1 / x, lambda x: jnp.log(x), lambda x: _refuse(x)], x)

    def _refuse(x):
        checkify.check(x > 100, "third branch saw {}", x)
        return x

    def f(x, i):
        return jx.checkpoint(lambda x: inner(x, i) + inner(x * 2, i))(x)

    assert failure(f, 3.0, 1).startswith("inner saw 6.0")
    assert failure(f, 1.0, 2).startswith("third branch saw 1.0")
    assert failure(f, 0.0, 0, errors=checkify.all_checks).startswith("division by zero")
    assert failure(f, 0.0, 0) is None and failure(f, 1.0, 1, errors=checkify.all_checks) is None
    assert failure(f, -1.0, 1, errors=checkify.float_checks).startswith("log gave a NaN")


def test_under_vmap_and_grad():
    def f(x):
        checkify.check(x > 0, "x is {}", x)
        return jnp.sqrt(x)

    points = jnp.array([1.0, -2.0, -3.0])
    error, _ = jx.vmap(checkify.checkify(f))(points)
    assert error.get().startswith("in example 1: x is -2.0")
    assert failure(jx.vmap(f), points).startswith("x is -2.0")
    assert failure(jx.vmap(jx.vmap(f)), points.reshape(1, 3)).startswith("x is -2.0")
    error, slope = jx.jit(checkify.checkify(jx.grad(f)))(4.0)
    assert error.get() is None and float(slope) == 0.25
    assert failure(jx.grad(f), -4.0).startswith("x is -4.0")
    slope, error = jx.grad(lambda x: checkify.checkify(f)(x)[::-1], has_aux=True)(4.0)
    assert error.get() is None and float(slope) == 0.25


def test_rules_of_ones_own_stay_where_nothing_is_checked():
    @jx.custom_jvp
    def f(x):
        return x * 2

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] * 100))
    slope, error = jx.grad(lambda x: checkify.checkify(f)(x)[::-1], has_aux=True)(1.0)
    assert float(slope) == 100 and error.get() is None


def test_an_error_can_be_handed_on():
    def f(x):
        error, y = checkify.checkify(lambda x: 1 / x, errors=checkify.div_checks)(x)
        checkify.check_error(error)
        return y

    assert failure(f, 0.0).startswith("division by zero")
    assert failure(f, 1.0) is None


def test_what_is_not_checked_compiles_to_the_same_program():
    def f(x):
        return lax.scan(lambda c, _: (jnp.sin(c) / 2, None), x, length=3)[0]

    plain = jx.jit(f).lower(1.0).as_text()
    checked = jx.jit(lambda x: checkify.checkify(f)(x)[1]).lower(1.0).as_text()
    assert len(checked.splitlines()) <= len(plain.splitlines()) + 6
