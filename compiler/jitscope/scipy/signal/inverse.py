"""From Fourier transforms of stretches back to the signal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import lax, numpy as jnp
from ...core.annotations import Array, ArrayLike
from ...core.avals import aval_of
from ...core.dtypes import complex_of, real_part, to_inexact
from ...eager.functions import eager_jit
from ...named_tuple import NamedTuple
from ...numpy.fft import ifft, irfft
from ...numpy.operands import lenient, one_axis
from ...numpy.structure import array_operand
from .segments import overlapped
from .windows import is_named, named_window, whole


__all__ = ["istft"]


class _Plan(NamedTuple):
    """What a program depends on besides its arrays."""

    time_axis: int
    freq_axis: int
    size: int
    step: int
    nfft: int
    window: Any
    onesided: bool
    boundary: bool


@lenient
def istft(
    Zxx: ArrayLike,
    fs: ArrayLike = 1.0,
    window: str | tuple[object, ...] | ArrayLike = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """The signal of which `Zxx` is what `stft` gave with the same arguments: times, as many as the result's first axis has
    elements, and the signal [..., n]. `boundary`: `stft` continued it at its ends, and that is cut off.

    It is the signal whose stretches come closest; where no window reaches it is 0. Raises ValueError for sizes and axes that
    do not fit, TypeError for what is not an array. Source: D. Griffin, J. Lim, IEEE Trans. ASSP 32 (1984).
    """
    x = jnp.asarray(array_operand("istft", Zxx))
    if x.ndim < 2:
        raise ValueError(f"istft takes coefficients by frequency and time, at least two axes; it got shape {x.shape}")
    freq, time = (one_axis("istft", axis, x.ndim) for axis in (freq_axis, time_axis))
    if freq == time:
        raise ValueError(f"istft: time_axis and freq_axis are both axis {freq}")
    default = 2 * (x.shape[freq] - 1) if input_onesided else x.shape[freq]
    size = default if nperseg is None else whole("istft", nperseg, "nperseg")
    if size < 1:
        raise ValueError(f"istft: nperseg must be positive, not {size}")
    if nfft is not None:
        length = whole("istft", nfft, "nfft")
    else:
        length = default + (1 if input_onesided and size == default + 1 else 0)
    if length < size:
        raise ValueError(f"istft: nfft is {length}, less than the {size} elements of a stretch")
    overlap = size // 2 if noverlap is None else whole("istft", noverlap, "noverlap")
    if overlap >= size:
        raise ValueError(f"istft: noverlap is {overlap}, but stretches have {size} elements: it must be less")
    named = window if is_named(window) else None
    plan = _Plan(time, freq, size, size - overlap, length, named, bool(input_onesided), bool(boundary))
    return _signal(x, fs, None if is_named(window) else _vector(window, size), plan)


def _vector(window: Any, size: int) -> Any:
    window = jnp.asarray(window)
    if window.ndim != 1:
        raise ValueError(f"istft: a window is a vector; this one has shape {window.shape}")
    if aval_of(window).shape != (size,):
        raise ValueError(f"istft: the window must have {size} elements, it has {window.shape[0]}")
    return window


@eager_jit(static="plan", nested=True)
def _signal(x: Any, fs: Any, window: Any, plan: _Plan) -> tuple[Any, Any]:
    x = x.astype(complex_of(to_inexact(x.dtype)))
    x = jnp.moveaxis(x, (plan.time_axis, plan.freq_axis), (-2, -1))
    stretches = (irfft if plan.onesided else ifft)(x, plan.nfft)
    stretches = lax.slice_in_dim(stretches, 0, plan.size, axis=-1)
    if plan.window is not None:
        window = named_window(plan.window, plan.size)
        window, weights, total = window.astype(stretches.dtype), np.square(window), window.sum()
        weights = jnp.asarray(weights.astype(real_part(stretches.dtype)))
        scaled = window * total.astype(stretches.dtype)
    else:
        scaled, weights = window * jnp.sum(window), window * window
    count = stretches.shape[-2]
    found = _cut(overlapped(stretches * scaled, plan.step), plan)
    norm = _cut(overlapped(jnp.broadcast_to(weights, (count, plan.size)), plan.step), plan)
    found = found / jnp.where(norm > 1e-10, norm, 1)
    if found.ndim > 1:
        axis = plan.time_axis - (plan.freq_axis < plan.time_axis)
        found = jnp.moveaxis(found, -1, axis)
    times = jnp.asarray(np.arange(found.shape[0]).astype(real_part(found.dtype)))
    return times / fs, found


def _cut(x: Any, plan: _Plan) -> Any:
    more = plan.size // 2 if plan.boundary else 0
    return lax.slice_in_dim(x, more, x.shape[-1] - more, axis=-1) if more else x
