"""scipy.sparse.linalg where no sample reaches: systems of some size, derivatives against dense ones, what breaks down."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.scipy.sparse.linalg import bicgstab, cg, gmres
from tests.compiling import once


SOLVERS = {
    "cg": cg,
    "bicgstab": bicgstab,
    "gmres": gmres,
    "incremental": lambda *args, **kwargs: gmres(*args, solve_method="incremental", **kwargs),
}


def system(name: str, n: int = 40, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """A matrix that the solver is for, well conditioned, and a right-hand side."""
    random = np.random.default_rng(n)
    draw = lambda *shape: random.normal(size=shape) + (1j * random.normal(size=shape) if dtype[0] == "c" else 0)
    a = draw(n, n) / n**0.5
    a = a @ a.conj().T + np.eye(n) if name == "cg" else a + 3 * np.eye(n)
    return a.astype(dtype), draw(n).astype(dtype)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_solutions_are_as_exact_as_asked(name, dtype):
    a, b = system(name, dtype=dtype)
    with jx.enable_x64():
        for tol in (1e-4, 1e-10):
            x, info = SOLVERS[name](a, b, tol=tol)
            residual = np.linalg.norm(b - a @ np.asarray(x)) / np.linalg.norm(b)
            assert residual <= 1.01 * tol
            assert info == {"gmres": 0, "incremental": 0}.get(name)


@pytest.mark.parametrize("name", SOLVERS)
def test_derivatives_are_those_of_the_solution(name):
    a, b = system(name, 6)
    with jx.enable_x64():
        solve = lambda a, b: SOLVERS[name](lambda x: a @ x, b, tol=1e-12)[0]
        dense = lambda a, b: jnp.linalg.solve(a, b)
        weigh = lambda f: lambda a, b: jnp.sum(jnp.sin(jnp.arange(6.0)) * f(a, b))
        # cg solves with a itself for the transpose, so the slope by a is that of symmetric changes.
        for found, wanted in zip(jx.grad(weigh(solve), (0, 1))(a, b), jx.grad(weigh(dense), (0, 1))(a, b)):
            np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)
        change = np.eye(6), np.ones(6)
        np.testing.assert_allclose(jx.jvp(solve, (a, b), change)[1], jx.jvp(dense, (a, b), change)[1], rtol=1e-7)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_are_mapped_and_compiled(name):
    a, _ = system(name, 8, "float32")
    rows = np.random.default_rng(0).normal(size=(3, 8)).astype("float32")
    found = once(jx.vmap(lambda b: SOLVERS[name](a, b, tol=1e-6)[0]))(rows)
    np.testing.assert_allclose(found, np.linalg.solve(a, rows.T).T, rtol=1e-4, atol=1e-5)


def test_trees_and_arrays_of_any_shape_are_vectors():
    random = np.random.default_rng(4)
    b = {"p": random.normal(size=(2, 3)).astype("float32"), "q": [np.float32(2.0)]}
    twice = lambda v: {"p": 2 * v["p"] + v["q"][0], "q": [3 * v["q"][0]]}
    for solve in (bicgstab, gmres):
        x, _ = solve(twice, b, tol=1e-6)
        for found, wanted in zip(jx.tree.leaves(twice(x)), jx.tree.leaves(b)):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SOLVERS)
def test_solutions_of_numbers_are_weak_as_in_jax(name):
    def weak(b, **first):
        return SOLVERS[name](lambda x: 2 * x, b, **first)[0].weak_type

    assert [weak(1.0), weak(jnp.ones(())), weak(1.0, x0=jnp.ones(()))] == [name != "cg", False, False]


def test_restarts_and_preconditioners_reach_the_same():
    a, b = system("gmres", 30)
    near = np.linalg.inv(np.diag(np.diag(a)))
    with jx.enable_x64():
        wanted = np.linalg.solve(a, b)
        for method, restart, m in [
            ("batched", 3, None),
            ("batched", 30, near),
            ("incremental", 3, lambda x: near @ x),
            ("incremental", 30, None),
        ]:
            x, _ = gmres(a, b, restart=restart, tol=1e-9, M=m, solve_method=method)
            np.testing.assert_allclose(x, wanted, rtol=1e-6, atol=1e-8)


def test_one_round_of_gmres_leaves_the_least_residual_of_its_space():
    a, b = system("gmres", 12)
    space = np.stack([np.linalg.matrix_power(a, k) @ b for k in range(4)], -1)
    best = space @ np.linalg.lstsq(a @ space, b, rcond=None)[0]
    with jx.enable_x64():
        for method in ("batched", "incremental"):
            x, _ = gmres(a, b, restart=4, maxiter=1, tol=1e-14, solve_method=method)
            np.testing.assert_allclose(x, best, rtol=1e-6, atol=1e-8)
        x, _ = gmres(a, b, restart=12, maxiter=1, tol=0.1, solve_method="incremental")
        early = np.linalg.norm(b - a @ np.asarray(x)) / np.linalg.norm(b)
        assert 1e-6 < early <= 0.1


def test_bases_stay_orthogonal_where_rounding_would_spoil_them():
    """Columns of very different lengths: cleaned once, the basis would be skew and the solution off."""
    random = np.random.default_rng(2)
    q, _ = np.linalg.qr(random.normal(size=(30, 30)))
    a = (q * np.logspace(0, -6, 30)) @ q.T
    x = random.normal(size=30)
    with jx.enable_x64():
        found, _ = gmres(a, a @ x, restart=30, maxiter=3, tol=1e-14)
    assert np.linalg.norm(a @ np.asarray(found) - a @ x) < 1e-11 * np.linalg.norm(a @ x)


def test_what_needs_no_step_and_what_has_no_solution():
    a, b = system("cg", 5, "float32")
    for name, solve in SOLVERS.items():
        assert not np.any(solve(a, np.zeros(5, "float32"))[0]), name
        x = np.linalg.solve(a, b)
        np.testing.assert_allclose(solve(a, b, x0=x)[0], x, rtol=1e-4)
    x, info = gmres(np.zeros((3, 3), "float32"), np.ones(3, "float32"), maxiter=2)
    assert info == (-1 if np.isnan(np.linalg.norm(x)) else 0)
