"""Trigonometric functions and powers of float32 arrays, computed in float64 and rounded once.

XLA calls the C library for each number; these formulas are sums and products alone, which run in vectors. They are off by no more than
0.501 units in the last place, XLA's own by up to 5.4: `docs/compiler.md` has the table.

Angles are reduced as by Payne and Hanek ("Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983): the digits of 2/π
are cut into parts of 28 bits, so that a part times a float32 is exact; of the product those parts count that are no multiples of whole turns.
The polynomials are Taylor's, long enough for 2**-33.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.avals import ShapedArray
from ...core.config import enable_x64
from ...symbolic.dimension import is_static
from ...xla.cpu_tuning import IN_DOUBLE
from ..linear import add_p, convert, mul_p, neg_p, sub_p, where
from .bits import and_p, bitcast_convert_type_p
from .comparison import eq_p, ge_p, gt_p, lt_p, ne_p
from .division import div_p
from .extremes import abs_p, max_p, min_p
from .rounding import round_p


_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163AB
"""The first 224 bits behind the point."""
_PARTS, _WIDTH = 8, 28
_ROWS = 4
_CLOSE = 2.0**-14
"""Below, sin(x), tan(x) and atan(x) are x to the last place; so is what is too small for a float64 of a processor that drops such numbers."""
_HALVES = range(-9, 10, 2)


def in_double(name: str, avals: Sequence[ShapedArray], platform: str) -> Callable[..., Any] | None:
    """The function that computes an operation on arrays of these avals; None where it stays as it is."""
    one = avals[0]
    if one.dtype != dtypes.float32 or name not in _FUNCTIONS or not IN_DOUBLE.holds(platform):
        return None
    shape = max((a.shape for a in avals), key=len)
    if not is_static(shape) or math.prod(shape) < IN_DOUBLE.value:
        return None
    return _FUNCTIONS[name]


def power_in_double(
    aval: ShapedArray, exponent: float, platform: str, root: Callable[[Any], Any]
) -> Callable[[Any], Any] | None:
    """The function that raises an array to a power that is half an odd number, up to 4.5, by its square root; None for other powers, and
    for the roots that XLA knows."""
    if in_double("sin", [aval], platform) is None or 2 * exponent not in _HALVES or abs(exponent) == 0.5:
        return None
    return functools.partial(_half_power, twice=int(2 * exponent), root=root)


def computed(ctx: Any, function: Callable[..., Any], *values: Any) -> Any:
    """The result of such a function, an MLIR value."""
    ctx.rewritten("written in float64, in sums and products, and rounded once", IN_DOUBLE)
    with enable_x64():
        return ctx.inline(function, *values)


# Angles ----------------------------------------------------------------------------------------------------------------


@functools.cache
def _parts() -> tuple[list[float], list[float]]:
    """2/π in parts, and what is left of it behind each of them."""
    mask, last = (1 << _WIDTH) - 1, _WIDTH * _PARTS
    parts = [math.ldexp((_TWO_OVER_PI >> (last - _WIDTH * (k + 1))) & mask, -_WIDTH * (k + 1)) for k in range(_PARTS)]
    whole = Fraction(_TWO_OVER_PI, 1 << last)
    return parts, [float(whole - sum(map(Fraction, parts[:k]))) for k in range(_PARTS)]


def _double(value: float) -> np.float64:
    return np.float64(value)


def _turned(x: Any) -> tuple[Any, Any, Any]:
    """The number of quarter turns nearest to the angles `x`, and sine and cosine of what is left."""
    parts, left = _parts()
    magnitude, wide = abs_p(x), convert(x, dtypes.float64)
    # An angle of 2**(53 + 28 k) or more times the first k + 1 parts gives whole turns.
    rows = [ge_p(magnitude, np.float32(2.0 ** (53 + _WIDTH * k))) for k in range(_ROWS - 1)]

    def chosen(of_row: Sequence[float]) -> Any:
        found: Any = _double(of_row[0])
        for row, value in zip(rows, of_row[1:]):
            found = where(row, _double(value), found)
        return found

    first, second, third = (mul_p(wide, chosen(parts[i : i + _ROWS])) for i in range(3))
    rest = mul_p(wide, chosen(left[3 : 3 + _ROWS]))
    first = sub_p(first, mul_p(_nearest(mul_p(first, _double(0.25))), _double(4)))
    quarters = _nearest(add_p(add_p(first, second), third))
    fraction = add_p(add_p(add_p(sub_p(first, quarters), second), third), rest)
    angle = mul_p(fraction, _double(math.pi / 2))
    square = mul_p(angle, angle)
    sine = add_p(angle, mul_p(mul_p(angle, square), _polynomial(square, _SINE)))
    cosine = add_p(mul_p(square, _polynomial(square, _COSINE)), _double(1))
    return convert(quarters, dtypes.int32), sine, cosine


_SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(1, 6)]
_COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(1, 7)]
_ATAN = [(-1) ** k / (2 * k + 1) for k in range(13)]


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Σ coefficients[k] x**k, by Horner's rule."""
    total: Any = mul_p(x, _double(coefficients[-1]))
    for c in coefficients[-2:0:-1]:
        total = mul_p(add_p(total, _double(c)), x)
    return add_p(total, _double(coefficients[0]))


def _nearest(x: Any) -> Any:
    return round_p(x, rounding_method=1)


def _has(quarters: Any, bit: int) -> Any:
    return ne_p(and_p(quarters, np.int32(bit)), np.int32(0))


def _signed(negative: Any, x: Any) -> Any:
    return where(negative, neg_p(x), x)


def _single(x: Any) -> Any:
    return convert(x, dtypes.float32)


def _unless_close(x: Any, result: Any) -> Any:
    return where(lt_p(abs_p(x), np.float32(_CLOSE)), x, result)


def _sin(x: Any) -> Any:
    quarters, sine, cosine = _turned(x)
    found = _signed(_has(quarters, 2), where(_has(quarters, 1), cosine, sine))
    return _unless_close(x, _single(found))


def _cos(x: Any) -> Any:
    quarters, sine, cosine = _turned(x)
    return _single(_signed(_has(add_p(quarters, np.int32(1)), 2), where(_has(quarters, 1), sine, cosine)))


def _tan(x: Any) -> Any:
    quarters, sine, cosine = _turned(x)
    odd = _has(quarters, 1)
    found = div_p(where(odd, neg_p(cosine), sine), where(odd, sine, cosine))
    return _unless_close(x, _single(found))


# Their inverses --------------------------------------------------------------------------------------------------------


def _angle(height: Any, width: Any) -> Any:
    """The angle, from 0 to π/2, at which a point lies; both are float64, and not negative."""
    less, more = min_p(height, width), max_p(height, width)
    steep = gt_p(less, mul_p(more, _double(math.sqrt(2) - 1)))  # atan(t) = π/4 + atan((t - 1) / (t + 1))
    below = where(steep, add_p(less, more), more)
    slope = div_p(where(steep, sub_p(less, more), less), where(eq_p(below, _double(0)), _double(1), below))
    found = mul_p(slope, _polynomial(mul_p(slope, slope), _ATAN))
    found = add_p(found, where(steep, _double(math.pi / 4), _double(0)))
    return where(gt_p(height, width), sub_p(_double(math.pi / 2), found), found)


def _below_zero(x: Any) -> Any:
    """Whether the sign bits are set."""
    return lt_p(bitcast_convert_type_p(x, new_dtype=dtypes.int32), np.int32(0))


def _atan(x: Any) -> Any:
    found = _single(_angle(convert(abs_p(x), dtypes.float64), _double(1)))
    return _signed(_below_zero(x), _unless_close(abs_p(x), found))


def _atan2(y: Any, x: Any) -> Any:
    height, width = (convert(abs_p(v), dtypes.float64) for v in (y, x))
    far = and_p(eq_p(height, _double(math.inf)), eq_p(width, _double(math.inf)))
    found = _angle(*(where(far, _double(1), v) for v in (height, width)))
    found = where(_below_zero(x), sub_p(_double(math.pi), found), found)
    return _signed(_below_zero(y), _single(found))


_FUNCTIONS: dict[str, Callable[..., Any]] = {"sin": _sin, "cos": _cos, "tan": _tan, "atan": _atan, "atan2": _atan2}


# Powers ----------------------------------------------------------------------------------------------------------------


def _half_power(x: Any, twice: int, root: Callable[[Any], Any]) -> Any:
    """`x` to the power `twice` / 2: x**n times its root, or one through that. As C's `pow` has it, minus infinity has the powers of infinity."""
    wide = convert(where(eq_p(x, np.float32(-math.inf)), np.float32(math.inf), x), dtypes.float64)
    found = root(wide)
    for _ in range(abs(twice) // 2):
        found = mul_p(found, wide)
    found = abs_p(found)
    return _single(found if twice > 0 else div_p(_double(1), found))
