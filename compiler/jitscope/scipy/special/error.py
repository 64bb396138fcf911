"""Error functions and the normal distribution."""

from __future__ import annotations

import math
import operator

from ...core.annotations import Array, ArrayLike
from ...core.avals import aval_of
from ...core.dtypes import complex_of, is_complex, kind
from ...eager.functions import eager_jit
from ...numpy.operands import operand
from ...ops.elementwise import erf_inv_p, erf_p, erfc_p
from ...ops.families import scalar_like
from ...ops.linear import convert, mul_p
from ...special.error import dawson_p, erfcx_p, owens_t_p, wofz_p
from ...special.normal import erfcinv_p, log_ndtr_p, ndtri_p
from ._operands import real_operands, wide_operand


__all__ = ["dawsn", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "log_ndtr", "ndtr", "ndtri", "owens_t", "wofz"]


@eager_jit(nested=True)
def erf(x: ArrayLike) -> Array:
    """The error function, 2/√π times the integral of exp(-t²) from 0 to x, element by element [...]. Raises TypeError
    for complex numbers."""
    return erf_p(operand("erf", x, inexact=True))


@eager_jit(nested=True)
def erfc(x: ArrayLike) -> Array:
    """1 - erf(x), exact where that is small, element by element [...]. Raises TypeError for complex numbers."""
    return erfc_p(operand("erfc", x, inexact=True))


@eager_jit(nested=True)
def erfinv(x: ArrayLike) -> Array:
    """The inverse of erf; NaN outside of [-1, 1]. Raises TypeError for complex numbers."""
    return erf_inv_p(operand("erfinv", x, inexact=True))


@eager_jit(nested=True)
def erfcinv(y: ArrayLike) -> Array:
    """The inverse of erfc, exact where y is small, element by element [...]; NaN outside of [0, 2]. Raises ValueError for complex
    numbers."""
    y = operand("erfcinv", y, inexact=True)
    if is_complex(aval_of(y).dtype):
        raise ValueError(f"erfcinv takes real numbers; it got {aval_of(y).short()}")
    return erfcinv_p(y)


@eager_jit(nested=True)
def erfcx(x: ArrayLike) -> Array:
    """exp(x²) erfc(x), which neither over- nor underflows for positive x, element by element [...]. Takes complex
    numbers."""
    x = operand("erfcx", x, inexact=True)
    return wofz_p(x * 1j) if kind(aval_of(x).dtype) == "c" else erfcx_p(x)


@eager_jit(nested=True)
def dawsn(x: ArrayLike) -> Array:
    """Dawson's integral, exp(-x²) times the integral of exp(t²) from 0 to x, element by element [...]. Raises
    ValueError for complex numbers."""
    return dawson_p(*real_operands("dawsn", x))


@eager_jit(nested=True)
def wofz(z: ArrayLike) -> Array:
    """The Faddeeva function exp(-z²) erfc(-i z), of real or complex numbers, element by element [...]; complex."""
    z = operand("wofz", z, inexact=True)
    aval = aval_of(z)
    return wofz_p(convert(z, complex_of(aval.dtype), aval.weak_type))


@eager_jit(nested=True)
def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Owen's T, the integral of exp(-h² (1 + t²) / 2) / (1 + t²) over t from 0 to a, divided by 2 π, element by element
    [...]. Raises TypeError for complex numbers."""
    return owens_t_p(*real_operands("owens_t", h, a, error=TypeError))


@eager_jit(nested=True)
def ndtr(x: ArrayLike) -> Array:
    """The distribution function of the normal distribution, exact in both tails, element by element [...]. x: float32
    or float64; raises TypeError for others."""
    x = wide_operand("ndtr", x)
    return mul_p(erfc_p(mul_p(x, scalar_like(x, -math.sqrt(0.5)))), scalar_like(x, 0.5))


@eager_jit(nested=True)
def ndtri(p: ArrayLike) -> Array:
    """The quantile of the normal distribution, the inverse of ndtr, element by element [...]; ∓∞ at 0 and 1, NaN
    outside. p: float32 or float64; raises TypeError for others."""
    return ndtri_p(wide_operand("ndtri", p))


@eager_jit(static="series_order", nested=True)
def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """log(ndtr(x)), exact in both tails, element by element [...]. x: float32 or float64.

    `series_order`, from 0 to 30, is JAX's number of terms of an asymptotic series for very negative x. Here one
    approximation of full accuracy serves all x; the number is checked and changes nothing. Raises TypeError and
    ValueError for other orders and for other dtypes.
    """
    if not isinstance(series_order, int):
        raise TypeError(f"log_ndtr: series_order must be an int, not {series_order!r}")
    if not 0 <= operator.index(series_order) <= 30:
        raise ValueError(f"log_ndtr: series_order must be from 0 to 30, it is {series_order}")
    return log_ndtr_p(wide_operand("log_ndtr", x))
