"""Fourier transforms."""

from __future__ import annotations

import numpy as np

from jitscope.core.dtypes import complex64, complex128, float32, float64
from jitscope.ops.fft import FftType, fft_p

from .registry import Sample, samples


CASES = {
    "rows": ((2, 4), 1),
    "odd": ((5,), 1),
    "one": ((1,), 1),
    "rank 2": ((2, 3, 4), 2),
    "rank 3": ((2, 3, 5), 3),
    "empty": ((0, 3), 1),
}


@samples(fft_p, "f")
def _(draw, dtype):
    for label, (shape, rank) in CASES.items() if dtype in (float32, float64) else ():
        yield _sample(
            f"{label} of reals", draw(shape), FftType.RFFT, shape[-rank:], {float32: complex64}.get(dtype, complex128)
        )


@samples(fft_p, "c")
def _(draw, dtype):
    for label, (shape, rank) in CASES.items() if dtype in (complex64, complex128) else ():
        lengths = shape[-rank:]
        for kind in (FftType.FFT, FftType.IFFT):
            yield _sample(f"{label} {kind.name}", draw(shape), kind, lengths, dtype)
        half = (*shape[:-1], shape[-1] // 2 + 1)
        real = {complex64: float32}.get(dtype, float64)
        yield _sample(f"{label} to reals", draw(half), FftType.IRFFT, lengths, real)


FUNCTIONS = {
    FftType.FFT: np.fft.fftn,
    FftType.IFFT: np.fft.ifftn,
    FftType.RFFT: np.fft.rfftn,
    FftType.IRFFT: np.fft.irfftn,
}


def _sample(label, x, kind, lengths, result):
    axes = tuple(range(-len(lengths), 0))
    params = {"fft_type": kind, "fft_lengths": tuple(lengths)}
    return Sample(label, [x], lambda x: FUNCTIONS[kind](x, s=lengths, axes=axes), params, result=result, linear=[[0]],
                  loose=5, holomorphic=kind in (FftType.FFT, FftType.IFFT))  # fmt: skip
