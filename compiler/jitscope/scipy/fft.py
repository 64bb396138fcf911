"""`jitscope.scipy.fft`: the discrete cosine transform of type II and its inverse.

y[k] = 2 sum over m of x[m] cos(pi k (2 m + 1) / (2 n)); with `norm` "ortho" divided by sqrt(2 n), y[0] by sqrt(4 n). It is had
from the Fourier transform of n real numbers, after J. Makhoul, "A fast cosine transform in one and two dimensions", IEEE
Trans. ASSP 28 (1980): the even elements, then the odd ones backwards, are transformed, and each coefficient is turned by a
quarter of its step. Half of the spectrum says all.

Real numbers of any dtype are transformed in single precision, or double for double operands; of complex ones the parts. All
raise NotImplementedError for another `type`, ValueError for another `norm` and axes that are not there, TypeError for what is
no array and for an axis without elements. SciPy knows three more types, "forward", and `orthogonalize`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import lax, numpy as jnp
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..eager.functions import eager_jit
from ..numpy.fft import irfft, rfft
from ..numpy.operands import integer, lenient, one_axis
from ..numpy.structure import array_operand


__all__ = [
    "dct",
    "dctn",
    "idct",
    "idctn",
]


@lenient
@eager_jit(static="type n axis norm", nested=True)
def dct(x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The cosine transform along one axis, cut or filled up with zeros to `n` elements: [..., m, ...] to [..., n, ...]."""
    return _along_one("dct", _forwards, x, type, n, axis, norm)


@lenient
@eager_jit(static="type n axis norm", nested=True)
def idct(x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `dct`, of one `norm`: [..., m, ...] to [..., n, ...]."""
    return _along_one("idct", _backwards, x, type, n, axis, norm)


@lenient
@eager_jit(static="type s axes norm", nested=True)
def dctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The cosine transform along several axes (None: all, or as many of the last as there are sizes in `s`), cut or
    filled up with zeros to the sizes `s`; floats in the shape of `x` but for these. Raises ValueError for repeated
    axes, too."""
    return _along_several("dctn", _forwards, x, type, s, axes, norm)


@lenient
@eager_jit(static="type s axes norm", nested=True)
def idctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The inverse of `dctn`, of one `norm`: floats in the shape of `x` but for the sizes `s`."""
    return _along_several("idctn", _backwards, x, type, s, axes, norm)


# Axes ----------------------------------------------------------------------------------------------------------------


def _checked(name: str, x: Any, type: Any, norm: Any) -> Any:
    x = array_operand(name, x)
    if type != 2:
        raise NotImplementedError(f"{name}: there is the transform of type 2 only, not {type!r}")
    if norm not in (None, "backward", "ortho"):
        raise ValueError(f"{name}: norm is 'backward' or 'ortho', not {norm!r}")
    return jnp.asarray(x)


def _along_one(name: str, transform: Callable, x: Any, type: Any, n: Any, axis: Any, norm: Any) -> Any:
    x = _checked(name, x, type, norm)
    axis = one_axis(name, axis, x.ndim)
    return _transformed(name, transform, x, [axis], {} if n is None else {axis: n}, norm)


def _along_several(name: str, transform: Callable, x: Any, type: Any, s: Any, axes: Any, norm: Any) -> Any:
    x = _checked(name, x, type, norm)
    sizes = None if s is None else list(s) if np.iterable(s) else [operator.index(s)]
    if sizes is not None and len(sizes) > x.ndim:
        raise ValueError(f"{name}: {len(sizes)} sizes in s for an array of {x.ndim} axes")
    if axes is None:
        chosen = list(range(0 if sizes is None else x.ndim - len(sizes), x.ndim))
    else:
        chosen = [one_axis(name, a, x.ndim) for a in (axes if np.iterable(axes) else (axes,))]
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"{name}: an axis stands twice in {axes}")
    return _transformed(name, transform, x, chosen, dict(zip(chosen, sizes or ())), norm)


def _transformed(name: str, transform: Callable, x: Any, axes: list[int], sizes: dict[int, Any], norm: Any) -> Any:
    """The transform along `axes` one after the other, of complex numbers part by part."""
    if jnp.iscomplexobj(x):
        parts = (_transformed(name, transform, part, axes, sizes, norm) for part in (jnp.real(x), jnp.imag(x)))
        return lax.complex(*parts)
    x = _resized(name, x, sizes)
    for axis in axes:
        if not x.shape[axis]:
            raise TypeError(f"{name}: axis {axis} of an array of shape {x.shape} has no elements to transform")
        dtype = dtypes.float64 if dtypes.to_inexact(x.dtype) == dtypes.float64 else dtypes.float32
        last = jnp.moveaxis(x.astype(dtype), axis, -1)
        x = jnp.moveaxis(transform(last, norm == "ortho") if last.size else last, -1, axis)
    return x


def _resized(name: str, x: Any, sizes: dict[int, Any]) -> Any:
    wanted = {axis: integer(name, n, "every size") for axis, n in sizes.items()}
    if any(n < 0 for n in wanted.values()):
        raise ValueError(f"{name}: sizes must not be negative, not {tuple(wanted.values())}")
    if all(x.shape[axis] == n for axis, n in wanted.items()):
        return x
    ends = [(0, wanted.get(axis, n) - n, 0) for axis, n in enumerate(x.shape)]
    return lax.pad(x, x.dtype.type(0), ends)


# Along the last axis -------------------------------------------------------------------------------------------------


def _forwards(x: Any, ortho: bool) -> Any:
    n = x.shape[-1]
    odd = lax.slice_in_dim(x, 1, n, 2, axis=-1)
    half = rfft(jnp.concatenate([lax.slice_in_dim(x, 0, n, 2, axis=-1), jnp.flip(odd, -1)], -1)) if n > 1 else x + 0j
    turned = half * _turns(n, ortho).astype(half.dtype)
    # Of coefficient k the real part is y[k], the imaginary one -y[n - k].
    low, high = jnp.real(turned), lax.slice_in_dim(jnp.imag(turned), 1, (n + 1) // 2, axis=-1)
    return jnp.concatenate([low, -jnp.flip(high, -1)], -1)


def _backwards(y: Any, ortho: bool) -> Any:
    n = y.shape[-1]
    low, high = lax.slice_in_dim(y, 0, n // 2 + 1, axis=-1), lax.slice_in_dim(y, (n + 1) // 2, n, axis=-1)
    mirrored = lax.pad(jnp.flip(-high, -1), high.dtype.type(0), [*[(0, 0, 0)] * (y.ndim - 1), (1, 0, 0)])
    turned = lax.complex(low, mirrored)
    half = turned * (1 / _turns(n, ortho)).astype(turned.dtype)
    x = irfft(half, n) if n > 1 else jnp.real(half)
    return _interleaved(lax.slice_in_dim(x, 0, (n + 1) // 2, axis=-1), lax.slice_in_dim(x, (n + 1) // 2, n, axis=-1))


def _interleaved(even: Any, odd: Any) -> Any:
    """The even elements and, backwards, the odd ones, of which there may be one less."""
    outer = [(0, 0, 0)] * (even.ndim - 1)
    extra = even.shape[-1] - odd.shape[-1]
    there = lax.pad(even, even.dtype.type(0), [*outer, (0, 1 - extra, 1)])
    if not odd.shape[-1]:
        return there
    return there + lax.pad(jnp.flip(odd, -1), odd.dtype.type(0), [*outer, (1, extra, 1)])


@functools.lru_cache(64)
def _turns(n: int, ortho: bool) -> np.ndarray:
    """What the first half of the Fourier coefficients of the reordered elements is multiplied with."""
    turns = 2 * np.exp(-0.5j * np.pi / n * np.arange(n // 2 + 1))
    if ortho:
        turns /= np.sqrt(2 * n)
        turns[0] /= np.sqrt(2)
    return turns
