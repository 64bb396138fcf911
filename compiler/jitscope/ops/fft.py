"""Discrete Fourier transforms along the last axes."""

from __future__ import annotations

import enum
import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from .elementwise import conj_p, eq_p, or_p
from .families import Structural, check_kind, pure
from .indexing import iota
from .linear import convert, full, mul_p, where, zeros


class FftType(enum.IntEnum):
    """Which transform: of complex numbers, there and back; of real numbers to half a spectrum, and back."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


class FFT(Structural):
    """The transform of `fft_type` along the last len(`fft_lengths`) axes, one to three. The lengths are those of the
    side that is not a half spectrum; a half spectrum of n values has n // 2 + 1 along the last axis. The transforms
    back divide by the product of the lengths."""

    def abstract(self, x, /, *, fft_type, fft_lengths):
        rank = len(fft_lengths)
        if not 1 <= rank <= 3 or rank > x.ndim:
            raise ValueError(f"fft along {rank} axes of {x.short()}: it transforms one to three of them")
        check_kind("fft", x, "f" if fft_type is FftType.RFFT else "c")
        if dtypes.real_part(x.dtype).name not in ("float32", "float64"):
            raise ValueError(f"fft works in float32 and float64; it got {x.short()}: use .astype")
        half = (*fft_lengths[:-1], fft_lengths[-1] // 2 + 1)
        wanted = half if fft_type is FftType.IRFFT else tuple(fft_lengths)
        nothing = fft_type is FftType.IRFFT and not fft_lengths[-1] and x.shape[-rank:] == tuple(fft_lengths)
        if x.shape[-rank:] != wanted and not nothing:
            raise ValueError(
                f"fft ({fft_type.name}) of lengths {fft_lengths} takes last axes {wanted}; it got {x.short()}"
            )
        result = half if fft_type is FftType.RFFT else tuple(fft_lengths)
        dtype = x.dtype
        if fft_type is FftType.RFFT:
            dtype = dtypes.complex_of(x.dtype)
        elif fft_type is FftType.IRFFT:
            dtype = dtypes.real_part(x.dtype)
        return pure(ShapedArray((*x.shape[:-rank], *result), dtype, x.weak_type))

    def lower(self, ctx, x, /, *, fft_type, fft_lengths):
        out = ctx.avals_out[0]
        if not out.size or not ctx.avals_in[0].size:
            return ctx.zeros(out)
        # LAPACK's matrices lie column by column, and XLA would hand that layout on to the transform, which has no such one.
        return ctx.row_by_row(ctx.hlo.fft(x, ctx.hlo.FftTypeAttr.get(fft_type.name), ctx.ints(fft_lengths)), out)

    def transpose_to(self, ct, aval, /, *, fft_type, fft_lengths):
        params = {"fft_lengths": fft_lengths}
        if fft_type in (FftType.FFT, FftType.IFFT):
            return fft_p(ct, fft_type=fft_type, **params)
        count = math.prod(fft_lengths)
        if not count:
            return zeros(aval)
        if fft_type is FftType.RFFT:
            # Every coefficient but the unpaired ones stands for its mirror image, too.
            spread = mul_p(_conjugate(ct), _weights(aval_of(ct), fft_lengths[-1], count / 2, count))
            return fft_p(spread, fft_type=FftType.IRFFT, **params)
        found = fft_p(ct, fft_type=FftType.RFFT, **params)
        return _conjugate(mul_p(found, _weights(aval_of(found), fft_lengths[-1], 2 / count, 1 / count)))

    def batch(self, axis, args, dims, /, **params):
        return fft_p(axis.move(args[0], dims[0], 0), **params), 0


fft_p = FFT("fft")


def _conjugate(x: Any) -> Any:
    return conj_p(x, input_dtype=aval_of(x).dtype)


def _weights(aval: ShapedArray, length: int, paired: float, alone: float) -> Any:
    """One number for each coefficient of a half spectrum: the first one, and the last one of an even length, have no
    mirror image."""
    places = iota(np.dtype(np.int32), aval.shape, aval.ndim - 1)
    single = eq_p(places, np.int32(0))
    if length % 2 == 0:
        single = or_p(single, eq_p(places, np.int32(length // 2)))
    real = dtypes.real_part(aval.dtype)
    return convert(where(single, full(aval.shape, alone, real), full(aval.shape, paired, real)), aval.dtype)
