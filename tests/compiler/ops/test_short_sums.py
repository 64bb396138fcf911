"""Sums, greatest and least elements of arrays with a short last axis: NumPy's, however the rows are put together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.xla.cpu_tuning import SUMS_OF_SHORT_ROWS
from tests.extent import examples


RULE = "SUMS_OF_SHORT_ROWS"
AXES = [(0,), (1,), (0, 1), (-1,), (-2,), (0, -2), (0, -1), (-2, -1), None]


def rules_of(function, *arguments) -> list[str]:
    return [r.rule for r in jx.jit(function).lower(*arguments).rewrites()]


@given(
    rows=st.integers(3000, 24000),
    length=st.integers(1, 18),
    batch=st.sampled_from([(), (1,), (3,), (2, 2)]),
    axes=st.sampled_from(AXES),
    dtype=st.sampled_from(["float32", "float64"]),
    seed=st.integers(0, 99),
)
@settings(max_examples=examples(40), deadline=None)
def test_results_are_numpys(rows, length, batch, axes, dtype, seed) -> None:
    x = np.random.default_rng(seed).standard_normal((*batch, rows, length)).astype(dtype)
    if axes is not None:
        axes = tuple({axis % x.ndim for axis in axes})
    with jx.experimental.enable_x64(True):
        total = jx.jit(lambda x: jnp.sum(x, axes))(x)
        assert total.dtype == dtype
        terms = x.size // max(1, np.asarray(total).size)
        bound = 4 * terms * np.finfo(dtype).eps * np.sum(np.abs(x.astype(np.float64)), axes)
        assert np.all(np.abs(np.asarray(total, np.float64) - np.sum(x.astype(np.float64), axes)) <= bound)
        for name in ("max", "min"):
            got = jx.jit(lambda x, name=name: getattr(jnp, name)(x, axes))(x)
            np.testing.assert_array_equal(got, getattr(np, name)(x, axes))
        if axes is not None and len(axes) == 1:
            got = jx.jit(lambda x: jnp.argmax(x, axes[0]))(x)
            np.testing.assert_array_equal(got, np.argmax(x, axes[0]))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("rows", [12000, 12001, 12299])
def test_numbers_that_are_none_stay(rows: int, axis: int) -> None:
    """NaN, infinities and what no number of rows divides."""
    x = np.random.default_rng(0).standard_normal((rows, 3)).astype(np.float32)
    x[5, 1], x[rows - 1, 2], x[7, 0] = np.nan, np.inf, -np.inf
    for name in ("sum", "max", "min"):
        got = jx.jit(lambda x, name=name: getattr(jnp, name)(x, axis))(x)
        np.testing.assert_allclose(got, getattr(np, name)(x, axis), rtol=1e-5, atol=1e-4)
    least = np.full((rows, 3), -np.inf, np.float32)
    np.testing.assert_array_equal(jx.jit(lambda x: jnp.max(x, 0))(least), least.max(0))


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((20000, 2), 0),
        ((5000, 8), -1),
        ((40, 2000, 3), 1),
        ((5000, 4, 2), (1, 2)),
        ((70, 70, 16), (0, 1)),
        ((4, 40, 40, 8, 4), (1, 2, 4)),
        ((2, 30, 30, 4, 20), (1, 2, 4)),
        ((900, 2, 3, 64), (0, 3)),
    ],
)
def test_these_are_written_so(shape: tuple[int, ...], axes) -> None:
    x = np.zeros(shape, np.float32)
    assert RULE in rules_of(lambda x: jnp.sum(x, axes), x)
    SUMS_OF_SHORT_ROWS.off = True
    try:
        assert RULE not in rules_of(lambda x: jnp.sum(x, axes), x)
    finally:
        SUMS_OF_SHORT_ROWS.off = False


@pytest.mark.parametrize(
    ("shape", "axes", "dtype"),
    [
        ((300, 3), 0, "float32"),  # too small
        ((5000, 17), 0, "float32"),
        ((5000, 9), -1, "float32"),
        ((3, 50000), 0, "float32"),
        ((400, 40, 3), 1, "float32"),  # too few rows for longer ones
        ((50000, 3), None, "float32"),
        ((50000, 3), (0, 1), "float32"),
        ((50000, 3), -1, "int32"),
        ((50000, 3), (), "float32"),
    ],
)
def test_others_are_not(shape: tuple[int, ...], axes, dtype: str) -> None:
    assert RULE not in rules_of(lambda x: jnp.sum(x, axes), jnp.zeros(shape, dtype))


def test_derivatives_and_maps_are_those_of_numpy() -> None:
    x = np.random.default_rng(0).standard_normal((3, 12000, 3)).astype(np.float32)
    norms = jx.jit(jx.grad(lambda x: jnp.sum(jnp.sqrt(jnp.sum(x * x, -1)))))(x)
    np.testing.assert_allclose(norms, x / np.linalg.norm(x, axis=-1, keepdims=True), rtol=2e-5)
    mapped = jx.jit(jx.vmap(lambda x: (x.mean(0), x.sum(1))))(x)
    np.testing.assert_allclose(mapped[0], x.mean(1), atol=1e-5)
    np.testing.assert_allclose(mapped[1], x.sum(2), atol=1e-5)
    assert math.isclose(float(jx.jit(lambda x: x.sum(1).sum())(x)), x.astype(np.float64).sum(), abs_tol=1e-2)


def test_pairs_of_short_vectors_are_multiplied_element_by_element() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 3, 3000, 4)).astype(np.float32)
    product = lambda x, y: jnp.einsum("bni,bni->bn", x, y)
    assert RULE in rules_of(product, x, y)
    np.testing.assert_allclose(jx.jit(product)(x, y), np.einsum("bni,bni->bn", x, y), rtol=1e-4, atol=1e-5)
    got = jx.jit(jx.grad(lambda x: jnp.sum(product(x, y) ** 2)))(x)
    np.testing.assert_allclose(got, 2 * np.einsum("bni,bni->bn", x, y)[..., None] * y, rtol=1e-3, atol=1e-4)
    assert RULE not in rules_of(product, x[:, :, :1], y[:, :, :1])
    assert RULE not in rules_of(lambda x, y: jnp.einsum("bni,bni->ni", x, y), x, y)
