"""The convolutions of `lax`: names of axes, padding, errors; the rules themselves are in the matrix."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.signal

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def correlated(x: np.ndarray, w: np.ndarray, mode: str) -> np.ndarray:
    """NCHW and OIHW, by SciPy."""
    return np.stack(
        [
            np.stack([sum(scipy.signal.correlate2d(c, k, mode) for c, k in zip(image, window)) for window in w])
            for image in x
        ]
    )


@pytest.mark.parametrize(("padding", "mode"), [("VALID", "valid"), ("SAME", "same"), ("valid", "valid")])
def test_conv_as_scipy_has_it(padding: str, mode: str) -> None:
    x, w = normal(2, 3, 7, 6), normal(4, 3, 3, 3, seed=1)
    got = lax.conv(x, w, (1, 1), padding)
    np.testing.assert_allclose(got, correlated(x, w, mode), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        lax.conv(x, w, (2, 3), "VALID"), correlated(x, w, "valid")[:, :, ::2, ::3], rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    "specs", [*itertools.product(("NHWC", "NCHW", "HWNC"), ("HWIO", "OIHW", "IWHO"), ("NHWC", "CHNW"))]
)
def test_axes_by_name(specs: tuple[str, str, str]) -> None:
    lhs, rhs, out = specs
    x, w = normal(2, 3, 6, 5), normal(4, 3, 3, 2, seed=1)
    placed = (np.transpose(x, ["NCHW".index(c) for c in lhs]), np.transpose(w, ["OIHW".index(c) for c in rhs]))
    got = lax.conv_general_dilated(*placed, (1, 1), "VALID", dimension_numbers=specs)
    want = np.transpose(correlated(x, w, "valid"), ["NCHW".index(c) for c in out])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    numbers = lax.conv_dimension_numbers(placed[0].shape, placed[1].shape, specs)
    assert isinstance(numbers, lax.ConvDimensionNumbers)
    np.testing.assert_array_equal(lax.conv_general_dilated(*placed, (1, 1), "VALID", dimension_numbers=numbers), got)
    given = lax.conv_dimension_numbers(placed[0].shape, placed[1].shape, [list(spec) for spec in numbers])
    assert given == numbers


@pytest.mark.parametrize(("size", "window", "stride"), [*itertools.product((1, 5, 8), (1, 2, 5), (1, 2, 3))])
def test_same_padding(size: int, window: int, stride: int) -> None:
    """The result is ceil(size / stride) long; an odd zero is at the end, or at the start."""
    ((low, high),) = lax.padtype_to_pads([size], [window], [stride], "SAME")
    assert (size + low + high - window) // stride + 1 == -(-size // stride)
    assert high - low in (0, 1)
    assert lax.padtype_to_pads([size], [window], [stride], "SAME_LOWER") == [(high, low)]
    assert lax.padtype_to_pads([size], [window], [stride], "VALID") == [(0, 0)]
    x, w = normal(1, 1, size), normal(1, 1, window, seed=1)
    got = lax.conv(x, w, (stride,), "SAME")
    want = np.correlate(np.pad(x[0, 0], (low, high)), w[0, 0], "valid")[::stride]
    np.testing.assert_allclose(got[0, 0], want, rtol=1e-4, atol=1e-5)


def test_dilated_windows_count_in_full_for_padding() -> None:
    x, w = normal(1, 1, 9), normal(1, 1, 3, seed=1)
    got = lax.conv_general_dilated(x, w, (1,), "SAME", rhs_dilation=(2,))
    want = np.correlate(np.pad(x[0, 0], (2, 2)), np.array([w[0, 0, 0], 0, w[0, 0, 1], 0, w[0, 0, 2]]), "valid")
    np.testing.assert_allclose(got[0, 0], want, rtol=1e-4, atol=1e-5)
    spread = np.zeros(9, np.float32)
    spread[::2] = x[0, 0, :5]
    got = lax.conv_with_general_padding(x[:, :, :5], w, (1,), [(1, 1)], (2,), (1,))
    np.testing.assert_allclose(got[0, 0], np.correlate(np.pad(spread, 1), w[0, 0], "valid"), rtol=1e-4, atol=1e-5)


def test_dtypes_and_weak_types() -> None:
    x, w = normal(1, 2, 5), normal(3, 2, 2, seed=1)
    small = lax.conv(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16), (1,), "VALID", preferred_element_type=jnp.float32)
    assert small.dtype == jnp.float32
    np.testing.assert_allclose(small, lax.conv(x, w, (1,), "VALID"), rtol=0.05, atol=0.1)
    whole = lax.conv(
        np.ones((1, 1, 4), np.int8), np.ones((1, 1, 2), np.int8), (1,), "VALID", preferred_element_type=jnp.int32
    )
    assert whole.dtype == jnp.int32 and whole.tolist() == [[[2, 2, 2]]]
    assert lax.conv(np.ones((1, 1, 4), bool), np.ones((1, 1, 2), bool), (1,), "VALID").dtype == jnp.bool_
    assert not jx.eval_shape(lambda: lax.conv(x, w, (1,), "VALID")).weak_type


def test_mapping_over_nothing() -> None:
    w = normal(3, 2, 2)
    one = lambda x, w: lax.conv(x, w, (1,), "VALID")
    assert jx.vmap(one, in_axes=(0, None))(np.zeros((0, 1, 2, 5), np.float32), w).shape == (0, 1, 3, 4)
    both = jx.vmap(one)(np.zeros((0, 1, 2, 5), np.float32), np.zeros((0, 3, 2, 2), np.float32))
    assert both.shape == (0, 1, 3, 4)


def test_the_gradient_of_a_step_is_made_of_convolutions() -> None:
    x, w = normal(2, 3, 8, 8), normal(4, 3, 3, 3, seed=1)
    text = str(jx.make_jaxpr(jx.grad(lambda w, x: jnp.sum(lax.conv(x, w, (2, 2), "SAME") ** 2), argnums=(0, 1)))(w, x))
    assert text.count("conv_general_dilated[") == 3
    assert "window_strides=(2, 2)" in text and "feature_group_count" not in text


X, W = np.zeros((2, 3, 5), np.float32), np.zeros((4, 3, 2), np.float32)


@pytest.mark.parametrize(
    ("error", "words", "args", "more"),
    [
        (ValueError, r"has 3 features, the right one takes 2", (X, W[:, :2], (1,), "VALID"), {}),
        (ValueError, r"has 3 features, the right one takes 3 in each of 2 groups", (X, W, (1,), "VALID"), {"feature_group_count": 2}),
        (ValueError, r"4 output features do not divide into feature_group_count=3", (X, W[:, :1], (1,), "VALID"), {"feature_group_count": 3}),
        (ValueError, r"batch of 2 does not divide into batch_group_count=4", (X, W, (1,), "VALID"), {"batch_group_count": 4}),
        (ValueError, r"one of them 1", (X, W, (1,), "VALID"), {"batch_group_count": 2, "feature_group_count": 2}),
        (ValueError, r"one of them 1", (X, W, (1,), "VALID"), {"feature_group_count": 0}),
        (ValueError, r"window_strides=\(1, 1\) should have one entry for each of 1", (X, W, (1, 1), [(0, 0)]), {}),
        (ValueError, r"window_strides=\(0,\) should be positive", (X, W, (0,), [(0, 0)]), {}),
        (ValueError, r"padding=\(\(0, 0\), \(0, 0\)\) should have one entry", (X, W, (1,), [(0, 0), (0, 0)]), {}),
        (ValueError, r"cuts more from f32\[2,3,5\] than it has", (X, W, (1,), [(-3, -3)]), {}),
        (RuntimeError, r"'SAME_LOWER' or pairs of numbers, not 'FULL'", (X, W, (1,), "FULL"), {}),
        (ValueError, r"where lhs is dilated \(\(2,\)\): give \(low, high\) pairs", (X, W, (1,), "SAME"), {"lhs_dilation": (2,)}),
        (TypeError, r"operands of one rank, it got shapes \(2, 3, 5\) and \(4, 3\)", (X, W[:, :, 0], (1,), "VALID"), {}),
        (TypeError, r"'NHWC' should name each of the 3 axes of the lhs", (X, W, (1,), "VALID"), {"dimension_numbers": ("NHWC", "HIO", "NHC")}),
        (TypeError, r"spatial axes of the result, 'NCD', are not those of 'OIH'", (X, W, (1,), "VALID"), {"dimension_numbers": ("NCH", "OIH", "NCD")}),
        (TypeError, r"three strings", (X, W, (1,), "VALID"), {"dimension_numbers": "NCH"}),
        (ValueError, r"do not name each of 3 axes once", (X, W, (1,), "VALID"), {"dimension_numbers": ((0, 1, 1), (0, 1, 2), (0, 1, 2))}),
        (TypeError, r"operands of one dtype", (X, W.astype(np.int32), (1,), "VALID"), {}),
        (TypeError, r"cannot give bfloat16, which does not hold float32", (X, W, (1,), "VALID"), {"preferred_element_type": jnp.bfloat16}),
        (ValueError, r"a sharding", (X, W, (1,), "VALID"), {"out_sharding": object()}),
    ],
)  # fmt: skip
def test_mistakes_are_named(error: type, words: str, args: tuple, more: dict) -> None:
    with pytest.raises(error, match=words):
        lax.conv_general_dilated(*args, **more)


def test_split() -> None:
    x = normal(3, 5)
    for got, want in zip(lax.split(x, (2, 0, 3), axis=-1), np.split(x, [2, 2], axis=1)):
        np.testing.assert_array_equal(got, want)
    parts = lambda x: [3 * p if i else p for i, p in enumerate(jnp.split(x, [2], axis=1))]
    text = str(jx.make_jaxpr(jx.grad(lambda x: sum(jnp.sum(p**2) for p in parts(x))))(x))
    assert text.count("concatenate") == 1 and "pad" not in text
    with pytest.raises(ValueError, match=r"the sizes \(2, 2\) do not make up that axis"):
        lax.split(x, (2, 2), axis=1)
    with pytest.raises(ValueError, match=r"axis 2 is out of bounds"):
        lax.split(x, (5,), axis=2)
