"""numpy.fft and lax.fft against NumPy and their own transposes."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax


ONE = "fft ifft rfft irfft hfft ihfft".split()
TWO = "fft2 ifft2 rfft2 irfft2".split()
MANY = "fftn ifftn rfftn irfftn".split()
OF_REALS = ("rfft", "ihfft", "rfft2", "rfftn")


pytestmark = pytest.mark.usefixtures("wide")


def draw(name, *shape, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=shape)
    return x if name in OF_REALS else x + 1j * random.normal(size=shape)


def cases():
    for name in ONE:
        for options in ({}, {"n": 3}, {"n": 6, "axis": 1}, {"axis": 0, "n": 1}):
            yield name, options
    for name in TWO:
        for options in ({}, {"s": (2, 5)}, {"axes": (3, 0)}, {"s": (4, 2), "axes": (-1, -4)}):
            yield name, options
    for name in MANY:
        for options in (
            {},
            {"s": (3,), "axes": (1,)},
            {"axes": (2, 0, 1)},
            {"s": (2, 2, 3, 4, 4), "axes": (4, 3, 2, 1, 0)},
        ):
            yield name, options


# What JAX answers ----------------------------------------------------------------------------------------------------


# What NumPy answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_transforms_are_numpys(norm):
    table = list(cases())
    inputs = {name: draw(name, 2, 3, 2, 4, 3) for name, _ in table}
    calls = lambda np_like, xs: [getattr(np_like.fft, name)(xs[name], norm=norm, **options) for name, options in table]
    for (name, options), found, wanted in zip(table, jx.jit(lambda xs: calls(jnp, xs))(inputs), calls(np, inputs)):
        assert found.dtype == wanted.dtype and found.shape == wanted.shape, (name, options)
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12, err_msg=f"{name} {options}")


@pytest.mark.parametrize("name", [*ONE, *TWO, *MANY])
def test_derivatives_are_transposes(name):
    shape = (2, 3, 4, 3) if name in MANY else (3, 4)
    x, t = draw(name, *shape), draw(name, *shape, seed=1)
    fun = lambda x: getattr(jnp.fft, name)(x, norm="ortho")
    ct = draw("fft" if np.iscomplexobj(getattr(np.fft, name)(x)) else "rfft", *getattr(np.fft, name)(x).shape, seed=2)

    @jx.jit
    def both(x, t, ct):
        out, change = jx.jvp(fun, (x,), (t,))
        return out, change, jx.vjp(fun, x)[1](ct)[0], jx.linear_transpose(fun, x)(ct)[0]

    _, change, back, transposed = map(np.asarray, both(x, t, ct))
    np.testing.assert_allclose(change, getattr(np.fft, name)(t, norm="ortho"), atol=1e-12)
    np.testing.assert_allclose(np.real((change * ct).sum()), np.real((t * back).sum()))
    np.testing.assert_allclose(back, transposed, atol=1e-12)
    assert back.dtype == x.dtype


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_mapped(axis):
    x = draw("fft", 2, 3, 4)
    np.testing.assert_allclose(jx.vmap(jnp.fft.fft2, axis)(x), np.fft.fft2(np.moveaxis(x, axis, 0)), atol=1e-12)
    real = np.moveaxis(x.real, axis, 0)
    np.testing.assert_allclose(jx.vmap(jnp.fft.rfft, axis)(x.real), np.fft.rfft(real), atol=1e-12)


def test_empty_arrays():
    assert jnp.fft.fft(np.zeros((0, 3))).shape == (0, 3)
    assert jnp.fft.fftn(np.zeros((2, 0))).shape == (2, 0)
    assert jnp.fft.irfft(np.zeros((0, 3), complex)).shape == (0, 4)
    assert jnp.fft.irfft(np.zeros(1, complex)).shape == (0,)
    assert jnp.fft.fft(np.zeros(0), 2).tolist() == [0, 0]


@pytest.mark.parametrize("n", range(1, 8))
@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name, n):
    ours, numpys = getattr(jnp.fft, name), getattr(np.fft, name)
    np.testing.assert_allclose(ours(n, 0.25), numpys(n, 0.25))
    np.testing.assert_allclose(jx.jit(lambda d: ours(n, d))(0.5), numpys(n, 0.5))
    assert ours(n, dtype=np.float32).dtype == np.float32


@pytest.mark.parametrize("n", [1, 2, 5])
def test_shifts(n):
    x = np.arange(n * 3.0).reshape(n, 3)
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 0, (0, 1), -1):
            np.testing.assert_array_equal(getattr(jnp.fft, name)(x, axes), getattr(np.fft, name)(x, axes))


def test_lax():
    x = draw("fft", 2, 3, 4)
    np.testing.assert_allclose(lax.fft(jnp.asarray(x), lax.FftType.FFT, (3, 4)), np.fft.fft2(x), atol=1e-12)
    np.testing.assert_allclose(lax.fft(jnp.asarray(x), "ifft", (2, 3, 4)), np.fft.ifftn(x), atol=1e-12)
    np.testing.assert_allclose(lax.fft(jnp.asarray(x), "IRFFT", (6,)), np.fft.irfft(x), atol=1e-12)
    assert [kind.name for kind in lax.FftType] == ["FFT", "IFFT", "RFFT", "IRFFT"]
    half = jnp.ones(4, np.float16)
    assert lax.fft(half, "fft", (4,)).dtype == np.complex64
    with pytest.raises(ValueError, match="float32 and float64"):
        lax.fft(half, "rfft", (4,))
    with pytest.raises(ValueError, match="one to three"):
        lax.fft(jnp.ones((1, 1, 1, 1)), "fft", (1, 1, 1, 1))


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="use fftn"):
        jnp.fft.fft(np.ones((2, 2)), axis=(0, 1))
    with pytest.raises(ValueError, match="'backward', 'ortho' or 'forward'"):
        jnp.fft.rfft(np.ones(3), norm="both")
    with pytest.raises(ValueError, match="an axis stands twice"):
        jnp.fft.fftn(np.ones((2, 2)), axes=(0, -2))


BESIDE_LAPACK = {
    "qr of a real part": lambda np, x: np.linalg.qr(np.fft.fft(x).real)[1],
    "qr of a half spectrum": lambda np, x: abs(np.linalg.qr(np.fft.rfft(x))[1]),
    "qr of a way back": lambda np, x: np.linalg.qr(np.fft.irfft(x))[1],
    "singular values in two dimensions": lambda np, x: np.linalg.svd(np.fft.fft2(x).real, compute_uv=False),
    "solve": lambda np, x: np.linalg.solve(np.fft.fft(x), np.fft.fft(x.T)),
    "there and back": lambda np, x: np.fft.ifft(np.linalg.inv(np.fft.fft(x))),
}


@pytest.mark.parametrize("name", BESIDE_LAPACK)
def test_matrices_go_from_transforms_to_lapack(name):
    """LAPACK's matrices lie column by column; XLA handed that layout to the transform, which refused it."""
    fun, x = BESIDE_LAPACK[name], np.random.default_rng(3).normal(size=(5, 5))
    np.testing.assert_allclose(abs(jx.jit(lambda x: fun(jnp, x))(x)), abs(fun(np, x)), rtol=1e-9, atol=1e-9)


def test_a_map_of_factorizations_of_transforms():
    x = np.random.default_rng(4).normal(size=(3, 4, 4))
    found = jx.jit(jx.vmap(lambda m: jnp.linalg.qr(jnp.fft.fft(m).real)[1]))(x)
    np.testing.assert_allclose(abs(found), abs(np.linalg.qr(np.fft.fft(x).real)[1]), rtol=1e-9, atol=1e-9)
