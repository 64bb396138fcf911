"""custom_linear_solve, custom_root and linear_transpose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope_scope import observe
from jitscope_scope.observe.ledger import Ledger
from jitscope_widgets import validate


RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 3)) + 4 * np.eye(3)
B = RNG.normal(size=3)


def iterate(matvec: Any, b: Any) -> Any:
    return lax.fori_loop(0, 150, lambda i, x: x + 0.15 * (b - matvec(x)), jnp.zeros_like(b))


def solve(a: Any, b: Any, **options: Any) -> Any:
    options.setdefault("transpose_solve", iterate)
    return lax.custom_linear_solve(lambda x: a @ x, b, iterate, **options)


def differences(f: Any, x: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """The gradient of a function of NumPy arrays."""
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = h
        found[i] = (f(x + e) - f(x - e)) / (2 * h)
    return found


# Linear equations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda f: f, jx.jit, lambda f: jx.checkpoint(f)], ids=["eager", "jit", "checkpoint"])
def test_solutions_and_gradients_are_numpy_s(wrap: Any) -> None:
    with jx.enable_x64():
        wanted = lambda a, b: np.sin(np.linalg.solve(a, b)).sum()
        np.testing.assert_allclose(wrap(solve)(A, B), np.linalg.solve(A, B), 1e-7)
        found = jx.grad(wrap(lambda a, b: jnp.sum(jnp.sin(solve(a, b)))), (0, 1))(A, B)
        np.testing.assert_allclose(found[0], differences(lambda a: wanted(a, B), A), 1e-5, 1e-7)
        np.testing.assert_allclose(found[1], differences(lambda b: wanted(A, b), B), 1e-5, 1e-7)


def test_second_derivatives_and_both_modes() -> None:
    with jx.enable_x64():
        f = lambda b: jnp.sum(jnp.sin(solve(A, b)))
        inverse = np.linalg.inv(A)
        wanted = -inverse.T @ np.diag(np.sin(inverse @ B)) @ inverse
        for second in (jx.hessian(f), jx.jacrev(jx.jacrev(f)), jx.jacfwd(jx.jacfwd(f))):
            np.testing.assert_allclose(second(B), wanted, 1e-5, 1e-8)
        slope = jx.jacfwd(lambda s: solve(s * A, B))(2.0)
        np.testing.assert_allclose(slope, -np.linalg.solve(A, B) / 4, 1e-6)


@pytest.mark.parametrize("dims", [(0, None), (None, 0), (0, 0), (2, 1)])
def test_mapped_over_matrices_vectors_or_both(dims: tuple) -> None:
    matrices, vectors = np.stack([A, A.T]), np.stack([B, 2 * B])
    with jx.enable_x64():
        a = A if dims[0] is None else np.moveaxis(matrices, 0, dims[0])
        b = B if dims[1] is None else np.moveaxis(vectors, 0, dims[1])
        of = lambda i: (A if dims[0] is None else matrices[i], B if dims[1] is None else vectors[i])
        f = lambda a, b: jnp.sum(jnp.sin(solve(a, b)))
        np.testing.assert_allclose(jx.vmap(solve, dims)(a, b), [np.linalg.solve(*of(i)) for i in range(2)], 1e-6)
        found = jx.jit(jx.vmap(jx.grad(f, (0, 1)), dims))(a, b)
        for i in range(2):
            for got, want in zip(found, jx.grad(f, (0, 1))(*of(i))):
                np.testing.assert_allclose(got[i], want, 1e-6, 1e-9)


def test_the_solver_is_not_differentiated() -> None:
    def solver(matvec, b):
        return lax.while_loop(lambda x: jnp.sum(jnp.abs(matvec(x) - b)) > 1e-6, lambda x: x + 0.15 * (b - matvec(x)), b)

    f = lambda b: jnp.sum(
        lax.custom_linear_solve(lambda x: A.astype(np.float32) @ x, b, solver, transpose_solve=solver)
    )
    np.testing.assert_allclose(jx.grad(f)(B.astype(np.float32)), np.linalg.solve(A.T, np.ones(3)), 1e-4)


def test_complex_equations() -> None:
    a, b = np.array([[3 + 1j, 0.5], [0.2j, 2]], np.complex64), np.array([1, 1j], np.complex64)
    run = lambda m, b: lax.fori_loop(0, 80, lambda i, x: x + 0.3 * (b - m(x)), jnp.zeros_like(b))
    f = lambda b: lax.custom_linear_solve(lambda x: a @ x, b, run, transpose_solve=run)
    np.testing.assert_allclose(f(b), np.linalg.solve(a, b), 1e-4)
    np.testing.assert_allclose(jx.jacrev(f, holomorphic=True)(b), np.linalg.inv(a), 1e-4, 1e-5)
    np.testing.assert_allclose(jx.jacfwd(f, holomorphic=True)(b), np.linalg.inv(a), 1e-4, 1e-5)


def test_it_is_one_equation_and_the_ledger_can_tell_of_it() -> None:
    f = lambda b: solve(A.astype(np.float32), b, transpose_solve=None)
    text = str(jx.make_jaxpr(f)(B))
    assert "custom_linear_solve[" in text and "solve=" in text and "transpose_solve" not in text
    ledger = Ledger()
    try:
        jx.clear_caches()
        jx.jit(lambda b: (f(b), jx.checkpoint(jnp.sin)(b), jx.grad(lambda b: jnp.sum(jx.checkpoint(jnp.sin)(b)))(b)))(B)
        (row,) = [row for row in ledger if not row.nested and not row.derived]
        document = observe.compilation_document(row)
        validate(document)
        assert {"custom_linear_solve", "remat2"} <= {node["label"] for node in document["graph"]["nodes"]}
    finally:
        ledger.close()


def test_wrong_equations_are_explained() -> None:
    half = lambda m, b: b / 2.0
    with pytest.raises(TypeError, match=r"neither transpose_solve nor symmetric=True.*\n.*in line \d+ of"):
        jx.grad(lambda b: jnp.sum(lax.custom_linear_solve(lambda x: 2.0 * x, b, half)))(B)
    with pytest.raises(ValueError, match=r"matvec .* must give arrays of b's shapes; it gave f32\[2\]"):
        lax.custom_linear_solve(lambda x: x[:2], np.ones(3, np.float32), half)
    with pytest.raises(ValueError, match=r"matvec .* must give a tree like b"):
        lax.custom_linear_solve(lambda x: (x, x), np.ones(3, np.float32), half)
    with pytest.raises(ValueError, match=r"solve .* must give a tree like b"):
        lax.custom_linear_solve(lambda x: 2.0 * x, np.ones(3, np.float32), lambda m, b: (b, b))
    with pytest.raises(TypeError, match=r"matvec .* must give a tree like b"):
        lax.custom_linear_solve(lambda x: [2.0 * x], np.ones(3, np.float32), half)
    with pytest.raises(ValueError, match=r"has_aux=True solve .* must return"):
        lax.custom_linear_solve(lambda x: 2.0 * x, np.ones(3, np.float32), half, has_aux=True)
    with pytest.raises(TypeError, match="is not"):
        lax.custom_linear_solve(lambda x: x * x, np.ones(3, np.float32), half, transpose_solve=half)


# Roots ---------------------------------------------------------------------------------------------------------------


def newton(f: Any, x: Any) -> Any:
    """For functions of one number."""
    return lax.while_loop(lambda x: jnp.abs(f(x)) > 1e-12, lambda x: x - f(x) / jx.jvp(f, (x,), (1.0,))[1], x)


def cube_root(a: Any) -> Any:
    return lax.custom_root(lambda x: x**3 - a, 1.0, newton, lambda g, y: y / g(1.0))


def test_roots_and_their_derivatives() -> None:
    with jx.enable_x64():
        points = np.array([2.0, 5.0])
        for wrap in (lambda f: f, jx.jit, lambda f: jx.checkpoint(f)):
            f = wrap(cube_root)
            np.testing.assert_allclose([f(a) for a in points], np.cbrt(points), 1e-10)
            np.testing.assert_allclose([jx.grad(f)(a) for a in points], np.cbrt(points) / (3 * points), 1e-10)
        np.testing.assert_allclose(jx.vmap(jx.grad(jx.grad(cube_root)))(points), -2 / 9 * points ** (-5 / 3), 1e-9)
        np.testing.assert_allclose(jx.jacfwd(jx.grad(cube_root))(2.0), -2 / 9 * 2 ** (-5 / 3), 1e-9)
        np.testing.assert_allclose(jx.vmap(cube_root)(points), np.cbrt(points), 1e-10)


def test_a_root_in_a_loop() -> None:
    total = lambda a: lax.scan(lambda c, x: (c + cube_root(a * x), None), 0.0, np.array([1.0, 8.0]))[0]
    with jx.enable_x64():
        np.testing.assert_allclose(jx.jit(jx.grad(total))(2.0), 3 * np.cbrt(2.0) / 6, 1e-6)


def test_the_root_may_be_of_another_dtype_than_the_guess() -> None:
    halves = lambda f, x: lax.fori_loop(0, 30, lambda i, x: x - f(x) / 2, x)
    with jx.enable_x64():
        f = lambda a: lax.custom_root(
            lambda x: 2 * x - a, 1.0, lambda f, x: halves(f, x.astype(np.float32)), lambda g, y: y / g(1.0)
        )
        found, slope = jx.value_and_grad(f)(np.float32(3))
        assert (float(found), float(slope), found.dtype, slope.dtype) == (1.5, 0.5, np.float32, np.float32)


def test_the_guess_has_no_derivative_and_trees_work() -> None:
    def f(p, guess):
        return lax.custom_root(
            lambda x: {"u": x["u"] - p * p, "v": 2.0 * x["v"] - p},
            guess,
            lambda f, x: {k: x[k] - step for k, step in zip(x, (f(x)["u"], f(x)["v"] / 2.0))},
            lambda g, y: {"u": y["u"], "v": y["v"] / 2.0},
        )

    guess = {"u": 1.0, "v": 1.0}
    assert {k: float(v) for k, v in f(3.0, guess).items()} == {"u": 9.0, "v": 1.5}
    slopes = jx.grad(lambda p, guess: f(p, guess)["u"] + 10 * f(p, guess)["v"], (0, 1))(3.0, guess)
    assert float(slopes[0]) == 11.0 and not any(map(float, slopes[1].values()))


def test_wrong_roots_are_explained() -> None:
    with pytest.raises(
        ValueError, match=r"f .* must give arrays of initial_guess's shapes; it gave f32\[\] for f32\[3\]"
    ):
        lax.custom_root(lambda x: jnp.sum(x), np.ones(3, np.float32), newton, lambda g, y: y)
    with pytest.raises(TypeError, match=r"solve .* must give a tree like initial_guess"):
        lax.custom_root(lambda x: x, 1.0, lambda f, x: (x, x), lambda g, y: y)
    with pytest.raises(ValueError, match=r"has_aux=True solve .* must return"):
        lax.custom_root(lambda x: x, 1.0, lambda f, x: x, lambda g, y: y, has_aux=True)


# Transposes ----------------------------------------------------------------------------------------------------------


def test_transposes_pair_as_they_should() -> None:
    """⟨T x, y⟩ = ⟨x, Tᵀ y⟩"""
    a = RNG.normal(size=(4, 3)).astype(np.float32)

    def t(d):
        padded = jnp.concatenate([d["x"], d["x"][::-1]])
        return jnp.cumsum(a @ d["x"]) + d["s"] * 2.0, jnp.reshape(padded, (2, 3))

    x = {"x": RNG.normal(size=3).astype(np.float32), "s": np.float32(0.7)}
    y = RNG.normal(size=4).astype(np.float32), RNG.normal(size=(2, 3)).astype(np.float32)
    for wrap in (lambda f: f, jx.jit):
        transpose = wrap(jx.linear_transpose(t, jx.tree.map(lambda a: jx.ShapeDtypeStruct(a.shape, a.dtype), x)))
        (back,) = transpose(y)
        forward = sum(float(np.vdot(p, q)) for p, q in zip(t(x), y))
        np.testing.assert_allclose(forward, sum(float(np.vdot(x[k], back[k])) for k in x), 1e-5)


def test_transposes_of_transposes_and_of_wrapped_functions() -> None:
    a = RNG.normal(size=(4, 3)).astype(np.float32)
    t = lambda x: a @ x
    back = jx.linear_transpose(t, np.zeros(3, np.float32))
    twice = jx.linear_transpose(lambda y: back(y)[0], np.zeros(4, np.float32))
    x = np.ones(3, np.float32)
    np.testing.assert_allclose(twice(x)[0], a @ x, 1e-6)
    ruled = jx.custom_vjp(t)
    ruled.defvjp(lambda x: (t(x), None), lambda _, ct: (0.0 * x,))  # rules do not concern the transpose
    for wrapped in (jx.jit(t), jx.checkpoint(t), jx.vmap(t, 1, 1), ruled):
        shape = (3, 2) if wrapped(np.ones((3, 2), np.float32)).shape == (4, 2) and wrapped not in (ruled,) else (3,)
        y = np.ones((4, *shape[1:]), np.float32)
        np.testing.assert_allclose(jx.linear_transpose(wrapped, np.zeros(shape, np.float32))(y)[0], a.T @ y, 1e-5)


def test_functions_that_are_not_linear_are_refused_with_their_line() -> None:
    def bent(x):
        y = 2.0 * x
        return jnp.sin(y) + x

    with pytest.raises(TypeError, match=r"bent is not.\n.*in line \d+ of bent: return jnp.sin\(y\) \+ x"):
        jx.linear_transpose(bent, 1.0)
    for f in (lambda x: x * x, lambda x: jnp.where(x > 0, x, 2 * x), lambda x: 1 / x, jnp.abs):
        with pytest.raises(TypeError, match="linear"):
            jx.linear_transpose(f, 1.0)(1.0)
    with pytest.raises(TypeError, match="linear"):
        jx.linear_transpose(lambda x: x * x, 2)
    with pytest.raises(TypeError, match="round is not"):
        jx.linear_transpose(jnp.round, 1.0)(1.0)
    with pytest.raises(TypeError, match=r"takes f32\[\] and gives i32\[\]"):
        jx.linear_transpose(lambda x: x.astype(int), 1.0)


def test_cotangents_must_fit() -> None:
    back = jx.linear_transpose(lambda x: {"y": 2.0 * x}, np.ones(3, np.float32))
    with pytest.raises(TypeError, match="has structure"):
        back(np.ones(3, np.float32))
    for wrong in (np.ones(2, np.float32), np.ones(3, np.complex64), np.ones(3, np.int32)):
        with pytest.raises(TypeError, match="must agree"):
            back({"y": wrong})
