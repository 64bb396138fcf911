"""Numbers from keys. Uniform bits equal JAX's exactly; what goes through erf_inv agrees to a few units in the last place."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from ..core.dtypes import canonicalize
from ..ops.elementwise import (
    bitcast_convert_type_p,
    complex_p,
    erf_inv_p,
    lt_p,
    max_p,
    or_p,
    rem_p,
    shift_right_logical_p,
)
from ..ops.linear import add_p, broadcast_to, convert, mul_p, sub_p, where
from ..ops.rng import UINTS, random_bits_p
from .keys import pair, single

Shape = int | Sequence[int]


def _shape(shape: Shape) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)


def bits(key: Any, shape: Shape = (), dtype: Any = None) -> Any:
    """Random bits as unsigned integers (uint32 by default). Raises TypeError for other dtypes."""
    dtype = canonicalize(dtype or (dtypes.uint32 if dtypes.default_int().itemsize == 4 else dtypes.uint64))
    if dtypes.kind(dtype) != "u":
        raise TypeError(f"random.bits gives unsigned integers, not {dtype.name}")
    return random_bits_p(single(key, "bits"), bit_width=dtype.itemsize * 8, shape=_shape(shape))


def uniform(key: Any, shape: Shape = (), dtype: Any = float, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Floats uniform in [minval, maxval). Raises TypeError for a dtype that is no float."""
    dtype = _float(dtype, "uniform")
    key, shape = single(key, "uniform"), _shape(shape)
    low, high = (broadcast_to(_number(v, dtype), shape) if aval_of(v).shape else _number(v, dtype)
                 for v in (minval, maxval))
    info = ml_dtypes.finfo(dtype)
    width, mantissa = info.bits, info.nmant
    drawn = 8 if mantissa < 8 else width
    raw = convert(random_bits_p(key, bit_width=drawn, shape=shape), UINTS[width])
    one = np.asarray(1, dtype).view(UINTS[width])[()]
    mantissas = or_p(shift_right_logical_p(raw, UINTS[width].type(drawn - mantissa)), one)
    unit = sub_p(bitcast_convert_type_p(mantissas, new_dtype=dtype), dtype.type(1))
    if isinstance(low, np.generic) and isinstance(high, np.generic):
        if low == 0 and high == 1:
            return unit
        span = np.subtract(high, low)
    else:
        span = sub_p(high, low)
    return max_p(low, add_p(mul_p(unit, span), low))


def _float(dtype: Any, name: str) -> np.dtype:
    dtype = canonicalize(dtype)
    if not dtypes.is_float(dtype):
        raise TypeError(f"random.{name} gives floats, not {dtype.name}")
    return dtype  # pyright: ignore[reportReturnType]


def _number(value: Any, dtype: Any) -> Any:
    if isinstance(value, (int, float, np.generic)):
        return np.asarray(value).astype(dtype)[()]
    return convert(value, dtype)


def normal(key: Any, shape: Shape = (), dtype: Any = float) -> Any:
    """Standard normal numbers; complex ones have variance 1/2 in each part."""
    dtype = canonicalize(dtype)
    if dtypes.is_complex(dtype):
        part = dtypes.real_part(dtype)
        scale = part.type(np.sqrt(0.5))
        real, imag = (mul_p(normal(k, shape, part), scale) for k in pair(single(key, "normal")))
        return complex_p(real, imag)
    dtype = _float(dtype, "normal")
    low = np.nextafter(dtype.type(-1), dtype.type(0), dtype=dtype) if dtype.kind == "f" and dtype.itemsize > 2 else \
        ml_dtypes_nextafter(dtype)
    drawn = uniform(key, shape, dtype, low, dtype.type(1))
    return mul_p(dtype.type(np.sqrt(2)), erf_inv_p(drawn))


def ml_dtypes_nextafter(dtype: np.dtype) -> Any:
    """The number after -1 towards 0 in a 16-bit float dtype."""
    return np.asarray(np.asarray(-1, dtype).view(np.uint16) - np.uint16(1)).view(dtype)[()]


def bernoulli(key: Any, p: Any = 0.5, shape: Shape | None = None) -> Any:
    """Booleans, true with probability `p` (its shape is the default one)."""
    dtype = dtypes.to_inexact(aval_of(p).dtype)
    chosen = aval_of(p).shape if shape is None else _shape(shape)
    p = broadcast_to(_number(p, dtype), chosen) if aval_of(p).shape else _number(p, dtype)
    return lt_p(uniform(key, chosen, dtype), p)


def randint(key: Any, shape: Shape, minval: Any, maxval: Any, dtype: Any = int) -> Any:
    """Integers uniform in [minval, maxval). Raises TypeError for a dtype that is no integer."""
    dtype = canonicalize(dtype)
    if not dtypes.is_integer(dtype):
        raise TypeError(f"random.randint gives integers, not {dtype.name}")
    key, shape = single(key, "randint"), _shape(shape)
    info = ml_dtypes.iinfo(dtype)
    beyond = isinstance(maxval, int) and maxval > int(info.max)
    low, high = _limit(minval, dtype, shape), _limit(maxval, dtype, shape)
    unsigned = UINTS[dtype.itemsize * 8]
    first, second = (random_bits_p(k, bit_width=dtype.itemsize * 8, shape=shape) for k in pair(key))
    span = convert(sub_p(high, low), unsigned)
    if beyond:
        span = add_p(span, unsigned.type(1))
    span = where(lt_p(low, high), span, unsigned.type(1))
    # 2**bits mod span, from the square of 2**(bits/2) mod span, joins two draws into one of twice the width.
    half = rem_p(broadcast_to(unsigned.type(2 ** (dtype.itemsize * 4)), aval_of(span).shape), span)
    wide = rem_p(mul_p(half, half), span)
    offset = rem_p(add_p(mul_p(rem_p(first, span), wide), rem_p(second, span)), span)
    return add_p(low, convert(offset, dtype))


def _limit(value: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(value, (int, np.integer)):
        info = ml_dtypes.iinfo(dtype)
        return np.asarray(min(max(int(value), int(info.min)), int(info.max))).astype(dtype)[()]
    return broadcast_to(convert(value, dtype), shape)
