"""Numbers from keys. Uniform bits equal JAX's exactly; what goes through erf_inv agrees to a few units in the last place.

Outside any trace each sampler runs as one program: rounding must not depend on where a sum and a product meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ..backend.placement import laying
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..core.avals import aval_of
from ..eager.functions import eager_jit
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
from ..ops.linear import add_p, broadcast_to, convert, mul_p, reshape, slice_in_dim, sub_p, where
from ..ops.rng import UINTS, random_bits_p
from .arguments import ANY, drawn_shape, in_dtype, key_and_dtype, spread
from .keys import pair


__all__ = ["bernoulli", "bits", "normal", "rademacher", "randint", "uniform"]


Shape = int | Sequence[int]
_SMALL_INTS = frozenset(map(np.dtype, (ml_dtypes.int4, ml_dtypes.uint4)))


@laying
@eager_jit(static="shape dtype", nested=True)
def bits(
    key: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Random bits as unsigned integers [*shape] (uint32 by default, uint64 with enable_x64). Raises ValueError for
    other dtypes."""
    default = dtypes.uint32 if dtypes.default_int().itemsize == 4 else dtypes.uint64
    key, dtype = key_and_dtype("bits", key, dtype, "u", default)
    return random_bits_p(key, bit_width=dtype.itemsize * 8, shape=drawn_shape("bits", shape))


@laying
@eager_jit(static="shape dtype", nested=True)
def uniform(
    key: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    minval: ArrayLike = 0.0,
    maxval: ArrayLike = 1.0,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Floats uniform in [minval, maxval), which broadcast to `shape`.

    Raises ValueError for a dtype that is not a float, TypeError for bounds that do not broadcast to the shape.
    """
    key, dtype = key_and_dtype("uniform", key, dtype)
    if shape is None:
        raise TypeError("random.uniform: shape is a tuple of ints, not None")
    shape = drawn_shape("uniform", shape, minval, maxval, error=TypeError)
    low, high = (in_dtype(v, dtype) for v in (minval, maxval))
    unit = _unit(key, shape, dtype)
    if isinstance(low, np.generic) and isinstance(high, np.generic):
        if low == 0 and high == 1:
            return unit
        span = np.subtract(high, low)
    else:
        low, high = (x if isinstance(x, np.generic) else spread(shape, x)[0] for x in (low, high))
        span = sub_p(high, low)
    return max_p(low, add_p(mul_p(unit, span), low))


def _unit(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Floats uniform in [0, 1): random bits as the mantissa of numbers in [1, 2)."""
    info = ml_dtypes.finfo(dtype)
    width, mantissa = info.bits, info.nmant
    drawn = 8 if mantissa < 8 else width
    raw = convert(random_bits_p(key, bit_width=drawn, shape=shape), UINTS[width])
    one = np.asarray(1, dtype).view(UINTS[width])[()]
    mantissas = or_p(shift_right_logical_p(raw, UINTS[width].type(drawn - mantissa)), one)
    return sub_p(bitcast_convert_type_p(mantissas, new_dtype=dtype), dtype.type(1))


@laying
@eager_jit(static="shape dtype", nested=True)
def normal(
    key: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Standard normal numbers [*shape]; complex ones have variance 1/2 in each part. Raises ValueError for other
    dtypes."""
    key, dtype = key_and_dtype("normal", key, dtype, "fc")
    shape = drawn_shape("normal", shape)
    if not dtypes.is_complex(dtype):
        return _real_normal(key, shape, dtype)
    part = dtypes.real_part(dtype)
    scale = part.type(np.sqrt(0.5))
    return complex_p(*(mul_p(_real_normal(k, shape, part), scale) for k in pair(key)))


def _real_normal(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    drawn = uniform(key, shape, dtype, after(-1, dtype), dtype.type(1))
    return mul_p(dtype.type(np.sqrt(2)), erf_inv_p(drawn))


def after(x: float, dtype: Any) -> Any:
    """The number after a negative one, towards 0: its bits less one."""
    bits = UINTS[dtype.itemsize * 8]
    return np.asarray(np.asarray(x, dtype).view(bits) - bits.type(1)).view(dtype)[()]


@laying
@eager_jit(static="shape mode", nested=True)
def bernoulli(
    key: ArrayLike,
    p: ArrayLike = 0.5,
    shape: Shape | None = None,
    mode: str = "low",
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Booleans, true with probability `p`, of `shape` (by default p's).

    `mode`: "high" draws twice the bits, so that probabilities below the precision of p's dtype come out right, too. Raises
    TypeError for a p that is not a float, ValueError for another mode.
    """
    if mode not in ("high", "low"):
        raise ValueError(f"random.bernoulli: mode is 'high' or 'low', not {mode!r}")
    dtype = aval_of(p).dtype
    if not dtypes.is_float(dtype):
        raise TypeError(f"random.bernoulli: p is a float or an array of floats, not {aval_of(p).short()}")
    key, dtype = key_and_dtype("bernoulli", key, dtype)
    shape = drawn_shape("bernoulli", shape, p)
    p = in_dtype(p, dtype)
    p = p if isinstance(p, np.generic) else spread(shape, p)[0]
    if mode == "low":
        return lt_p(uniform(key, shape, dtype), p)
    both = uniform(key, (2, *shape), dtype)
    coarse, fine = (reshape(slice_in_dim(both, i, i + 1), shape) for i in range(2))
    return lt_p(mul_p(fine, dtype.type(2.0 ** -ml_dtypes.finfo(dtype).nmant)), sub_p(p, coarse))


@laying
@eager_jit(static="shape dtype", nested=True)
def rademacher(
    key: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """-1 or 1 [*shape], equally likely, as integers by default."""
    key, dtype = key_and_dtype("rademacher", key, dtype, ANY, int, also=_SMALL_INTS)
    number = dtypes.int32 if dtype == dtypes.bool_ else dtype
    heads = convert(bernoulli(key, 0.5, drawn_shape("rademacher", shape)), number)
    return convert(sub_p(mul_p(heads, number.type(2)), number.type(1)), dtype)


@laying
@eager_jit(static="shape dtype", nested=True)
def randint(
    key: ArrayLike,
    shape: Shape,
    minval: ArrayLike,
    maxval: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Integers [*shape] uniform in [minval, maxval), which broadcast to `shape`; minval where that is empty. Raises
    TypeError for a dtype that is not an integer.

    `maxval` may be one more than the dtype holds. Ranges that are not a power of 2 are slightly uneven; 8 and 16 bits are
    drawn from 32.
    """
    key, dtype = key_and_dtype("randint", key, dtype, "iu", int, TypeError, _SMALL_INTS)
    if shape is None:
        raise TypeError("random.randint: shape is a tuple of ints, not None")
    shape = drawn_shape("randint", shape, minval, maxval)
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
