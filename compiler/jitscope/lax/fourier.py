"""`lax.fft`. (A module of that name would stand where the function belongs.)"""

from __future__ import annotations

from collections.abc import Sequence

from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..ops.fft import FftType, fft_p
from ..ops.linear import convert


_NAMES = {name: kind for kind in FftType for name in (kind.name, kind.name.lower())}


def fft(x: ArrayLike, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Array:
    """The Fourier transform of `x` along its last len(fft_lengths) axes, at most three.

    `fft_type`: FFT or IFFT (of complex numbers; others are converted), RFFT (real [..., n] to complex [..., n // 2 +
    1]) or IRFFT (back), or its name. `fft_lengths`: the sizes of the axes on the side that is not a half spectrum. The
    ways back divide by their product. Computed in float32 or float64. Raises ValueError for sizes that do not fit,
    unknown names and RFFT of complex numbers, TypeError for a type that is none.
    """
    if isinstance(fft_type, str):
        if fft_type not in _NAMES:
            raise ValueError(f"fft: there is no transform {fft_type!r}; they are {', '.join(k.name for k in FftType)}")
        kind = _NAMES[fft_type]
    elif isinstance(fft_type, FftType):
        kind = fft_type
    else:
        raise TypeError(f"fft: fft_type is an FftType or its name, not {fft_type!r}")
    aval = aval_of(x)
    if kind is FftType.RFFT:
        if dtypes.is_complex(aval.dtype):
            raise ValueError(f"fft (RFFT) takes real numbers; it got {aval.short()}: use FFT, or take the real part")
        dtype = dtypes.to_inexact(aval.dtype)
    else:
        dtype = dtypes.complex_of(dtypes.to_inexact(aval.dtype))
    values = convert(x, dtype)
    lengths = tuple(int(n) for n in fft_lengths)
    return fft_p(values, fft_type=kind, fft_lengths=lengths) if lengths else values
