"""Elementwise operations on short last axes, computed along one axis, give what they give as they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.backend.flat_values import flat_values
from jitscope.xla import cpu_tuning
from tests.extent import examples


RULE = cpu_tuning.FLAT_VALUES
N = 2400


def is_flat(function: Callable[..., Any], *args: Any) -> bool:
    return flat_values(jx.make_jaxpr(function)(*args).jaxpr, "cpu", ()) is not None


def both(function: Callable[..., Any], *args: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The results with the rule and without it."""
    found = []
    for off in (False, True):
        RULE.off = off
        try:
            found.append([np.asarray(x) for x in jx.tree.leaves(jx.jit(lambda *xs: function(*xs))(*args))])
        finally:
            RULE.off = False
    return found[0], found[1]


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "log": lambda x, y: jnp.log(jnp.abs(x) + 1),
    "difference": lambda x, y: (x - y) ** 2,
    "choice": lambda x, y: jnp.where(x > y, x, 2 * y),
    "row": lambda x, y: x + jnp.arange(x.shape[-1], dtype=x.dtype),
    "column": lambda x, y: x - jnp.max(x, -1, keepdims=True),
    "whole": lambda x, y: jnp.round(x * 3).astype(jnp.int32).astype(x.dtype) / 3,
    "tanh": lambda x, y: jnp.tanh(x) * y,
    "scaled": lambda x, y: x * jnp.sum(jnp.exp(-(y**2))),
    "turned": lambda x, y: jnp.swapaxes(jnp.sqrt(jnp.abs(jnp.swapaxes(x, 0, -1))), 0, -1),
}
ENDS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda x: x,
    "sum": lambda x: jnp.sum(x),
    "mean of columns": lambda x: jnp.mean(x, tuple(range(x.ndim - 1))),
    "sums of rows": lambda x: jnp.sum(x, -1),
    "greatest": lambda x: (jnp.max(x), jnp.min(x, tuple(range(x.ndim - 1)))),
    "several": lambda x: (x[1:] * 2, jnp.sum(x), x.T),
}


@settings(max_examples=examples(60), deadline=None)
@given(
    steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4),
    end=st.sampled_from(sorted(ENDS)),
    length=st.integers(1, 11),
    rows=st.sampled_from([(N,), (5, 900), (4999,)]),
    dtype=st.sampled_from(["float32", "float64"]),
    seed=st.integers(0, 2**31),
)
def test_results_are_the_same(steps, end, length, rows, dtype, seed) -> None:
    draws = np.random.default_rng(seed)
    x, y = (draws.standard_normal((*rows, length)).astype(dtype) for _ in range(2))

    def program(x, y):
        for step in steps:
            x = STEPS[step](x, y)
        return ENDS[end](x)

    with jx.experimental.enable_x64(True):
        for got, expected in zip(*both(program, x, y)):
            assert got.dtype == expected.dtype and got.shape == expected.shape
            scale = np.finfo(dtype).eps * max(1.0, float(np.max(np.abs(expected))))
            np.testing.assert_allclose(
                got, expected, rtol=0, atol=scale * (8 if end in ("itself", "several") else 4 * x.size**0.5)
            )


X, W = np.linspace(0.5, 2, 9 * N, dtype=np.float32).reshape(N, 9), np.linspace(-1, 1, 9, dtype=np.float32)
COLUMN, PLACES = X.reshape(-1, 1), np.arange(2 * N * 9) % 40
FLAT: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Callable[..., Any]]] = {
    "a column's logarithm": (jnp.log, (COLUMN,), np.log),
    "the mean square error of columns": (
        lambda x, y: jnp.mean((x - y) ** 2),
        (COLUMN, COLUMN * 2),
        lambda x, y: np.mean((x - y) ** 2),
    ),
    "a likelihood of categories": (
        lambda p, i: jnp.sum(jnp.log(p[i])),
        (COLUMN[:40, 0], PLACES),
        lambda p, i: np.sum(np.log(p[i])),
    ),
    "a product with a vector": (lambda x, w: jnp.tanh(x @ w), (np.repeat(X, 2, 0), W), lambda x, w: np.tanh(x @ w)),
    "points, one function after another": (
        lambda x: jnp.sqrt(x) * 2 + 1,
        (X.reshape(-1, 3),),
        lambda x: np.sqrt(x) * 2 + 1,
    ),
    "the sum of a function of ten": (
        lambda x: jnp.sum(jnp.abs(x), 0),
        (X[:2000].reshape(-1, 10),),
        lambda x: np.sum(np.abs(x), 0),
    ),
}


@pytest.mark.parametrize("name", FLAT)
def test_these_are_computed_along_one_axis(name: str) -> None:
    function, args, numpys = FLAT[name]
    assert is_flat(function, *args)
    lowered = jx.jit(function).lower(*args)
    assert "FLAT_VALUES" in {r.rule for r in lowered.rewrites()}
    np.testing.assert_allclose(lowered.compile()(*args), numpys(*args), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 + 1,  # nothing is costly, nothing reduced
        lambda x: jnp.log(x.reshape(-1)),
        lambda x: jnp.log(x[:100]),
        lambda x: jnp.sum(x, 0),
        lambda x: jnp.log(x + jnp.arange(3.0)),  # the sum would have to be written to memory
        lambda x: jnp.sin(x).T,
    ],
    ids=["cheap", "one axis", "small", "a bare sum", "a row added", "no faster"],
)
def test_these_are_not(function: Callable[..., Any]) -> None:
    assert not is_flat(function, X.reshape(-1, 3))


def test_loops_and_gradients_are_numpys() -> None:
    x = X.reshape(-1, 3)
    turned = jx.jit(lambda x: jx.lax.fori_loop(0, 3, lambda _, c: jnp.sqrt(c) + 1, x))(x)
    expected = x
    for _ in range(3):
        expected = np.sqrt(expected) + 1
    np.testing.assert_allclose(turned, expected, rtol=1e-6)
    np.testing.assert_allclose(
        jx.jit(jx.grad(lambda x: jnp.sum(jnp.log(x) ** 2)))(x), 2 * np.log(x) / x, rtol=1e-5, atol=1e-6
    )


def test_operations_keep_the_paths_of_their_equations() -> None:
    compiled = jx.jit(lambda x: jnp.mean(jnp.abs(x - 1))).lower(COLUMN).compile()
    paths = set(re.findall(r'op_name="[^"]*?(e\d+)', compiled.runtime_executable().hlo_modules()[0].to_string()))
    assert paths >= {"e0", "e1", "e2"}


def test_other_platforms_get_plain_programs() -> None:
    assert flat_values(jx.make_jaxpr(jnp.log)(COLUMN).jaxpr, "tpu", ()) is None
