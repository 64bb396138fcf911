"""Distributions drawn by a formula in one or two uniform numbers: the inverse of their distribution function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import ml_dtypes
import numpy as np

from .. import lax, numpy as jnp
from ..backend.placement import laying
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..eager.functions import eager_jit
from ..numpy.operands import lenient, operand_and_aval
from ..ops.linear import convert
from ..ops.rng import random_bits_p
from .arguments import drawn_shape, in_dtype, key_and_dtype, sampler_arguments, spread
from .samplers import Shape, uniform


__all__ = ["cauchy", "exponential", "geometric", "gumbel", "laplace", "logistic", "pareto", "rayleigh", "triangular",
           "truncated_normal", "weibull_min"]  # fmt: skip


def _tiny(dtype: Any) -> Any:
    return ml_dtypes.finfo(dtype).tiny


class Sampler(Protocol):
    """`cauchy`, and those of its like."""

    def __call__(
        self,
        key: ArrayLike,
        shape: Shape = (),
        dtype: DTypeLike | None = None,
        *,
        out_sharding: Sharding | PartitionSpec | None = None,
    ) -> Array: ...


def _of_quantiles(name: str, low: Callable[[Any], Any], quantile: Callable[[Any], Any], doc: str) -> Sampler:
    """The sampler `quantile(u)` of numbers u uniform in [low(dtype), 1)."""

    def sampler(key: Any, shape: Shape = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
        key, dtype = key_and_dtype(name, key, dtype)
        return quantile(uniform(key, drawn_shape(name, shape), dtype, low(dtype), dtype.type(1)))

    sampler.__name__ = sampler.__qualname__ = name
    sampler.__doc__ = f"{doc} Raises ValueError for a dtype that is not a float."
    return laying(eager_jit(static="shape dtype", nested=True)(sampler))  # pyright: ignore[reportArgumentType]


cauchy = _of_quantiles(
    "cauchy",
    lambda dtype: ml_dtypes.finfo(dtype).eps,
    lambda u: lax.tan((u - 0.5) * np.pi),
    "Cauchy numbers: density 1 / (π (1 + x²)), tan(π (u - 1/2)) of uniform u.",
)
exponential = _of_quantiles(
    "exponential",
    lambda dtype: dtype.type(0),
    lambda u: -lax.log1p(-u),
    "Exponential numbers: density exp(-x) for x ≥ 0, -log(1 - u) of uniform u.",
)
laplace = _of_quantiles(
    "laplace",
    lambda dtype: dtype.type(-1) + ml_dtypes.finfo(dtype).epsneg,
    lambda u: lax.sign(u) * lax.log1p(-lax.abs(u)),
    "Laplace numbers: density exp(-|x|) / 2, sign(u) log(1 - |u|) of u uniform in (-1, 1).",
)
logistic = _of_quantiles(
    "logistic",
    _tiny,
    lambda u: lax.log(u) - lax.log1p(-u),
    "Logistic numbers: density exp(-x) / (1 + exp(-x))², log(u / (1 - u)) of uniform u.",
)


# Gumbel --------------------------------------------------------------------------------------------------------------


@laying
@eager_jit(static="shape dtype mode", nested=True)
def gumbel(
    key: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    mode: str | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Gumbel numbers [*shape]: density exp(-x - exp(-x)), -log(-log(u)) of uniform u.

    `mode`: "low" (the same as None) draws u to the precision of the dtype: in float32 the numbers end at 16.6. "high"
    draws twice the bits, for the tail of large numbers; "highest" is that for float32 with 64 bits as one fraction, and
    "high" for other dtypes. Raises ValueError for other modes and for a dtype that is not a float.
    """
    key, dtype = key_and_dtype("gumbel", key, dtype)
    shape = drawn_shape("gumbel", shape)
    mode = "low" if mode is None else mode
    if mode not in ("low", "high", "highest"):
        raise ValueError(f"random.gumbel: mode is 'low', 'high' or 'highest', not {mode!r}")
    if mode == "low":
        return _gumbel(uniform(key, shape, dtype, _tiny(dtype), dtype.type(1)))
    if mode == "highest" and dtype == dtypes.float32:
        near_0, x = _smaller_half(random_bits_p(key, bit_width=32, shape=(2, *shape)))
        return -lax.log(-lax.select(near_0, lax.log1p(-x), lax.log(x)))
    coarse, fine = uniform(key, (2, *shape), dtype)
    x = jnp.where(coarse >= 0.5, coarse, coarse + 2.0 ** -ml_dtypes.finfo(dtype).nmant * fine + _tiny(dtype))
    return -lax.log(-lax.log1p(-x))


def _gumbel(u: Any) -> Any:
    return -lax.log(-lax.log(u))


def _smaller_half(bits: Any) -> tuple[Any, Any]:
    """Of a fraction u of 64 bits, u32[2, ...], whether it is below 1/2, and the smaller of u and 1 - u in float32."""
    high, low = bits
    below = high < np.uint32(2**31)
    carry = lax.convert_element_type(low == 0, dtypes.uint32)
    high, low = lax.select(below, high, ~high + carry), lax.select(below, low, ~low + np.uint32(1))
    zeros, of_low = lax.clz(high), lax.clz(low)
    no_high = zeros == np.uint32(32)
    leading = (high << zeros) | lax.select(no_high, low << of_low, lax.shift_right_logical(low, 32 - zeros))
    mantissa = lax.shift_right_logical(leading, np.uint32(8)) & np.uint32(2**23 - 1)
    exponent = np.uint32(126) - lax.select(no_high, of_low + np.uint32(32), zeros)
    return below, lax.bitcast_convert_type((exponent << np.uint32(23)) | mantissa, dtypes.float32)


# With parameters -----------------------------------------------------------------------------------------------------


@laying
@eager_jit(static="shape dtype", nested=True)
def pareto(
    key: ArrayLike,
    b: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Pareto numbers: density b / x^(b + 1) for x ≥ 1, exp(e / b) of exponential e.

    `shape`: by default that of `b`. Raises ValueError for shapes that do not broadcast to it and a dtype that is not a float.
    """
    key, shape, dtype, b = sampler_arguments("pareto", key, shape, dtype, b)
    return jnp.exp(exponential(key, shape, dtype) / b)


@laying
@lenient
@eager_jit(static="shape dtype", nested=True)
def rayleigh(
    key: ArrayLike,
    scale: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Rayleigh numbers: density x exp(-x² / 2) for x > 0, sqrt(-2 log(u)) of uniform u, times `scale`.

    `shape`: by default that of `scale`. Raises ValueError for shapes that do not broadcast to it and a dtype that is not a
    float.
    """
    key, shape, dtype, factor = sampler_arguments("rayleigh", key, shape, dtype, scale)
    return factor * lax.sqrt(lax.log(uniform(key, shape, dtype)) * -2)


@eager_jit(static="shape dtype", nested=True)
def weibull_min(
    key: ArrayLike, scale: ArrayLike, concentration: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> Array:
    """Weibull numbers: (-log(1 - u))^(1 / concentration) of uniform u, times `scale`.

    `shape` is that of u; the parameters broadcast with it, and keep their dtypes. Raises ValueError for a dtype that is not a
    float.
    """
    key, dtype = key_and_dtype("weibull_min", key, dtype)
    drawn = exponential(key, drawn_shape("weibull_min", shape), dtype)
    return jnp.power(drawn, 1.0 / concentration) * scale


@laying
@eager_jit(static="shape dtype", nested=True)
def triangular(
    key: ArrayLike,
    left: ArrayLike,
    mode: ArrayLike,
    right: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Numbers in [left, right] whose density rises linearly to `mode` and falls linearly from there.

    `shape`: by default that of the parameters together. Raises ValueError for shapes that do not broadcast to it and a
    dtype that is not a float.
    """
    key, shape, dtype, *params = sampler_arguments("triangular", key, shape, dtype, left, mode, right)
    left, mode, right = spread(shape, *params)
    u = uniform(key, shape, dtype)
    width = right - left
    rising = left + lax.sqrt(u * width * (mode - left))
    falling = right - lax.sqrt((1 - u) * width * (right - mode))
    return lax.select(u < (mode - left) / width, rising, falling)


@laying
@eager_jit(static="shape dtype", nested=True)
def truncated_normal(
    key: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Standard normal numbers strictly between `lower` and `upper`.

    `shape`: by default that of the parameters together. Raises ValueError for shapes that do not broadcast to it and a
    dtype that is not a float.
    """
    key, dtype = key_and_dtype("truncated_normal", key, dtype)
    shape = drawn_shape("truncated_normal", shape, lower, upper)
    root = dtype.type(math.sqrt(2))
    ends = [in_dtype(end, dtype) for end in (lower, upper)]
    low, high = (lax.erf(end / root) for end in ends)
    drawn = root * lax.erf_inv(uniform(key, shape, dtype, low, high))
    # Rounding must not reach the ends.
    inner = (
        lax.nextafter(lax.stop_gradient(end), dtype.type(to)) for end, to in zip(ends, (np.inf, -np.inf), strict=True)
    )
    return jnp.clip(drawn, *inner)


@laying
@lenient
@eager_jit(static="shape dtype", nested=True)
def geometric(
    key: ArrayLike,
    p: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """How many trials of probability `p` the first success takes: 1 + floor(log(u) / log(1 - p)) of uniform u.

    `shape`: by default that of `p`. Raises ValueError for shapes that do not broadcast to it and a dtype that is not an
    integer.
    """
    p, aval = operand_and_aval("random.geometric", p)
    key, dtype = key_and_dtype("geometric", key, dtype, "iu", int)
    shape = drawn_shape("geometric", shape, p)
    number = dtypes.to_inexact(aval.dtype)
    u = uniform(key, shape, number)
    failures = lax.floor(lax.log(jnp.where(u == 0, 1, u)) / lax.log1p(-in_dtype(p, number)))
    return convert(failures + 1, dtype)
