"""Rounding, limiting, signs, and the parts of complex and floating-point numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Unary
from ..core.avals import aval_of
from ..eager.functions import eager_jit, elementwise
from ..ops.elementwise import (
    abs_p,
    atan2_p,
    bitcast_convert_type_p,
    ceil_p,
    complex_p,
    conj_p,
    div_p,
    eq_p,
    floor_p,
    gt_p,
    imag_p,
    lt_p,
    max_p,
    min_p,
    ne_p,
    nextafter_p,
    real_p,
    round_p,
    shift_right_logical_p,
    trunc as trunc_value,
)
from ..ops.families import scalar_like
from ..ops.linear import convert, full, mul_p, neg_p, sub_p, where as choose
from ._ufunc import binary_of, describe, kind_of, not_complex
from .operands import (
    broadcast,
    cast,
    finite_info,
    integer,
    lenient,
    number_like,
    operand,
    operand_and_aval,
    operands,
    promoted,
    unsupported,
    weak_as,
)
from .structure import array_operand


__all__ = ["angle", "ceil", "clip", "conjugate", "copysign", "floor", "heaviside", "imag", "modf", "nan_to_num",
           "nextafter", "real", "rint", "round", "signbit", "trunc"]  # fmt: skip


# Rounding ------------------------------------------------------------------------------------------------------------


def _rounding(name: str, apply: Any, doc: str) -> Unary:
    def fun(x: Any, /) -> Any:
        x = not_complex(name, array_operand(name, x))
        return apply(x) if kind_of(x) == "f" else x

    return elementwise(describe(fun, name, doc + " Raises TypeError for complex numbers."))


floor = _rounding(
    "floor", floor_p, "The greatest whole number not above x, element by element [...]. Integers stay as they are."
)
ceil = _rounding(
    "ceil", ceil_p, "The least whole number not below x, element by element [...]. Integers stay as they are."
)


@eager_jit()
def trunc(x: ArrayLike) -> Array:
    """x without its fraction, element by element [...]. Integers stay as they are. Raises TypeError for complex
    numbers."""
    value = not_complex("trunc", array_operand("trunc", x))
    return trunc_value(value) if kind_of(value) == "f" else value


def _nearest(x: Any) -> Any:
    if kind_of(x) == "c":
        return complex_p(_nearest(real_p(x)), _nearest(imag_p(x)))
    return round_p(x, rounding_method=1)


@elementwise
def rint(x: ArrayLike, /) -> Array:
    """The nearest whole number, halves to even, element by element [...]; integers become floats."""
    x = operand("rint", x)
    return _nearest(x) if kind_of(x) in "fc" else convert(array_operand("rint", x), dtypes.default_float())


@eager_jit(static="decimals out")
def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """`a` [...] with so many decimals (negative: tens, hundreds, …), halves to even.

    Raises ValueError for booleans, NotImplementedError for integers with negative `decimals`.
    """
    unsupported("round", out=out)
    decimals, x = integer("round", decimals, "decimals"), array_operand("round", a)
    kind = kind_of(x)
    if kind == "b":
        raise ValueError("round is not defined for booleans")
    if kind in "iu":
        if decimals < 0:
            raise NotImplementedError(
                "round: negative decimals of integers are not supported: convert them to floats first"
            )
        return x
    if decimals == 0:
        return _nearest(x)
    narrow = aval_of(x).dtype.itemsize < 4
    wide = convert(x, dtypes.float32, aval_of(x).weak_type) if narrow else x
    factor = scalar_like(wide, 10.0 ** abs(decimals))
    if decimals > 0:
        rounded = div_p(_nearest(mul_p(wide, factor)), factor)
    else:
        rounded = mul_p(_nearest(div_p(wide, factor)), factor)
    weak = aval_of(x).weak_type and not aval_of(x).shape  # as in JAX: an array that is scaled is strong
    return convert(rounded, aval_of(x).dtype, weak)


# Limiting ------------------------------------------------------------------------------------------------------------


@eager_jit()
def clip(arr: ArrayLike | None = None, /, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
    """`arr` limited to [min, max], element by element; the three broadcast, None is no limit. Raises ValueError for
    complex numbers."""
    limits = [v for v in (min, max) if v is not None]
    if arr is None:
        raise ValueError("clip needs an array")
    values, _, _, _ = promoted("clip", [arr, *limits])
    if kind_of(values[0]) == "c":
        raise ValueError("clip: complex numbers have no order; clip their parts (jnp.real, jnp.imag)")
    x, rest = values[0], iter(values[1:])
    if not limits:
        return array_operand("clip", x)
    if min is not None:
        x = max_p(*operands("clip", next(rest), x))
    if max is not None:
        x = min_p(*operands("clip", next(rest), x))
    return x


@eager_jit(static="copy")
def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> Array:
    """`x` [...] with NaN as `nan`, and infinities as the greatest and least float of the dtype (or `posinf`, `neginf`)."""
    value = array_operand("nan_to_num", x)
    if kind_of(value) == "c":
        return complex_p(*[_finite(part(value), nan, posinf, neginf) for part in (real_p, imag_p)])
    return _finite(value, nan, posinf, neginf) if kind_of(value) == "f" else value


def _finite(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    dtype = aval_of(x).dtype
    limits = finite_info(dtype)
    nan, high, low = (
        cast(*operand_and_aval("nan_to_num", default if v is None else v), dtype)
        for v, default in ((nan, 0.0), (posinf, limits.max), (neginf, limits.min))
    )
    x = choose(ne_p(x, x), *_shaped(nan, x))
    x = choose(eq_p(x, scalar_like(x, np.inf)), *_shaped(high, x))
    return choose(eq_p(x, scalar_like(x, -np.inf)), *_shaped(low, x))


def _shaped(value: Any, x: Any) -> list[Any]:
    return operands("nan_to_num", value, x)


# Parts ---------------------------------------------------------------------------------------------------------------


@elementwise
def real(val: ArrayLike, /) -> Array:
    """The real part of each element [...]; real numbers are their own."""
    x = array_operand("real", val)
    return real_p(x) if kind_of(x) == "c" else x


@elementwise
def imag(val: ArrayLike, /) -> Array:
    """The imaginary part of each element [...]: zero for real numbers."""
    x = array_operand("imag", val)
    if kind_of(x) == "c":
        return imag_p(x)
    return array_operand("imag", broadcast(number_like(x, 0), (), aval_of(x).shape))


@elementwise
def conjugate(x: ArrayLike, /) -> Array:
    """The complex conjugate of each element [...]; real numbers are their own."""
    value = array_operand("conjugate", x)
    return conj_p(value, input_dtype=aval_of(value).dtype) if kind_of(value) == "c" else value


@eager_jit(static="deg")
def angle(z: ArrayLike, deg: bool = False) -> Array:
    """The angle of each complex number [...], in radians in (-pi, pi], or in degrees; of a real one 0 or pi. A float."""
    z = operand("angle", z)
    if kind_of(z) in "biu" or (kind_of(z) == "f" and not aval_of(z).ndim):
        z = convert(array_operand("angle", z), dtypes.default_float())
    parts = (
        (imag_p(z), real_p(z)) if kind_of(z) == "c" else (weak_as(full(aval_of(z).shape, 0, aval_of(z).dtype), z), z)
    )
    result = atan2_p(*parts)
    return weak_as(mul_p(result, scalar_like(result, 180 / math.pi)), result) if deg else result


def _bits_of(x: Any) -> tuple[Any, Any]:
    unsigned = np.dtype(f"uint{aval_of(x).dtype.itemsize * 8}")
    return bitcast_convert_type_p(x, new_dtype=unsigned), unsigned


@elementwise
def signbit(x: ArrayLike, /) -> Array:
    """Whether the sign bit of each element [...] is set (of -0.0 too), as booleans. Raises ValueError for complex
    numbers."""
    x = not_complex("signbit", operand("signbit", x), ValueError)
    kind = kind_of(x)
    if kind in "bu":
        return full(aval_of(x).shape, False, dtypes.bool_)
    if kind == "i":
        return lt_p(x, scalar_like(x, 0))
    bits, unsigned = _bits_of(x)
    return ne_p(shift_right_logical_p(bits, scalar_like(bits, unsigned.itemsize * 8 - 1)), scalar_like(bits, 0))


@elementwise
def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """|x1| with the sign of x2, element by element [...], in floats. Raises TypeError for complex numbers."""
    x, y = operands("copysign", x1, x2, inexact=True)
    size = abs_p(not_complex("copysign", x))
    return choose(signbit(y), *operands("copysign", neg_p(size), size))


nextafter = binary_of(
    "nextafter", nextafter_p, "The next float after x1 towards x2. Raises TypeError for complex numbers.", inexact=True
)


@lenient
@elementwise
def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """0 for negative x1, x2 at 0, 1 for positive, NaN for NaN, element by element [...], in floats. Raises TypeError
    for complex numbers."""
    for v in (x1, x2):
        not_complex("heaviside", operand("heaviside", v))
    x, y = operands("heaviside", x1, x2, inexact=True)
    zero, one = scalar_like(x, 0), scalar_like(x, 1)
    step = choose(gt_p(x, zero), one, choose(lt_p(x, zero), zero, x))
    out = choose(eq_p(x, zero), y, step)
    return out if np.ndim(x) else weak_as(out, x, y)


@eager_jit(static="out")
def modf(x: ArrayLike, /, out: None = None) -> tuple[Array, Array]:
    """(fraction, whole part), both [...] and with the sign of x, in floats; the fraction of an infinity is 0, as in
    NumPy. Raises TypeError for complex numbers."""
    unsupported("modf", out=out)
    x = not_complex("modf", array_operand("modf", operand("modf", x, inexact=True)))
    whole = trunc_value(x)
    endless = eq_p(abs_p(x), scalar_like(x, np.inf))
    return choose(endless, number_like(x, 0), sub_p(x, whole)), whole
