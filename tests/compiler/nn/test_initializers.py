"""Initializers: the bits that JAX drew from the same key, and what they promise (more of JAX's answers: tests/oracle)."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.nn import initializers as init
from tests.oracle import recorded, samples
from tests.oracle.library import Library


KEY = jx.random.key(0)


def test_uniform_draws_have_jaxs_bits():
    """No tolerance eagerly; in one compiled program XLA may multiply in another order."""
    library = Library("jitscope")
    given = library.operands("float32")
    entries = recorded.load("nn_initializers")
    functions = [f for f in samples.functions("nn_initializers") if f.name.endswith("uniform") and f.name in entries]
    assert functions
    for function in functions:
        answers = entries[function.name]["answers"]["float32"]
        exprs = [
            (s.expr, a["values"][0])
            for s, a in zip(function.samples, answers)
            if a.get("out", "").startswith("float32[")
        ]
        exprs = [(expr, values) for expr, values in exprs if values]
        draw = lambda given, exprs=exprs: [library.value(expr, given) for expr, _ in exprs]
        for found, ulps in ((draw(given), 0), (jx.jit(draw)(dict(given)), 2)):
            for x, (_, values) in zip(found, exprs):
                np.testing.assert_array_max_ulp(np.asarray(x).ravel(), np.array(values, np.float32), ulps)


def test_draws_are_mapped_over_keys():
    keys = jx.random.split(KEY, 3)
    found = jx.vmap(lambda key: init.he_normal()(key, (2, 3)))(keys)
    np.testing.assert_allclose(found, [init.he_normal()(key, (2, 3)) for key in keys], rtol=1e-6)


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
    with pytest.raises(ValueError, match="a sharding"):
        init.zeros(KEY, (2,), out_sharding=object())
