"""Tuning functions written for jax: with what compiler_options carry, and nothing of jax's is changed."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jitscope
from jitscope.core.errors import Unavailable


SECONDS = 30


def stencil(u):
    """A sum of what slices are combined to, in which XLA's library costs more than it gives."""
    inside = u[1:-1, 1:-1]
    return jnp.sum((u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inside) ** 2)


def test_a_function_of_jax_is_jitted_with_the_options_of_the_winner(watcher) -> None:
    u = np.random.default_rng(0).normal(size=(1024, 1024)).astype(np.float32)
    found = jitscope.tune(stencil, seconds=SECONDS)(jnp.asarray(u))
    names = [one.name for one in found.tried]
    assert "XLA's library without reductions" in names
    assert all(not one.choice.lowers for one in found.tried)
    expected = np.sum(
        (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]).astype(np.float64) ** 2
    )
    result = found.call(jnp.asarray(u))
    assert isinstance(result, jax.Array)
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-3)
    if found.taken is not None:
        assert found.ratio < 0.98
        written = found.document["written"]
        assert written.startswith("jax.jit(stencil, compiler_options={")
        assert "jax has to be told so" in " ".join(repr(found).split())
        again = eval(written, {"jax": jax, "stencil": stencil})
        np.testing.assert_array_equal(np.asarray(again(jnp.asarray(u))), np.asarray(result))
    assert jitscope.untune(stencil)(jnp.asarray(u)) is False


def test_static_and_donated_arguments_of_a_jitted_function(watcher) -> None:
    def step(x, times, unread):
        return {"x": x * times, "n": jnp.sum(x)}, jnp.argsort(x)

    function = jax.jit(step, static_argnums=1, donate_argnums=0)
    x = jnp.arange(2000.0)[::-1] * 1.0
    found = jitscope.tune(function, seconds=8)(x, 3, jnp.ones(3))
    assert not x.is_deleted()
    assert all(one.outcome != "failed" for one in found.tried), [one.why for one in found.tried]
    out, order = found.call(x, 3, jnp.ones(3))
    np.testing.assert_array_equal(np.asarray(out["x"]), np.arange(2000.0)[::-1] * 3)
    np.testing.assert_array_equal(np.asarray(order), np.arange(2000)[::-1])


def test_options_of_the_users_own_stay(watcher) -> None:
    own = {"xla_cpu_prefer_vector_width": 128}
    function = jax.jit(lambda x: jnp.sin(x) + jnp.cos(x), compiler_options=own)
    found = jitscope.tune(function, seconds=8)(jnp.ones(1000))
    assert not any(name in own for one in found.tried for name, _ in one.choice.flags)
    np.testing.assert_allclose(np.asarray(found.call(jnp.ones(1000))), np.sin(1) + np.cos(1), rtol=1e-6)


def test_what_calls_python_is_refused(watcher) -> None:
    def prints(x):
        jax.debug.print("{}", x)
        return x

    with pytest.raises(Unavailable):
        jitscope.tune(prints, seconds=5)(jnp.ones(3))
