"""Determinants, inverses and solutions against NumPy's, their derivatives against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from tests.compiling import once


DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
SHAPES = [(1, 1), (4, 4), (2, 3, 3), (0, 0), (2, 0, 3, 3)]


pytestmark = pytest.mark.usefixtures("wide")


def draw(*shape, dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * random.normal(size=shape)
    return x.astype(dtype)


def close(found, wanted, dtype):
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    tolerance = 1e-3 if np.dtype(dtype).itemsize // (1 + (np.dtype(dtype).kind == "c")) == 4 else 1e-10
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


# What JAX answers ----------------------------------------------------------------------------------------------------


# What NumPy answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_against_numpy(dtype, shape):
    a = draw(*shape, dtype=dtype)
    close(jnp.linalg.det(a), np.linalg.det(a).astype(dtype), dtype)
    for wrap in (lambda f: f, once):
        close(wrap(jnp.linalg.inv)(a), np.linalg.inv(a), dtype)
    found, wanted = jnp.linalg.slogdet(a), np.linalg.slogdet(a)
    close(found.sign, wanted.sign, dtype)
    close(found.logabsdet, wanted.logabsdet, dtype)
    positive = a @ np.conj(a.swapaxes(-1, -2)) + np.eye(shape[-1], dtype=dtype)
    close(jnp.linalg.cholesky(positive), np.linalg.cholesky(positive), dtype)
    upper = np.conj(np.linalg.cholesky(positive).swapaxes(-1, -2))
    close(jnp.linalg.cholesky(positive, upper=True), upper, dtype)
    close(jnp.linalg.matrix_power(a, 3), np.linalg.matrix_power(a, 3), dtype)
    close(jnp.linalg.matrix_power(a, 0), np.broadcast_to(np.eye(shape[-1], dtype=dtype), shape), dtype)
    close(jnp.linalg.matrix_power(a, -2), np.linalg.matrix_power(np.linalg.inv(a), 2), dtype)


def test_solve_broadcasts():
    a, b = draw(2, 1, 3, 3), draw(5, 3, 2, seed=1)
    close(jnp.linalg.solve(a, b), np.linalg.solve(a, b), np.float64)
    close(jnp.linalg.solve(a[0, 0], b[0, :, 0]), np.linalg.solve(a[0, 0], b[0, :, 0]), np.float64)
    close(jnp.linalg.solve(np.eye(2, dtype=int), np.array([1, 2])), np.array([1.0, 2.0]), np.float64)
    found = jx.vmap(jnp.linalg.solve, (0, None))(a[:, 0], b[0])
    close(found, np.stack([np.linalg.solve(x, b[0]) for x in a[:, 0]]), np.float64)


def test_refuses():
    for f in (jnp.linalg.det, jnp.linalg.inv, jnp.linalg.cholesky, jnp.linalg.slogdet):
        with pytest.raises(ValueError, match="square matrices"):
            f(np.zeros((2, 3)))
        with pytest.raises(ValueError, match="square matrices"):
            f(np.zeros(3))
    with pytest.raises(TypeError, match="float16"):
        jnp.linalg.inv(np.eye(2, dtype=np.float16))
    with pytest.raises(ValueError, match="b needs 3 rows"):
        jnp.linalg.solve(np.eye(3), np.ones(2))


def test_singular_matrices_give_no_error():
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert float(jnp.linalg.det(a)) == 0
    assert not np.isfinite(jnp.linalg.inv(a)).any()
    sign, size = jnp.linalg.slogdet(np.zeros((2, 2)))
    assert float(sign) == 0 and float(size) == -np.inf
    assert np.isnan(jnp.linalg.cholesky(-np.eye(2))).any()


@pytest.mark.parametrize("name", ["det", "slogdet", "inv", "solve", "cholesky"])
def test_derivatives(name):
    def of(np_like, a):
        if name == "slogdet":
            return np_like.linalg.slogdet(a)[1]
        if name == "solve":
            return (np_like.linalg.solve(a, a[0] ** 2) * np.arange(3)).sum()
        if name == "cholesky":
            return (np_like.linalg.cholesky(a @ a.T + np.eye(3)) * np.arange(9).reshape(3, 3)).sum()
        return (getattr(np_like.linalg, name)(a) * (1 if name == "det" else np.arange(9).reshape(3, 3))).sum()

    a = draw(3, 3, seed=3)
    wanted = np.zeros((3, 3))
    for i in np.ndindex(3, 3):
        d = np.zeros((3, 3))
        d[i] = 1e-6
        wanted[i] = (of(np, a + d) - of(np, a - d)) / 2e-6
    np.testing.assert_allclose(once(jx.grad(lambda a: of(jnp, a)))(a), wanted, rtol=1e-6, atol=1e-7)
    tangent = jx.jvp(lambda a: of(jnp, a), (a,), (draw(3, 3, seed=4),))[1]
    np.testing.assert_allclose(tangent, (wanted * draw(3, 3, seed=4)).sum(), rtol=1e-6)


@pytest.mark.parametrize("ord", [None, 0, 1, 2, 3.5, np.inf, -np.inf, -1])
def test_norms_of_vectors(ord):
    x = draw(3, 4, dtype=np.complex128)
    close(jnp.linalg.norm(x, ord, axis=-1), np.linalg.norm(x, ord, axis=-1), np.float64)
    close(jnp.linalg.norm(x, ord, axis=0, keepdims=True), np.linalg.norm(x, ord, axis=0, keepdims=True), np.float64)


@pytest.mark.parametrize("ord", [None, "fro", 1, -1, np.inf, -np.inf])
def test_norms_of_matrices(ord):
    x = draw(2, 3, 4)
    close(jnp.linalg.norm(x, ord, axis=(0, 2)), np.linalg.norm(x, ord, axis=(0, 2)), np.float64)
    close(jnp.linalg.norm(x[0], ord, keepdims=True), np.linalg.norm(x[0], ord, keepdims=True), np.float64)
    close(jnp.linalg.norm(x), np.linalg.norm(x), np.float64)


def test_the_factorizations_of_lax():
    a = draw(2, 4, 3)
    factors, pivots, order = map(np.asarray, lax.linalg.lu(jnp.asarray(a)))
    lower = np.tril(factors, -1) + np.eye(4, 3)
    upper = np.triu(factors[:, :3])
    np.testing.assert_allclose(lower @ upper, np.take_along_axis(a, order[..., None], 1), atol=1e-12)
    assert pivots.dtype == order.dtype == np.int32
    positive = jnp.asarray(a @ a.swapaxes(-1, -2) + np.eye(4))
    factor = lax.linalg.cholesky(positive)
    np.testing.assert_allclose(factor @ jnp.matrix_transpose(factor), positive)
    x = lax.linalg.triangular_solve(factor[0], jnp.arange(4.0), left_side=True, lower=True)
    np.testing.assert_allclose(factor[0] @ x, np.arange(4.0), atol=1e-12)


def test_parts_of_spectra():
    a = draw(4, 3)
    u, s, vh = jnp.linalg.svd(a, full_matrices=False, subset_by_index=(1, 3))
    want = np.linalg.svd(a, full_matrices=False)
    np.testing.assert_allclose(
        (np.asarray(u) * np.asarray(s)) @ np.asarray(vh), (want[0] * want[1])[:, 1:] @ want[2][1:]
    )
    vectors, values = lax.linalg.eigh(jnp.asarray(a @ a.T), subset_by_index=(2, 4))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a @ a.T)[2:])
    assert vectors.shape == (4, 2)
    with pytest.raises(ValueError, match="does not fit"):
        lax.linalg.eigh(jnp.asarray(a @ a.T), subset_by_index=(2, 5))


def test_one_bad_matrix_does_not_spoil_the_others():
    a = np.stack([np.eye(3), np.full((3, 3), np.nan), 2 * np.eye(3)])
    for fun in (jnp.linalg.eigvalsh, jnp.linalg.svdvals, jnp.linalg.eigvals, lambda x: jnp.linalg.cholesky(x)[:, 0]):
        found = np.asarray(fun(a))
        assert np.isfinite(found[[0, 2]]).all() and np.isnan(found[1]).any()


def test_keys_are_no_matrices():
    with pytest.raises(TypeError, match="takes numbers"):
        jnp.linalg.inv(jx.random.split(jx.random.key(0), (2, 2)))
