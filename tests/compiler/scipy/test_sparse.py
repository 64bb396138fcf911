"""Sparse arrays against SciPy's and against the same programs on dense arrays. What JAX gives is compared in the oracle's cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.experimental import sparse
from jitscope.scipy import optimize
from tests.compiling import once


def some(shape, seed, share=0.4):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) * (rng.random(shape) < share)).astype(np.float32)


A, B = some((5, 7), 0), some((7, 4), 1)


@pytest.mark.parametrize("kind", ["BCOO", "BCSR", "COO", "CSR", "CSC"])
def test_products_are_those_of_scipy(kind: str) -> None:
    mat = getattr(sparse, kind).fromdense(A)
    ours, theirs = scipy.sparse.csr_matrix(A), np.ones((7, 2), np.float32)
    assert mat.nse == ours.nnz and mat.shape == A.shape and mat.dtype == np.float32
    for product in (mat @ theirs, once(lambda m, x: m @ x)(mat, theirs)):
        np.testing.assert_allclose(product, ours @ theirs, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(mat.todense(), A)
    np.testing.assert_allclose(mat.sum(), A.sum(), rtol=1e-5)
    if kind != "BCSR":
        np.testing.assert_array_equal(mat.T.todense(), A.T)


def test_a_product_of_sparse_arrays_is_sparse() -> None:
    product = sparse.BCOO.fromdense(A) @ sparse.BCOO.from_scipy_sparse(scipy.sparse.coo_matrix(B))
    assert isinstance(product, sparse.BCOO)
    np.testing.assert_allclose(product.todense(), A @ B, rtol=1e-5, atol=1e-6)
    assert product.sum_duplicates().nse == scipy.sparse.csr_matrix(A @ B).nnz


def test_maps_take_axes_of_the_batch() -> None:
    deep = some((3, 4, 5), 2)
    mat = sparse.BCOO.fromdense(deep, n_batch=1)
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_allclose(once(jx.vmap(lambda m: m @ x))(mat), deep @ x, rtol=1e-5)
    each = once(jx.vmap(lambda m: sparse.BCOO.fromdense(m, nse=20)))(deep)
    assert each.shape == (3, 4, 5) and each.n_batch == 1
    np.testing.assert_array_equal(once(jx.vmap(lambda m: m.todense()))(each), deep)
    np.testing.assert_allclose(once(jx.vmap(lambda m: (m * 2).T.todense()))(mat), 2 * deep.transpose(0, 2, 1))


def test_derivatives_are_those_of_dense_arrays_at_the_places() -> None:
    x = np.linspace(-1, 1, 7, dtype=np.float32)
    loss = lambda m, x: (jnp.sin(m @ x) ** 2).sum()
    dense = jx.grad(loss, (0, 1))(A, x)
    of_mat, of_x = sparse.grad(loss, (0, 1))(sparse.BCOO.fromdense(A), x)
    np.testing.assert_allclose(of_mat.todense(), np.where(A != 0, dense[0], 0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(of_x, dense[1], rtol=1e-5, atol=1e-6)
    for jacobian in (sparse.jacfwd, sparse.jacrev):
        rows = jacobian(lambda m: m @ x)(sparse.BCOO.fromdense(A))
        whole = np.einsum("ij,k->ijk", np.eye(5), x) * (A != 0)
        assert rows.n_batch == 1
        np.testing.assert_allclose(rows.todense(), whole, rtol=1e-6)


def test_a_program_for_dense_arrays_is_fitted_to_sparse_ones() -> None:
    features, labels = some((40, 6), 3), (np.arange(40) % 3 == 0).astype(np.float32)

    def fit(X, y):
        def loss(w):
            p = jx.nn.sigmoid(X @ w[1:] + w[0])
            return -jnp.mean(y * jnp.log(p) + (1 - y) * jnp.log(1 - p))

        return optimize.minimize(loss, jnp.zeros(7), method="BFGS").x

    found = sparse.sparsify(fit)(sparse.BCOO.fromdense(features), labels)
    np.testing.assert_allclose(found, fit(features, labels), atol=2e-3)


@pytest.mark.parametrize("kind", ["BCOO", "BCSR"])
def test_elements_kept_at_one_place_are_summed_before_a_function_that_is_not_linear(kind: str) -> None:
    data = np.array([0.5, -1.25, 0.75, 2.0, -0.5], np.float32)
    mat = sparse.BCOO((data, np.array([[0, 1], [0, 1], [1, 3], [2, 0], [2, 0]])), shape=(3, 4), indices_sorted=True)
    dense, mat = mat.todense(), getattr(sparse, kind).from_bcoo(mat) if kind != "BCOO" else mat
    for f in (jnp.abs, jnp.arcsin, jnp.arctan, jnp.expm1, jnp.floor, jnp.sign, jnp.sin, jnp.square, jnp.tanh, lax.erf,
              lax.bessel_i1e, lambda x: x**3, lambda x: x.astype(int), jx.jit(jnp.sinh)):  # fmt: skip
        np.testing.assert_allclose(jx.jit(sparse.sparsify(f))(mat).todense(), f(dense), rtol=1e-6)
    for f in (jnp.negative, jnp.conj, jnp.real):
        found = sparse.sparsify(f)(mat)
        assert found.nse == 5
        np.testing.assert_allclose(found.todense(), f(dense), rtol=1e-6)
    np.testing.assert_allclose(sparse.sparsify(lambda x: jnp.cos(sparse.todense(x)))(mat), jnp.cos(dense), rtol=1e-6)


def test_places_are_found_whatever_promotion_is_allowed() -> None:
    mat = sparse.random_bcoo(jx.random.key(0), (2, 6, 5), dtype="float32", nse=7, n_batch=1)
    flat = sparse.BCOO.fromdense(A)
    whole = jnp.asarray(A)
    programs = [
        (lambda m: m[1:4, ::2], flat, whole), (lambda m: lax.dynamic_slice(m, (1, 0), (2, 3)), flat, whole),
        (lambda m: jnp.concatenate([m, m]), flat, whole), (lambda m: m.T, flat, whole), (lambda m: m.sum(0), flat, whole),
        (lambda m: m.reshape(-1), flat, whole), (lambda m: m @ whole.T, flat, whole), (lambda m: m * m, flat, whole),
        (lambda m: m[None], flat, whole), (lambda m: lax.rev(m, (0,)), flat, whole), (lambda m: m + m, flat, whole),
        (lambda m: m[:, 2:5, ::2], mat, mat.todense()), (lambda m: m.sum(2), mat, mat.todense()),
        (lambda m: lax.dynamic_slice(m, (0, 1, 2), (2, 3, 2)), mat, mat.todense()), (jnp.sin, mat, mat.todense()),
    ]  # fmt: skip
    with jx.numpy_dtype_promotion("strict"), jx.numpy_rank_promotion("raise"):
        for f, m, dense in programs:
            np.testing.assert_allclose(sparse.todense(sparse.sparsify(f)(m)), f(dense), rtol=1e-5)
        (
            sparse.BCSR.from_bcoo(flat).todense(),
            sparse.BCOO.fromdense(whole),
            flat.update_layout(n_dense=1, on_inefficient=None),
        )


def test_what_would_be_dense_is_refused() -> None:
    mat = sparse.BCOO.fromdense(A)
    for f in (jnp.cos, lambda m: m + 1.0, lambda m: m > 0, lambda m: 1 / m):
        with pytest.raises(NotImplementedError, match="todense"):
            sparse.sparsify(f)(mat)
    for f in (lambda m: m > 0, lambda m: 1 / m, lambda m: m**0, lambda m: m - A):
        with pytest.raises(NotImplementedError, match="todense"):
            f(mat)
    with pytest.raises(ValueError, match=r"\[\*batch, nse, n_sparse\]"):
        sparse.BCOO((jnp.ones(2), jnp.zeros((2, 1), int)), shape=(3, 3))
    with pytest.raises(ValueError, match="nse="):
        jx.jit(lambda m: m.sum_duplicates())(mat)
    with pytest.raises(sparse.SparseEfficiencyError, match="n_batch=1"):
        mat.update_layout(n_batch=1)
    with pytest.raises(TypeError):
        hash(mat)


def test_random_places_differ() -> None:
    mat = sparse.random_bcoo(jx.random.key(0), (6, 5), dtype="float32", nse=12)
    assert mat.nse == 12 and np.count_nonzero(np.asarray(mat.todense())) == 12
    assert sparse.random_bcoo(jx.random.key(1), (2, 6, 5), dtype="float32", nse=0.1, n_batch=1).shape == (2, 6, 5)


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "bcsr"])
def test_a_diagonal_is_made_in_a_program(kind: str) -> None:
    for n, m, k in ((4, 5, 1), (4, 3, -2), (2, 2, 0)):
        made = jx.jit(lambda n=n, m=m, k=k: sparse.eye(n, m, k, sparse_format=kind))()
        assert made.nse == np.trace(np.eye(n, m, k) @ np.eye(n, m, k).T)
        np.testing.assert_array_equal(made.todense(), np.eye(n, m, k))


@pytest.mark.parametrize("kind", ["COO", "CSR", "CSC"])
def test_a_matrix_is_turned_or_left_alone_but_never_silently(kind: str) -> None:
    mat = getattr(sparse, kind).fromdense(A)
    for axes in (None, (1, 0), (-1, -2)):
        np.testing.assert_array_equal(mat.transpose(axes).todense(), A.T)
    with pytest.raises(NotImplementedError, match=r"turned, \(1, 0\), not \(0, 1\)"):
        mat.transpose((0, 1))


LAYOUTS = [  # (batch, sparse, dense) axes of an array, and of x[None], x[:, None], x[..., None] as JAX gives them
    ((0, 1, 0), (1, 1, 0), (0, 2, 0), (0, 2, 0)),
    ((0, 0, 1), (1, 0, 1), (0, 0, 2), (0, 0, 2)),
    ((1, 0, 0), (2, 0, 0), (2, 0, 0), (2, 0, 0)),
    ((1, 0, 1), (2, 0, 1), (2, 0, 1), (1, 0, 2)),
    ((2, 0, 0), (3, 0, 0), (3, 0, 0), (3, 0, 0)),
    ((1, 1, 1), (2, 1, 1), (2, 1, 1), (1, 1, 2)),
]


@pytest.mark.parametrize(("own", "first", "second", "last"), LAYOUTS)
def test_new_axes_and_sums(own: Any, first: Any, second: Any, last: Any) -> None:
    x = np.random.default_rng(0).integers(0, 3, (2, 3, 4)[: sum(own)]).astype("float32")
    mat = sparse.BCOO.fromdense(x, n_batch=own[0], n_dense=own[2])
    for index, wanted in ((np.s_[None], first), (np.s_[:, None], second), (np.s_[..., None], last)):
        found = mat[index]
        assert (found.n_batch, found.n_sparse, found.n_dense) == wanted
        np.testing.assert_array_equal(found.todense(), x[index])
    assert mat.sum() == x.sum()


def test_what_lies_outside_is_not_summed() -> None:
    line = sparse.BCOO((jnp.array([1, 2, 100, 100]), jnp.array([[1], [2], [5], [5]])), shape=(5,))
    assert line.sum() == 3
    assert (line @ line).todense() == 5
    batch = sparse.BCOO((jnp.array([[1, 2], [3, 100]]), jnp.array([[[0], [2]], [[1], [3]]])), shape=(2, 3))
    assert batch.sum() == 6
    np.testing.assert_array_equal(batch.sum(1).todense(), [3, 3])


def ring(n: int) -> Any:
    return 2 * np.eye(n) - np.roll(np.eye(n), 1, 0) - np.roll(np.eye(n), -1, 0)


MATRICES = {
    "positive": np.diag(np.arange(40) + 1.0),
    "negative": -np.diag(np.arange(40) + 1.0),
    "indefinite": some((40, 40), 5) + some((40, 40), 5).T,
    "of rank 2": some((40, 2), 6, 1.0) @ some((40, 2), 6, 1.0).T,
    "all alike": np.eye(40),
    "pairs alike": ring(40),
    "zero": np.zeros((40, 40)),
}


@pytest.mark.parametrize("matrix", MATRICES)
def test_largest_eigenvalues(matrix: str) -> None:
    a = jnp.asarray(MATRICES[matrix], "float32")
    with jx.numpy_rank_promotion("raise"):
        values, vectors, steps = once(lambda a, x: sparse.linalg.lobpcg_standard(a, x, m=150))(a, some((40, 3), 7, 1.0))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(np.asarray(a, float))[::-1][:3], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(a @ vectors, values * vectors, atol=2e-2)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-5)
    assert steps <= 150 and (steps < 50 or matrix in ("negative", "of rank 2", "zero"))


@pytest.mark.parametrize("a, x", [(A, A), (np.eye(40), np.ones((40, 8))), (np.eye(40)[:20], np.ones((40, 2))), (np.eye(40), np.ones((40, 2), int)), (np.eye(40), np.ones(40))])  # fmt: skip
def test_eigenvalues_of_other_shapes(a: Any, x: Any) -> None:
    with pytest.raises(ValueError, match="lobpcg_standard"):
        sparse.linalg.lobpcg_standard(np.asarray(a, "float32"), x)
