"""Random bits: keys and the counter-based generator threefry2x32 (Salmon et al., 2011), partitionable as JAX's.

A key is one element of dtype `key<fry>`; below it is two 32-bit words. Bits are a pure function of key and position.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.dtypes import ExtendedDType, uint32, uint64
from .elementwise import and_p, bitcast_convert_type_p, lt_p, or_p, shift_left_p, shift_right_logical_p, xor_p
from .families import Discrete, broadcast_shapes, pure
from .indexing import iota_p
from .linear import (
    add_p,
    broadcast_in_dim,
    concatenate_p,
    convert,
    full,
    mul_p,
    reshape,
    slice_in_dim,
    slice_p,
    transpose,
)


class KeyDType(ExtendedDType):
    """The dtype of random keys of one generator, `impl`."""

    type = dtypes.prng_key
    physical = uint32

    def __init__(self, impl: str, tag: str, words: int):
        self.impl = impl
        self.name = f"key<{tag}>"
        self.element_shape = (words,)
        self.itemsize = 4 * words

    def __reduce__(self) -> str:
        return self.impl.removesuffix("2x32")  # the global below: each generator's dtype is one object


threefry = KeyDType("threefry2x32", "fry", 2)
rbg = KeyDType("rbg", "rbg", 4)
"""XLA's own generator draws the bits, threefry makes the keys: of their words, two are one threefry key each."""
unsafe_rbg = KeyDType("unsafe_rbg", "urbg", 4)
"""XLA's own generator does both; nothing is known of how independent its keys are."""
UINTS = {8: dtypes.uint8, 16: dtypes.uint16, 32: uint32, 64: uint64}

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


def _rotate_left(x: Any, n: int) -> Any:
    return or_p(shift_left_p(x, np.uint32(n)), shift_right_logical_p(x, np.uint32(32 - n)))


def threefry_rounds(k1: Any, k2: Any, x1: Any, x2: Any) -> list[Any]:
    """The two words of the cipher: 20 rounds, the key injected after every fourth."""
    keys = (k1, k2, xor_p(xor_p(k1, k2), _PARITY))
    x1, x2 = add_p(x1, k1), add_p(x2, k2)
    for i in range(5):
        for rotation in _ROTATIONS[i % 2]:
            x1 = add_p(x1, x2)
            x2 = xor_p(x1, _rotate_left(x2, rotation))
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
    if math.prod(shape) < 2**32:
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


def _words(data: Any) -> tuple[Any, Any]:
    """The two words of keys, u32[..., 2] → u32[...] each."""
    last = aval_of(data).ndim - 1
    shape = aval_of(data).shape[:-1]
    return tuple(reshape(slice_in_dim(data, i, i + 1, axis=last), shape) for i in range(2))  # pyright: ignore


def _stack(x: Any, y: Any) -> Any:
    shape = aval_of(x).shape
    return concatenate_p(reshape(x, (*shape, 1)), reshape(y, (*shape, 1)), dimension=len(shape))


def _halves(data: Any) -> Any:
    """Words of keys, u32[..., 4], as those of two threefry keys each, u32[..., 2, 2]."""
    return reshape(data, (*aval_of(data).shape[:-1], 2, 2))


def _whole(data: Any) -> Any:
    """The reverse: u32[..., 2, 2] → u32[..., 4]."""
    return reshape(data, (*aval_of(data).shape[:-2], 4))


def _drawn(data: Any, shape: Sequence[int], dtype: Any) -> Any:
    """Bits from XLA's generator, of shape keys × `shape`, all of them by the first key (as JAX's under vmap)."""
    keys = aval_of(data).shape[:-1]
    if 0 in keys:
        return full((*keys, *shape), 0, dtype)
    first = reshape(slice_in_dim(reshape(data, (math.prod(keys), 4)), 0, 1), (4,))
    return rng_bit_generator_p(first, shape=(*keys, *shape), dtype=dtype)[1]


def _each_key(data: Any, shape: Sequence[int]) -> tuple[list[Any], tuple[int, ...]]:
    """Key words and counters, all of shape keys × `shape`."""
    keys = aval_of(data).shape[:-1]
    whole = (*keys, *shape)
    own, rest = tuple(range(len(keys))), tuple(range(len(keys), len(whole)))
    k1, k2 = (broadcast_in_dim(k, whole, own) for k in _words(data))
    high, low = (broadcast_in_dim(c, whole, rest) for c in counters(shape))
    return [k1, k2, high, low], whole


class RngBitGenerator(Discrete):
    """XLA's own generator: its next state, and bits of `shape` and `dtype` (unsigned) from a state of u32[4]."""

    multiple_results = True

    def abstract(self, state, /, *, shape, dtype):
        if state.dtype != uint32 or state.shape != (4,):
            raise TypeError(f"rng_bit_generator takes a state of uint32[4], it got {state.short()}")
        if dtypes.kind(dtype) != "u" or dtype in dtypes.WIDER:
            raise TypeError(f"rng_bit_generator gives unsigned integers of 8 to 64 bits, not {dtype.name}")
        return pure([ShapedArray(state.shape, uint32), ShapedArray(tuple(shape), dtype)])

    def lower(self, ctx, state, /, *, shape, dtype):
        wide, pairs = ShapedArray((2,), uint64), ShapedArray((2, 2), uint32)
        state = ctx.hlo.bitcast_convert(ctx.type(wide), ctx.hlo.reshape(ctx.type(pairs), state))
        algorithm = ctx.hlo.RngAlgorithmAttr.get("DEFAULT")
        state, bits = ctx.hlo.RngBitGeneratorOp(ctx.type(wide), ctx.type(ctx.avals_out[1]), algorithm, state).results
        words = ctx.hlo.bitcast_convert(ctx.type(pairs), state)
        return [ctx.hlo.reshape(ctx.type(ctx.avals_out[0]), words), bits]

    def batch(self, axis, args, dims, /, *, shape, dtype):
        """The first state draws for all; the others stay as they are (as in JAX)."""
        states = axis.move(args[0], dims[0], 0)
        first = reshape(slice_in_dim(states, 0, 1), (4,))
        state, bits = self.bind(first, shape=(axis.size, *shape), dtype=dtype)
        rest = slice_in_dim(states, 1, axis.size)
        return [concatenate_p(reshape(state, (1, 4)), rest, dimension=0), bits], [0, 0]


rng_bit_generator_p = RngBitGenerator("rng_bit_generator")


# Primitives on keys --------------------------------------------------------------------------------------------------


class KeyPrimitive(Discrete):
    """Base of operations on an array of keys; one mapped axis is one more leading axis."""

    def check(self, keys: ShapedArray, /) -> None:
        if not isinstance(keys.dtype, KeyDType):
            raise TypeError(f"{self.name} needs random keys (random.key(seed)), it got {keys.short()}")

    def lower(self, ctx, /, *values, **params):
        return ctx.inline(lambda *args: self.compute(*args, **params), *values)

    def compute(self, /, *args: Any, **params: Any) -> Any:
        """The operation over other primitives."""
        raise self.missing("lower")

    def batch(self, axis, args, dims, /, **params):
        return self.bind(*[axis.move(x, d, 0) for x, d in zip(args, dims)], **params), 0


class RandomSeed(KeyPrimitive):
    """Keys from integer seeds."""

    def abstract(self, seeds, /, *, impl):
        if not dtypes.is_integer(seeds.dtype):
            raise TypeError(f"a seed is an integer; it got {seeds.short()}")
        return pure(ShapedArray(seeds.shape, impl))

    def compute(self, seeds, /, *, impl):
        wide = aval_of(seeds).dtype.itemsize == 8
        if wide:
            bits = bitcast_convert_type_p(seeds, new_dtype=uint64) if aval_of(seeds).dtype != uint64 else seeds
            high = convert(shift_right_logical_p(bits, np.uint64(32)), uint32)
            low = convert(and_p(bits, np.uint64(0xFFFFFFFF)), uint32)
        else:
            high, low = full(aval_of(seeds).shape, 0, uint32), convert(seeds, uint32)
        words = _stack(high, low)
        if impl is not threefry:
            words = concatenate_p(words, words, dimension=aval_of(words).ndim - 1)
        return random_wrap_p(words, impl=impl)


class RandomWrap(KeyPrimitive):
    """Keys from their words, u32[..., 2] (4 for some generators)."""

    def abstract(self, data, /, *, impl):
        if data.dtype != uint32 or data.shape[-1:] != impl.element_shape:
            words = impl.element_shape[0]
            raise TypeError(f"keys of {impl.impl} are made of uint32[..., {words}]; it got {data.short()}")
        return pure(ShapedArray(data.shape[:-1], impl))

    def lower(self, ctx, data, /, *, impl):
        return data


class RandomUnwrap(KeyPrimitive):
    """The words of keys."""

    def abstract(self, keys, /):
        self.check(keys)
        return pure(ShapedArray((*keys.shape, *keys.dtype.element_shape), uint32))

    def lower(self, ctx, keys, /):
        return keys


class RandomBits(KeyPrimitive):
    """Unsigned integers of `bit_width` random bits, of shape keys × `shape`."""

    def abstract(self, keys, /, *, bit_width, shape):
        self.check(keys)
        return pure(ShapedArray((*keys.shape, *shape), UINTS[bit_width]))

    def compute(self, keys, /, *, bit_width, shape):
        if aval_of(keys).dtype is not threefry:
            return _drawn(random_unwrap_p(keys), shape, UINTS[bit_width])
        operands, _ = _each_key(random_unwrap_p(keys), shape)
        high, low = threefry2x32_p(*operands)
        if bit_width == 64:
            return or_p(shift_left_p(convert(high, uint64), np.uint64(32)), convert(low, uint64))
        return convert(xor_p(high, low), UINTS[bit_width])


class RandomSplit(KeyPrimitive):
    """New keys, of shape keys × `shape`."""

    def abstract(self, keys, /, *, shape):
        self.check(keys)
        return pure(ShapedArray((*keys.shape, *shape), keys.dtype))

    def compute(self, keys, /, *, shape):
        impl, words = aval_of(keys).dtype, random_unwrap_p(keys)
        if impl is unsafe_rbg:
            new = self.unsafe(words, shape)
        elif impl is rbg:
            n, m = aval_of(keys).ndim, len(shape)  # keys × 2 × shape × 2 → keys × shape × 2 × 2
            order = (*range(n), *range(n + 1, n + 1 + m), n, n + 1 + m)
            new = _whole(transpose(self.partitioned(_halves(words), shape), order))
        else:
            new = self.partitioned(words, shape)
        return random_wrap_p(new, impl=impl)

    def partitioned(self, words, shape):
        """Words of new threefry keys, of shape keys × `shape` × 2."""
        operands, _ = _each_key(words, shape)
        return _stack(*threefry2x32_p(*operands))

    def unsafe(self, words, shape):
        """Every tenth draw of XLA's generator."""
        keys, count = aval_of(words).shape[:-1], math.prod(shape)
        draws = _drawn(words, (10 * count, 4), uint32)
        limits = (*keys, 10 * count, 4)
        strides = (*[1] * len(keys), 10, 1)
        tenth = slice_p(draws, start_indices=(0,) * len(limits), limit_indices=limits, strides=strides)
        return reshape(tenth, (*keys, *shape, 4))


class RandomClone(KeyPrimitive):
    """The same keys, which count as new ones where it is checked that none is used twice."""

    def abstract(self, keys, /):
        self.check(keys)
        return pure(keys)

    def lower(self, ctx, keys, /):
        return keys

    def batch(self, axis, args, dims, /):
        return self.bind(*args), dims[0]


class RandomFoldIn(KeyPrimitive):
    """A new key from a key and a number (uint32), element by element."""

    def abstract(self, keys, data, /):
        self.check(keys)
        if data.dtype != uint32 or data.shape != keys.shape:
            raise TypeError(f"fold_in needs one uint32 for each key; it got {keys.short()} and {data.short()}")
        return pure(keys)

    def compute(self, keys, data, /):
        impl, words = aval_of(keys).dtype, random_unwrap_p(keys)
        if impl is unsafe_rbg:
            new = xor_p(words, self.last_draw(data))
        elif impl is rbg:
            shape = aval_of(data).shape
            new = _whole(self.folded(_halves(words), broadcast_in_dim(data, (*shape, 2), tuple(range(len(shape))))))
        else:
            new = self.folded(words, data)
        return random_wrap_p(new, impl=impl)

    def folded(self, words, data):
        """Words of the new threefry keys."""
        k1, k2 = _words(words)
        return _stack(*threefry2x32_p(k1, k2, full(aval_of(data).shape, 0, uint32), data))

    def last_draw(self, data):
        """The tenth draw of XLA's generator, seeded with the numbers."""
        shape = aval_of(data).shape
        draws = _drawn(random_unwrap_p(random_seed_p(data, impl=unsafe_rbg)), (10, 4), uint32)
        return reshape(slice_in_dim(draws, 9, 10, axis=len(shape)), (*shape, 4))


random_seed_p = RandomSeed("random_seed")
random_wrap_p = RandomWrap("random_wrap")
random_unwrap_p = RandomUnwrap("random_unwrap")
random_bits_p = RandomBits("random_bits")
random_split_p = RandomSplit("random_split")
random_clone_p = RandomClone("random_clone")
random_fold_in_p = RandomFoldIn("random_fold_in")
