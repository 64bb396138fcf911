"""Initializers against what JAX drew from the same key, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.nn import initializers as init
from tests.compiler import nn_answers as answers


KEY = jx.random.key(0)


@pytest.mark.parametrize("part", range(2))
def test_draws_are_jaxs(part):
    assert not answers.differences("init", answers.cases.ROOMS["init"][part::2])


def test_uniform_draws_have_jaxs_bits():
    """No tolerance eagerly; in one compiled program XLA may multiply in another order."""
    exprs = [
        "init.uniform()(key, (3, 4))",
        "init.he_uniform(batch_axis=(0,))(key, (3, 4, 2))",
        "init.lecun_uniform()(key, (3, 3, 4, 5))",
    ]
    draw = lambda key: [answers.cases.evaluate(expr, answers.ROOMS | {"key": key}) for expr in exprs]
    key = answers.letters("float32")["key"]
    for found, ulps in ((draw(key), 0), (jx.jit(draw)(key), 2)):
        for expr, x in zip(exprs, found):
            wanted = np.array(answers.RECORDED["init"][expr][0]["values"], np.float32).reshape(x.shape)
            np.testing.assert_array_max_ulp(np.asarray(x), wanted, ulps)


def test_draws_outside_of_jit_are_jaxs():
    exprs = [e for e in answers.cases.ROOMS["init"] if not e.startswith("jx.")][::2]
    assert not answers.differences("init", exprs, eagerly=True)


@pytest.mark.parametrize("distribution", ["normal", "truncated_normal", "uniform"])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.complex64, jnp.bfloat16])
def test_variance_is_scaled(distribution, dtype):
    for mode, count in {"fan_in": 200, "fan_out": 300, "fan_avg": 250, "fan_geo_avg": np.sqrt(60000)}.items():
        found = init.variance_scaling(2.0, mode, distribution, dtype=dtype)(KEY, (200, 300))
        wide = np.asarray(found).astype(complex)
        assert found.dtype == dtype
        assert abs(np.mean(wide)) < 3e-3
        np.testing.assert_allclose(np.mean(abs(wide) ** 2), 2 / count, rtol=0.03)


def test_truncated_numbers_are_cut():
    found = np.asarray(init.truncated_normal(1.0, lower=-0.5, upper=1.5)(KEY, (10_000,)))
    assert -0.5 < found.min() < -0.49 and 1.48 < found.max() < 1.5


@pytest.mark.parametrize("shape, axis", [((5, 5), -1), ((3, 7), -1), ((7, 3), -1), ((4, 2, 3), 0), ((2, 3, 4), 1)])
def test_orthogonal_matrices_are_orthogonal(shape, axis):
    for dtype in (jnp.float32, jnp.complex64):
        found = np.moveaxis(np.asarray(init.orthogonal(2.0, axis, dtype)(KEY, shape)), axis, -1)
        matrix = found.reshape(-1, shape[axis]) / 2
        matrix = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
        np.testing.assert_allclose(matrix.conj().T @ matrix, np.eye(matrix.shape[1]), atol=1e-5)


def test_delta_orthogonal_keeps_norms_in_a_convolution():
    kernel = init.delta_orthogonal()(KEY, (3, 3, 4, 6))
    x = np.random.default_rng(0).normal(size=(1, 5, 5, 4)).astype(np.float32)
    y = jx.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    np.testing.assert_allclose(np.linalg.norm(y, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-5)


def test_shapes_without_elements():
    for make in (init.he_normal, init.glorot_uniform, init.orthogonal, init.normal):
        assert make()(KEY, (0, 3)).shape == (0, 3)
    assert init.delta_orthogonal()(KEY, (3, 0, 4)).shape == (3, 0, 4)


def test_inside_jit_and_vmap():
    keys = jx.random.split(KEY, 3)
    draw = lambda key: init.orthogonal()(key, (4, 3))
    found = jx.jit(jx.vmap(draw))(keys)
    np.testing.assert_allclose(found, np.stack([draw(k) for k in keys]), rtol=1e-5, atol=1e-6)


def test_initializers_are_of_their_protocol_and_say_what_is_wrong():
    assert isinstance(init.zeros, init.Initializer) and isinstance(init.he_normal(), init.Initializer)
    with pytest.raises(ValueError, match="in_axis"):
        init.lecun_normal()(KEY, (3,))
    with pytest.raises(ValueError, match="fan_geo_avg"):
        init.variance_scaling(1.0, "fan", "normal")(KEY, (3, 3))
    with pytest.raises(NotImplementedError, match="later release"):
        init.zeros(KEY, (2,), out_sharding=object())
