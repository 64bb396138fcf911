"""Images and segments against their definitions (what JAX answers: tests/oracle)."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import image, ops
from jitscope.xla.cpu_tuning import RESIZED_BY_PIXELS
from tests.compiler.with_rules import with_and_without
from tests.compiling import once
from tests.extent import examples


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# Images --------------------------------------------------------------------------------------------------------------


METHODS = ["linear", "lanczos3", "lanczos5", "cubic", "cubic-pytorch", "area"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("antialias", [True, False])
def test_a_constant_image_stays_constant(method, antialias):
    found = image.resize(np.full((5, 7), 3.0, np.float32), (8, 3), method, antialias)
    np.testing.assert_allclose(found, np.full((8, 3), 3.0), rtol=1e-5)


def test_doubling_is_interpolation_and_halving_is_a_mean():
    x = np.arange(6, dtype=np.float32)
    wanted = np.interp((np.arange(12) + 0.5) / 2 - 0.5, np.arange(6), x)
    np.testing.assert_allclose(image.resize(x, (12,), "linear"), wanted, rtol=1e-6)
    rows = draw(4, 6)
    np.testing.assert_allclose(
        image.resize(rows, (2, 3), "area"), rows.reshape(2, 2, 3, 2).mean((1, 3)), rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(image.resize(rows, (8, 6), "nearest"), rows.repeat(2, 0))


def test_whole_translations_move_pixels():
    rows = draw(5, 6)
    for method in METHODS:
        moved = image.scale_and_translate(
            rows, (5, 6), (0, 1), np.ones(2, np.float32), np.array([1.0, -2.0], np.float32), method
        )
        expected = np.zeros((5, 6))
        expected[1:, :4] = rows[:4, 2:]
        if method != "cubic-pytorch":
            np.testing.assert_allclose(moved, expected, atol=2e-6)


def test_derivatives():
    with jx.enable_x64():
        x, t, step = draw(4, 5).astype(np.float64), np.array([0.3, -0.2]), 1e-6
        scale, shift = np.array([1.3, 0.8]), np.array([0.2, -0.7])
        fun = jx.jit(lambda s: jnp.sum(jnp.sin(image.scale_and_translate(x, (6, 4), (0, 1), s, shift, "cubic"))))
        slope = (fun(scale + step * t) - fun(scale - step * t)) / (2 * step)
        np.testing.assert_allclose(jnp.vdot(jx.grad(fun)(scale), t), slope, rtol=1e-6)
        resized = jx.jit(lambda y: image.resize(y, (3, 8), "lanczos3"))
        ct = draw(3, 8, seed=1).astype(np.float64)
        np.testing.assert_allclose(jnp.vdot(jx.vjp(resized, x)[1](ct)[0], x), jnp.vdot(ct, resized(x)), rtol=1e-10)


@settings(max_examples=examples(12), deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    wanted=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    method=st.sampled_from(METHODS),
    antialias=st.booleans(),
    dtype=st.sampled_from(["float32", "float64"]),
    seed=st.integers(0, 2**31),
)
def test_sums_over_few_pixels_are_products_with_all(sizes, wanted, method, antialias, dtype, seed):
    random = np.random.default_rng(seed)
    x, ct = (random.standard_normal((2, *n, 3)).astype(dtype) for n in (sizes, wanted))

    def everything(x, ct):
        made, back = jx.vjp(lambda x: image.resize(x, (2, *wanted, 3), method, antialias), x)
        return made, *back(ct)

    before = RESIZED_BY_PIXELS.value
    with jx.enable_x64(dtype == "float64"):
        try:
            RESIZED_BY_PIXELS.value = {"elements": 1, "share": ((1, 1),)}
            got, want, _ = with_and_without([RESIZED_BY_PIXELS], everything, x, ct)
        finally:
            RESIZED_BY_PIXELS.value = before
    for one, other in zip(got, want, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=0, atol=100 * np.finfo(dtype).eps * (1 + np.abs(other).max()))


@pytest.mark.parametrize("shape", [(100, 100, 0), (0, 100, 9)])
def test_an_image_without_elements_has_a_shape(shape):
    assert image.resize(np.ones(shape, np.float32), (50, 50, shape[2]), "linear").shape == (50, 50, shape[2])


def test_large_images_are_resized_by_few_pixels():
    for x in (jx.ShapeDtypeStruct((2, 64, 64, 16), t) for t in (np.float32, jnp.bfloat16)):
        resized = jx.make_jaxpr(lambda x: image.resize(x, (2, 32, 32, 16), "linear"))(x)
        assert "dot_general" not in str(resized) and resized.out_avals[0].dtype == x.dtype


def test_what_does_not_fit_is_said():
    x = np.ones((3, 4), np.float32)
    with pytest.raises(ValueError, match=r"another number of axes than the image, f32\[3,4\]"):
        image.resize(x, (3,), "linear")
    with pytest.raises(ValueError, match="there are 'nearest'"):
        image.resize(x, (3, 3), "smooth")
    with pytest.raises(TypeError, match="ResizeMethod"):
        image.resize(x, (3, 3), 3)
    with pytest.raises(ValueError, match=r"axis 1 goes from size 4 to 5"):
        image.scale_and_translate(x, (3, 5), (0,), np.ones(1), np.ones(1), "linear")
    with pytest.raises(ValueError, match=r"the shape \(2,\), not \(1,\)"):
        image.scale_and_translate(x, (3, 5), (0, 1), np.ones(1), np.ones(2), "linear")


# Segments ------------------------------------------------------------------------------------------------------------


KINDS = {"sum": (np.add, 0), "prod": (np.multiply, 1), "max": (np.maximum, -np.inf), "min": (np.minimum, np.inf)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bucket_size", [None, 3])
def test_segments_are_numpys(kind, bucket_size):
    combine, empty = KINDS[kind]
    rows, numbers = draw(8, 2, 3), np.array([3, 0, 3, -1, 5, 1, 0, 9], np.int32)
    wanted = np.full((6, 2, 3), empty, np.float32)
    for row, number in zip(rows, numbers):
        if 0 <= number < 6:
            wanted[number] = combine(wanted[number], row)
    run = lambda x, y: getattr(ops, f"segment_{kind}")(x, y, 6, bucket_size=bucket_size)
    np.testing.assert_allclose(run(rows, numbers), wanted, rtol=1e-6)
    np.testing.assert_allclose(once(run)(rows, numbers), wanted, rtol=1e-6)
    both = jx.vmap(run)(np.stack([rows, rows]), np.stack([numbers, numbers[::-1]]))
    np.testing.assert_allclose(both[0], wanted, rtol=1e-6)
    np.testing.assert_allclose(both[1], run(rows, numbers[::-1]), rtol=1e-6)


def test_segments_have_derivatives():
    rows, numbers, ct = draw(6, 2), np.array([0, 2, 2, -1, 1, 0]), draw(3, 2, seed=1)
    (found,) = jx.vjp(lambda x: ops.segment_sum(x, numbers, 3), rows)[1](ct)
    np.testing.assert_allclose(found, np.where(numbers[:, None] >= 0, ct[numbers], 0))
    greatest = jx.grad(lambda x: ops.segment_max(x, numbers, 3).sum())(rows)
    np.testing.assert_allclose(np.asarray(greatest).sum(0), [3, 3])


def test_segments_say_what_is_wrong():
    with pytest.raises(TypeError, match=r"must be integers, not f32\[3\]"):
        ops.segment_sum(np.ones(3, np.float32), np.ones(3, np.float32), 2)
    with pytest.raises(ValueError, match="as many rows"):
        ops.segment_sum(np.ones(3, np.float32), np.zeros(2, np.int32), 2)
    with pytest.raises(TypeError, match="holds booleans"):
        ops.segment_sum(np.ones(3, bool), np.zeros(3, np.int32), 2)
    with pytest.raises(jx.errors.ConcretizationTypeError):
        jx.jit(lambda numbers: ops.segment_sum(np.ones(3, np.float32), numbers))(np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="a sharding"):
        ops.segment_max(np.ones(3), np.zeros(3, np.int32), 2, out_sharding=object())
