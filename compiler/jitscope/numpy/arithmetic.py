"""Arithmetic, element by element: operands are promoted to one dtype and broadcast to one shape.

All raise TypeError for what is not an array and no number, and ValueError for shapes that do not broadcast.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..backend.array import Array
from ..core import dtypes
from ..core.annotations import Array as AnyArray, ArrayLike
from ..core.avals import aval_of, is_python_scalar
from ..core.staging import constant_atom
from ..core.trace import evaluating
from ..eager.functions import eager_jit, elementwise
from ..ops.elementwise import (
    abs_p,
    and_p,
    div_p,
    eq_p,
    gt_p,
    integer_pow,
    lt_p,
    max_p,
    min_p,
    ne_p,
    or_p,
    pow_p,
    rem_p,
    round_p,
    shift_right_logical_p,
    sign_p,
    square_p,
)
from ..ops.families import scalar_like
from ..ops.linear import add_p, convert, convert_element_type_p, mul_p, neg_p, sub_p, where as choose
from ._ufunc import binary_of, kind_of, not_complex, numeric, unary_of
from .logic import greater_complex, less_complex
from .operands import number_like, operand, operand_and_aval, operands, weak_as
from .structure import array_operand


__all__ = ["absolute", "divide", "divmod", "fabs", "float_power", "floor_divide", "fmax", "fmin", "fmod", "positive",
           "power", "reciprocal", "remainder", "sign", "square"]  # fmt: skip


# Sums and products ---------------------------------------------------------------------------------------------------

add = binary_of("add", add_p, "x + y. Of booleans: x or y.")
subtract = binary_of("subtract", sub_p, "x - y. Raises TypeError for booleans (use `^`).")
multiply = binary_of("multiply", mul_p, "x * y. Of booleans: x and y.")
negative = unary_of("negative", neg_p, "-x. Raises TypeError for booleans (use `~`).")
sign = unary_of("sign", sign_p, "-1, 0 or 1; of complex numbers x / |x|; NaN stays NaN. Raises TypeError for booleans.")


@elementwise
def divide(x1: ArrayLike, x2: ArrayLike, /) -> AnyArray:
    """x1 / x2, element by element [...]; integers become floats."""
    return div_p(*operands("divide", x1, x2, inexact=True))


@elementwise
def absolute(x: ArrayLike, /) -> AnyArray:
    """The absolute value, element by element [...]; of complex numbers the modulus, a real number."""
    value = array_operand("absolute", x)
    return value if kind_of(value) in "bu" else abs_p(value)


@elementwise
def fabs(x: ArrayLike, /) -> AnyArray:
    """The absolute value as a float, element by element [...]. Raises TypeError for complex numbers."""
    x = operand("fabs", x, inexact=True)
    not_complex("fabs", x)
    return abs_p(x)


@elementwise
def positive(x: ArrayLike, /) -> AnyArray:
    """x itself [...]."""
    return array_operand("positive", x)


@elementwise
def square(x: ArrayLike, /) -> AnyArray:
    """x * x, element by element [...]. Of booleans: int32."""
    return square_p(*numeric("square", x))


@elementwise
def reciprocal(x: ArrayLike, /) -> AnyArray:
    """1 / x, element by element [...]; integers become floats."""
    x = operand("reciprocal", x, inexact=True)
    return div_p(number_like(x, 1), x)


# The greater and the lesser ------------------------------------------------------------------------------------------

maximum = binary_of(
    "maximum",
    max_p,
    "The greater of x and y; NaN where either is. Complex: by real part, then imaginary.",
)
minimum = binary_of(
    "minimum",
    min_p,
    "The lesser of x and y; NaN where either is. Complex: by real part, then imaginary.",
)


@eager_jit()
def fmax(x1: ArrayLike, x2: ArrayLike) -> AnyArray:
    """The greater of x1 and x2, element by element [...]; where one is NaN, the other."""
    x, y = operands("fmax", x1, x2)
    if kind_of(x) not in "fc":
        return max_p(x, y)
    return choose(or_p(gt_p(x, y) if kind_of(x) == "f" else greater_complex(x, y), ne_p(y, y)), x, y)


@eager_jit()
def fmin(x1: ArrayLike, x2: ArrayLike) -> AnyArray:
    """The lesser of x1 and x2, element by element [...]; where one is NaN, the other."""
    x, y = operands("fmin", x1, x2)
    if kind_of(x) not in "fc":
        return min_p(x, y)
    return choose(or_p(lt_p(x, y) if kind_of(x) == "f" else less_complex(x, y), ne_p(y, y)), x, y)


# Division with remainder ---------------------------------------------------------------------------------------------


def _is_nonzero_number(y: Any) -> bool:
    return (isinstance(y, np.generic) or is_python_scalar(y)) and y != 0


def _rest(x: Any, y: Any) -> Any:
    """The remainder with the sign of x; of an integer and 0, 0."""
    if kind_of(x) in "iu" and not _is_nonzero_number(y):
        y = choose(eq_p(y, scalar_like(y, 0)), number_like(y, 1), y)
    return rem_p(x, y)


def _off_side(rest: Any, y: Any) -> Any:
    """Where a remainder with the sign of x does not have the sign of y."""
    zero = scalar_like(rest, 0)
    if _is_nonzero_number(y):
        return lt_p(rest, zero) if y > 0 else gt_p(rest, zero)
    return and_p(ne_p(lt_p(rest, zero), lt_p(y, zero)), ne_p(rest, zero))


def _below(x: Any, y: Any, rest: Any) -> Any:
    """Where a quotient, cut off, is above the one rounded down; of integers by their signs, so that 0 below the line gives
    what JAX gives."""
    if kind_of(x) != "i":
        return _off_side(rest, y)
    return and_p(ne_p(sign_p(x), sign_p(y)), ne_p(rest, scalar_like(rest, 0)))


def _rounded_down(x: Any, y: Any, rest: Any, off_side: Any) -> Any:
    """The quotient rounded down, from the remainder."""
    if kind_of(x) != "f":
        quotient = div_p(x, y)
        return choose(off_side, sub_p(quotient, scalar_like(x, 1)), quotient)
    whole = sub_p(x, rest)
    if not _is_nonzero_number(y):
        whole = choose(eq_p(y, scalar_like(y, 0)), x, whole)
    quotient = div_p(whole, y)
    return round_p(choose(off_side, sub_p(quotient, scalar_like(x, 1)), quotient), rounding_method=0)


@elementwise
def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> AnyArray:
    """x1 / x2 rounded down, element by element [...], in their common dtype. An integer divided by 0 gives some
    integer, not an error. Raises TypeError for complex numbers."""
    x, y = numeric("floor_divide", x1, x2)
    not_complex("floor_divide", x)
    if kind_of(x) == "u":
        return div_p(x, y)
    rest = rem_p(x, y) if kind_of(x) == "i" else _rest(x, y)
    return weak_as(_rounded_down(x, y, rest, _below(x, y, rest)), x, y)


@elementwise
def remainder(x1: ArrayLike, x2: ArrayLike, /) -> AnyArray:
    """x1 - floor(x1 / x2) * x2, with the sign of x2, element by element [...], in their common dtype. Of an integer and
    0: 0. Raises TypeError for complex numbers."""
    x, y = numeric("remainder", x1, x2)
    not_complex("remainder", x)
    rest = _rest(x, y)
    return rest if kind_of(x) == "u" else weak_as(choose(_off_side(rest, y), add_p(rest, y), rest), x, y)


@elementwise
def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[AnyArray, AnyArray]:
    """(x1 // x2, x1 % x2), both element by element [...]. Raises TypeError for complex numbers."""
    x, y = numeric("divmod", x1, x2)
    not_complex("divmod", x)
    rest = _rest(x, y)
    if kind_of(x) == "u":
        return div_p(x, y), rest
    off_side = _off_side(rest, y)
    below = _below(x, y, rem_p(x, y)) if kind_of(x) == "i" else off_side
    return weak_as(_rounded_down(x, y, rest, below), x, y), weak_as(choose(off_side, add_p(rest, y), rest), x, y)


@elementwise
def fmod(x1: ArrayLike, x2: ArrayLike, /) -> AnyArray:
    """The remainder of x1 / x2 with the sign of x1, element by element [...]. Of an integer and 0: 0, of booleans and
    False: x1. Raises TypeError for complex numbers."""
    booleans = all(operand_and_aval("fmod", x, i)[1].dtype == dtypes.bool_ for i, x in enumerate((x1, x2)))
    x, y = numeric("fmod", x1, x2)
    not_complex("fmod", x)
    return rem_p(x, y) if booleans else _rest(x, y)


# Powers --------------------------------------------------------------------------------------------------------------


def power(x1: ArrayLike, x2: ArrayLike, /) -> AnyArray:
    """x1 to the power x2, element by element [...]. Integers stay integers.

    An int x2, or a concrete array [] of one, is part of the program, which multiplies; any other is an operand. Raises
    TypeError for an integer to such a negative power.
    """
    if type(x2) is Array or isinstance(x2, np.ndarray):
        whole = not x2.shape and dtypes.is_integer(aval_of(x2).dtype)
    else:
        whole = isinstance(x2, np.integer) or (is_python_scalar(x2) and not isinstance(x2, (float, complex)))
    if whole:
        x2 = operator.index(x2)  # pyright: ignore[reportArgumentType]
        return _fused_int_power(x1, x2) if evaluating() else constant_atom(_int_power(x1, x2))
    return _power(x1, x2)


def _int_power(x: Any, y: int) -> Any:
    (x,) = numeric("power", x)
    if not hasattr(x, "aval"):
        aval = aval_of(x)
        x = convert_element_type_p(x, new_dtype=aval.dtype, weak_type=aval.weak_type)
    return integer_pow(x, y)


_fused_int_power = eager_jit(static="y")(_int_power)


@elementwise
def _power(x: Any, y: Any, /) -> Any:
    exponent = operand_and_aval("power", y, 1)[1]
    x, y = numeric("power", x, y)
    if kind_of(x) not in "fc":
        return _power_of_integers(x, y)
    if dtypes.is_integer(exponent.dtype) and not exponent.weak_type and aval_of(x).weak_type:
        x = convert(x, aval_of(x).dtype)  # a number to the power of integers in an array is no longer weak
    return pow_p(x, y)


def _power_of_integers(x: Any, y: Any) -> Any:
    """By squaring, over the six low bits of the exponent: with more of them every result is wrong (it overflowed) or of
    base -1, 0 or 1, for which the low bits suffice. A negative exponent gives 0, but for these bases."""
    zero, one = scalar_like(x, 0), scalar_like(x, 1)
    out = choose(and_p(eq_p(x, zero), ne_p(y, zero)), zero, one)
    base, bits = x, y
    for i in range(6):
        out = choose(ne_p(and_p(bits, one), zero), mul_p(out, base), out)
        base, bits = (mul_p(base, base), shift_right_logical_p(bits, one)) if i < 5 else (base, bits)
    if kind_of(x) == "i":
        out = choose(and_p(lt_p(y, zero), gt_p(abs_p(x), one)), zero, out)
    return out


@elementwise
def float_power(x: ArrayLike, y: ArrayLike, /) -> AnyArray:
    """x to the power y in floats, element by element [...]."""
    return pow_p(*operands("float_power", x, y, inexact=True))
