"""Budgets of compilations and traces: they fail in the call that is one too many, with the reason."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import testing


def fresh(factor: float):
    def scaled(x):
        return x * factor

    return jx.jit(scaled)


def test_a_block_within_its_budget_and_one_beyond_it():
    f = fresh(1.6875)
    with testing.assert_compiles(f, 2):
        f(jnp.ones(2)), f(jnp.ones(2)), f(jnp.ones(3))
    with testing.assert_compiles(f, 0):
        f(jnp.ones(2))
    done = []
    with pytest.raises(testing.TooManyCompilations) as failed, testing.assert_compiles(f, 1):
        for n in (4, 5, 6):
            f(jnp.ones(n))
            done.append(n)
    assert done == [4]
    said = str(failed.value)
    assert (
        said.startswith("scaled was compiled twice") or "scaled was compiled 2 times, and at most 1 is allowed" in said
    )
    assert "axis 0 of x" in said and "f(jnp.ones(n))" in said and "fix: " in said
    f(jnp.ones(7)), f(jnp.ones(8))  # the budget is over


def test_a_call_within_a_budget():
    f = fresh(1.7185)
    np.testing.assert_allclose(testing.assert_compiles(f, 1, jnp.ones(2)), np.float32(1.7185))
    with pytest.raises(AssertionError, match="first compilation"):
        testing.assert_compiles(jx.jit(lambda x: x * 1.7345), 0, jnp.ones(2))


def test_a_statement_asks_what_happened_so_far():
    f = fresh(1.7815)
    for n in (2, 3, 4):
        f(jnp.ones(n))
    testing.assert_compiles(f, 3)
    with pytest.raises(AssertionError, match="compiled 3 times, and at most 2 are allowed"):
        testing.assert_compiles(f, 2)
    with testing.assert_compiles(f, 1):
        f(jnp.ones(5))
    with pytest.raises(ValueError, match="0 or more"):
        testing.assert_compiles(f, -1)


def test_the_library_and_other_functions_do_not_count():
    f, other = fresh(1.8125), jx.jit(lambda x: x + 1.8215)
    with testing.assert_compiles(f, 0):
        other(jnp.ones(3)), jnp.linalg.norm(jnp.ones(11))
    with testing.limit_compilations(1):
        f(jnp.ones(3)), other(jnp.ones(4)), jx.jit(jnp.sum)(jnp.ones(3)), jx.jit(jnp.sum)(jnp.ones(4))


def test_a_function_made_anew_counts_for_its_definition():
    with pytest.raises(testing.TooManyCompilations, match="factor changed"), testing.limit_compilations(2):
        for k in range(4):
            fresh(1.8435 + k)(jnp.ones(3))


def test_no_tracing():
    f = fresh(1.8715)
    f(jnp.ones(3))
    with testing.no_tracing():
        f(jnp.ones(3))
    with pytest.raises(testing.TracedAgain) as failed, testing.no_tracing():
        f(jnp.ones(4))
    said = str(failed.value)
    assert "scaled was to be traced, in line" in said and "axis 0 of x is 3, then 4" in said and "fix: Pad" in said
    assert isinstance(failed.value, AssertionError) and isinstance(failed.value, RuntimeError)
    with pytest.raises(testing.TracedAgain, match="never traced before"), testing.no_tracing():
        jx.jit(lambda x: x * 1.8815)(jnp.ones(4))
    f(jnp.ones(4))


def test_other_errors_pass_through():
    with pytest.raises(RuntimeError, match="mine"), testing.no_tracing():
        raise RuntimeError("mine")
    with pytest.raises(KeyError), testing.assert_compiles(fresh(1.5), 1):
        raise KeyError
