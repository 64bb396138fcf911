"""Generators of random bits: the cipher Threefry-2x32 with its counters, and XLA's own generators."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.dtypes import uint32, uint64
from ..core.primitive import Primitive
from ..symbolic.dimension import is_static
from .elementwise import and_p, eq_p, lt_p, or_p, shift_left_p, shift_right_logical_p, xor_p
from .families import Discrete, broadcast_shapes, check_kind, pure
from .indexing import iota_p
from .linear import add_p, broadcast_in_dim, concatenate_p, convert, full, mul_p, reshape, select_n_p, slice_in_dim


UINTS = {8: dtypes.uint8, 16: dtypes.uint16, 32: uint32, 64: uint64}

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)


def rotate_left(x: Any, n: int) -> Any:
    """Words whose upper `n` bits became the lower ones."""
    return or_p(shift_left_p(x, np.uint32(n)), shift_right_logical_p(x, np.uint32(32 - n)))


def threefry_rounds(k1: Any, k2: Any, x1: Any, x2: Any) -> list[Any]:
    """The two words of the cipher: 20 rounds, the key injected after every fourth."""
    keys = (k1, k2, xor_p(xor_p(k1, k2), PARITY))
    x1, x2 = add_p(x1, k1), add_p(x2, k2)
    for i in range(5):
        for rotation in _ROTATIONS[i % 2]:
            x1 = add_p(x1, x2)
            x2 = xor_p(x1, rotate_left(x2, rotation))
        x1 = add_p(x1, keys[(i + 1) % 3])
        x2 = add_p(add_p(x2, keys[(i + 2) % 3]), np.uint32(i + 1))
    return [x1, x2]


class Threefry2x32(Discrete):
    """Two words of random bits from two words of key and two of counter, element by element."""

    multiple_results = True

    def abstract(self, /, *avals):
        if len(avals) != 4 or any(a.dtype != uint32 for a in avals):
            raise TypeError(f"threefry2x32 takes four operands of uint32, it got {', '.join(a.short() for a in avals)}")
        out = ShapedArray(broadcast_shapes(self.name, avals), uint32)
        return pure([out, out])

    def lower(self, ctx, /, *values):
        return ctx.inline(threefry_rounds, *values)

    def batch(self, axis, args, dims, /):
        args, dim = axis.align(args, dims)
        return threefry2x32_p(*args), [dim, dim]


threefry2x32_p = Threefry2x32("threefry2x32")


def counters(shape: Sequence[int]) -> tuple[Any, Any]:
    """The index of each element of `shape` in row-major order, as high and low words."""
    shape = tuple(shape)
    if not is_static(shape) or math.prod(shape) < 2**32:
        low = reshape(iota_p(dtype=uint32, shape=(math.prod(shape),), dimension=0), shape)
        return full(shape, 0, uint32), low
    return _wide_counters(shape)


def _wide_counters(shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Indices beyond 32 bits: sums of index × stride in two words, with the carry by hand."""
    high, low = full(shape, 0, uint32), full(shape, 0, uint32)
    stride = math.prod(shape)
    for axis, size in enumerate(shape):
        stride //= size
        index = iota_p(dtype=uint32, shape=shape, dimension=axis)
        product_high, product_low = _multiply_wide(index, stride & 0xFFFFFFFF)
        product_high = add_p(product_high, mul_p(index, np.uint32(stride >> 32)))
        total = add_p(low, product_low)
        carry = convert(lt_p(total, low), uint32)
        high, low = add_p(add_p(high, product_high), carry), total
    return high, low


def _multiply_wide(x: Any, y: int) -> tuple[Any, Any]:
    """High and low word of a 32 × 32 bit product, from four 16-bit ones."""
    mask, half = np.uint32(0xFFFF), np.uint32(16)
    x_low, x_high = and_p(x, mask), shift_right_logical_p(x, half)
    y_low, y_high = np.uint32(y & 0xFFFF), np.uint32(y >> 16)
    low, high = mul_p(x_low, y_low), mul_p(x_high, y_high)
    middle = add_p(mul_p(x_high, y_low), shift_right_logical_p(low, half))
    other = add_p(mul_p(x_low, y_high), and_p(middle, mask))
    top = add_p(add_p(high, shift_right_logical_p(middle, half)), shift_right_logical_p(other, half))
    return top, or_p(shift_left_p(other, half), and_p(low, mask))


def threefry_stream(k1: Any, k2: Any, count: int) -> Any:
    """`count` words, u32[..., count], for keys of words u32[...]: those of JAX's older form, in which the counters are cut into
    two halves, the high and the low words."""
    keys, half = aval_of(k1).shape, (count + 1) // 2
    whole, own = (*keys, half), tuple(range(len(keys)))
    low = iota_p(dtype=uint32, shape=(half,), dimension=0)
    high = add_p(low, np.uint32(half))
    if count % 2:  # the last counter is 0
        high = select_n_p(eq_p(low, np.uint32(half - 1)), high, full((half,), 0, uint32))
    counted = [broadcast_in_dim(c, whole, (len(keys),)) for c in (low, high)]
    spread = [broadcast_in_dim(k, whole, own) for k in (k1, k2)]
    words = concatenate_p(*threefry2x32_p(*spread, *counted), dimension=len(keys))
    return slice_in_dim(words, 0, count, axis=len(keys)) if count % 2 else words


# XLA's generators -----------------------------------------------------------------------------------------------------


class RandomAlgorithm(enum.IntEnum):
    """Which generator `rng_bit_generator` is: the platform's own choice, Threefry-2x32, or Philox-4x32."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2

    def __str__(self) -> str:
        return self.name


class RngBitGenerator(Discrete):
    """XLA's own generator: its next state, and bits of `shape` and `dtype` (unsigned) from a state of u32[4] or u64[2]."""

    multiple_results = True

    def abstract(self, state, /, *, shape, dtype, algorithm):
        if (state.dtype, state.shape) not in ((uint32, (4,)), (uint64, (2,))):
            raise TypeError(f"rng_bit_generator takes a state of uint32[4] or uint64[2], it got {state.short()}")
        if dtypes.kind(dtype) != "u" or dtype in dtypes.WIDER:
            raise TypeError(f"rng_bit_generator gives unsigned integers of 8 to 64 bits, not {dtype.name}")
        return pure([ShapedArray(state.shape, state.dtype), ShapedArray(tuple(shape), dtype)])

    def lower(self, ctx, state, /, *, shape, dtype, algorithm):
        wide, pairs = ShapedArray((2,), uint64), ShapedArray((2, 2), uint32)
        own, bits = ctx.avals_out
        name = ctx.hlo.RngAlgorithmAttr.get(RandomAlgorithm(algorithm).name.removeprefix("RNG_"))
        if own.dtype == uint64:
            return list(ctx.hlo.RngBitGeneratorOp(ctx.type(wide), ctx.type(bits), name, state).results)
        state = ctx.hlo.bitcast_convert(ctx.type(wide), ctx.reshape(state, pairs))
        state, drawn = ctx.hlo.RngBitGeneratorOp(ctx.type(wide), ctx.type(bits), name, state).results
        words = ctx.hlo.bitcast_convert(ctx.type(pairs), state)
        return [ctx.reshape(words, own), drawn]

    def batch(self, axis, args, dims, /, *, shape, **params):
        """The first state draws for all; the others stay as they are (as in JAX)."""
        states = axis.move(args[0], dims[0], 0)
        words = states.aval.shape[1]
        first = reshape(slice_in_dim(states, 0, 1), (words,))
        state, bits = self.bind(first, shape=(axis.size, *shape), **params)
        rest = slice_in_dim(states, 1, axis.size)
        return [concatenate_p(reshape(state, (1, words)), rest, dimension=0), bits], [0, 0]


class RngUniform(Primitive):
    """Numbers of `shape` uniform in [low, high), by a generator that keeps its own state: each run gives others. It has
    neither derivative nor map."""

    def abstract(self, low, high, /, *, shape):
        if low.dtype != high.dtype:
            raise ValueError(f"rng_uniform takes two bounds of one dtype, it got {low.short()} and {high.short()}")
        check_kind("rng_uniform", low, "iuf")  # XLA ends the process on others
        if low.shape or high.shape:
            raise ValueError(f"rng_uniform takes scalar bounds, it got {low.short()} and {high.short()}")
        return pure(ShapedArray(tuple(shape), low.dtype, low.weak_type and high.weak_type))

    def lower(self, ctx, low, high, /, *, shape):
        sizes = ctx.constant(np.asarray(shape, np.int64))
        return ctx.hlo.RngOp(low, high, sizes, ctx.hlo.RngDistributionAttr.get("UNIFORM")).result


rng_bit_generator_p = RngBitGenerator("rng_bit_generator")
rng_uniform_p = RngUniform("rng_uniform")
