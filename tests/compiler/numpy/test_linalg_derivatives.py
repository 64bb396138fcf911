"""Derivatives of linear algebra: once, twice, mapped, where they are degenerate, and where there are none."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from tests.compiling import once


pytestmark = pytest.mark.usefixtures("wide")


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


SMOOTH = {
    "cholesky": lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(3)),
    "cond": jnp.linalg.cond,
    "det of four": lambda x: jnp.linalg.det(jnp.pad(x, (0, 1), constant_values=2.0)),
    "eigh": lambda x: jnp.linalg.eigh(x)[1] ** 2 + jnp.linalg.eigh(x)[0],
    "eigvals": lambda x: jnp.abs(jnp.linalg.eigvals(x)),
    "inv": jnp.linalg.inv,
    "lstsq": lambda x: jnp.linalg.lstsq(x, x[0] ** 2)[0],
    "lu": lambda x: lax.linalg.lu(x)[0],
    "matrix_power": lambda x: jnp.linalg.matrix_power(x, -3),
    "norm": lambda x: jnp.linalg.norm(x, "nuc") + jnp.linalg.norm(x, 2) + jnp.linalg.norm(x),
    "pinv": lambda x: jnp.linalg.pinv(x[:, :2]),
    "qr": lambda x: jnp.linalg.qr(x)[0] + jnp.linalg.qr(x)[1],
    "slogdet": lambda x: jnp.linalg.slogdet(x)[1],
    "solve": lambda x: jnp.linalg.solve(x, x[0] ** 2),
    "svd": lambda x: jnp.linalg.svd(x[:, :2], full_matrices=False)[0] ** 2,
}


@pytest.mark.parametrize("name", SMOOTH)
def test_twice_and_mapped(name):
    def fun(x):
        out = SMOOTH[name](x)
        return (out * jnp.arange(1.0, out.shape[-1] + 1)).sum() if out.ndim else out

    a, t = draw(2, 3, 3, seed=5) + 2 * np.eye(3), draw(2, 3, 3, seed=6)

    @once
    def all_at_once(a, t, step):
        slope = jx.vmap(jx.grad(fun))
        second = jx.jvp(slope, (a,), (t,))[1]
        return (
            slope(a),
            jx.vmap(fun)(a + step * t),
            jx.vmap(fun)(a - step * t),
            second,
            slope(a + step * t),
            slope(a - step * t),
        )

    slope, high, low, second, slope_high, slope_low = map(np.asarray, all_at_once(a, t, 1e-5))
    np.testing.assert_allclose((slope * t).sum((1, 2)), (high - low) / 2e-5, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(second, (slope_high - slope_low) / 2e-5, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(slope[1], once(jx.grad(fun))(a[1]), rtol=1e-8, atol=1e-10)


def test_derivatives_where_values_are_equal():
    for fun in (
        lambda x: jnp.linalg.eigvalsh(x).sum(),
        lambda x: jnp.linalg.norm(x, "nuc"),
        lambda x: jnp.linalg.svdvals(x).sum(),
    ):
        np.testing.assert_allclose(jx.grad(fun)(np.eye(3)), np.eye(3), atol=1e-12)
    assert not np.isfinite(
        jx.grad(lambda x: (jnp.linalg.eigh(x)[1] * np.arange(9.0).reshape(3, 3)).sum())(np.eye(3))
    ).all()


def test_derivatives_that_do_not_exist_say_so():
    a = draw(4, 3)
    with pytest.raises(NotImplementedError, match="eigvals"):
        jx.grad(lambda x: jnp.abs(jnp.linalg.eig(x)[1]).sum())(a[:3])
    with pytest.raises(NotImplementedError, match="full_matrices=False"):
        jx.grad(lambda x: jnp.linalg.svd(x)[0].sum())(a)


@pytest.mark.parametrize(("name", "advice"), [("schur", "eigvals"), ("hessenberg", "qr"), ("tridiagonal", "eigh")])
def test_forms_say_what_has_derivatives(name, advice):
    with pytest.raises(NotImplementedError, match=advice):
        jx.grad(lambda x: getattr(lax.linalg, name)(x)[0].sum())(jnp.asarray(draw(3, 3)))


def test_the_derivative_of_a_triangle_is_one():
    a = draw(3, 3) + 3 * np.eye(3)
    grad = np.asarray(jx.grad(lambda x: jnp.linalg.eigh(x, symmetrize_input=False)[0][0])(a))
    assert not np.triu(grad, 1).any() and np.tril(grad, -1).any()
    grad = np.asarray(jx.grad(lambda x: jnp.linalg.eigh(x)[0][0])(a))
    np.testing.assert_allclose(grad, grad.T)


def test_one_solve_serves_the_derivative():
    """Reverse mode factors once and solves with the same factors."""
    text = str(jx.make_jaxpr(jx.grad(lambda a, b: jnp.linalg.solve(a, b).sum(), (0, 1)))(np.eye(3), np.ones(3)))
    assert text.count(" lu ") == 1


def test_transformations_outside_of_jit_run_whole_functions():
    a, m = draw(3, 3) + 2 * np.eye(3), draw(2, 3, 3)
    text = lambda fun: str(jx.make_jaxpr(fun)(a))
    # In a program every equation is there with its own line.
    assert "jit[" not in text(jnp.linalg.inv) and "jit[" not in text(lambda x: jx.vmap(jnp.linalg.norm)(x))
    calls = {
        "a number": lambda x: jnp.linalg.pinv(x, 0.1),
        "an array": lambda x: jnp.linalg.pinv(x, rtol=np.float64(0.1)),
        "positions and names": lambda x: jnp.linalg.svd(x, False, compute_uv=True)[1],
        "text": lambda x: jnp.linalg.norm(x, ord="nuc"),
        "infinity": lambda x: jnp.linalg.norm(x, np.inf, axis=(0, 1), keepdims=True),
        "a list": lambda x: jnp.linalg.tensorsolve(x, x[0], axes=[0]),
        "named results": lambda x: jnp.linalg.slogdet(x).logabsdet,
    }
    for what, fun in calls.items():
        for mapped in (jx.vmap(fun)(m), once(jx.vmap(fun))(m)):
            np.testing.assert_allclose(mapped, np.stack([np.asarray(fun(x)) for x in m]), atol=1e-10, err_msg=what)
    with jx.disable_jit():
        np.testing.assert_allclose(jx.vmap(jnp.linalg.inv)(m), np.linalg.inv(m), atol=1e-10)
    with pytest.raises(TypeError, match="a list"):
        jx.vmap(lambda x: jnp.linalg.solve(x, [1.0, 2.0, 3.0]))(m)
