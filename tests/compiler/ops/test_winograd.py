"""Convolutions of 3 × 3 by minimal filtering give what XLA's own give, as close to exact sums as these on numbers of one size."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla import cpu_tuning
from tests.compiler.with_rules import with_and_without
from tests.extent import examples


RULE = cpu_tuning.MINIMAL_FILTERING
pytestmark = pytest.mark.skipif(not RULE.holds(), reason="the rule holds with releases it was measured with")
IN_STEPS = cpu_tuning.FILTERING_IN_STEPS, cpu_tuning.FILTERING_WITH_GAPS
LAYOUTS = (("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW"))


def _convolution(layout: int = 0, padding: Any = "SAME", precision: Any = None, strides: int = 1, gaps: int = 1) -> Any:
    def convolution(x: Any, y: Any) -> Any:
        return lax.conv_general_dilated(
            x, y, (strides,) * 2, padding, (gaps,) * 2, dimension_numbers=LAYOUTS[layout], precision=precision
        )

    return convolution


def _everything(convolution: Any) -> Any:
    def function(x: Any, y: Any, ct: Any) -> Any:
        made, back = jx.vjp(convolution, x, y)
        return made, *back(ct)

    return function


def _operands(layout: int, batch: int, sizes: tuple[int, int], features: tuple[int, int], dtype: str, seed: int) -> Any:
    random = np.random.default_rng(seed)
    x = random.standard_normal((batch, *sizes, features[0])).astype(dtype)
    y = random.standard_normal((3, 3, *features)).astype(dtype)
    return (x, y) if layout == 0 else (x.transpose(0, 3, 1, 2), y.transpose(3, 2, 0, 1))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"features": 2, "products": 1, "tiles": 1, "filled": 4, "numbers": 768, "most": 2**23}
    monkeypatch.setattr(RULE, "value", limits)
    monkeypatch.setattr(cpu_tuning.FILTERING_BY_FOUR, "value", {"features": 2, "tiles": 1})
    monkeypatch.setattr(cpu_tuning.FILTERING_WITH_SIX, "value", {"features": 2, "tiles": 1, "error": 9})
    for rule in IN_STEPS:
        monkeypatch.setattr(rule, "value", {"features": 2, "features of gradient": 2, "tiles": 1})


@pytest.mark.usefixtures("small")
@settings(max_examples=examples(8), deadline=None)
@given(
    layout=st.integers(0, 1),
    batch=st.integers(1, 6),
    sizes=st.tuples(st.integers(5, 9), st.integers(5, 9)),
    features=st.tuples(st.integers(2, 5), st.integers(2, 5)),
    padding=st.tuples(*[st.tuples(st.integers(-1, 3), st.integers(-1, 3))] * 2),
    steps=st.sampled_from([(1, 1), (2, 1), (1, 2)] if all(rule.holds() for rule in IN_STEPS) else [(1, 1)]),
    dtype=st.sampled_from(["float32", "float64"]),
    seed=st.integers(0, 2**31),
)
def test_results_and_gradients(
    layout: int, batch: int, sizes: Any, features: Any, padding: Any, steps: Any, dtype: str, seed: int
) -> None:
    convolution = _convolution(layout, padding, None, *steps)
    with jx.enable_x64(dtype == "float64"):
        x, y = _operands(layout, batch, sizes, features, dtype, seed)
        ct = np.random.default_rng(seed + 1).standard_normal(jx.eval_shape(convolution, x, y).shape).astype(dtype)
        got, want, differ = with_and_without([RULE], _everything(convolution), x, y, ct)
    assert differ or max(ct.shape) < 3
    for one, other in zip(got, want, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=0, atol=64 * np.finfo(dtype).eps * (1 + np.abs(other).max()))


@pytest.mark.usefixtures("small")
@pytest.mark.skipif(not cpu_tuning.GROUPS_IN_A_LOOP.holds(), reason="the rule holds with releases it was measured with")
@settings(max_examples=examples(6), deadline=None)
@given(
    layout=st.integers(0, 1),
    batch=st.integers(1, 3),
    sizes=st.tuples(st.integers(5, 9), st.integers(5, 9)),
    groups=st.integers(2, 5),
    features=st.tuples(st.integers(2, 3), st.integers(2, 3)),
    dtype=st.sampled_from(["float32", "float64"]),
    seed=st.integers(0, 2**31),
)
def test_groups(layout: int, batch: int, sizes: Any, groups: int, features: Any, dtype: str, seed: int) -> None:
    inner, made = features

    def convolution(x: Any, y: Any) -> Any:
        return lax.conv_general_dilated(
            x, y, (1, 1), "SAME", dimension_numbers=LAYOUTS[layout], feature_group_count=groups
        )

    with jx.enable_x64(dtype == "float64"):
        x, _ = _operands(layout, batch, sizes, (groups * inner, 1), dtype, seed)
        _, y = _operands(layout, batch, sizes, (inner, groups * made), dtype, seed)
        ct = np.random.default_rng(seed + 1).standard_normal(jx.eval_shape(convolution, x, y).shape).astype(dtype)
        rules = [cpu_tuning.GROUPS_IN_A_LOOP, RULE]
        got, want, differ = with_and_without(rules, _everything(convolution), x, y, ct)
        loop = with_and_without(rules[:1], _everything(convolution), x, y, ct)[2]
    assert differ and loop
    for one, other in zip(got, want, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=0, atol=64 * np.finfo(dtype).eps * (1 + np.abs(other).max()))


@pytest.mark.parametrize(
    ("size", "features", "six", "strides", "most"),
    [
        (16, 64, True, 1, 2),
        (32, 64, False, 1, 2),
        (32, 64, True, 1, 5),
        (32, 96, True, 1, 5),
        (24, 144, True, 1, 5),
        (32, 96, True, 2, 2),
    ],
    ids=["by two", "by four", "with six", "with six and most features", "with six and seven", "in steps"],
)
def test_errors_are_near_those_of_sums(
    monkeypatch: pytest.MonkeyPatch, size: int, features: int, six: bool, strides: int, most: float
) -> None:
    """How near depends on the processor: XLA adds up in another order where vectors are longer."""
    monkeypatch.setattr(cpu_tuning.FILTERING_WITH_SIX, "off", not six)
    function = _everything(_convolution(strides=strides))
    x, y = _operands(0, 4, (size, size), (features, features), "float32", 0)
    ct = np.random.default_rng(1).standard_normal((4, size // strides, size // strides, features)).astype(np.float32)
    got, want, differ = with_and_without([RULE], function, x, y, ct)
    assert differ or (strides == 2 and not IN_STEPS[0].holds())
    with jx.enable_x64():
        exact = [np.asarray(r) for r in jx.jit(function)(*[v.astype(np.float64) for v in (x, y, ct)])]
    for one, other, true in zip(got, want, exact, strict=True):
        errors = [np.sqrt(np.mean((v - true) ** 2)) for v in (one, other)]
        assert errors[0] < most * errors[1]


def test_a_small_float_is_rounded_once() -> None:
    x, y = (v.astype(jx.numpy.bfloat16) for v in _operands(0, 4, (16, 16), (64, 64), "float32", 0))
    got, want, differ = with_and_without([RULE], _convolution(), x, y)
    assert differ and got[0].dtype == want[0].dtype == jx.numpy.bfloat16
    exact = jx.jit(_convolution())(x.astype(np.float32), y.astype(np.float32))
    off = np.abs(got[0].astype(np.float32) - np.asarray(exact))
    assert np.all(off <= 2.0**-8 * np.abs(exact) + 1e-4)


@pytest.mark.parametrize(
    ("changed", "written"),
    [
        ({}, True),
        ({"window_strides": (2, 2)}, IN_STEPS[0].holds()),
        ({"window_strides": (2, 1)}, False),
        ({"window_strides": (3, 3)}, False),
        ({"rhs_dilation": (2, 2)}, False),
        ({"lhs_dilation": (2, 2)}, IN_STEPS[1].holds()),
        ({"lhs_dilation": (2, 2), "window_strides": (2, 2)}, False),
        ({"precision": lax.Precision.HIGHEST}, False),
        ({"precision": lax.Precision.DEFAULT}, True),
        ({"feature_group_count": 2}, True),  # as a convolution for each group
    ],
)
def test_which_are_written(changed: dict[str, Any], written: bool) -> None:
    params = {"window_strides": (1, 1), "padding": "SAME", **changed}
    if "lhs_dilation" in changed:
        params["padding"] = ((1, 1), (1, 1))
    groups = changed.get("feature_group_count", 1)

    def function(x: Any, y: Any) -> Any:
        return lax.conv_general_dilated(x, y, dimension_numbers=LAYOUTS[0], **params)

    x, y = jx.ShapeDtypeStruct((4, 32, 32, 96), np.float32), jx.ShapeDtypeStruct((3, 3, 96 // groups, 96), np.float32)
    lowered = jx.jit(function).lower(x, y).as_text()
    assert ("stablehlo.while" in lowered) == written


@pytest.mark.skipif(
    not cpu_tuning.FILTERING_BY_FOUR.holds(), reason="the rule holds with releases it was measured with"
)
@pytest.mark.parametrize(
    ("size", "features", "elements"),
    [
        (32, 16, 36),
        (32, 96, 36),
        (30, 96, 36),
        (14, 96, 16),
        (16, 192, 42),
        (16, 512, 49),
        (32, 15, None),
        (31, 40, 36),
        (14, 40, None),
    ],
)
def test_tiles_with_the_fewest_multiplications(size: int, features: int, elements: int | None) -> None:
    x, y = (
        jx.ShapeDtypeStruct(shape, np.float32) for shape in ((16, size, size, features), (3, 3, features, features))
    )
    lowered = jx.jit(_convolution()).lower(x, y).as_text()
    found = [n for n in (16, 36, 42, 49) if f"tensor<{n}x{features}x{features}xf32>" in lowered]
    assert found == ([] if elements is None else [elements])


@pytest.mark.skipif(
    cpu_tuning.HAS_OLDER_EMITTER, reason="XLA 0.10 orders kernels without asking what a barrier holds back"
)
def test_layers_keep_no_more_than_their_results() -> None:
    """Each further layer's gradient needs what `tanh` gave, and no tiles of the forward pass or of another layer."""
    convolution, x, window = _convolution(), np.ones((8, 16, 16, 48), np.float32), np.ones((3, 3, 48, 48), np.float32)

    def memory(layers: int) -> int:
        def network(windows: Any, x: Any) -> Any:
            for one in windows:
                x = jnp.tanh(convolution(x, one))
            return x.sum()

        return jx.jit(jx.grad(network)).lower([window] * layers, x).compile().memory_analysis().temp_size_in_bytes

    assert memory(4) - memory(2) <= 1.1 * 2 * x.nbytes
