"""Values that several loops read are written to memory where that saves computing them again, and give what they give otherwise."""

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
from jitscope import lax
from jitscope.backend.kept_values import kept_values
from jitscope.xla import cpu_tuning
from tests.compiler.with_rules import with_and_without
from tests.extent import examples


RULE = cpu_tuning.VALUES_KEPT
pytestmark = pytest.mark.skipif(not RULE.holds(), reason="the rule holds with releases it was measured with")
RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


def reasons(function: Callable[..., Any], *args: Any) -> list[str]:
    return list(kept_values(jx.make_jaxpr(function)(*args).jaxpr, "cpu").values())


def residual(layers: int) -> Callable[..., Any]:
    """A stream to which each layer adds a function of what it is, normalized."""

    def run(x: Any, w: Any) -> Any:
        for i in range(layers):
            x = x + 0.1 * jnp.tanh((x - jnp.mean(x, 1, keepdims=True)) @ w[i])
        return x

    return run


def gradient(layers: int) -> Callable[..., Any]:
    return jx.grad(lambda x, w: jnp.mean(residual(layers)(x, w) ** 2))


def in_numpy(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient by hand, in float64."""
    x, w = x.astype(np.float64), w.astype(np.float64)
    made = []
    for one in w:
        made.append(np.tanh((x - x.mean(1, keepdims=True)) @ one))
        x = x + 0.1 * made[-1]
    ct = 2 * x / x.size
    for one, y in zip(w[::-1], made[::-1]):
        back = (0.1 * ct * (1 - y * y)) @ one.T
        ct = ct + back - back.mean(1, keepdims=True)
    return ct


def largest_fusion(function: Callable[..., Any], *args: Any) -> int:
    """The most instructions that XLA put into one loop."""
    text = jx.jit(lambda *xs: function(*xs)).lower(*args).compile().as_text()
    return max(part.count("\n") for part in text.split("\n\n") if "fused_computation" in part.split("\n")[0])


@settings(max_examples=examples(8), deadline=None)
@given(st.integers(1, 16), st.integers(1, 80), st.integers(1, 70))
def test_results_are_those_without_and_those_of_numpy(layers: int, rows: int, columns: int) -> None:
    x, w = normal(rows, columns), normal(layers, columns, columns) / columns**0.5
    kept, plain, _ = with_and_without([RULE], gradient(layers), x, w)
    exact = in_numpy(x, w)
    scale = np.abs(exact).max()
    np.testing.assert_allclose(kept[0] / scale, plain[0] / scale, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(kept[0] / scale, exact / scale, rtol=1e-4, atol=1e-4)


def test_the_loops_of_a_residual_network_do_not_grow_with_its_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = normal(64, 64), normal(32, 64, 64) / 8
    assert largest_fusion(gradient(32), x, w) <= 80
    monkeypatch.setattr(RULE, "off", True)
    jx.clear_caches()
    assert largest_fusion(gradient(32), x, w) > 160, "XLA does not need the rule any more"
    jx.clear_caches()


def test_what_products_read_with_their_axes_turned_is_computed_once() -> None:
    x, w, g = normal(4, 64, 256), normal(256, 32) / 16, normal(4, 64, 32)

    def layer(x: Any, w: Any, g: Any) -> Any:
        h = jnp.tanh(x) * 0.5
        return h @ w, jnp.einsum("bsi,bso->io", h, g)

    why = "several products read it, and for one it would be computed again with its axes turned"
    assert reasons(layer, x, w, g) == [why]
    kept, plain, differ = with_and_without([RULE], layer, x, w, g)
    assert differ
    h = np.tanh(x.astype(np.float64)) * 0.5
    for one, other, exact in zip(kept, plain, (h @ w, np.einsum("bsi,bso->io", h, g))):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose(one, exact, rtol=1e-4, atol=1e-3)


def test_a_sum_over_a_window_that_several_loops_read() -> None:
    """The loops are those of both products, and of the gradient of `clip`."""
    x, w, v = normal(2, 12, 12, 16), normal(3, 3, 1, 16), normal(16, 8)

    def layer(x: Any, w: Any, v: Any) -> Any:
        names = ("NHWC", "HWIO", "NHWC")
        h = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=names, feature_group_count=16)
        return jnp.clip(h, 0, 2) @ v

    step = jx.grad(lambda *args: jnp.mean(layer(*args) ** 2), (1, 2))
    assert reasons(layer, x, w, v) == []
    assert "several loops read it, and the sum over a window would be computed again in each" in reasons(step, x, w, v)
    kept, plain, differ = with_and_without([RULE], step, x, w, v)
    assert differ
    for one, other in zip(kept, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_only_what_is_computed_again_is_kept() -> None:
    x, w = normal(64, 64), normal(24, 64, 64)

    def one_loop(x: Any) -> Any:
        for _ in range(40):
            x = x * x + 0.5 * x
        return x

    assert reasons(one_loop, x) == []
    assert reasons(residual(24), x, w) == []
    assert reasons(gradient(24), normal(8, 8), normal(24, 8, 8)) == []
    assert reasons(lambda x, w: jnp.tanh(x @ w) @ w, x, x) == []
    big = normal(256, 256)
    assert reasons(lambda x: (jnp.tanh(x) @ big, jnp.tanh(x).T @ big), big) == []
    assert len(reasons(gradient(24), x, w)) in range(2, 13)


def test_it_holds_inside_loops() -> None:
    x, w = normal(64, 64), normal(16, 64, 64) / 8

    def steps(x: Any, w: Any) -> Any:
        return lax.scan(lambda x, _: (x - gradient(16)(x, w), None), x, length=3)[0]

    kept, plain, differ = with_and_without([RULE], steps, x, w)
    exact = x
    for _ in range(3):
        exact = exact - in_numpy(exact, w)
    assert differ
    np.testing.assert_allclose(kept[0], plain[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(kept[0], exact, rtol=1e-4, atol=1e-4)


def test_it_is_told_and_linked_to_the_equation() -> None:
    x, w = normal(64, 64), normal(16, 64, 64) / 8
    lowered = jx.jit(gradient(16)).lower(x, w)
    told = [r for r in lowered.rewrites() if r.rule == "VALUES_KEPT"]
    assert told and all(r.words.startswith("written to memory: several loops read it") for r in told)
    assert all(r.place.startswith("line ") for r in told)
    calls = [line for line in lowered.compile().as_text().splitlines() if " call(" in line]
    assert len(calls) == len(told)
    assert all(re.match(r"\s*(ROOT )?%?e\d+", line) for line in calls)


def test_other_platforms_get_plain_programs() -> None:
    jaxpr = jx.make_jaxpr(gradient(24))(normal(64, 64), normal(24, 64, 64)).jaxpr
    assert kept_values(jaxpr, "cpu") and not kept_values(jaxpr, "cuda") and not kept_values(jaxpr, "")
