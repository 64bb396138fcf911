"""Polynomials by their coefficients, highest power first; convolutions of vectors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PrecisionLike
from ..core.avals import aval_of
from ..core.part_types import laid_of
from ..eager.functions import eager_jit
from ..ops.conv import ConvDimensionNumbers, conv_general_dilated
from ..ops.indexing import iota
from ..ops.linear import add_p, concatenate_p, convert, full, mul_p, pad_p, rev_p, scalar_zero, slice_in_dim
from ..special.polynomial import polynomial_p
from .arithmetic import power
from .dtypes import requested
from .editing import trim_zeros
from .joining import unstack
from .operands import broadcast, broadcast_shape, cast, integer, lenient, operand, operands, promoted
from .reductions import strong
from .rounding import conjugate
from .structure import array_operand, atleast_1d, broadcast_to


__all__ = ["convolve", "correlate", "polyadd", "polyder", "polyint", "polymul", "polysub", "polyval", "vander"]


@eager_jit(static="unroll")
def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int | None = None) -> Array:
    """The polynomial with coefficients `p` [n, ...], highest power first, at `x`, by Horner's rule; the shapes of p[0]
    and `x` broadcast.

    Up to `unroll` coefficients (8) are written out, more are run through in a loop that takes so many at a time.
    """
    (p, x), _, dtype, _ = promoted("polyval", (p, x))
    p, x = atleast_1d(p), array_operand("polyval", x)
    shape = broadcast_shape(aval_of(p).shape[1:], aval_of(x).shape)
    if not aval_of(p).shape[0]:
        return full(shape, 0, dtype)
    x, *coefficients = operands("polyval", x, *reversed(unstack(p, axis=0)))
    if len(coefficients) == 1:
        return broadcast(coefficients[0], aval_of(coefficients[0]).shape, shape)
    given = {} if unroll is None else {"unroll": integer("polyval", unroll, "unroll")}
    return strong(polynomial_p(x, *coefficients, **given))


def _same_length(name: str, a1: Any, a2: Any) -> list[Any]:
    """Both with zeros in front, up to the longer one along axis 0; further axes broadcast to those of the longer one."""
    values, _, _, _ = promoted(name, (a1, a2))
    x, y = (atleast_1d(v) for v in values)
    sizes = [aval_of(v).shape[0] for v in (x, y)]
    further = aval_of(x if sizes[0] >= sizes[1] else y).shape[1:]

    def fitted(v: Any, size: int) -> Any:
        v = broadcast_to(v, (size, *further))
        front = ((max(sizes) - size, 0, 0), *[(0, 0, 0)] * len(further))
        return v if size == max(sizes) else pad_p(v, scalar_zero(aval_of(v).dtype), padding_config=front)

    return [fitted(v, size) for v, size in zip((x, y), sizes)]


@eager_jit()
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The coefficients of the sum of two polynomials, highest power first: [m] and [n] to [max(m, n)]. Several
    polynomials at once are columns, [m, ...]; axes behind the first broadcast to those of the longer operand."""
    x, y = _same_length("polyadd", a1, a2)
    return x + y


@eager_jit()
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The coefficients of the difference of two polynomials, highest power first: [m] and [n] to [max(m, n)]. Several
    polynomials at once are columns, [m, ...]; axes behind the first broadcast to those of the longer operand."""
    x, y = _same_length("polysub", a1, a2)
    return x - y


def polymul(a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: bool = False) -> Array:
    """The coefficients of the product of two polynomials, highest power first, in floats: [m] and [n] to [m + n - 1].
    An empty one counts as 0.

    With `trim_leading_zeros` the factors lose theirs first, so that they must be concrete. Raises ValueError for what
    is not a vector, TracerArrayConversionError for traced factors that are to be trimmed.
    """
    if trim_leading_zeros:
        a1, a2 = (trim_zeros(v, trim="f") for v in (a1, a2))
    return _product(a1, a2)


@eager_jit()
def _product(a1: Any, a2: Any) -> Any:
    (x, y), _, _, _ = promoted("polymul", (a1, a2), inexact=True)
    return convolve(*[v if aval_of(v).size else full((1,), 0, aval_of(v).dtype) for v in (x, y)])


@eager_jit(static="m")
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """The coefficients of the m-th derivative, highest power first, in floats: [n] to [n - m]. Raises ValueError for a
    negative `m`."""
    x = atleast_1d(operand("polyder", p, inexact=True))
    if integer("polyder", m, "m") < 0:
        raise ValueError(f"polyder: m must not be negative, it is {m}; polyint integrates")
    for _ in range(m):
        size = aval_of(x).size
        powers = np.arange(max(size - 1, 0), 0, -1).astype(aval_of(x).dtype)
        x = mul_p(slice_in_dim(x, 0, max(size - 1, 0)), powers)
    return x


@eager_jit(static="m")
def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Array:
    """The coefficients of the m-th integral, highest power first, in floats: [n] to [n + m], with constants `k` [m]
    (default 0). Raises ValueError for a negative `m`."""
    x = atleast_1d(operand("polyint", p, inexact=True))
    m = integer("polyint", m, "m")
    if m < 0:
        raise ValueError(f"polyint: m must not be negative, it is {m}; polyder differentiates")
    dtype = aval_of(x).dtype
    constants = full((m,), 0, dtype) if k is None else convert(broadcast_to(atleast_1d(k), (m,)), dtype)
    for i in range(m):
        powers = np.arange(aval_of(x).size, 0, -1).astype(dtype)
        x = concatenate_p(x / powers, slice_in_dim(constants, i, i + 1), dimension=0)
    return x


@lenient
@eager_jit(static="N increasing")
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:
    """The powers N - 1 to 0 (or rising) of every element of a vector [n], one row for each: [n, N] (None: N is n).
    Raises ValueError for what is not a vector and a negative N."""
    v = array_operand("vander", x)
    if aval_of(v).ndim != 1:
        raise ValueError(f"vander takes a vector; it got shape {aval_of(v).shape}")
    size = aval_of(v).size
    count = size if N is None else integer("vander", N, "N", ValueError)
    if count < 0:
        raise ValueError(f"vander: N must not be negative, it is {N}")
    exponent = iota(np.int32, (count,))
    powers = power(*operands("vander", broadcast(v.reshape(size, 1), (size, 1), (size, count)), exponent))
    powers = convert(powers, aval_of(v).dtype)
    return powers if increasing else rev_p(powers, dimensions=(1,))


# Convolutions --------------------------------------------------------------------------------------------------------


def _vectors(name: str, a: Any, v: Any) -> tuple[Any, Any]:
    x, y = array_operand(name, a), array_operand(name, v)
    if aval_of(x).ndim != 1 or aval_of(y).ndim != 1 or not aval_of(x).size or not aval_of(y).size:
        raise ValueError(
            f"{name} takes vectors that are not empty; it got shapes {aval_of(x).shape} and {aval_of(y).shape}"
        )
    return x, y


def _sliding(name: str, a: Any, v: Any, mode: str, precision: Any, preferred: Any) -> Any:
    """The sum of products of `v` with every stretch of `a`, which is at least as long."""
    (x, y), _, own, _ = promoted(name, (a, v), inexact=preferred is None)
    if preferred is not None:
        to = requested(preferred, name)
        if not (dtypes.kind(own) in dtypes.kind(to) + "biu" and own.itemsize <= to.itemsize):
            raise TypeError(f"{name}: preferred_element_type {to.name} does not hold sums of {own.name}")
        x, y = (cast(v, aval_of(v), to) for v in (x, y))
    x, y = array_operand(name, x), array_operand(name, y)
    m = aval_of(y).size
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{name}: mode is 'full', 'same' or 'valid', not {mode!r}")
    low, high = {"full": (m - 1, m - 1), "same": (m // 2, m - 1 - m // 2), "valid": (0, 0)}[mode]
    laid = laid_of(aval_of(x))
    if m > 32 or (laid is not None and any(laid.spec.partitions)):
        return _convolved(x, y, (low, high), precision)
    x = pad_p(x, scalar_zero(aval_of(x).dtype), padding_config=((low, high, 0),))
    count = aval_of(x).size - m + 1
    terms = [mul_p(slice_in_dim(x, i, i + count), _element(y, i)) for i in range(m)]
    return functools.reduce(add_p, terms)


def _convolved(x: Any, y: Any, padding: tuple[int, int], precision: Any) -> Any:
    """The same with a long window, or of a vector that is cut: as one operation, whose padded operand needs no layout."""
    numbers = ConvDimensionNumbers((0, 1, 2), (0, 1, 2), (0, 1, 2))
    return conv_general_dilated(
        x[None, None], y[None, None], (1,), (padding,), None, None, numbers, precision=precision
    )[0, 0]


def _element(x: Any, i: int) -> Any:
    return slice_in_dim(x, i, i + 1).reshape(())


@eager_jit(static="mode precision preferred_element_type")
def convolve(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "full",
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The convolution of vectors [m] and [n], in floats: `mode` "full" [m + n - 1], "same" [max(m, n)] or "valid"
    (where they overlap wholly) [max(m, n) - min(m, n) + 1]. Raises ValueError for what is not a vector, empty ones and
    other modes, TypeError for a `preferred_element_type` that does not hold the sums."""
    x, y = _vectors("convolve", a, v)
    if aval_of(x).size < aval_of(y).size:
        x, y = y, x
    return _sliding("convolve", x, rev_p(y, dimensions=(0,)), mode, precision, preferred_element_type)


@eager_jit(static="mode precision preferred_element_type")
def correlate(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "valid",
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The correlation of vectors [m] and [n], the second conjugated; `mode`, shapes and errors as in `convolve`."""
    x, y = _vectors("correlate", a, v)
    y = conjugate(y)
    if aval_of(x).size < aval_of(y).size:
        return rev_p(_sliding("correlate", y, x, mode, precision, preferred_element_type), dimensions=(0,))
    return _sliding("correlate", x, y, mode, precision, preferred_element_type)
