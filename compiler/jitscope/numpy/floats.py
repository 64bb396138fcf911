"""Floating-point numbers taken apart: fraction and exponent, and the distance to the next one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..control.custom_jvp import custom_jvp
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of, exact
from ..core.zeros import zero_of
from ..eager.functions import eager_jit, elementwise
from ..ops.elementwise import (
    and_p,
    bitcast_convert_type_p,
    eq_p,
    exp2_p,
    is_finite_p,
    max_p,
    min_p,
    ne_p,
    nextafter_p,
    or_p,
    shift_left_p,
    shift_right_logical_p,
)
from ..ops.families import scalar_like
from ..ops.linear import add_p, convert, mul_p, neg_p, sub_p, where as choose
from ._ufunc import kind_of, not_complex
from .operands import broadcast, broadcast_shape, finite_info, operand, operand_and_aval
from .rounding import copysign
from .structure import array_operand


def _layout(dtype: Any) -> tuple[Any, int, int, int]:
    """The unsigned integer as wide as a float, how many bits its fraction and its exponent have, and the exponent's
    bias."""
    info = finite_info(dtype)
    return np.dtype(f"uint{dtype.itemsize * 8}"), info.nmant, info.nexp, 1 - info.minexp


@elementwise
def frexp(x: ArrayLike, /) -> tuple[Array, Array]:
    """(m, e), both [...], with x = m * 2 ** e, 0.5 <= |m| < 1 and e an int32; of 0, infinities and NaN (x, 0). Integers
    become floats.

    Numbers too small to be normal are taken apart exactly. Raises TypeError for complex numbers. The derivative of m is
    2 ** -e.
    """
    x = not_complex("frexp", operand("frexp", x, inexact=True))
    return _frexp(array_operand("frexp", x))


@custom_jvp
def _frexp(x: Any) -> tuple[Any, Any]:
    dtype = aval_of(x).dtype
    unsigned, fraction_bits, exponent_bits, bias = _layout(dtype)
    same = lambda value: exact(np.asarray(value, unsigned)[()])
    field = lambda bits: and_p(shift_right_logical_p(bits, same(fraction_bits)), same((1 << exponent_bits) - 1))
    bits = bitcast_convert_type_p(x, new_dtype=unsigned)
    # What is not normal is a whole number of the smallest float, which is normal as a float of its own.
    small = eq_p(field(bits), same(0))
    whole = convert(and_p(bits, same((1 << fraction_bits) - 1)), dtype)
    scaled = choose(small, bitcast_convert_type_p(whole, new_dtype=unsigned), bits)
    exponent = sub_p(convert(field(scaled), dtypes.int32), np.int32(bias - 1))
    exponent = choose(small, sub_p(exponent, np.int32(bias - 1 + fraction_bits)), exponent)
    sign = and_p(bits, same(1 << (unsigned.itemsize * 8 - 1)))
    half = or_p(and_p(scaled, same((1 << fraction_bits) - 1)), same((bias - 1) << fraction_bits))
    fraction = bitcast_convert_type_p(or_p(half, sign), new_dtype=dtype)
    plain = and_p(is_finite_p(x), ne_p(x, scalar_like(x, 0)))
    return choose(plain, fraction, x), choose(plain, exponent, np.int32(0))


@_frexp.defjvp
def _frexp_jvp(primals: Any, tangents: Any) -> Any:
    fraction, exponent = _frexp(*primals)
    slope = exp2_p(neg_p(convert(exponent, aval_of(fraction).dtype)))
    return (fraction, exponent), (mul_p(tangents[0], slope), zero_of(exponent))


@eager_jit()
def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 * 2 ** x2, element by element [...], for integers x2, also where 2 ** x2 alone is too large or too small.
    Integers x1 become floats.

    Raises ValueError for complex x1 and for x2 that are not integers.
    """
    x, (power, exponent) = array_operand("ldexp", operand("ldexp", x1, inexact=True)), operand_and_aval("ldexp", x2, 1)
    if kind_of(x) == "c" or dtypes.kind(exponent.dtype) not in "biu":
        raise ValueError(f"ldexp takes a real number and an integer, not {aval_of(x).short()} and {exponent.short()}")
    shape = broadcast_shape(aval_of(x).shape, exponent.shape)
    n = array_operand("ldexp", power)
    unsigned, fraction_bits, _, bias = _layout(aval_of(x).dtype)
    if dtypes.kind(exponent.dtype) != "b" and exponent.dtype.itemsize >= 4:  # others are small
        far = 4 * bias + fraction_bits
        n = min_p(n, scalar_like(n, far)) if dtypes.kind(exponent.dtype) == "u" else _limited(n, -far, far)
    n = broadcast(convert(n, dtypes.int32), exponent.shape, shape)
    fraction, own = _frexp(broadcast(x, aval_of(x).shape, shape))
    n = add_p(n, own)
    for _ in range(2):  # two powers of two that are normal numbers reach from the least float to the greatest
        step = _limited(n, 1 - bias, bias)
        n = sub_p(n, step)
        raised = convert(add_p(step, np.int32(bias)), unsigned)
        raised = shift_left_p(raised, np.asarray(fraction_bits, unsigned)[()])
        fraction = mul_p(fraction, bitcast_convert_type_p(raised, new_dtype=aval_of(x).dtype))
    return fraction


def _limited(n: Any, low: int, high: int) -> Any:
    return max_p(min_p(n, scalar_like(n, high)), scalar_like(n, low))


@elementwise
def spacing(x: ArrayLike, /) -> Array:
    """The distance from x to the next float away from 0, with the sign of x, element by element [...]; NaN for
    infinities. Integers become floats.

    Raises ValueError for complex numbers. In float16 the next float is the greater one, as in NumPy.
    """
    x = not_complex("spacing", operand("spacing", x, inexact=True), ValueError)
    x = array_operand("spacing", x)
    dtype, infinity = aval_of(x).dtype, scalar_like(x, np.inf)
    if dtype == dtypes.float16:
        return sub_p(nextafter_p(x, infinity), x)
    distance = sub_p(nextafter_p(x, copysign(infinity, x)), x)
    least = np.asarray(finite_info(dtype).smallest_subnormal, dtype)[()]
    return choose(eq_p(distance, scalar_like(x, 0)), copysign(least, x), distance)
