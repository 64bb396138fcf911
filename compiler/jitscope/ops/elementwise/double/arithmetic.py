"""float64 numbers that stand for float32 ones: their polynomials, their nearest integers, and the way back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core import dtypes
from ...linear import add_p, convert, mul_p, neg_p, where
from ..bits import bitcast_convert_type_p
from ..comparison import lt_p
from ..extremes import abs_p
from ..rounding import round_p


CLOSE = 2.0**-14
"""Below, sin(x), tan(x), atan(x) and asin(x) are x to the last place; so is what is too small for a float64 of a processor that drops such
numbers."""
FIRST_NORMAL = 0x00800000
"""The bits of the least normal float32."""
_TO_INTEGERS = 1.5 * 2.0**52
"""Added to an integer of up to 2**51, it leaves that in the last bits: in vectors, where a conversion runs number by number."""


def double(value: float) -> np.float64:
    return np.float64(value)


def integer(value: int) -> np.int64:
    return np.int64(value)


def single(x: Any) -> Any:
    return convert(x, dtypes.float32)


def widened(x: Any) -> Any:
    return convert(x, dtypes.float64)


def exact(x: Any) -> Any:
    """float32 numbers as float64, those below the least normal one as well, which a processor that drops such takes for zeros."""
    bits = bits_of(abs_p(x))
    small = mul_p(convert(bits, dtypes.float64), double(2.0**-149))
    return where(lt_p(bits, np.int32(FIRST_NORMAL)), signed(below_zero(x), small), widened(x))


def fitted(function: Callable[[float], float], low: float, high: float, degree: int) -> list[float]:
    """The coefficients, the constant first, of the polynomial that agrees with a function at the Chebyshev nodes of an interval."""
    from numpy.polynomial import Chebyshev, Polynomial

    values = np.vectorize(function, otypes=[np.float64])
    return [float(c) for c in Chebyshev.interpolate(values, degree, [low, high]).convert(kind=Polynomial).coef]


def series(coefficient: Callable[[int], float], x: float) -> float:
    """Σ coefficient(k) x**k, of as many terms as a float64 can tell."""
    return math.fsum(coefficient(k) * x**k for k in range(60))


def polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Σ coefficients[k] x**k, by Horner's rule."""
    total: Any = mul_p(x, double(coefficients[-1]))
    for c in coefficients[-2:0:-1]:
        total = mul_p(add_p(total, double(c)), x)
    return add_p(total, double(coefficients[0]))


def nearest(x: Any) -> tuple[Any, Any]:
    """The integers nearest to numbers of up to 2**31, and an int64 whose last bits they are."""
    whole = round_p(x, rounding_method=1)
    return whole, bitcast_convert_type_p(add_p(whole, double(_TO_INTEGERS)), new_dtype=dtypes.int64)


def bits_of(x: Any) -> Any:
    return bitcast_convert_type_p(x, new_dtype=dtypes.int32)


def below_zero(x: Any) -> Any:
    """Whether the sign bits are set."""
    return lt_p(bits_of(x), np.int32(0))


def signed(negative: Any, x: Any) -> Any:
    return where(negative, neg_p(x), x)


def unless_close(x: Any, result: Any) -> Any:
    return where(lt_p(abs_p(x), np.float32(CLOSE)), x, result)
