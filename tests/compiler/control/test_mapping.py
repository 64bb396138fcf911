"""vmap of functions that take more than arrays, and collectives along several axes."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax


X = np.arange(3, dtype=np.float32)


class Settings:
    """No tree, no array."""

    factor = 3


def test_what_is_not_mapped_may_be_any_object() -> None:
    times = lambda x, o: x * o.factor
    np.testing.assert_allclose(jx.vmap(times, (0, None))(X, Settings()), 3 * X)
    np.testing.assert_allclose(jx.vmap(lambda x, f: f(x), (0, None))(X, jnp.sin), np.sin(X), 1e-6)
    np.testing.assert_allclose(jx.vmap(lambda x, d: x * d["w"], (0, None))(X, {"w": 2.0, "name": "w"}), 2 * X)
    np.testing.assert_allclose(jx.vmap(lambda d: d["x"], ({"x": 0, "n": None},))({"x": X, "n": "text"}), X)
    np.testing.assert_allclose(jx.vmap(lambda o: 1.0, None, axis_size=3)("text"), np.ones(3))
    inner = lambda a, o: jx.vmap(lambda b: a * b * o.factor)(X)
    np.testing.assert_allclose(jx.vmap(inner, (0, None))(X, Settings()), 3 * np.outer(X, X), 1e-6)
    total = lambda x: jx.vmap(times, (0, None))(x, Settings()).sum()
    np.testing.assert_allclose(jx.grad(total)(X), np.full(3, 3.0))
    np.testing.assert_allclose(jx.jit(jx.vmap(times, (0, None)), static_argnums=1)(X, Settings()), 3 * X)
    kinds: list[type] = []
    jx.vmap(lambda x, n: kinds.append(type(n)) or x, (0, None))(X, 2)
    assert kinds == [int]
    with pytest.raises(TypeError, match="argument 1 is something that is not an array"):
        jx.vmap(times)(X, Settings())


def test_several_named_axes_as_one() -> None:
    """all_to_all along two axes is that along one of their product, which NumPy's transpose is."""
    x = np.arange(36.0, dtype=np.float32).reshape(2, 3, 6)
    both = lambda f: jx.vmap(jx.vmap(f, axis_name="j"), axis_name="i")
    sent = both(lambda v: lax.all_to_all(v, ("i", "j"), 0, 0, tiled=True))(x)
    np.testing.assert_array_equal(sent, x.reshape(6, 6).T.reshape(2, 3, 6))
    other = both(lambda v: lax.all_to_all(v, ("j", "i"), 0, 0, tiled=True))(x)
    by_columns = x.transpose(1, 0, 2).reshape(6, 6).T.reshape(3, 2, 6).transpose(1, 0, 2)
    np.testing.assert_array_equal(other, by_columns)
    beside = both(lambda v: lax.all_to_all(v.reshape(6, 1), ("i", "j"), 0, 1))(x)
    np.testing.assert_array_equal(beside, x.reshape(6, 6).T.reshape(2, 3, 1, 6))
    slope = jx.grad(lambda v: (both(lambda v: lax.all_to_all(v, ("i", "j"), 0, 0, tiled=True))(v) * x).sum())(x)
    np.testing.assert_array_equal(slope, x.reshape(6, 6).T.reshape(2, 3, 6))
    parts = x.reshape(6, 6).sum(0).reshape(2, 3)
    np.testing.assert_array_equal(both(lambda v: lax.psum_scatter(v, ("i", "j")))(x), parts)
    np.testing.assert_array_equal(both(lambda v: lax.psum_scatter(v, ("i", "j"), tiled=True))(x)[..., 0], parts)
    one = jx.vmap(lambda v: lax.all_to_all(v, ("i",), 0, 0), axis_name="i")(np.eye(3))
    np.testing.assert_array_equal(one, np.eye(3))
    with pytest.raises(ValueError, match="6 examples together: the size of axis 0 must be a multiple of 6"):
        both(lambda v: lax.all_to_all(v, ("i", "j"), 0, 0, tiled=True))(x[..., :4])


def test_reductions_over_own_axes_and_none() -> None:
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    along = lambda f: jx.vmap(f, axis_name="i")(x)
    np.testing.assert_allclose(along(lambda v: lax.psum(v, ())), x)
    np.testing.assert_allclose(along(lambda v: lax.psum(v, 0)), x.sum(1))
    np.testing.assert_allclose(along(lambda v: lax.pmean(v, ("i", 0))), np.full(3, x.mean()))
    np.testing.assert_allclose(along(lambda v: lax.pmax(v, (0, "i"))), np.full(3, x.max()))
