"""scipy.signal and scipy.fft: what samples cannot say. Warnings, round trips, sizes, programs, and what is traced."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.scipy import fft, signal
from jitscope.scipy.signal.convolving import _good_length
from jitscope.scipy.signal.segments import framed, overlapped
from tests.compiling import once


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def close(found, wanted, tolerance=2e-5):
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(
        np.asarray(found), wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max(initial=1)
    )


# Stretches -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size,step", [(1, 1), (4, 4), (4, 2), (5, 2), (7, 1), (3, 3), (9, 4), (12, 1), (11, 7)])
def test_stretches_are_what_a_loop_cuts(size, step):
    x = draw(2, 25)
    wanted = np.stack([x[:, i : i + size] for i in range(0, 25 - size + 1, step)], 1)
    np.testing.assert_array_equal(once(lambda x: framed(x, size, step))(x), wanted)


@pytest.mark.parametrize("size,step", [(1, 1), (4, 4), (4, 2), (5, 2), (7, 1), (9, 4), (12, 1), (11, 7)])
def test_stretches_add_up_to_what_a_loop_adds(size, step):
    frames = draw(2, 5, size)
    wanted = np.zeros((2, 4 * step + size), "float32")
    for i in range(5):
        wanted[:, i * step : i * step + size] += frames[:, i]
    close(once(lambda x: overlapped(x, step))(frames), wanted)


@pytest.mark.parametrize("overlap", [0, 3, 8, 12, 15])
def test_istft_undoes_stft(overlap):
    x = draw(3, 200)
    window = "boxcar" if overlap == 0 else "hann"
    _, _, spectra = signal.stft(x, window=window, nperseg=16, noverlap=overlap)
    _, again = signal.istft(spectra, window=window, nperseg=16, noverlap=overlap)
    close(again[:, :200], x, 1e-5)


def test_the_number_of_equations_does_not_grow_with_the_overlap():
    count = lambda overlap: len(
        jx.make_jaxpr(lambda x: signal.stft(x, nperseg=64, noverlap=overlap))(draw(400)).jaxpr.eqns
    )
    assert count(63) == count(56) <= 25


def test_the_slope_of_a_spectrum_is_that_of_differences():
    x, t = draw(40), draw(40, seed=1)

    def power(x):
        freqs, found = signal.welch(x, nperseg=8, noverlap=5, detrend="linear")
        return jnp.sum(found * jnp.cos(freqs))

    found = jx.grad(power)(x) @ t
    wanted = (power(x + 1e-2 * t) - power(x - 1e-2 * t)) / 2e-2
    np.testing.assert_allclose(found, wanted, rtol=1e-3)


# Words, warnings, sizes ----------------------------------------------------------------------------------------------


def test_more_elements_in_a_stretch_than_in_the_signal():
    x = draw(10)
    with pytest.warns(UserWarning, match="nperseg=256 is more than the 10 elements"):
        found = signal.stft(x)
    for ours, wanted in zip(found, scipy.signal.stft(x, nperseg=10)):
        close(ours, wanted)


def test_a_complex_signal_has_two_sides():
    x = draw(32) + 1j * draw(32, seed=1)
    with pytest.warns(UserWarning, match="welch: the signal is complex"):
        freqs, found = signal.welch(x, nperseg=8)
    wanted = scipy.signal.welch(x, nperseg=8, return_onesided=False)
    close(freqs, wanted[0])
    close(found, wanted[1])


def test_each_call_warns():
    for _ in range(2):
        with pytest.warns(UserWarning):
            signal.welch(draw(8), nperseg=9)


def test_a_function_as_detrend_gets_stretches_along_the_last_axis():
    x = draw(2, 30)
    found = signal.welch(x, nperseg=10, detrend=lambda d: d - jnp.mean(d, -1, keepdims=True))
    for ours, wanted in zip(found, signal.welch(x, nperseg=10)):
        close(ours, wanted)


def test_frequency_and_window_may_be_traced_but_sizes_not():
    x, window = draw(32), draw(8, seed=2) ** 2
    found = once(lambda fs, w: signal.welch(x, fs, w))(3.0, window)
    for ours, wanted in zip(found, scipy.signal.welch(x, 3.0, window)):
        close(ours, wanted)
    with pytest.raises(TypeError, match="traced"):
        jx.jit(lambda n: signal.welch(x, nperseg=n))(8)


@pytest.mark.parametrize("shapes", [((0, 4), (2, 4)), ((2, 4), (0, 4)), ((3, 0), (3, 4))])
def test_a_signal_without_elements_has_no_spectrum(shapes):
    x, y = (np.zeros(shape, "float32") for shape in shapes)
    if shapes[0][0] != shapes[1][0]:
        with pytest.raises(ValueError, match="broadcast"):
            signal.csd(x, y)
        x, y = x[:1], y[:1]
    assert signal.csd(x, y)[1].size == 0


def test_break_points_cannot_be_traced():
    with pytest.raises(TypeError):
        jx.jit(lambda p: signal.detrend(draw(9), bp=p))(3)


def test_unknown_windows_are_refused():
    with pytest.raises(ValueError, match="window"):
        signal.welch(draw(16), window="no such window", nperseg=8)


# Convolutions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("m,n", [(40, 16), (40, 17), (17, 40), (16, 16), (17, 17)])
def test_written_out_and_sliding_convolutions_agree(mode, m, n):
    x, y = draw(m), draw(n, seed=1)
    for method in ("direct", "fft"):
        close(signal.convolve(x, y, mode, method), scipy.signal.convolve(x, y, mode))
        close(signal.correlate(x, y, mode, method), scipy.signal.correlate(x, y, mode))


def test_lengths_of_transforms_are_the_next_without_large_factors():
    for n in range(1, 1100):
        assert _good_length(n) == scipy.fft.next_fast_len(n, real=True), n


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("shapes", [((5, 6), (2, 3)), ((2, 3), (5, 6)), ((5, 5), (5, 5))])
def test_complex_matrices(mode, shapes):
    x, y = (draw(*s) + 1j * draw(*s, seed=1) for s in shapes)
    close(signal.convolve2d(x, y, mode), scipy.signal.convolve2d(x, y, mode))
    close(signal.correlate2d(x, y, mode), scipy.signal.correlate2d(x, y, mode))


def test_a_convolution_is_linear_in_both():
    x, y = draw(9), draw(20, seed=1)
    slopes = jx.grad(lambda x, y: jnp.sum(signal.convolve(x, y, "same") * jnp.arange(9.0)), (0, 1))(x, y)
    slopes_by_fft = jx.grad(lambda x, y: jnp.sum(signal.fftconvolve(x, y, "same") * jnp.arange(9.0)), (0, 1))(x, y)
    for one, other in zip(slopes, slopes_by_fft):
        close(one, other)


# Cosine transforms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 15, 64])
def test_cosine_transforms_of_any_length(n, norm):
    with jx.enable_x64():
        x = np.random.default_rng(n).normal(size=(3, n))
        close(fft.dct(x, norm=norm), scipy.fft.dct(x, norm=norm), 1e-13)
        close(fft.idct(x, norm=norm), scipy.fft.idct(x, norm=norm), 1e-13)


def test_an_orthonormal_transform_is_its_own_inverse_transposed():
    x, y = draw(4, 6), draw(4, 6, seed=1)
    turned, pull = jx.vjp(lambda x: fft.dctn(x, norm="ortho"), x)
    close(turned, scipy.fft.dctn(x, norm="ortho"))
    close(pull(jnp.asarray(y))[0], scipy.fft.idctn(y, norm="ortho"))
