"""Convolutions written as other operations give what XLA's own give, within the rounding of sums in another order."""

from __future__ import annotations

import math
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.avals import ShapedArray
from jitscope.ops.conv_forms import form_of
from jitscope.xla import cpu_tuning
from tests.compiler.with_rules import with_and_without
from tests.extent import examples


RULES = (cpu_tuning.CONVOLUTIONS_AS_PRODUCTS, cpu_tuning.CONVOLUTIONS_BY_ELEMENTS)
SPECS = {1: (("NWC", "WIO", "NWC"), ("NCW", "OIW", "NWC")), 2: (("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW"))}
pytestmark = pytest.mark.skipif(not RULES[0].holds(), reason="the rules hold with releases they were measured with")


def assert_within_rounding(one: np.ndarray, other: np.ndarray, magnitude: np.ndarray, terms: int) -> None:
    """The bound that `ops.conv_forms` states."""
    assert one.dtype == other.dtype and one.shape == other.shape
    bound = 2 * (terms + 2) * np.finfo(one.dtype).eps * magnitude + np.finfo(one.dtype).tiny
    assert np.all(np.abs(one.astype(np.float64) - other) <= bound)


@st.composite
def convolutions(draw: Any) -> tuple[dict[str, Any], tuple[int, ...], tuple[int, ...], str]:
    """Parameters and shapes: windows of one element, or one for each feature, or in groups."""
    space = draw(st.integers(1, 2))
    numbers = draw(st.sampled_from(SPECS[space]))
    groups, per_group, made = draw(
        st.sampled_from([(1, 3, 4), (1, 1, 2), (4, 1, 4), (3, 1, 3), (2, 3, 4), (70, 1, 70)])
    )
    window = [1] * space if groups == 1 else [draw(st.integers(1, 3)) for _ in range(space)]
    batch = draw(st.integers(1, 3))
    image = [draw(st.integers(4, 7)) for _ in range(space)]
    params = {
        "window_strides": [draw(st.integers(1, 2)) for _ in range(space)],
        "padding": [(0, 0)] * space if groups == 1 else [(draw(st.integers(0, 2)), 1) for _ in range(space)],
        "rhs_dilation": [draw(st.integers(1, 2)) for _ in range(space)],
        "dimension_numbers": numbers,
        "feature_group_count": groups,
    }
    lhs, rhs, _ = numbers
    sizes = dict(zip("WH" if space == 1 else "HW", image))
    windows = dict(zip("WH" if space == 1 else "HW", window))
    x = tuple({"N": batch, "C": groups * per_group, **sizes}[axis] for axis in lhs)
    y = tuple({"O": made, "I": per_group, **windows}[axis] for axis in rhs)
    return params, x, y, draw(st.sampled_from(["float32", "float64"]))


@settings(max_examples=examples(20))
@given(convolutions(), st.integers(0, 2**31))
def test_results_gradients_and_maps_are_the_same(case: Any, seed: int) -> None:
    params, x_shape, y_shape, dtype = case
    random = np.random.default_rng(seed)
    with jx.enable_x64(dtype == "float64"):
        x, y = (random.standard_normal(s).astype(dtype) for s in (x_shape, y_shape))
        convolution = lambda x, y: lax.conv_general_dilated(x, y, **params)
        made = jx.eval_shape(convolution, x, y)
        if made.size == 0:
            return
        ct = random.standard_normal(made.shape).astype(dtype)

        def everything(x: Any, y: Any, ct: Any) -> Any:
            out, back = jx.vjp(convolution, x, y)
            return out, *back(ct)

        got, want, differ = with_and_without(RULES, everything, x, y, ct)
        assert differ
        magnitudes = [np.asarray(m) for m in jx.jit(everything)(np.abs(x), np.abs(y), np.abs(ct))]
        terms = max(math.prod(y_shape), math.prod(made.shape))
        for one, other, magnitude in zip(got, want, magnitudes, strict=True):
            assert_within_rounding(one, other, magnitude, terms)
        xs = np.stack([x, 2 * x])
        got, want, _ = with_and_without(RULES, jx.vmap(convolution, (0, None)), xs, y)
        assert_within_rounding(got[0], want[0], np.stack([magnitudes[0], 2 * magnitudes[0]]), terms)


LOOPS = (cpu_tuning.CONVOLUTIONS_IN_LOOPS, cpu_tuning.CONVOLUTIONS_BY_ELEMENTS)


@pytest.mark.skipif(not LOOPS[0].holds(), reason="the rule holds with fewer releases")
@settings(max_examples=examples(12), deadline=None)
@given(
    st.sampled_from([(2500, (33,)), (900, (100,)), (48, (6, 6)), (40, (9, 7)), (64, (5, 5)), (12, (4, 4, 4))]),
    st.sampled_from([1, 3]),
    st.integers(1, 2),
    st.integers(1, 2),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 2**31),
)
def test_a_window_for_each_feature(case: Any, features: int, batch: int, apart: int, dtype: str, seed: int) -> None:
    size, window = case
    random = np.random.default_rng(seed)
    with jx.enable_x64(dtype == "float64"):
        x = random.standard_normal((batch, features, *[size] * len(window))).astype(dtype)
        y = random.standard_normal((features, 1, *window)).astype(dtype)
        padding = [(int(random.integers(0, 5)), int(random.integers(-1, 5))) for _ in window]
        convolution = lambda x, y: lax.conv_general_dilated(
            x, y, [1] * len(window), padding, rhs_dilation=[apart] * len(window), feature_group_count=features
        )
        got, want, differ = with_and_without(LOOPS, convolution, x, y)
        assert differ
        magnitude = np.asarray(convolution(np.abs(x), np.abs(y)))
        assert_within_rounding(got[0], want[0], magnitude, math.prod(window))
        # What is not finite is seen by the windows over it, and by no others (XLA's own lets other features see it).
        x[0, 0, size // 2] = np.inf
        got, *_ = with_and_without(LOOPS, convolution, x, y)
        over = convolution(np.isinf(x).astype(dtype), np.ones_like(y))
        np.testing.assert_array_equal(np.isfinite(got[0]), np.asarray(over) == 0)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", [(5000, 100), (3000, 33), (300, 299), (40, 5000)])
def test_long_convolutions_of_vectors(sizes: tuple[int, int], mode: str) -> None:
    random = np.random.default_rng(0)
    x, y = (random.standard_normal(n).astype("float32") for n in sizes)
    for ours, oracle in ((jnp.convolve, np.convolve), (jnp.correlate, np.correlate)):
        want = oracle(x.astype(np.float64), y.astype(np.float64), mode)
        magnitude = oracle(np.abs(x).astype(np.float64), np.abs(y).astype(np.float64), mode)
        assert np.all(np.abs(np.asarray(ours(x, y, mode)) - want) <= 100 * np.finfo(np.float32).eps * magnitude)
    ints = (x * 9).astype(np.int32), (y * 9).astype(np.int32)
    np.testing.assert_array_equal(jnp.convolve(*ints, mode), np.convolve(*ints, mode))
    large = jx.jit(lambda x, y: jnp.convolve(x, y, mode)).lower(x, y).as_text()
    assert len(large) < 50_000  # no table of places


def test_a_form_says_in_words_what_is_written() -> None:
    numbers = lax.conv_dimension_numbers((1, 4, 4, 3), (1, 1, 3, 2), ("NHWC", "HWIO", "NHWC"))
    params = {"window_strides": (1, 1), "padding": ((0, 0), (0, 0)), "lhs_dilation": (1, 1), "rhs_dilation": (1, 1),
              "dimension_numbers": numbers, "feature_group_count": 1, "batch_group_count": 1, "precision": None}  # fmt: skip
    x, y, out = (ShapedArray(s, np.dtype("float32")) for s in ((1, 4, 4, 3), (1, 1, 3, 2), (1, 4, 4, 2)))
    form = form_of(x, y, out, params)
    assert form is not None and "product of matrices" in form.words
    assert form_of(x, y, out, params, "cuda") is None
