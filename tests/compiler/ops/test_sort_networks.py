"""Short rows sorted by a network: every network sorts, and the results are NumPy's, with NaN, zeros of both signs and equal elements."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.ops.sort_networks import pairs
from jitscope.xla.cpu_tuning import SORTED_BY_NETWORKS


ROWS = 1 << 15
RULE = "SORTED_BY_NETWORKS"


def rows(length: int, dtype: str) -> np.ndarray:
    draws = np.random.default_rng(length)
    x = (
        draws.integers(0, 5, (ROWS, length)).astype(dtype)
        if dtype != "float32"
        else draws.standard_normal((ROWS, length), np.float32)
    )
    if dtype == "float32":
        x[::3, 0], x[::5, -1], x[1::5, 0], x[::7, -1], x[2::9, 0] = np.nan, -0.0, 0.0, np.inf, -np.inf
    return x


def rules_of(function: Callable[..., Any], x: Any) -> set[str]:
    return {r.rule for r in jx.jit(function).lower(x).rewrites()}


@pytest.mark.parametrize("length", range(1, 13))
def test_every_network_sorts(length: int) -> None:
    """A network that sorts all rows of zeros and ones sorts everything (Knuth, volume 3, 5.3.4, theorem Z)."""
    for bits in itertools.product((0, 1), repeat=length):
        row = list(bits)
        for i, j in pairs(length):
            row[i], row[j] = min(row[i], row[j]), max(row[i], row[j])
        assert row == sorted(bits)


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32", "int8", "bfloat16"])
@pytest.mark.parametrize("length", [2, 3, 9])
def test_results_are_numpys(length: int, dtype: str) -> None:
    x = rows(length, dtype)
    got = np.asarray(jx.jit(lambda x: jnp.sort(x, -1))(x))
    np.testing.assert_array_equal(got, np.sort(x, -1))
    places = np.asarray(jx.jit(lambda x: jnp.argsort(x, -1))(x))
    np.testing.assert_array_equal(places, np.argsort(x, -1, kind="stable"))


@pytest.mark.parametrize(("shape", "axis"), [((7, 100, 120), 0), ((300, 5, 64), 1), ((4, 5000, 4), 2)])
def test_other_axes_are_sorted_so_too(shape: tuple[int, ...], axis: int) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    assert RULE in rules_of(lambda x: jnp.sort(x, axis), x)
    np.testing.assert_array_equal(jx.jit(lambda x: jnp.sort(x, axis))(x), np.sort(x, axis))
    np.testing.assert_array_equal(jx.jit(lambda x: jnp.median(x, axis))(x), np.median(x, axis))


def test_the_greatest_are_those_of_a_stable_sort() -> None:
    x = rows(6, "int32").astype(np.float32)
    values, places = jx.jit(lambda x: lax.top_k(x, 2))(x)
    expected = np.argsort(-x, -1, kind="stable")[:, :2]
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(x, expected, -1))


def test_the_greatest_are_xlas_own_in_the_order_of_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    x = rows(5, "float32")
    x[4::11, 1] = -np.float32(np.nan)
    assert RULE in rules_of(lambda x: lax.top_k(x, 3), x)
    got = jx.jit(lambda x: lax.top_k(x, 3))(x)
    jx.clear_caches()
    monkeypatch.setattr(SORTED_BY_NETWORKS, "off", True)
    expected = jx.jit(lambda x: lax.top_k(x, 3))(x)
    np.testing.assert_array_equal(np.asarray(got[0]).view(np.int32), np.asarray(expected[0]).view(np.int32))
    np.testing.assert_array_equal(got[1], expected[1])
    jx.clear_caches()


def test_medians_and_derivatives() -> None:
    x = np.random.default_rng(0).standard_normal((ROWS, 5), np.float32)
    np.testing.assert_array_equal(jx.jit(lambda x: jnp.median(x, -1))(x), np.median(x, -1))
    slope = jx.jit(jx.grad(lambda x: jnp.sum(jnp.sort(x, -1) * jnp.arange(5.0))))(x)
    np.testing.assert_array_equal(slope, np.argsort(np.argsort(x, -1), -1))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.sort(x[:1000], -1),
        lambda x: jnp.sort(x.T.reshape(64, -1), 0),
        lambda x: jnp.sort(jnp.concatenate([x, x, x], 1), -1),
    ],
    ids=["small", "a longer axis", "longer rows"],
)
def test_others_are_xlas(function: Callable[..., Any]) -> None:
    assert RULE not in rules_of(function, np.zeros((ROWS, 8), np.int32))
