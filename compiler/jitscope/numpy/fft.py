"""`jitscope.numpy.fft`: discrete Fourier transforms.

`norm` says which way divides by the number n of elements: "backward" (None: the way back), "forward" (the way there) or
"ortho" (both, by the root of n). `n` and `s` are the sizes of the transformed axes, to which the array is cut or filled
up with zeros; of a half spectrum, those of the real side. Computed in single precision, or double for double operands.
All raise TypeError for what is not an array, ValueError for axes that do not exist, sizes that are not positive, and another `norm`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Axes, Device, DTypeLike, Sharding
from ..core.avals import aval_of
from ..core.dtypes import real_part, to_inexact
from ..core.errors import TracerIntegerConversionError
from ..eager.functions import eager_jit
from ..ops.elementwise import conj_p
from ..ops.fft import FftType, fft_p
from ..ops.linear import convert, mul_p, pad_p, slice_in_dim
from .creation import asarray
from .dtypes import requested
from .operands import integer, listed, one_axis
from .ranges import arange
from .repeating import roll
from .structure import array_operand, moveaxis


__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
           "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]  # fmt: skip


AT_ONCE = 3
"""XLA transforms so many axes in one go."""
FORWARD = {FftType.FFT, FftType.RFFT}


def _operand(name: str, a: Any, kind: FftType) -> Any:
    """An array of the dtype a transform takes."""
    x = array_operand(name, a)
    aval = aval_of(x)
    if kind is not FftType.RFFT:
        return convert(x, dtypes.complex_of(to_inexact(aval.dtype)))
    dtype = to_inexact(aval.dtype)
    if dtype.name not in ("float32", "float64"):
        raise ValueError(f"{name} takes real numbers of single or double precision; it got {aval.short()}")
    return convert(x, dtype)


def _sizes(name: str, s: Any) -> tuple[int, ...] | None:
    if s is None:
        return None
    found = tuple(integer(name, n, "every size", TracerIntegerConversionError) for n in s)
    if any(n <= 0 for n in found):
        raise ValueError(f"{name}: sizes must be positive, not {found}")
    return found


def _axes(name: str, rank: int, s: tuple[int, ...] | None, axes: Any) -> tuple[int, ...]:
    if axes is None:
        count = rank if s is None else len(s)
        if count > rank:
            raise ValueError(f"{name}: {count} sizes for an array of {rank} axes")
        return tuple(range(rank - count, rank))
    if s is not None and len(s) != len(axes):
        raise ValueError(f"{name}: {len(s)} sizes and {len(axes)} axes; there must be as many")
    found = tuple(one_axis(name, a, rank) for a in axes)
    if len(set(found)) != len(found):
        raise ValueError(f"{name}: an axis stands twice in {tuple(axes)}")
    return found


def _transformed(name: str, a: Any, kind: FftType, s: Any, axes: Any, norm: Any) -> Any:
    """The transform of an array along several axes, the last of which is that of the half spectrum."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"{name}: norm is 'backward', 'ortho' or 'forward', not {norm!r}")
    x, sizes = _operand(name, a, kind), _sizes(name, s)
    rank = aval_of(x).ndim
    where_ = _axes(name, rank, sizes, axes)
    count = len(where_)
    last = tuple(range(rank - count, rank))
    x = moveaxis(x, where_, last)
    if sizes is not None:
        inner = (*sizes[:-1], sizes[-1] // 2 + 1) if kind is FftType.IRFFT and sizes else sizes
        for axis, size in zip(last, inner):
            x = _resized(x, axis, size)
    else:
        sizes = tuple(aval_of(x).shape[i] for i in last)
        if kind is FftType.IRFFT and sizes:
            sizes = (*sizes[:-1], max(0, 2 * (sizes[-1] - 1)))
    out = _in_turn(x, kind, sizes)
    total = math.prod(sizes)
    if norm in ("ortho", "forward") and total:
        # The way there comes without a factor, the way back with 1 / total.
        factor = math.sqrt(total) if norm == "ortho" else total
        out = mul_p(out, aval_of(out).dtype.type(1 / factor if kind in FORWARD else factor))
    return moveaxis(out, last, where_)


def _resized(x: Any, axis: int, size: int) -> Any:
    aval = aval_of(x)
    if size <= aval.shape[axis]:
        return slice_in_dim(x, 0, size, axis=axis) if size < aval.shape[axis] else x
    config = tuple((0, size - n if i == axis else 0, 0) for i, n in enumerate(aval.shape))
    return pad_p(x, aval.dtype.type(0), padding_config=config)


def _in_turn(x: Any, kind: FftType, sizes: tuple[int, ...]) -> Any:
    """The transform along the last axes, some at a time; the half spectrum is made first and taken back last."""
    if not sizes:
        return x
    if len(sizes) <= AT_ONCE:
        return fft_p(x, fft_type=kind, fft_lengths=sizes)
    outer, inner = sizes[:-AT_ONCE], sizes[-AT_ONCE:]
    rank, turn = aval_of(x).ndim, tuple(range(len(outer)))
    outer_axes = tuple(rank - len(sizes) + i for i in turn)
    end = tuple(rank - len(outer) + i for i in turn)

    def others(x: Any, kind: FftType) -> Any:
        return moveaxis(_in_turn(moveaxis(x, outer_axes, end), kind, outer), end, outer_axes)

    if kind in FORWARD:
        return others(fft_p(x, fft_type=kind, fft_lengths=inner), FftType.FFT)
    return fft_p(others(x, FftType.IFFT), fft_type=kind, fft_lengths=inner)


def _one(name: str, a: Any, kind: FftType, n: Any, axis: Any, norm: Any) -> Any:
    if isinstance(axis, (tuple, list)):
        raise ValueError(f"{name} transforms one axis, not {axis!r}: use {name}n for several")
    return _transformed(name, a, kind, None if n is None else [n], None if axis is None else [axis], norm)


def _two(name: str, a: Any, kind: FftType, s: Any, axes: Any, norm: Any) -> Any:
    if len(axes) != 2:
        raise ValueError(f"{name} transforms two axes, not {tuple(axes)}")
    return _transformed(name, a, kind, s, axes, norm)


_1D, _ND = "n axis norm", "s axes norm"


@eager_jit(static=_1D)
def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The Fourier transform along one axis: complex [..., n] to [..., n]. Raises ValueError for other norms and
    sizes."""
    return _one("fft", a, FftType.FFT, n, axis, norm)


@eager_jit(static=_1D)
def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `fft`: complex [..., n] to [..., n]."""
    return _one("ifft", a, FftType.IFFT, n, axis, norm)


@eager_jit(static=_1D)
def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The first half of the transform of real numbers, the other being its mirror image: [..., n] to complex
    [..., n // 2 + 1]. Raises ValueError for complex numbers."""
    return _one("rfft", a, FftType.RFFT, n, axis, norm)


@eager_jit(static=_1D)
def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `rfft`: complex [..., m] to real [..., n], n being 2 (m - 1) unless given."""
    return _one("irfft", a, FftType.IRFFT, n, axis, norm)


@eager_jit(static=_1D)
def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The transform of the sequence of which `a` is the first half, the other being its conjugated mirror image:
    complex [..., m] to real [..., n], n being 2 (m - 1) unless given."""
    x = _operand("hfft", a, FftType.IRFFT)
    return _one("hfft", conj_p(x, input_dtype=aval_of(x).dtype), FftType.IRFFT, n, axis, _swapped(norm))


@eager_jit(static=_1D)
def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `hfft`: real [..., n] to complex [..., n // 2 + 1]."""
    out = _one("ihfft", a, FftType.RFFT, n, axis, _swapped(norm))
    return conj_p(out, input_dtype=aval_of(out).dtype)


def _swapped(norm: Any) -> Any:
    """The norm of the transform the other way."""
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


@eager_jit(static=_ND)
def fft2(
    a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """`fftn` along two axes: complex [..., m, n] to [..., m, n]. Raises ValueError for another number of axes."""
    return _two("fft2", a, FftType.FFT, s, axes, norm)


@eager_jit(static=_ND)
def ifft2(
    a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """The inverse of `fft2`: complex [..., m, n] to [..., m, n]. Raises ValueError for another number of axes."""
    return _two("ifft2", a, FftType.IFFT, s, axes, norm)


@eager_jit(static=_ND)
def rfft2(
    a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """`rfftn` along two axes: real [..., m, n] to complex [..., m, n // 2 + 1]. Raises ValueError for another number of
    axes and for complex numbers."""
    return _two("rfft2", a, FftType.RFFT, s, axes, norm)


@eager_jit(static=_ND)
def irfft2(
    a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """The inverse of `rfft2`: complex [..., m, k] to real [..., m, 2 (k - 1)], or as `s` says. Raises ValueError for
    another number of axes."""
    return _two("irfft2", a, FftType.IRFFT, s, axes, norm)


@eager_jit(static=_ND)
def fftn(
    a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """The Fourier transform along several axes (None: all, or as many of the last as there are sizes in `s`): complex,
    in the shape of `a` but for the sizes `s`. Raises ValueError for repeated axes, sizes that are not positive, and
    numbers of sizes and axes that differ."""
    return _transformed("fftn", a, FftType.FFT, s, axes, norm)


@eager_jit(static=_ND)
def ifftn(
    a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """The inverse of `fftn`: complex, in the shape of `a` but for the sizes `s`. Raises as `fftn` does."""
    return _transformed("ifftn", a, FftType.IFFT, s, axes, norm)


@eager_jit(static=_ND)
def rfftn(
    a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """The transform of real numbers along several axes, the last of which goes from [n] to [n // 2 + 1]; complex. See
    `rfft`, `fftn`. Raises ValueError for complex numbers, and as `fftn` does."""
    return _transformed("rfftn", a, FftType.RFFT, s, axes, norm)


@eager_jit(static=_ND)
def irfftn(
    a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """The inverse of `rfftn`: real; the last axis goes from [m] to [2 (m - 1)] unless `s` says otherwise. Raises as
    `fftn` does."""
    return _transformed("irfftn", a, FftType.IRFFT, s, axes, norm)


# Frequencies ---------------------------------------------------------------------------------------------------------


def _frequencies(name: str, n: Any, d: Any, places: Any, dtype: Any, device: Any) -> Any:
    if isinstance(n, (tuple, list)):
        raise ValueError(f"{name}: n is an int, not {n!r}")
    if isinstance(d, (tuple, list)):
        raise ValueError(f"{name}: d is one number, not {d!r}")
    to = dtypes.default_float() if dtype is None else requested(dtype, name)
    count = integer(name, n, "n")
    real = real_part(to_inexact(to))
    found = arange(*places(count), dtype=real)
    if name == "fftfreq":
        # The second half stands for frequencies below zero.
        half = count // 2
        found = (found + half) % max(count, 1) - half
    step = convert(asarray(d), real) * real.type(count)
    result = found / step
    return asarray(result.astype(to), device=device)


def fftfreq(
    n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: Device | Sharding | None = None
) -> Array:
    """The frequencies [n] of the `n` coefficients of `fft`, for samples at distance `d`: 0, 1, …, -2, -1 times 1 / (n
    d), in floats. Raises ValueError for sequences."""
    return _frequencies("fftfreq", n, d, lambda n: (n,), dtype, device)


def rfftfreq(
    n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: Device | Sharding | None = None
) -> Array:
    """The frequencies [n // 2 + 1] of the coefficients of `rfft` of `n` samples at distance `d`, in floats. Raises
    ValueError for sequences."""
    return _frequencies("rfftfreq", n, d, lambda n: (0, n // 2 + 1), dtype, device)


def _shifted(name: str, x: Any, axes: Any, sign: int) -> Any:
    x = array_operand(name, x)
    shape = aval_of(x).shape
    if axes is None:
        axes = tuple(range(len(shape)))
    wanted = [one_axis(name, a, len(shape)) for a in listed(axes)]
    return roll(x, tuple(sign * (shape[a] // 2) for a in wanted), tuple(wanted)) if wanted else x


@eager_jit(static="axes")
def fftshift(x: ArrayLike, axes: Axes = None) -> Array:
    """The coefficients [...] reordered so that frequency zero stands in the middle, along `axes` (None: all)."""
    return _shifted("fftshift", x, axes, 1)


@eager_jit(static="axes")
def ifftshift(x: ArrayLike, axes: Axes = None) -> Array:
    """What `fftshift` did, undone: [...] to [...]."""
    return _shifted("ifftshift", x, axes, -1)
