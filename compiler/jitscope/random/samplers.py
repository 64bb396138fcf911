"""Numbers from keys. Uniform bits equal JAX's exactly; what goes through erf_inv agrees to a few units in the last place.

Outside any trace each sampler runs as one program: rounding must not depend on where a sum and a product meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from ..core.dtypes import canonicalize
from ..numpy._fused import fused
from ..ops.elementwise import (
    bitcast_convert_type_p,
    complex_p,
    erf_inv_p,
    gt_p,
    lt_p,
    max_p,
    min_p,
    or_p,
    rem_p,
    shift_right_logical_p,
)
from ..ops.linear import add_p, broadcast_to, convert, mul_p, sub_p, where
from ..ops.rng import UINTS, random_bits_p
from .keys import pair, single


Shape = int | Sequence[int]


def _shape(shape: Shape) -> tuple[int, ...]:
    sizes = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
    if any(n < 0 for n in sizes):
        raise ValueError(f"shape {sizes} has a negative size")
    return sizes


@fused(static="shape dtype")
def bits(key: Any, shape: Shape = (), dtype: Any = None) -> Any:
    """Random bits as unsigned integers (uint32 by default). Raises TypeError for other dtypes."""
    dtype = canonicalize(dtype or (dtypes.uint32 if dtypes.default_int().itemsize == 4 else dtypes.uint64))
    if dtypes.kind(dtype) != "u":
        raise TypeError(f"random.bits gives unsigned integers, not {dtype.name}")
    return random_bits_p(single(key, "bits"), bit_width=dtype.itemsize * 8, shape=_shape(shape))


@fused(static="shape dtype")
def uniform(key: Any, shape: Shape = (), dtype: Any = float, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Floats uniform in [minval, maxval). Raises TypeError for a dtype that is no float."""
    dtype = _float(dtype, "uniform")
    key, shape = single(key, "uniform"), _shape(shape)
    low, high = (
        broadcast_to(_number(v, dtype), shape) if aval_of(v).shape else _number(v, dtype) for v in (minval, maxval)
    )
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
    if not dtypes.is_float(dtype) or dtype in dtypes.WIDER:
        raise TypeError(f"random.{name} gives floats of 8 bits and more, not {dtype.name}")
    return dtype  # pyright: ignore[reportReturnType]


def _number(value: Any, dtype: Any) -> Any:
    if isinstance(value, (int, float, np.generic)):
        return np.asarray(value).astype(dtype)[()]
    return convert(value, dtype)


@fused(static="shape dtype")
def normal(key: Any, shape: Shape = (), dtype: Any = float) -> Any:
    """Standard normal numbers; complex ones have variance 1/2 in each part."""
    dtype = canonicalize(dtype)
    if dtypes.is_complex(dtype):
        part = dtypes.real_part(dtype)
        scale = part.type(np.sqrt(0.5))
        real, imag = (mul_p(normal(k, shape, part), scale) for k in pair(single(key, "normal")))
        return complex_p(real, imag)
    dtype, key = _float(dtype, "normal"), single(key, "normal")
    low = (
        np.nextafter(dtype.type(-1), dtype.type(0), dtype=dtype)
        if dtype.kind == "f" and dtype.itemsize > 2
        else ml_dtypes_nextafter(dtype)
    )
    drawn = uniform(key, shape, dtype, low, dtype.type(1))
    return mul_p(dtype.type(np.sqrt(2)), erf_inv_p(drawn))


def ml_dtypes_nextafter(dtype: np.dtype) -> Any:
    """The number after -1 towards 0 in a 16-bit float dtype."""
    return np.asarray(np.asarray(-1, dtype).view(np.uint16) - np.uint16(1)).view(dtype)[()]


@fused(static="shape")
def bernoulli(key: Any, p: Any = 0.5, shape: Shape | None = None) -> Any:
    """Booleans, true with probability `p` (its shape is the default one)."""
    dtype, key = dtypes.to_inexact(aval_of(p).dtype), single(key, "bernoulli")
    chosen = aval_of(p).shape if shape is None else _shape(shape)
    p = broadcast_to(_number(p, dtype), chosen) if aval_of(p).shape else _number(p, dtype)
    return lt_p(uniform(key, chosen, dtype), p)


@fused(static="shape dtype")
def randint(key: Any, shape: Shape, minval: Any, maxval: Any, dtype: Any = int) -> Any:
    """Integers uniform in [minval, maxval); minval where that is empty. Raises TypeError for a dtype that is no integer.

    `maxval` may be one more than the dtype holds. Ranges that are no power of 2 are slightly uneven; 8 and 16 bits are
    drawn from 32.
    """
    dtype = canonicalize(dtype)
    if not dtypes.is_integer(dtype):
        raise TypeError(f"random.randint gives integers, not {dtype.name}")
    key, shape = single(key, "randint"), _shape(shape)
    if dtype.itemsize < 4:
        info = ml_dtypes.iinfo(dtype)
        low = _limit(minval, dtypes.int32, shape, int(info.min), int(info.max))
        high = _limit(maxval, dtypes.int32, shape, int(info.min), int(info.max) + 1)
        return convert(_integers(key, shape, low, high, None), dtype)
    low, high = (_limit(value, dtype, shape) for value in (minval, maxval))
    return _integers(key, shape, low, high, _beyond(maxval, dtype, shape))


def _integers(key: Any, shape: tuple[int, ...], low: Any, high: Any, beyond: Any) -> Any:
    """Integers in [low, high), or [low, high] where `beyond` is true."""
    dtype, bits = aval_of(low).dtype, aval_of(low).dtype.itemsize * 8
    unsigned = UINTS[bits]
    first, second = (random_bits_p(k, bit_width=bits, shape=shape) for k in pair(key))
    # 2**bits mod span, from the square of 2**(bits/2) mod span, joins two draws into one of twice the width.
    if isinstance(low, np.generic) and isinstance(high, np.generic):
        count = max(int(high) - int(low) + (beyond is not None), 1)
        if count == 2**bits:
            return add_p(low, convert(second, dtype))
        half = 2 ** (bits // 2) % count
        span, wide = unsigned.type(count), unsigned.type(half * half % 2**bits % count)
    else:
        span = convert(sub_p(high, low), unsigned)
        if beyond is not None:
            span = add_p(span, convert(beyond, unsigned))  # 0 where all numbers are meant, and x mod 0 is x
        span = where(lt_p(low, high), span, unsigned.type(1))
        half = rem_p(broadcast_to(unsigned.type(2 ** (bits // 2)), aval_of(span).shape), span)
        wide = rem_p(mul_p(half, half), span)
    offset = rem_p(add_p(mul_p(rem_p(first, span), wide), rem_p(second, span)), span)
    return add_p(low, convert(offset, dtype))


def _limit(value: Any, dtype: Any, shape: tuple[int, ...], least: int | None = None, most: int | None = None) -> Any:
    """A bound in `dtype`, cut to what it holds, or to [least, most]."""
    least, most = _range(dtype, least, most)
    if isinstance(value, (int, np.integer)):
        return np.asarray(min(max(int(value), least), most)).astype(dtype)[()]
    own = aval_of(value).dtype
    if not dtypes.is_integer(own):
        return _limit(convert(value, dtypes.default_int()), dtype, shape, least, most)
    low, high = _range(own, least, most)
    return broadcast_to(convert(min_p(max_p(value, own.type(low)), own.type(high)), dtype), shape)


def _beyond(value: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Whether a bound is greater than `dtype` holds; None if it cannot be."""
    _, most = _range(dtype)
    if isinstance(value, (int, np.integer)):
        return np.bool_(True) if int(value) > most else None
    own = aval_of(value).dtype
    if not dtypes.is_integer(own) or _range(own)[1] <= most:
        return None
    return broadcast_to(gt_p(value, own.type(most)), shape)


def _range(dtype: Any, least: int | None = None, most: int | None = None) -> tuple[int, int]:
    info = ml_dtypes.iinfo(dtype)
    return (
        int(info.min) if least is None else max(least, int(info.min)),
        int(info.max) if most is None else min(most, int(info.max)),
    )
