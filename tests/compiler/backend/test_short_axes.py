"""Arrays with a short last axis, written out, give what they give as they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.backend.short_axes import plan_of
from jitscope.xla import cpu_tuning
from tests.extent import examples


RULE = cpu_tuning.SHORT_AXES
pytestmark = pytest.mark.skipif(not RULE.holds(), reason="the rule holds with releases it was measured with")


def is_written_out(function: Callable[..., Any], *args: Any) -> bool:
    return plan_of(jx.make_jaxpr(function)(*args).jaxpr, "cpu") is not None


def both(function: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    """The results with the rule and without it."""
    found = []
    for off in (False, True):
        RULE.off = off
        try:
            jx.clear_caches()
            found.append(jx.tree.map(np.asarray, jx.jit(lambda *xs: function(*xs))(*args)))
        finally:
            RULE.off = False
    jx.clear_caches()
    return found[0], found[1]


COMBINED: dict[str, Callable[[Any, Any], Any]] = {
    "differences": lambda a, b: a - b,
    "products": lambda a, b: a * b + 1,
    "functions": lambda a, b: jnp.tanh(a) * jnp.cos(b),
    "choices": lambda a, b: jnp.where(a > b, a, 2 * b),
    "weights": lambda a, b: (a - b) * jnp.sum((a - b) ** 2, -1, keepdims=True),
}
REDUCED: dict[str, Callable[[Any], Any]] = {
    "short": lambda d: jnp.sum(d, axis=-1),
    "largest": lambda d: jnp.max(d, axis=-1),
    "both": lambda d: jnp.sum(d, axis=(1, 2)),
    "other": lambda d: jnp.sum(d, axis=0),
    "nearest": lambda d: jnp.argmin(jnp.sum(d**2, axis=-1), axis=1),
    "pulled": lambda d: jnp.einsum("ijk,ij->ik", d, jnp.sqrt(1 + jnp.sum(d**2, axis=-1))),
    "product": lambda d: jnp.prod(d, axis=-1),
}


@settings(max_examples=examples(40))
@given(
    st.sampled_from(sorted(COMBINED)),
    st.sampled_from(sorted(REDUCED)),
    st.tuples(st.integers(40, 60), st.integers(40, 60), st.integers(2, 4)),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 2**31),
)
def test_results_are_the_same(combined: str, reduced: str, sizes: tuple[int, int, int], dtype: str, seed: int) -> None:
    rows, columns, short = sizes
    random = np.random.default_rng(seed)
    with jx.enable_x64(dtype == "float64"):
        x, y = (random.standard_normal((n, short)).astype(dtype) for n in (rows, columns))

        def program(x: Any, y: Any) -> Any:
            return REDUCED[reduced](COMBINED[combined](x[:, None], y[None]))

        if rows * columns * short >= RULE.value["elements"]:
            assert is_written_out(program, x, y)
        got, want = both(program, x, y)
        assert got.dtype == want.dtype
        if reduced in ("largest", "nearest"):
            np.testing.assert_array_equal(got, want)
            return
        terms = {"short": short, "both": columns * short, "other": rows, "pulled": columns, "product": short}[reduced]
        size = max(1.0, float(np.abs(want).max()))
        np.testing.assert_allclose(got, want, rtol=0, atol=2 * (terms + 4) * np.finfo(got.dtype).eps * size)


@settings(max_examples=examples(15), deadline=None)
@given(
    st.sampled_from(["differences", "functions", "choices"]),
    st.sampled_from(["short", "largest", "nearest", "product"]),
    st.integers(5, 16),
    st.integers(0, 2**31),
)
def test_results_along_longer_axes_are_the_same(combined: str, reduced: str, length: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = (random.standard_normal((n, length)).astype("float32") for n in (190, 150))
    program = lambda x, y: REDUCED[reduced](COMBINED[combined](x[:, None], y[None]))
    assert is_written_out(program, x, y)
    got, want = both(program, x, y)
    if reduced in ("largest", "nearest"):
        np.testing.assert_array_equal(got, want)
        return
    size = max(1.0, float(np.abs(want).max()))
    np.testing.assert_allclose(got, want, rtol=0, atol=2 * (length + 4) * np.finfo(np.float32).eps * size)


def test_longer_axes_stay_where_writing_them_out_does_not_pay() -> None:
    x = np.zeros((200, 8), np.float32)
    distances = lambda x: jnp.sum((x[:, None] - x) ** 2, -1)
    assert is_written_out(distances, x)
    assert not is_written_out(distances, x[:100])
    assert not is_written_out(distances, np.zeros((200, 17), np.float32))
    assert not is_written_out(jx.grad(lambda x: jnp.sum(jnp.exp(-distances(x)))), x)
    assert not is_written_out(lambda x: jnp.sum(x[:, None] * x, -1), x)


@pytest.mark.parametrize("reduce", [jnp.sum, jnp.max, jnp.argmin, lambda d, axis: d])
def test_what_is_left_of_a_short_axis_may_have_another_one(reduce: Callable[..., Any]) -> None:
    """The distances to a few centres: their last axis is short, and read as it is."""
    random = np.random.default_rng(0)
    x, y = (random.standard_normal((n, 3)).astype("float32") for n in (4000, 4))
    program = lambda x, y: reduce(jnp.abs(jnp.sum((x[:, None] - y) ** 2, axis=-1)), axis=-1)
    assert is_written_out(program, x, y)
    np.testing.assert_allclose(*both(program, x, y), rtol=1e-5)


@pytest.mark.parametrize("name", ["differences", "weights", "functions"])
def test_gradients_and_maps_are_the_same(name: str) -> None:
    random = np.random.default_rng(0)
    x, y = (random.standard_normal((n, 3)).astype("float32") for n in (50, 60))
    energy = lambda x, y: jnp.sum(1 / jnp.sqrt(1 + jnp.sum(COMBINED[name](x[:, None], y[None]) ** 2, axis=-1)))
    gradient = jx.grad(energy, (0, 1))
    assert is_written_out(gradient, x, y)
    for got, want in zip(*both(gradient, x, y)):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(want).max())
    mapped = jx.vmap(energy, (0, None))
    xs = np.stack([x, 2 * x])
    np.testing.assert_allclose(*both(mapped, xs, y), rtol=1e-5)


def test_what_needs_the_axis_keeps_it() -> None:
    x = np.zeros((50, 3), np.float32)
    pairs = lambda x: x[:, None] - x[None]
    assert is_written_out(lambda x: jnp.sum(pairs(x) ** 2, axis=-1), x)
    assert not is_written_out(pairs, x)

    def handed_out(x: Any) -> Any:
        d = pairs(x)
        return jnp.sum(d, axis=-1), d

    assert not is_written_out(handed_out, x)
    assert not is_written_out(lambda x: jnp.cumsum(pairs(x), axis=0).sum(-1), x)
    assert not is_written_out(lambda x: jnp.sum(pairs(x) ** 2, axis=-1), x[:10])
    assert not is_written_out(lambda x: jnp.sum(x**2, axis=-1), np.zeros((5000, 3), np.float32))
    assert not is_written_out(lambda x: jnp.sum(pairs(x) ** 2, axis=-1), np.zeros((50, 5), np.float32))


def test_operations_keep_the_paths_of_their_equations() -> None:
    x = np.zeros((50, 3), np.float32)
    lowered = jx.jit(lambda x: jnp.sqrt(jnp.sum((x[:, None] - x[None]) ** 2, axis=-1))).lower(x)
    equations = jx.make_jaxpr(lambda x: jnp.sqrt(jnp.sum((x[:, None] - x[None]) ** 2, axis=-1)))(x).eqns
    text = lowered.as_text(debug_info=True)
    assert "50x50x3" not in text
    compiled = lowered.compile().runtime_executable().hlo_modules()[0].to_string()
    paths = set(re.findall(r'op_name="[^"]*?(e\d+)', compiled))
    arithmetic = {
        f"e{i}"
        for i, eqn in enumerate(equations)
        if eqn.primitive.name in ("sub", "mul", "square", "integer_pow", "sqrt")
    }
    assert arithmetic <= paths, (paths, arithmetic)
