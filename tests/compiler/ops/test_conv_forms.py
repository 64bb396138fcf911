"""Convolutions written as other operations give what XLA's own give, within the rounding of sums in another order."""

from __future__ import annotations

import math
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import jitscope as jx
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
        made = np.asarray(convolution(x, y))
        if made.size == 0:
            return
        ct = random.standard_normal(made.shape).astype(dtype)

        def everything(x: Any, y: Any, ct: Any) -> Any:
            out, back = jx.vjp(convolution, x, y)
            return out, *back(ct)

        got, want, differ = with_and_without(RULES, everything, x, y, ct)
        assert differ
        magnitudes = [np.asarray(m) for m in everything(np.abs(x), np.abs(y), np.abs(ct))]
        terms = max(math.prod(y_shape), math.prod(made.shape))
        for one, other, magnitude in zip(got, want, magnitudes, strict=True):
            assert_within_rounding(one, other, magnitude, terms)
        xs = np.stack([x, 2 * x])
        got, want, _ = with_and_without(RULES, jx.vmap(convolution, (0, None)), xs, y)
        assert_within_rounding(got[0], want[0], np.stack([magnitudes[0], 2 * magnitudes[0]]), terms)


def test_a_form_says_in_words_what_is_written() -> None:
    numbers = lax.conv_dimension_numbers((1, 4, 4, 3), (1, 1, 3, 2), ("NHWC", "HWIO", "NHWC"))
    params = {"window_strides": (1, 1), "padding": ((0, 0), (0, 0)), "lhs_dilation": (1, 1), "rhs_dilation": (1, 1),
              "dimension_numbers": numbers, "feature_group_count": 1, "batch_group_count": 1, "precision": None}  # fmt: skip
    x, y, out = (ShapedArray(s, np.dtype("float32")) for s in ((1, 4, 4, 3), (1, 1, 3, 2), (1, 4, 4, 2)))
    form = form_of(x, y, out, params)
    assert form is not None and "product of matrices" in form.words
    assert form_of(x, y, out, params, "cuda") is None
