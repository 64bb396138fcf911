"""Trigonometric functions of float32 arrays and their inverses, in float64.

Angles are reduced as by Payne and Hanek ("Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983): the digits of 2/π
are cut into parts of 28 bits, so that a part times a float32 is exact; of the product those parts count that are no multiples of whole turns.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...linear import add_p, mul_p, neg_p, sub_p, where
from ..bits import and_p
from ..comparison import eq_p, ge_p, gt_p, ne_p
from ..division import div_p
from ..extremes import abs_p, max_p, min_p
from ..powers import sqrt_p
from ..rounding import round_p
from .arithmetic import (
    below_zero,
    double,
    fitted,
    integer,
    nearest,
    polynomial,
    series,
    signed,
    single,
    unless_close,
    widened,
)


_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163AB
"""The first 224 bits behind the point."""
_PARTS, _WIDTH = 8, 28
_ROWS = 4


@functools.cache
def _parts() -> tuple[list[float], list[float]]:
    """2/π in parts, and what is left of it behind each of them."""
    mask, last = (1 << _WIDTH) - 1, _WIDTH * _PARTS
    parts = [math.ldexp((_TWO_OVER_PI >> (last - _WIDTH * (k + 1))) & mask, -_WIDTH * (k + 1)) for k in range(_PARTS)]
    whole = Fraction(_TWO_OVER_PI, 1 << last)
    return parts, [float(whole - sum(map(Fraction, parts[:k]))) for k in range(_PARTS)]


def _turned(x: Any) -> tuple[Any, Any, Any]:
    """The quarter turns nearest to the angles `x` (the last bits of an int64), and sine and cosine of what is left."""
    parts, left = _parts()
    magnitude, wide = abs_p(x), widened(x)
    # An angle of 2**(53 + 28 k) or more times the first k + 1 parts gives whole turns.
    rows = [ge_p(magnitude, np.float32(2.0 ** (53 + _WIDTH * k))) for k in range(_ROWS - 1)]

    def chosen(of_row: Sequence[float]) -> Any:
        found: Any = double(of_row[0])
        for row, value in zip(rows, of_row[1:]):
            found = where(row, double(value), found)
        return found

    first, second, third = (mul_p(wide, chosen(parts[i : i + _ROWS])) for i in range(3))
    rest = mul_p(wide, chosen(left[3 : 3 + _ROWS]))
    first = sub_p(first, mul_p(round_p(mul_p(first, double(0.25)), rounding_method=1), double(4)))
    quarters, number = nearest(add_p(add_p(first, second), third))
    fraction = add_p(add_p(add_p(sub_p(first, quarters), second), third), rest)
    angle = mul_p(fraction, double(math.pi / 2))
    square = mul_p(angle, angle)
    of_sine, of_cosine = _of_turns()
    sine = add_p(angle, mul_p(mul_p(angle, square), polynomial(square, of_sine)))
    cosine = add_p(mul_p(square, polynomial(square, of_cosine)), double(1))
    return number, sine, cosine


@functools.cache
def _of_turns() -> tuple[list[float], list[float]]:
    """Of a² up to (π/4)²: (sin(a) / a - 1) / a² and (cos(a) - 1) / a², by Taylor's series."""
    end = (math.pi / 4) ** 2
    sine = fitted(lambda t: series(lambda k: (-1) ** (k + 1) / math.factorial(2 * k + 3), t), 0, end, 4)
    cosine = fitted(lambda t: series(lambda k: (-1) ** (k + 1) / math.factorial(2 * k + 2), t), 0, end, 5)
    return sine, cosine


def _has(quarters: Any, bit: int) -> Any:
    return ne_p(and_p(quarters, integer(bit)), integer(0))


def sin(x: Any) -> Any:
    quarters, sine, cosine = _turned(x)
    found = signed(_has(quarters, 2), where(_has(quarters, 1), cosine, sine))
    return unless_close(x, single(found))


def cos(x: Any) -> Any:
    quarters, sine, cosine = _turned(x)
    return single(signed(_has(add_p(quarters, integer(1)), 2), where(_has(quarters, 1), sine, cosine)))


def tan(x: Any) -> Any:
    quarters, sine, cosine = _turned(x)
    odd = _has(quarters, 1)
    found = div_p(where(odd, neg_p(cosine), sine), where(odd, sine, cosine))
    return unless_close(x, single(found))


# Their inverses --------------------------------------------------------------------------------------------------------


@functools.cache
def _of_slopes() -> list[float]:
    """atan(t) / t of t² up to (√2 - 1)²."""
    return fitted(lambda t: series(lambda k: (-1) ** k / (2 * k + 1), t), 0, (math.sqrt(2) - 1) ** 2, 7)


@functools.cache
def _of_heights() -> list[float]:
    """(asin(t) / t - 1) / t² of t² up to 1/4."""
    coefficient = lambda k: math.comb(2 * k + 2, k + 1) / (4.0 ** (k + 1) * (2 * k + 3))
    return fitted(lambda t: series(coefficient, t), 0, 0.25, 9)


def _angle(height: Any, width: Any) -> Any:
    """The angle, from 0 to π/2, at which a point lies; both are float64, and not negative."""
    less, more = min_p(height, width), max_p(height, width)
    steep = gt_p(less, mul_p(more, double(math.sqrt(2) - 1)))  # atan(t) = π/4 + atan((t - 1) / (t + 1))
    below = where(steep, add_p(less, more), more)
    slope = div_p(where(steep, sub_p(less, more), less), where(eq_p(below, double(0)), double(1), below))
    found = mul_p(slope, polynomial(mul_p(slope, slope), _of_slopes()))
    found = add_p(found, where(steep, double(math.pi / 4), double(0)))
    return where(gt_p(height, width), sub_p(double(math.pi / 2), found), found)


def atan(x: Any) -> Any:
    found = single(_angle(widened(abs_p(x)), double(1)))
    return signed(below_zero(x), unless_close(abs_p(x), found))


def atan2(y: Any, x: Any) -> Any:
    height, width = (widened(abs_p(v)) for v in (y, x))
    far = and_p(eq_p(height, double(math.inf)), eq_p(width, double(math.inf)))
    found = _angle(*(where(far, double(1), v) for v in (height, width)))
    found = where(below_zero(x), sub_p(double(math.pi), found), found)
    return signed(below_zero(y), single(found))


def _arc(x: Any) -> tuple[Any, Any, Any]:
    """Of numbers `x` from -1 to 1: asin(|x|) where |x| is up to 1/2, elsewhere asin(√((1 - |x|) / 2)), half of acos(|x|); where that is; and
    twice it."""
    height = widened(abs_p(x))
    steep = gt_p(height, double(0.5))
    square = where(steep, mul_p(sub_p(double(1), height), double(0.5)), mul_p(height, height))
    root = where(steep, sqrt_p(square), height)
    found = add_p(root, mul_p(mul_p(root, square), polynomial(square, _of_heights())))
    return found, steep, add_p(found, found)


def asin(x: Any) -> Any:
    found, steep, twice = _arc(x)
    result = single(where(steep, sub_p(double(math.pi / 2), twice), found))
    return signed(below_zero(x), unless_close(abs_p(x), result))


def acos(x: Any) -> Any:
    found, steep, twice = _arc(x)
    negative = below_zero(x)
    near = where(negative, sub_p(double(math.pi), twice), twice)
    return single(where(steep, near, sub_p(double(math.pi / 2), signed(negative, found))))
