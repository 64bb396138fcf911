"""Integers in the order of the elements that an array is sorted by: NaN last, all NaNs one."""

from __future__ import annotations

import math

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from .elementwise import (
    and_p,
    bitcast_convert_type_p,
    eq_p,
    imag_p,
    ne_p,
    real_p,
    shift_right_arithmetic_p,
    xor_p,
)
from .families import scalar_like
from .linear import convert, where


def integer_of(dtype):
    return np.dtype(f"int{8 * dtype.itemsize}")


def flip(bits):
    """From the bits of floats to integers in the same order, and back."""
    dtype = aval_of(bits).dtype
    width = 8 * dtype.itemsize - 1
    negative = shift_right_arithmetic_p(bits, scalar_like(bits, width))
    return xor_p(bits, and_p(negative, scalar_like(bits, np.iinfo(dtype).max)))


ORDERED_FLOATS = frozenset(("float16", "bfloat16", "float32", "float64"))
"""Floats whose bits `flip` brings into their order, NaN at the ends."""


def nan_beyond(x, greatest):
    """Signed integers in the order of floats, NaN the greatest or the least of all."""
    bits = flip(bitcast_convert_type_p(x, new_dtype=integer_of(aval_of(x).dtype)))
    limits = np.iinfo(aval_of(bits).dtype)
    return where(ne_p(x, x), scalar_like(bits, limits.max if greatest else limits.min), bits)


def floats(bits, dtype):
    """What `nan_beyond` was given, but for the signs of NaNs."""
    return bitcast_convert_type_p(flip(bits), new_dtype=dtype)


def signed(x):
    """Signed integers in the order of integers."""
    dtype = aval_of(x).dtype
    if dtypes.kind(dtype) == "i":
        return x
    return bitcast_convert_type_p(xor_p(x, scalar_like(x, 1 << (8 * dtype.itemsize - 1))), new_dtype=integer_of(dtype))


def ordered(x):
    """Signed integers in the order of `x`; all NaNs are one, the greatest."""
    dtype = aval_of(x).dtype
    if dtype == dtypes.bool_:
        return convert(x, dtypes.int8)
    if not dtypes.is_float(dtype):
        return signed(x)
    x = where(ne_p(x, x), scalar_like(x, math.nan), x)
    return flip(bitcast_convert_type_p(x, new_dtype=integer_of(dtype)))


def with_one_zero(x):
    """`x` with -0.0 made 0.0."""
    dtype = aval_of(x).dtype
    return where(eq_p(x, zero := scalar_like(x, 0)), zero, x) if dtypes.is_float(dtype) else x


def parts(x):
    """The real numbers that decide, most significant first."""
    return [real_p(x), imag_p(x)] if dtypes.is_complex(aval_of(x).dtype) else [x]


def unsigned(x, word):
    """Unsigned integers of dtype `word` in the order of real `x`."""
    if dtypes.kind(aval_of(x).dtype) in "bu":
        return convert(x, word)
    bits = ordered(x)
    dtype = np.dtype(f"uint{8 * aval_of(bits).dtype.itemsize}")
    bits = bitcast_convert_type_p(bits, new_dtype=dtype)
    return convert(xor_p(bits, scalar_like(bits, 1 << (8 * dtype.itemsize - 1))), word)


def from_unsigned(x, dtype):
    """What `unsigned` was given."""
    if dtypes.kind(dtype) in "bu":
        return convert(x, dtype)
    bits = signed(convert(x, np.dtype(f"uint{8 * dtype.itemsize}")))
    return bitcast_convert_type_p(flip(bits), new_dtype=dtype) if dtypes.is_float(dtype) else bits
