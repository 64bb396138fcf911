"""Powers and roots of float32 arrays, in float64."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ....core import dtypes
from ...linear import add_p, convert, mul_p, sub_p, where
from ..bits import and_p, bitcast_convert_type_p, not_p, or_p, shift_left_p, shift_right_arithmetic_p
from ..comparison import eq_p, ge_p, gt_p, lt_p, ne_p
from ..division import div_p
from ..extremes import abs_p, max_p, min_p
from ..powers import sqrt_p
from ..rounding import floor_p
from .arithmetic import (
    FIRST_NORMAL,
    below_zero,
    bits_of,
    double,
    fitted,
    integer,
    nearest,
    polynomial,
    series,
    signed,
    single,
    widened,
)


_ROOT_OF_HALF = 0x3F3504F3
"""The bits of √(1/2)."""
_INFINITE = 0x7F800000
_NEGATIVE_ZERO = -0x80000000
_NEGATIVE_INFINITE = _NEGATIVE_ZERO + _INFINITE
_THIRDS = 709921077
"""The bits of 1, two thirds of them, less what makes a third of the bits of a number those of its root on an average."""


def half_power(x: Any, _: Any, exponent: float) -> Any:
    """`x` to a power that is half an odd number. As C's `pow` has it, minus infinity has the powers of infinity."""
    wide = widened(where(eq_p(x, np.float32(-math.inf)), np.float32(math.inf), x))
    found = sqrt_p(wide)
    for _factor in range(int(abs(exponent))):
        found = mul_p(found, wide)
    found = abs_p(found)
    return single(found if exponent > 0 else div_p(double(1), found))


def power(x: Any, y: Any) -> Any:
    """`x` to the power `y`, 2 ** (y log2 |x|), with what C's `pow` says of zeros, ones, infinities, NaN and negative `x`."""
    one, wide, magnitude = np.float32(1), widened(y), abs_p(x)
    # 1 to any power but NaN is 1, where 0 times an infinite number would be none.
    exponent = where(eq_p(magnitude, one), where(eq_p(y, y), double(0), wide), mul_p(wide, _log2(magnitude)))
    halved, part = mul_p(y, np.float32(0.5)), ne_p(floor_p(y), y)
    odd = and_p(not_p(part), ne_p(floor_p(halved), halved))
    found = signed(and_p(below_zero(x), odd), single(_exp2(exponent)))
    found = where(and_p(_finite_below_zero(x), part), np.float32(math.nan), found)
    return where(or_p(eq_p(x, one), eq_p(y, np.float32(0))), one, found)


def power_of(x: Any, _: Any, exponent: float) -> Any:
    """`x` to a power that is known, finite, and not 0."""
    found = single(_exp2(mul_p(_log2(abs_p(x)), double(exponent))))
    if not float(exponent).is_integer():
        return where(_finite_below_zero(x), np.float32(math.nan), found)
    return signed(below_zero(x), found) if exponent % 2 else found


def _finite_below_zero(x: Any) -> Any:
    """Where numbers are negative, and neither zero nor infinite."""
    bits = bits_of(x)
    return and_p(lt_p(bits, np.int32(_NEGATIVE_INFINITE)), gt_p(bits, np.int32(_NEGATIVE_ZERO)))


def cbrt(x: Any) -> Any:
    """The cube root, by two steps of Halley's from a third of the exponent, which is off by 4 %."""
    bits = bits_of(abs_p(x))
    small = lt_p(bits, np.int32(FIRST_NORMAL))
    # Numbers below the least normal one are taken times 2**150, a third of which is 2**50.
    scaled = where(small, mul_p(convert(bits, dtypes.float32), np.float32(2)), abs_p(x))
    third = convert(mul_p(convert(bits_of(scaled), dtypes.float32), np.float32(1 / 3)), dtypes.int32)
    root = widened(bitcast_convert_type_p(add_p(third, np.int32(_THIRDS)), new_dtype=dtypes.float32))
    cube = widened(scaled)
    for _ in range(2):
        third_power = mul_p(mul_p(root, root), root)
        above, below = add_p(third_power, add_p(cube, cube)), add_p(add_p(third_power, third_power), cube)
        root = mul_p(root, div_p(above, below))
    root = signed(below_zero(x), mul_p(root, where(small, double(2.0**-50), double(1))))
    itself = or_p(eq_p(bits, np.int32(0)), ge_p(bits, np.int32(_INFINITE)))
    return where(itself, x, single(root))


@functools.cache
def _of_logarithms() -> list[float]:
    """log2((1 + s) / (1 - s)) / s of s² up to (√2 - 1)² / (√2 + 1)²."""
    end = ((math.sqrt(2) - 1) / (math.sqrt(2) + 1)) ** 2
    return fitted(lambda t: series(lambda k: 2 / math.log(2) / (2 * k + 1), t), 0, end, 6)


@functools.cache
def _of_exponentials() -> list[float]:
    """2 ** t of t from -1/2 to 1/2."""
    return fitted(lambda t: 2.0**t, -0.5, 0.5, 8)


def _log2(x: Any) -> Any:
    """Of numbers that are not negative, a float64: the exponent, and 2 atanh((m - 1) / (m + 1)) of a mantissa from √(1/2) to √2."""
    bits = bits_of(x)
    small = lt_p(bits, np.int32(FIRST_NORMAL))
    scaled = where(small, bits_of(convert(bits, dtypes.float32)), bits)  # by 2**149
    exponent = shift_right_arithmetic_p(sub_p(scaled, np.int32(_ROOT_OF_HALF)), np.int32(23))
    mantissa = sub_p(scaled, shift_left_p(exponent, np.int32(23)))
    mantissa = widened(bitcast_convert_type_p(mantissa, new_dtype=dtypes.float32))
    ratio = div_p(sub_p(mantissa, double(1)), add_p(mantissa, double(1)))
    found = mul_p(ratio, polynomial(mul_p(ratio, ratio), _of_logarithms()))
    found = add_p(found, widened(sub_p(exponent, where(small, np.int32(149), np.int32(0)))))
    found = where(ge_p(bits, np.int32(_INFINITE)), widened(x), found)
    return where(eq_p(bits, np.int32(0)), double(-math.inf), found)


def _exp2(x: Any) -> Any:
    """2 to the power of float64 numbers; beyond 200 no float32 tells them apart."""
    x = max_p(min_p(x, double(200)), double(-200))
    whole, number = nearest(x)
    scale = shift_left_p(add_p(number, integer(1023)), integer(52))
    scale = bitcast_convert_type_p(scale, new_dtype=dtypes.float64)
    return mul_p(polynomial(sub_p(x, whole), _of_exponentials()), scale)
