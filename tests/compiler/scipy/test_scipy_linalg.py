"""scipy.linalg against SciPy and finite differences."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.scipy import linalg as sl
from tests.compiling import once


pytestmark = pytest.mark.usefixtures("wide")


def draw(*shape, seed=0, imaginary=False):
    random = np.random.default_rng(seed)
    x = random.normal(size=shape)
    return x + 1j * random.normal(size=shape) if imaginary else x


def close(found, wanted, tolerance=1e-10):
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def slope(fun, x, t, step=1e-6):
    return (np.asarray(fun(x + step * t)) - np.asarray(fun(x - step * t))) / (2 * step)


# What JAX answers ----------------------------------------------------------------------------------------------------


# Factorizations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("imaginary", [False, True])
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3), (1, 1), (0, 0)], ids=str)
def test_forms_are_what_they_say(shape, imaginary):
    a = draw(*shape, imaginary=imaginary)
    form, vectors = map(np.asarray, sl.schur(a))
    close(vectors @ form @ adjoint(vectors), a)
    assert not np.tril(form, -1 if imaginary else -2).any()
    t, z = map(np.asarray, sl.rsf2csf(form, vectors))
    assert t.dtype == np.complex128 and not np.tril(t, -1).any()
    close(z @ t @ adjoint(z), a)
    close(z @ adjoint(z), np.broadcast_to(np.eye(shape[-1]), shape))
    h, q = map(np.asarray, sl.hessenberg(a, calc_q=True))
    close(q @ h @ adjoint(q), a)
    assert not np.tril(h, -2).any()
    p, lower, upper = map(np.asarray, sl.lu(a))
    close(p @ lower @ upper, a)
    close(np.asarray(sl.lu(a, permute_l=True)[0]), p @ lower)
    u, s, vh = map(np.asarray, sl.svd(a))
    close((u * s[..., None, :]) @ vh, a)


@pytest.mark.parametrize(
    ("shape", "side"), [((5, 3), "right"), ((2, 4, 4), "left"), ((3, 5), "right"), ((3, 5), "left")]
)
@pytest.mark.parametrize("method", ["qdwh", "svd"])
def test_polar(shape, side, method):
    a = draw(*shape, imaginary=True)
    u, p = map(np.asarray, sl.polar(a, side, method=method))
    close(u @ p if side == "right" else p @ u, a)
    close(p, adjoint(p))
    assert np.linalg.eigvalsh(p).min() > -1e-10
    thin = adjoint(u) @ u if shape[-2] >= shape[-1] else u @ adjoint(u)
    close(thin, np.broadcast_to(np.eye(min(shape[-2:])), thin.shape))


def test_polar_has_derivatives_both_ways():
    a, t = draw(4, 3), draw(4, 3, seed=1)
    fun = lambda a: sl.polar(a)[0]
    wanted = slope(lambda a: scipy.linalg.polar(a)[0], a, t)
    close(once(lambda a, t: jx.jvp(fun, (a,), (t,))[1])(a, t), wanted, 1e-7)
    close((once(jx.grad(lambda a: fun(a).sum()))(a) * t).sum(), wanted.sum(), 1e-7)


# Equations -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_factors_solve(trans):
    a, b = draw(2, 3, 3, imaginary=True), draw(2, 3, 2, seed=1, imaginary=True)
    op = (lambda x: x, lambda x: np.swapaxes(x, -1, -2), adjoint)[trans]
    x = np.asarray(sl.lu_solve(sl.lu_factor(a), b, trans))
    close(op(a) @ x, b)
    close(op(a[0]) @ np.asarray(sl.lu_solve(sl.lu_factor(a[0]), b[0, :, 0], trans)), b[0, :, 0])
    upper = np.triu(a)
    close(op(upper) @ np.asarray(sl.solve_triangular(a, b, trans)), b)


@pytest.mark.parametrize("lower", [False, True])
def test_positive_definite_systems_of_complex_numbers_differentiate_both_ways(lower):
    c = draw(3, 3, imaginary=True)
    a, b = c @ adjoint(c) + np.eye(3), draw(3, seed=1, imaginary=True)
    fun = lambda a, b: sl.solve(a, b, lower=lower, assume_a="pos")
    close(a @ np.asarray(fun(a, b)), b)
    ct, tb = draw(3, seed=2, imaginary=True), draw(3, seed=3, imaginary=True)
    _, back = jx.vjp(fun, a, b)
    forward = np.asarray(jx.jvp(lambda b: fun(a, b), (b,), (tb,))[1])
    np.testing.assert_allclose((np.asarray(back(ct)[1]) * tb).sum(), (ct * forward).sum())


def test_batches_of_vectors_are_deprecated():
    a, b = draw(2, 3, 3), draw(2, 3, seed=1)
    with pytest.warns(FutureWarning, match="batch of vectors"):
        x = sl.solve_triangular(a, b)
    close(np.einsum("bij,bj->bi", np.triu(a), np.asarray(x)), b)


@pytest.mark.parametrize("method", ["schur", "eigen"])
def test_sylvester(method):
    a, b, c = draw(2, 4, 4, seed=1), draw(3, 3, seed=2), draw(2, 4, 3, seed=3)
    x = np.asarray(sl.solve_sylvester(a, b, c, method=method))
    close(a @ x + x @ b, c, 1e-9)
    fun = lambda a, b, c: sl.solve_sylvester(a, b, c, method=method)
    args, ts = (a[0], b, c[0]), (draw(4, 4, seed=4), draw(3, 3, seed=5), draw(4, 3, seed=6))
    moved = lambda step: scipy.linalg.solve_sylvester(*[x + step * t for x, t in zip(args, ts)])
    wanted = (moved(1e-6) - moved(-1e-6)) / 2e-6
    close(once(lambda args, ts: jx.jvp(fun, args, ts)[1])(args, ts), wanted, 1e-6)
    back = once(jx.grad(lambda *args: fun(*args).sum(), (0, 1, 2)))(*args)
    close(sum((np.asarray(g) * t).sum() for g, t in zip(back, ts)), wanted.sum(), 1e-6)


def test_sylvester_without_a_solution():
    assert np.isnan(np.asarray(sl.solve_sylvester(np.eye(2), -np.eye(2), np.ones((2, 2))))).all()
    assert sl.solve_sylvester(np.zeros((0, 0)), np.eye(3), np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("imaginary", [False, True])
def test_eigenvalues_of_tridiagonal_matrices(imaginary):
    d, e, t = draw(6), draw(5, seed=1, imaginary=imaginary), draw(6, seed=2)
    dense = np.diag(d.astype(e.dtype)) + np.diag(e, 1) + np.diag(np.conj(e), -1)
    values, vectors = map(np.asarray, sl.eigh_tridiagonal(d.astype(e.dtype), e))
    close(values, np.linalg.eigvalsh(dense))
    close(dense @ vectors, vectors * values)
    options = {"eigvals_only": True, "select": "i", "select_range": (1, 3)}
    only = lambda d, e: sl.eigh_tridiagonal(d.astype(e.dtype), e, **options)
    close(only(jnp.asarray(d), jnp.asarray(e)), values[1:4])
    close(jx.vmap(only, (0, None))(np.stack([d, d]), e)[1], values[1:4])
    wanted = slope(lambda d: np.linalg.eigvalsh(dense + np.diag(d - np.diag(dense).real))[1:4], d, t)
    of_d = lambda d: only(d, jnp.asarray(e))
    close(once(lambda d, t: jx.jvp(of_d, (d,), (t,))[1])(d, t), wanted, 1e-7)
    close((once(jx.grad(lambda d: of_d(d).sum()))(d) * t).sum(), wanted.sum(), 1e-7)


def test_eigenvalues_of_special_tridiagonal_matrices():
    close(sl.eigh_tridiagonal(np.ones(1), np.ones(0), eigvals_only=True), [1.0])
    equal = sl.eigh_tridiagonal(np.full(40, 2.0), np.full(39, -1.0), eigvals_only=True)
    close(equal, 2 - 2 * np.cos(np.arange(1, 41) * np.pi / 41))
    close(sl.eigh_tridiagonal(np.zeros(4), np.zeros(3), eigvals_only=True), np.zeros(4))


# Functions of matrices -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_exponentials(dtype, size):
    a = (draw(2, 4, 4, imaginary=np.dtype(dtype).kind == "c") * size / 4).astype(dtype)
    wanted = np.stack([scipy.linalg.expm(x.astype(np.complex128)) for x in a])
    found = np.asarray(once(sl.expm)(a))
    assert found.dtype == dtype
    tolerance = (1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-11) * max(size, 1)
    np.testing.assert_allclose(found, wanted if found.dtype.kind == "c" else wanted.real, rtol=tolerance,
                               atol=tolerance * np.abs(wanted).max())  # fmt: skip


def test_exponentials_of_extremes():
    assert np.isnan(np.asarray(sl.expm(np.eye(2) * 1e30))).all()
    assert np.isnan(np.asarray(sl.expm(np.full((2, 2), np.nan)))).all()
    close(sl.expm(np.zeros((3, 3))), np.eye(3))
    assert sl.expm(np.zeros((2, 0, 0))).shape == (2, 0, 0)
    close(sl.expm(np.array([[3.0]])), [[np.exp(3.0)]])
    upper = np.triu(draw(4, 4))
    close(sl.expm(upper, upper_triangular=True), scipy.linalg.expm(upper))


def test_derivatives_of_exponentials():
    a, e = draw(3, 3) * 3, draw(3, 3, seed=1)
    value, change = sl.expm_frechet(a, e)
    wanted = scipy.linalg.expm_frechet(a, e)
    close(value, wanted[0])
    close(change, wanted[1])
    close((once(jx.grad(lambda a: sl.expm(a).sum()))(a) * e).sum(), wanted[1].sum())
    mapped = once(jx.vmap(sl.expm_frechet))(np.stack([a, e]), np.stack([e, a]))
    close(mapped[1][0], wanted[1])


@pytest.mark.parametrize("imaginary", [False, True])
def test_square_roots(imaginary):
    a = draw(2, 4, 4, imaginary=imaginary)
    root = np.asarray(sl.sqrtm(a))
    assert root.dtype == np.complex128
    close(root @ root, a.astype(complex))
    assert np.linalg.eigvals(root).real.min() > -1e-12
    b = a[0] @ adjoint(a[0]) + np.eye(4)
    t = draw(4, 4, seed=2, imaginary=imaginary)
    change = slope(scipy.linalg.sqrtm, b, t)
    close(once(lambda b, t: jx.jvp(sl.sqrtm, (b,), (t,))[1])(b, t), change.astype(complex), 1e-7)
    if not imaginary:
        grads = jx.jit(jx.grad(lambda b: sl.sqrtm(b).real.sum()))
        close((grads(b) * t).sum(), change.sum(), 1e-7)
        second = jx.jit(lambda b, t: jx.jvp(grads, (b,), (t,))[1])(b, t)
        close(second, slope(lambda b: np.asarray(grads(b)), b, t, 1e-5), 1e-6)


def test_square_roots_of_singular_matrices():
    a = np.array([[1.0, 2], [2, 4]])
    root = np.asarray(sl.sqrtm(a))
    close(root @ root, a.astype(complex), 1e-7)
    close(sl.sqrtm(np.zeros((3, 3))), np.zeros((3, 3), complex))
    assert np.isnan(np.asarray(sl.sqrtm(np.array([[0.0, 1], [0, 0]])))).any()


def test_functions_of_matrices():
    a = draw(4, 4)
    close(sl.funm(a, jnp.exp), scipy.linalg.expm(a).astype(complex), 1e-8)
    close(sl.funm(np.diag([1.0, 1.0, 2.0]), jnp.log), np.diag(np.log([1.0, 1.0, 2.0])).astype(complex))
    found, error = sl.funm(a, jnp.sin, disp=False)
    close(found, scipy.linalg.sinm(a).astype(complex), 1e-8)
    assert 0 < float(error) < 1e-6
    close(once(lambda a: sl.funm(a, jnp.exp))(a), scipy.linalg.expm(a).astype(complex), 1e-8)


# Structured matrices -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(8))
def test_companions_are_scipys(n):
    a = draw(n + 1) + 3
    close(sl.fiedler_companion(a), scipy.linalg.fiedler_companion(a) if n > 1 else (-a[1:] / a[0]).reshape(n, n))
    if n:
        close(sl.companion(a), scipy.linalg.companion(a))
        close(jx.vmap(sl.companion)(np.stack([a, 2 * a])), np.stack([scipy.linalg.companion(a)] * 2))
        close(sl.fiedler_companion(np.stack([a, a])), np.stack([np.asarray(sl.fiedler_companion(a))] * 2))


@pytest.mark.parametrize(
    "shapes", [((3,), (4,)), ((4,), (1,)), ((0,), (3,)), ((3,), (0,)), ((2, 3), (2,)), ((1, 3), (2, 4))]
)
def test_diagonals_and_antidiagonals(shapes):
    c, r = draw(*shapes[0]), draw(*shapes[1], seed=1)
    wide = np.broadcast_shapes(c.shape[:-1], r.shape[:-1])
    c2, r2 = (np.broadcast_to(x, (*wide, x.shape[-1])).reshape(int(np.prod(wide)), x.shape[-1]) for x in (c, r))
    for name in ("toeplitz", "hankel"):
        one = lambda c, r, name=name: (
            getattr(scipy.linalg, name)(c, r) if c.size and r.size else np.zeros((c.size, r.size))
        )
        wanted = np.stack([one(x, y) for x, y in zip(c2, r2)]).reshape(*wide, c.shape[-1], r.shape[-1])
        close(getattr(sl, name)(c, r), wanted)


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize(("m", "n"), [(3, 5), (5, 3), (1, 4), (4, 1), (3, 3)])
def test_convolution_matrices(m, n, mode):
    a = draw(m)
    close(sl.convolution_matrix(a, n, mode), scipy.linalg.convolution_matrix(a, n, mode))
    # Each entry stands in the matrix some number of times.
    counts = [scipy.linalg.convolution_matrix(np.eye(m)[i], n, mode).sum() for i in range(m)]
    close(jx.grad(lambda a: (sl.convolution_matrix(a, n, mode) ** 2).sum())(a), 2 * np.array(counts) * a)


SIZED = """hilbert invhilbert invpascal invpascal:lower helmert helmert:True pascal pascal:upper dft dft:sqrtn dft:n""".split()


@pytest.mark.parametrize("n", [1, 2, 6, 12])
def test_matrices_of_a_size(n):
    for case in SIZED:
        name, _, option = case.partition(":")
        args = [True if option == "True" else option] if option else []
        found, wanted = getattr(sl, name)(n, *args), getattr(scipy.linalg, name)(n, *args)
        tolerance = 1e-6 if name == "pascal" else 1e-12  # JAX's pascal is in single precision
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=1e-12, err_msg=case)
    if not n & (n - 1):
        close(sl.hadamard(n), scipy.linalg.hadamard(n))


def test_nothing_is_loaded_before_it_is_used():
    code = (
        "import sys, jitscope.numpy, jitscope.scipy\n"
        "late = [m for m in sys.modules if m.startswith('jitscope.') and m.rpartition('.')[2] in "
        "('linalg', 'eigen', 'svd', 'schur', 'householder', 'fft', 'norms', 'factoring')]\n"
        "assert not late, late"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("type", [1, 2, 3])
@pytest.mark.parametrize("kind", ["float32", "complex64"])
def test_generalized_eigenvalues(type, kind):
    draw = np.random.default_rng(0)
    a, b = draw.normal(size=(2, 4, 4)).astype(kind)
    if kind == "complex64":
        a, b = a + 1j * a[::-1], b - 1j * b[:, ::-1]
    a, b = (a + a.conj().T).astype(kind), (b @ b.conj().T + 4 * np.eye(4)).astype(kind)
    values, vectors = map(np.asarray, sl.eigh(a, b, type=type))
    wanted, _ = scipy.linalg.eigh(a, b, type=type)
    np.testing.assert_allclose(values, wanted, rtol=1e-4, atol=1e-4)
    left, right = {1: (a, b), 2: (a @ b, np.eye(4)), 3: (b @ a, np.eye(4))}[type]
    np.testing.assert_allclose(left @ vectors, right @ vectors * values, rtol=1e-3, atol=1e-3 * abs(values).max())
