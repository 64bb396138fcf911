"""The greatest and the least along last axes by choices in vectors: NumPy's, NaN kept wherever it stands."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.ops.choices import _tables
from jitscope.xla.cpu_tuning import MAX_BY_CHOICES


HOLDS = MAX_BY_CHOICES.holds()
BY_CHOICES = [(2000, 3), (400, 32), (50, 96), (8, 1000), (2, 32000), (40, 2, 8, 24), (6, 32, 128), (65536,), (64, 64)]
BESIDE = [(300, 97), (5000, 37), (4099,)]


def axes_of(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [tuple(range(first, len(shape))) for first in range(len(shape))]


@pytest.mark.parametrize("shape", [*BY_CHOICES, *BESIDE], ids=str)
def test_results_are_numpys_with_nan_anywhere(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal(shape).astype(np.float32)
    x.flat[random.integers(0, x.size, 20)] = np.inf
    x.flat[random.integers(0, x.size, 20)] = -np.inf
    for place in (None, 0, x.size // 2, x.size - 1):
        if place is not None:
            x.flat[place] = np.nan
        for axes in axes_of(shape):
            for name in ("max", "min"):
                got = jx.jit(lambda x, name=name, axes=axes: getattr(jnp, name)(x, axis=axes))(x)
                np.testing.assert_array_equal(got, getattr(np, name)(x, axis=axes))


@pytest.mark.skipif(not HOLDS, reason="the rule holds with releases it was measured with")
@pytest.mark.parametrize("shape", BY_CHOICES, ids=str)
def test_these_need_no_look_for_nan(shape: tuple[int, ...]) -> None:
    (rewrite,) = jx.jit(lambda x: jnp.max(x, -1)).lower(np.zeros(shape, np.float32)).rewrites()
    assert "choices that keep NaN" in str(rewrite)


@pytest.mark.parametrize("shape", BESIDE, ids=str)
def test_others_have_it(shape: tuple[int, ...]) -> None:
    (rewrite,) = jx.jit(lambda x: jnp.max(x, -1)).lower(np.zeros(shape, np.float32)).rewrites()
    assert "look for NaN" in str(rewrite)


POOLED = {(8, 16, 2, 16, 2, 3): (2, 4), (2, 5000): (0,), (40, 3, 50): (1,), (3, 700, 1, 7): (0, 2)}


@pytest.mark.parametrize("shape", POOLED, ids=str)
def test_poolings_are_those_of_slices(shape: tuple[int, ...]) -> None:
    x, axes = np.random.default_rng(0).standard_normal(shape).astype(np.float32), POOLED[shape]
    x.flat[[0, x.size // 2, x.size - 1]] = np.nan, -np.inf, np.nan
    for name in ("max", "min"):
        function = jx.jit(lambda x, name=name: getattr(jnp, name)(x, axis=axes))
        np.testing.assert_array_equal(function(x), getattr(np, name)(x, axis=axes))
        assert not HOLDS or "slices" in str(function.lower(x).rewrites()[0])
    y = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    gradient = jx.jit(jx.grad(lambda y: jnp.sum(jnp.max(y, axis=axes) ** 2)))(y)
    top = y.max(axes, keepdims=True)
    np.testing.assert_allclose(gradient, np.where(y == top, 2 * top, 0), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_short_rows_of_halves_are_exact(dtype: str) -> None:
    x = jnp.asarray(np.random.default_rng(0).standard_normal((3000, 10))).astype(dtype).at[7, 2].set(np.nan)
    got = jx.jit(lambda x: x.max(1))(x)
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got.astype(np.float32), np.asarray(x.astype(np.float32)).max(1))


def test_gradients_and_maps_go_through() -> None:
    x = np.random.default_rng(0).standard_normal((40, 128)).astype(np.float32)
    gradient = jx.jit(jx.grad(lambda x: jnp.sum(jnp.max(x, 1))))(x)
    np.testing.assert_array_equal(gradient, x == x.max(1, keepdims=True))
    mapped = jx.jit(jx.vmap(jnp.max, in_axes=1))(x.reshape(10, 4, 128))
    np.testing.assert_array_equal(mapped, x.reshape(10, 4, 128).max((0, 2)))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 4096), min_size=1, max_size=3), st.data())
def test_tables_cover_what_is_reduced(shape: list[int], data: st.DataObject) -> None:
    axes = tuple(range(data.draw(st.integers(0, len(shape) - 1)), len(shape)))
    tables = _tables(shape, axes)
    if tables is None:
        return
    most = MAX_BY_CHOICES.value["steps"]
    left, length = math.prod(shape[axis] for axis in axes), shape[-1]
    for lanes, steps in tables:
        assert 1 < steps <= most and length % (lanes * steps) == 0
        length = left = left // steps
    assert left <= most


ROWS = {(1000, 70): (0,), (3, 77, 64): (1,), (20, 30, 5, 64): (0, 1), (17, 4096): (0,), (2, 150, 16, 8): (1,)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", ROWS, ids=str)
def test_long_rows_are_chosen_between(shape: tuple[int, ...], dtype: str) -> None:
    axes = ROWS[shape]
    with jx.enable_x64(dtype == "float64"):
        x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
        x.flat[[0, x.size // 2, x.size - 1]] = np.nan, -np.inf, np.nan
        for name in ("max", "min"):
            function = jx.jit(lambda x, name=name: getattr(jnp, name)(x, axis=axes))
            np.testing.assert_array_equal(function(x), getattr(np, name)(x, axis=axes))
            assert not HOLDS or "between rows" in str(function.lower(x).rewrites()[0])
