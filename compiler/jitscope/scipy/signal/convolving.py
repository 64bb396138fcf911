"""Convolutions and correlations of arrays of one rank, along all axes.

`mode`: "full" (every place where the two meet: m + n - 1), "same" (as large as the first, from the middle of "full") or "valid"
(where the smaller lies wholly inside the larger: m - n + 1). The larger one must be the larger along every axis. Integers and
booleans become floats (SciPy keeps them). All raise ValueError for another mode, ranks and sizes that do not fit and arrays
without elements, TypeError for what is not an array.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ... import lax, numpy as jnp
from ...core.annotations import Array, ArrayLike, PrecisionLike
from ...eager.functions import eager_jit
from ...numpy.fft import fftn, ifftn, irfftn, rfftn
from ...numpy.operands import listed, one_axis, promoted, weak_as
from ...numpy.structure import array_operand
from ...xla.cpu_tuning import WRITTEN_OUT_CONVOLUTION


__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve"]


def _arrays(name: str, *xs: Any) -> list[Array]:
    """Operands of one inexact dtype and one rank."""
    values, _, _, _ = promoted(name, xs, inexact=True)
    arrays = [jnp.asarray(array_operand(name, x)) for x in values]
    if len({x.ndim for x in arrays}) > 1:
        raise ValueError(f"{name} of shapes {' and '.join(str(x.shape) for x in arrays)}: they must have one rank")
    return arrays


def _check_mode(name: str, mode: Any) -> None:
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{name}: mode is 'full', 'same' or 'valid', not {mode!r}")


def _smaller_first(name: str, first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether the first shape is the smaller one along all axes. Raises ValueError where neither is."""
    pairs = list(zip(first, second))
    if all(m >= n for m, n in pairs):
        return False
    if all(m <= n for m, n in pairs):
        return True
    raise ValueError(f"{name} of sizes {tuple(first)} and {tuple(second)}: one must be the larger along every axis")


def _window(mode: str, m: int, n: int) -> tuple[int, int]:
    """Where in the full result of sizes m and n that of a mode begins, and its size."""
    if mode == "full":
        return 0, m + n - 1
    return ((n - 1) // 2, m) if mode == "same" else (min(m, n) - 1, abs(m - n) + 1)


# Sums of products ----------------------------------------------------------------------------------------------------


def _convolved(name: str, first: Any, second: Any, mode: Any, precision: Any, turned: bool = False) -> Any:
    """The convolution of the first with the second, or with the second turned round along all axes."""
    _check_mode(name, mode)
    if not first.size or not second.size:
        raise ValueError(f"{name} of shapes {first.shape} and {second.shape}: both must have elements")
    windows = [_window(mode, m, n) for m, n in zip(first.shape, second.shape)]
    if _smaller_first(name, first.shape, second.shape):
        # XLA's convolution does not turn the window, so the one that slides is turned here.
        long, window = (jnp.flip(second) if turned else second), jnp.flip(first)
    else:
        long, window = first, (second if turned else jnp.flip(second))
    ends = [(n - 1 - start, start + size - m) for m, n, (start, size) in zip(long.shape, window.shape, windows)]
    if WRITTEN_OUT_CONVOLUTION.reaches(window.size):
        out = _written_out(long, window, ends, [size for _, size in windows])
    else:
        operands, strides = (long[None, None], window[None, None]), (1,) * long.ndim
        out = lax.conv_general_dilated(*operands, strides, ends, precision=precision)[0, 0]
    return weak_as(out, first, second)


def _written_out(long: Any, window: Any, ends: Sequence[tuple[int, int]], sizes: Sequence[int]) -> Any:
    wide = lax.pad(long, long.dtype.type(0), [(low, high, 0) for low, high in ends])
    terms = []
    for place in range(window.size):
        starts = _places(place, window.shape)
        part = lax.slice(wide, starts, [start + size for start, size in zip(starts, sizes)])
        one = lax.slice(window, starts, [start + 1 for start in starts])
        terms.append(part * one.reshape(()))
    return functools.reduce(jnp.add, terms)


def _places(place: int, shape: Sequence[int]) -> list[int]:
    found: list[int] = []
    for n in reversed(shape):
        place, i = divmod(place, n)
        found.insert(0, i)
    return found


@eager_jit(static="mode method precision", nested=True)
def convolve(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto", precision: PrecisionLike = None
) -> Array:
    """The convolution of two arrays: sums of in1[k] in2[i - k]. `method`: "direct" and "auto" add products up, "fft" is
    `fftconvolve`; `precision` is that of the products. Raises ValueError for another method, too."""
    _check_method("convolve", method)
    if method == "fft":
        return fftconvolve(in1, in2, mode)
    in1, in2 = _arrays("convolve", in1, in2)
    return _convolved("convolve", in1, in2, mode, precision)


@eager_jit(static="mode method precision", nested=True)
def correlate(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto", precision: PrecisionLike = None
) -> Array:
    """The correlation of two arrays: sums of in1[k + i] conj(in2[k]). `method` and `precision` as for `convolve`."""
    _check_method("correlate", method)
    in1, in2 = _arrays("correlate", in1, in2)
    if method == "fft":
        return fftconvolve(in1, jnp.flip(jnp.conj(in2)), mode)
    return _convolved("correlate", in1, jnp.conj(in2), mode, precision, turned=True)


def _check_method(name: str, method: Any) -> None:
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"{name}: method is 'auto', 'direct' or 'fft', not {method!r}")


def _matrices(name: str, in1: Any, in2: Any, boundary: Any, fillvalue: Any) -> list[Any]:
    if boundary != "fill" or fillvalue != 0:
        raise NotImplementedError(
            f"{name}: beyond the edges are zeros: boundary='fill' and fillvalue=0; pad the array for others"
        )
    found = _arrays(name, in1, in2)
    if found[0].ndim != 2:
        raise ValueError(f"{name} takes matrices, not arrays of shapes {found[0].shape} and {found[1].shape}")
    return found


@eager_jit(static="mode boundary fillvalue precision", nested=True)
def convolve2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: PrecisionLike = None,
) -> Array:
    """The convolution of two matrices [m, n] and [p, q]. Raises NotImplementedError for any other boundary than zeros."""
    in1, in2 = _matrices("convolve2d", in1, in2, boundary, fillvalue)
    return _convolved("convolve2d", in1, in2, mode, precision)


@eager_jit(static="mode boundary fillvalue precision", nested=True)
def correlate2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: PrecisionLike = None,
) -> Array:
    """The correlation of two matrices [m, n] and [p, q]. "same" takes one place later in "full" than `correlate` where
    in2 has an even size; "valid" with the smaller one first is what it is with the larger one first, backwards. Raises
    NotImplementedError for any other boundary than zeros."""
    first, second = _matrices("correlate2d", in1, in2, boundary, fillvalue)
    _check_mode("correlate2d", mode)
    if mode == "same":
        found = _convolved("correlate2d", jnp.flip(first), jnp.conj(second), mode, precision)
        return jnp.flip(found)
    if mode == "valid" and first.shape != second.shape and _smaller_first("correlate2d", first.shape, second.shape):
        return _convolved("correlate2d", jnp.conj(first), second, mode, precision, turned=True)
    return _convolved("correlate2d", first, jnp.conj(second), mode, precision, turned=True)


# By Fourier transforms -----------------------------------------------------------------------------------------------


@eager_jit(static="mode axes", nested=True)
def fftconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: Sequence[int] | None = None) -> Array:
    """The convolution [...] along `axes` (None: all) by Fourier transforms: quicker for large operands, with rounding
    errors of the size of the largest results. Sizes along other axes must be equal (SciPy repeats those of size 1).
    Raises ValueError for half precision, too."""
    in1, in2 = _arrays("fftconvolve", in1, in2)
    _check_mode("fftconvolve", mode)
    given = range(in1.ndim) if axes is None else listed(axes)
    along = sorted({one_axis("fftconvolve", a, in1.ndim) for a in given})
    if any(in1.shape[a] != in2.shape[a] for a in range(in1.ndim) if a not in along):
        raise ValueError(f"fftconvolve of shapes {in1.shape} and {in2.shape}: sizes beside axes {along} must be equal")
    if any(in1.shape[a] == in2.shape[a] == 0 for a in along):
        raise ValueError(f"fftconvolve of shapes {in1.shape} and {in2.shape}: both are empty along an axis")
    if mode == "valid":
        _smaller_first("fftconvolve", *[[x.shape[a] for a in along] for x in (in1, in2)])
    if all(1 in (in1.shape[a], in2.shape[a]) for a in along):
        found = in1 * in2
    else:
        found = _by_spectra(in1, in2, along)
    windows = {a: _window(mode, in1.shape[a], in2.shape[a]) for a in along}
    starts = [windows[a][0] if a in windows else 0 for a in range(in1.ndim)]
    sizes = [windows[a][1] if a in windows else in1.shape[a] for a in range(in1.ndim)]
    return lax.slice(found, starts, [start + size for start, size in zip(starts, sizes)])


def _by_spectra(in1: Any, in2: Any, along: list[int]) -> Any:
    there, back = (fftn, ifftn) if jnp.iscomplexobj(in1) else (rfftn, irfftn)
    lengths = [_good_length(in1.shape[a] + in2.shape[a] - 1) for a in along]
    return back(there(in1, lengths, along) * there(in2, lengths, along), lengths, along)


@functools.lru_cache(1024)
def _good_length(n: int) -> int:
    """The least number from n on without prime factors above 5: Fourier transforms of such lengths are quick."""
    best, fives = 1 << (n - 1).bit_length(), 1
    while fives < best:
        threes = fives
        while threes < best:
            twos = threes << max(0, (-(-n // threes) - 1).bit_length())
            best = min(best, twos)
            threes *= 3
        fives *= 5
    return best
