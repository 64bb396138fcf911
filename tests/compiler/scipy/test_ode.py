"""`experimental.ode.odeint` against SciPy, closed forms and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.experimental.ode import odeint


TIMES = np.array([0.0, 0.3, 0.7, 2.0])
START = np.array([3.0, 0.1])


def pendulum(y, t, friction, gravity):
    return [y[1], -friction * y[1] - gravity * jnp.sin(y[0]) + 0.1 * t]  # of an array, as SciPy takes it


def exact(start, times, friction, gravity):
    def slope(t, y):
        return [y[1], -friction * y[1] - gravity * np.sin(y[0]) + 0.1 * t]

    found = solve_ivp(slope, (times[0], times[-1]), start, t_eval=times, rtol=1e-11, atol=1e-11)
    return found.y.T


def test_values_are_scipys():
    with jx.enable_x64(True):
        found = jx.jit(lambda y, t: odeint(pendulum, y, t, 0.25, 9.8))(START, TIMES)
        np.testing.assert_allclose(found, exact(START, TIMES, 0.25, 9.8), rtol=0, atol=1e-6)
        assert found.dtype == np.float64
    single = odeint(pendulum, jnp.array(START), jnp.array(TIMES), 0.25, 9.8)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact(START, TIMES, 0.25, 9.8), rtol=0, atol=2e-4)


def test_derivatives_are_those_of_differences():
    weights = np.random.default_rng(0).normal(size=(4, 2))

    def loss(solve, start, times, friction, gravity):
        return (weights * solve(start, times, friction, gravity)).sum()

    def ours(*args):
        return odeint(pendulum, *args[:2], *args[2:], rtol=1e-10, atol=1e-10)

    given = [START, TIMES, np.float64(0.25), np.float64(9.8)]
    with jx.enable_x64(True):
        gradients = jx.jit(jx.grad(lambda *args: loss(ours, *args), argnums=(0, 1, 2, 3)))(*given)
    for i, gradient in enumerate(gradients):
        for at in np.ndindex(given[i].shape):
            step = np.zeros_like(given[i])
            step[at] = 1e-4
            sides = [loss(exact, *given[:i], given[i] + sign * step, *given[i + 1 :]) for sign in (1, -1)]
            np.testing.assert_allclose(gradient[at], (sides[0] - sides[1]) / 2e-4, rtol=2e-5, atol=1e-5)


def test_trees_complex_numbers_and_examples():
    times = jnp.array([0.0, 0.5, 1.0])
    start = {"a": jnp.ones((2, 3)), "b": jnp.array(1 + 0j)}
    found = odeint(lambda y, t: {"a": -y["a"], "b": 2j * y["b"]}, start, times)
    np.testing.assert_allclose(found["a"], np.broadcast_to(np.exp(-times)[:, None, None], (3, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(found["b"], np.exp(2j * np.asarray(times)), rtol=1e-5)
    assert (found["a"].dtype, found["b"].dtype) == (np.float32, np.complex64)
    rates = jnp.array([0.5, 1.0, 2.0])
    each = jx.vmap(lambda rate: odeint(lambda y, t: -rate * y, jnp.array(1.0), times))(rates)
    np.testing.assert_allclose(each, np.exp(-np.outer(rates, times)), rtol=1e-5)


def test_derivatives_reach_what_is_captured_and_pass_integers_by():
    def end(rate):
        return odeint(lambda y, t, n: -rate * y**n, jnp.array(1.0), jnp.array([0.0, 1.0]), 1)[-1]

    np.testing.assert_allclose(jx.grad(end)(0.7), -np.exp(-0.7), rtol=1e-4)


def test_what_is_not_reached_is_nan():
    found = odeint(lambda y, t: y * y, jnp.array(1.0), jnp.array([0.0, 0.5, 2.0, 3.0]), mxstep=300)  # 1 / (1 - t)
    np.testing.assert_allclose(found[:2], [1, 2], rtol=1e-4)
    assert np.isnan(found[2:]).all()
    assert np.isnan(odeint(lambda y, t: y * jnp.nan, jnp.array(1.0), jnp.array([0.0, 0.5]))[1])
    few = odeint(lambda y, t: jnp.cos(50 * t), jnp.array(0.0), jnp.array([0.0, 1.0]), hmax=0.01, mxstep=20)
    assert np.isnan(few[1])


def test_what_does_not_fit_is_said():
    with pytest.raises(TypeError, match=r"vector of float times; it got i32\[3\]"):
        odeint(lambda y, t: y, jnp.array(1.0), jnp.arange(3))
    for slope in (lambda y, t: jnp.ones(2), lambda y, t: (y, y)):
        with pytest.raises(TypeError, match=r"gives f32\[2\] where the value is f32\[1\]"):
            odeint(slope, jnp.array(1.0), jnp.arange(3.0))
