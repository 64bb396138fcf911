"""Convolutions written as other convolutions, and gradients by the windows as loops, give what XLA's own give, within the rounding of sums in
another order."""

from __future__ import annotations

import math
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings

import jitscope as jx
from jitscope import lax
from jitscope.core.avals import ShapedArray
from jitscope.ops.conv_parts import parts_of
from jitscope.xla import cpu_tuning
from tests.compiler.ops.test_conv_forms import assert_within_rounding
from tests.compiler.with_rules import with_and_without
from tests.extent import examples


PARTS, LOOPS = cpu_tuning.CONVOLUTIONS_IN_PARTS, cpu_tuning.WINDOW_GRADIENTS_IN_LOOPS
RULES = (PARTS, LOOPS)
pytestmark = pytest.mark.skipif(not PARTS.holds(), reason="the rules hold with releases they were measured with")

LAYOUTS = {
    1: ("NWC WIO NWC", "NCW OIW NCW"),
    2: ("NHWC HWIO NHWC", "NCHW OIHW NCHW"),
    3: ("NDHWC DHWIO NDHWC", "NCDHW OIDHW NCDHW"),
}
KINDS = {
    # axes in space, groups, features of a group, features made of it, size, window, gaps in the left operand
    "transposed": (2, 1, 3, 2, 6, 4, 2),
    "groups": (2, 3, 8, 8, 6, 3, 1),
    "groups of few": (2, 6, 2, 3, 8, 3, 1),
    "several windows": (2, 24, 1, 2, 6, 3, 1),
    "three axes": (3, 1, 2, 3, 6, 3, 1),
    "large window": (3, 1, 2, 3, 9, 8, 1),
    "depthwise": (2, 70, 1, 1, 8, 3, 1),
    "depthwise signals": (1, 16, 1, 1, 50, 5, 1),
}


def _case(
    kind: str, layout: int, batch: int, stride: int, apart: int, padding: int
) -> tuple[Any, list[tuple[int, ...]]]:
    space, groups, features, made, size, window, gap = KINDS[kind]
    numbers = tuple(LAYOUTS[space][layout].split())
    sizes, windows = dict(zip("DHW"[-space:], [size, size - 1, size + 1])), dict(zip("DHW"[-space:], [window] * space))
    x = {"N": batch, "C": groups * features, **sizes}
    y = {"O": groups * made, "I": features, **windows}

    def convolution(x: Any, y: Any) -> Any:
        steps = [stride] * space
        pads = [(padding, padding + 1)] * space
        spread = [apart if (window - 1) * apart < size else 1] * space
        return lax.conv_general_dilated(
            x, y, steps, pads, [gap] * space, spread, dimension_numbers=numbers, feature_group_count=groups
        )

    return convolution, [tuple(x[a] for a in numbers[0]), tuple(y[a] for a in numbers[1])]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(4), deadline=None)
@given(
    st.integers(0, 1),
    st.integers(2, 3),
    st.integers(1, 2),
    st.integers(1, 2),
    st.integers(0, 3),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 2**31),
)
@example(0, 2, 2, 1, 1, "float32", 0)
def test_results_and_gradients(
    kind: str, layout: int, batch: int, stride: int, apart: int, padding: int, dtype: str, seed: int
) -> None:
    random = np.random.default_rng(seed)
    convolution, shapes = _case(kind, layout, batch, stride, apart, padding)
    before = PARTS.value, LOOPS.value
    with jx.enable_x64(dtype == "float64"):
        try:
            PARTS.value, LOOPS.value = {**PARTS.value, "products": 1}, {**LOOPS.value, "row": 64}
            x, y = (random.standard_normal(shape).astype(dtype) for shape in shapes)
            ct = random.standard_normal(jx.eval_shape(convolution, x, y).shape).astype(dtype)

            def everything(x: Any, y: Any, ct: Any) -> Any:
                made, back = jx.vjp(convolution, x, y)
                return made, *back(ct)

            got, want, differ = with_and_without(RULES, everything, x, y, ct)
            assert differ or (stride > 1 and KINDS[kind][-1] > 1)  # with gaps on both sides nothing is gained
        finally:
            PARTS.value, LOOPS.value = before
        magnitudes = [np.asarray(m) for m in jx.jit(everything)(np.abs(x), np.abs(y), np.abs(ct))]
    terms = max(math.prod(shapes[1]), ct.size)
    for one, other, magnitude in zip(got, want, magnitudes, strict=True):
        assert_within_rounding(one, other, magnitude, terms)


@pytest.mark.parametrize("kind", ["groups", "groups of few", "several windows"])
def test_what_is_not_finite_stays_in_its_group(kind: str) -> None:
    convolution, shapes = _case(kind, 1, 2, 1, 1, 1)
    x, y = (np.ones(shape, np.float32) for shape in shapes)
    groups = KINDS[kind][1]
    x[:, 0] = np.inf
    before = PARTS.value
    try:
        PARTS.value = {**before, "products": 1}
        got = np.isfinite(np.asarray(jx.jit(convolution)(x, y))).all((0, 2, 3)).reshape(groups, -1)
    finally:
        PARTS.value = before
    assert not got[0].any() and got[1:].all()


def test_small_ones_and_other_platforms_are_left_as_they_are() -> None:
    numbers = lax.conv_dimension_numbers((1, 6, 6, 16), (3, 3, 8, 16), ("NHWC", "HWIO", "NHWC"))
    params = {"window_strides": (1, 1), "padding": ((0, 0), (0, 0)), "lhs_dilation": (1, 1), "rhs_dilation": (1, 1),
              "dimension_numbers": numbers, "feature_group_count": 2, "batch_group_count": 1, "precision": None}  # fmt: skip
    for size, platform, written in ((6, "cpu", False), (66, "cpu", True), (66, "cuda", False)):
        shapes = (1, size, size, 16), (3, 3, 8, 16), (1, size - 2, size - 2, 16)
        x, y, out = (ShapedArray(shape, np.dtype("float32")) for shape in shapes)
        parts = parts_of(x, y, out, params, platform)
        assert (parts is not None) == written
        if parts is not None:
            assert parts.count == 2 and "for each group" in parts.words
            assert [a.shape[-1] for a in (*parts.operands, parts.out)] == [8, 8, 8]
