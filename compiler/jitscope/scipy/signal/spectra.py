"""Spectra of overlapping stretches of a signal.

`fs` is the sampling frequency. Stretches have `nperseg` elements (None: as many as the window, or the signal) of which
`noverlap` (None: half) belong to the next one, too; `window` is a vector or what `scipy.signal.get_window` takes; `nfft`
elements are transformed, the rest being zeros. `detrend`, "constant", "linear", False or a function of arrays with
stretches along the last axis, is applied to each. `return_onesided`: frequencies that are not negative only, for real signals.

All raise ValueError for sizes and words that do not fit, TypeError for what is not an array; a UserWarning says where they take
something else than asked. Differences to SciPy: `nperseg` is the signal's length by default in `csd` and `welch` (there 256).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import lax, numpy as jnp
from ...core.annotations import Array, ArrayLike
from ...core.dtypes import complex_of, real_part
from ...eager.functions import eager_jit
from ...named_tuple import NamedTuple
from ...numpy.fft import fft, rfft
from ...numpy.operands import broadcast_shape, lenient, one_axis, promoted
from ...numpy.structure import array_operand
from .detrending import detrended
from .segments import framed
from .windows import is_named, named_window, segment_size, whole


__all__ = ["csd", "stft", "welch"]


class _Plan(NamedTuple):
    """What a program of spectra depends on besides its arrays."""

    axis: int
    size: int
    step: int
    nfft: int
    window: Any
    detrend: Any
    onesided: bool
    density: bool
    boundary: str | None
    padded: bool
    average: str | None


@lenient
def stft(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: str | tuple[object, ...] | ArrayLike = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: str | bool | Callable[..., Any] = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """Fourier transforms of stretches: frequencies [f], times [t] of the stretches' middles, and coefficients [..., f, ..., t],
    which are amplitudes. The signal is continued at both ends by half a stretch (`boundary`: "zeros", "even", "odd",
    "constant", None: not), then filled up to whole stretches (`padded`)."""
    signal, _ = _signals("stft", x, None)
    plan, signal = _planned("stft", signal, None, window, nperseg, noverlap, nfft, detrend, return_onesided, axis)
    plan = plan._replace(boundary=_boundary("stft", boundary), padded=bool(padded))
    if not signal.size:
        return _nothing(signal.shape, signal.dtype)
    return _coefficients(signal, fs, None if is_named(window) else window, plan)


@lenient
def csd(
    x: ArrayLike,
    y: ArrayLike | None,
    fs: ArrayLike = 1.0,
    window: str | tuple[object, ...] | ArrayLike = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: str | bool | Callable[..., Any] = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The cross power spectral density of two signals (of one, real, where y is None), by Welch's method: frequencies [f] and the
    `average` ("mean" or "median") of conj(X) Y over all stretches [..., f, ...]. `scaling`: "density" (per unit of frequency)
    or "spectrum". The shorter signal is filled up with zeros. Source: P. Welch, IEEE Trans. Audio Electroacoust. 15 (1967);
    the bias of the median: B. Allen et al., Phys. Rev. D 85 (2012), appendix B."""
    return _powers("csd", x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


@lenient
def welch(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: str | tuple[object, ...] | ArrayLike = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: str | bool | Callable[..., Any] = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The power spectral density of a signal: frequencies [f] and real powers [..., f, ...]; see `csd`."""
    return _powers(
        "welch", x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )


# Plans ---------------------------------------------------------------------------------------------------------------


def _signals(name: str, x: Any, y: Any) -> list[Any]:
    values, _, _, _ = promoted(name, [x] if y is None else [x, y], inexact=True)
    arrays = [jnp.asarray(array_operand(name, v)) for v in values]
    return arrays if y is not None else [*arrays, None]


def _boundary(name: str, boundary: Any) -> Any:
    if boundary not in ("zeros", "even", "odd", "constant", None):
        raise ValueError(f"{name}: boundary is 'zeros', 'even', 'odd', 'constant' or None, not {boundary!r}")
    return boundary


def _planned(name: str, x, y, window, nperseg, noverlap, nfft, detrend, onesided, axis) -> tuple[_Plan, Any]:
    axis = one_axis(name, axis, x.ndim)
    size = segment_size(name, window, nperseg, x.shape[axis])
    overlap = size // 2 if noverlap is None else whole(name, noverlap, "noverlap")
    length = size if nfft is None else whole(name, nfft, "nfft")
    if x.size and length < size:
        raise ValueError(f"{name}: nfft is {length}, less than the {size} elements of a stretch")
    if x.size and overlap >= size:
        raise ValueError(f"{name}: noverlap is {overlap}, but stretches have {size} elements: it must be less")
    if not (detrend in ("constant", "linear") if isinstance(detrend, str) else callable(detrend) or not detrend):
        raise ValueError(f"{name}: detrend is 'constant', 'linear', False or a function, not {detrend!r}")
    if onesided and jnp.iscomplexobj(x):
        warnings.warn(f"{name}: the signal is complex, so that return_onesided=False is taken", UserWarning, 4)
        onesided = False
    named = window if is_named(window) else None
    return _Plan(axis, size, size - overlap, length, named, detrend, bool(onesided), False, None, False, None), x


def _powers(
    name, x, y, fs, window, nperseg, noverlap, nfft, detrend, onesided, scaling, axis, average
) -> tuple[Any, Any]:
    x, y = _signals(name, x, y)
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"{name}: scaling is 'density' or 'spectrum', not {scaling!r}")
    if average not in ("mean", "median"):
        raise ValueError(f"{name}: average is 'mean' or 'median', not {average!r}")
    plan, x = _planned(name, x, y, window, nperseg, noverlap, nfft, detrend, onesided, axis)
    plan = plan._replace(density=scaling == "density", average=average)
    empty = _shape_of_nothing(name, x, y, plan.axis)
    if empty is not None:
        freqs, _, found = _nothing(empty, x.dtype)
        return freqs, jnp.real(found) if name == "welch" else found
    return _averages(x, y, fs, None if is_named(window) else window, plan)


def _shape_of_nothing(name: str, x: Any, y: Any, axis: int) -> tuple[int, ...] | None:
    """The shape of the result where a signal has no elements."""
    if y is None:
        return None if x.size else x.shape
    if x.ndim != y.ndim:
        raise ValueError(f"{name} of shapes {x.shape} and {y.shape}: they must have one rank")
    outer = broadcast_shape(*[(*v.shape[:axis], *v.shape[axis + 1 :]) for v in (x, y)])
    shape = (*outer[:axis], min(x.shape[axis], y.shape[axis]), *outer[axis:])
    return None if x.size and y.size else shape


def _nothing(shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any, Any]:
    real = real_part(complex_of(dtype))
    return jnp.zeros(shape, real), jnp.zeros(shape, real), jnp.zeros(shape, complex_of(dtype))


# Programs ------------------------------------------------------------------------------------------------------------


@eager_jit(static="plan", nested=True)
def _coefficients(x: Any, fs: Any, window: Any, plan: _Plan) -> tuple[Any, Any, Any]:
    result_dtype = complex_of(x.dtype)
    real = real_part(result_dtype)
    x = _continued(jnp.moveaxis(x, plan.axis, -1), plan)
    taper = _taper(window, plan, x.dtype, False)
    found = _spectra(x, taper, plan)
    middles = np.arange(plan.size / 2, x.shape[-1] - plan.size / 2 + 1, plan.step)
    times = (middles - (plan.size / 2 if plan.boundary else 0)).astype(real)
    found = jnp.moveaxis(found.astype(result_dtype), -1, plan.axis)
    return _frequencies(fs, plan, real), times / fs, found


@eager_jit(static="plan", nested=True)
def _averages(x: Any, y: Any, fs: Any, window: Any, plan: _Plan) -> tuple[Any, Any]:
    result_dtype = complex_of(x.dtype)
    real = real_part(result_dtype)
    signals = [jnp.moveaxis(v, plan.axis, -1) for v in (x, y) if v is not None]
    longest = max(v.shape[-1] for v in signals)
    taper = _taper(window, plan, x.dtype, plan.density)
    spectra = [_spectra(_lengthened(v, 0, longest - v.shape[-1]), taper, plan) for v in signals]
    if y is None:
        powers = jnp.square(jnp.real(spectra[0])) + jnp.square(jnp.imag(spectra[0]))
    else:
        powers = jnp.conj(spectra[0]) * spectra[1]
    if powers.shape[-2] == 1:
        found = powers.reshape(*powers.shape[:-2], powers.shape[-1])
    else:
        found = jnp.mean(powers, -2) if plan.average == "mean" else _median(powers)
    found = found * _doubled(plan).astype(real)
    found = found / fs if plan.density else found
    found = found.astype(real if y is None else result_dtype)
    return _frequencies(fs, plan, real), jnp.moveaxis(found, -1, plan.axis)


def _median(powers: Any) -> Any:
    """The median over stretches, divided by its bias against the mean."""
    even = np.arange(2, powers.shape[-2], 2)
    bias = 1 + np.sum(1 / (even + 1) - 1 / even)
    if not jnp.iscomplexobj(powers):
        return jnp.median(powers, -2) / powers.dtype.type(bias)
    parts = [jnp.median(part, -2) for part in (jnp.real(powers), jnp.imag(powers))]
    return lax.complex(*parts) / powers.dtype.type(bias)


def _frequencies(fs: Any, plan: _Plan, real: Any) -> Any:
    steps = np.fft.rfftfreq(plan.nfft) if plan.onesided else np.fft.fftfreq(plan.nfft)
    return (jnp.asarray(steps.astype(real)) * fs).astype(real)


def _doubled(plan: _Plan) -> np.ndarray:
    """One number for each frequency: those that stand for a negative one, too, count twice."""
    if not plan.onesided:
        return np.ones(plan.nfft)
    found = np.full(plan.nfft // 2 + 1, 2.0)
    found[0] = 1
    if plan.nfft % 2 == 0:
        found[-1] = 1
    return found


def _taper(window: Any, plan: _Plan, dtype: Any, density: bool) -> Any:
    """The window, scaled so that squares of spectra are powers, or that spectra are amplitudes."""
    if plan.window is not None:
        known = named_window(plan.window, plan.size)
        return (known / (np.sqrt(np.sum(known**2)) if density else np.sum(known))).astype(dtype)
    window = jnp.asarray(window).astype(dtype)
    return window / (jnp.sqrt(jnp.sum(window * window)) if density else jnp.sum(window))


def _spectra(x: Any, taper: Any, plan: _Plan) -> Any:
    """Fourier transforms of all stretches: [..., n] to [..., stretches, frequencies]."""
    stretches = framed(x, plan.size, plan.step)
    if isinstance(plan.detrend, str):
        stretches = detrended(stretches, -1, plan.detrend)
    elif plan.detrend:
        stretches = plan.detrend(stretches)
    weighed = stretches * taper
    return rfft(jnp.real(weighed), plan.nfft) if plan.onesided else fft(weighed, plan.nfft)


def _lengthened(x: Any, low: int, high: int) -> Any:
    return x if low == high == 0 else lax.pad(x, x.dtype.type(0), [*[(0, 0, 0)] * (x.ndim - 1), (low, high, 0)])


def _continued(x: Any, plan: _Plan) -> Any:
    """The signal with what lies beyond its ends."""
    n, more = x.shape[-1], plan.size // 2 if plan.boundary else 0
    rest = -(n + 2 * more - plan.size) % plan.step % plan.size if plan.padded else 0
    if plan.boundary == "zeros" or not more:
        return _lengthened(x, more, more + rest)
    if plan.boundary == "odd":
        if more >= n:
            raise ValueError(f"stft: boundary 'odd' takes {more} elements beyond each end from within; there are {n}")
        low, high = _mirrored(x, 1, more + 1, 0), _mirrored(x, n - 1 - more, n - 1, n - 1)
        return _lengthened(jnp.concatenate([low, x, high], -1), 0, rest)
    widths = [*[(0, 0)] * (x.ndim - 1), (more, more)]
    return _lengthened(jnp.pad(x, widths, mode="reflect" if plan.boundary == "even" else "edge"), 0, rest)


def _mirrored(x: Any, start: int, stop: int, centre: int) -> Any:
    """A part turned about the point of an element."""
    part = jnp.flip(lax.slice_in_dim(x, start, stop, axis=-1), -1)
    return 2 * lax.slice_in_dim(x, centre, centre + 1, axis=-1) - part
