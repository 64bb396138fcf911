"""Random keys: their dtypes, and the primitives that make them and draw bits with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.config import settings
from ..core.dtypes import ExtendedDType, uint32, uint64
from ..symbolic.dimension import is_symbolic_dim
from ..xla.cpu_tuning import RANDOM_BITS_APART
from .counter_based import CounterHash, philox2x32_p, philox4x32_p, threefry4x32_p
from .elementwise import and_p, bitcast_convert_type_p, eq_p, or_p, shift_left_p, shift_right_logical_p, xor_p
from .families import Discrete, pure
from .generators import UINTS, RandomAlgorithm, counters, rng_bit_generator_p, threefry2x32_p, threefry_stream
from .indexing import iota_p
from .linear import broadcast_in_dim, concatenate_p, convert, full, mul_p, reshape, slice_in_dim, slice_p, transpose


class KeyDType(ExtendedDType):
    """The dtype of random keys of one generator, `impl`."""

    type = dtypes.prng_key
    physical = uint32

    def __init__(self, impl: str, tag: str, words: int, hashed: CounterHash | None = None):
        self.impl, self.hash = impl, hashed
        self.name = f"key<{tag}>"
        self.element_shape = (words,)
        self.itemsize = 4 * words

    def __reduce__(self) -> str:
        return (
            "threefry" if self.impl == "threefry2x32" else self.impl
        )  # the global below: each generator's dtype is one object


threefry = KeyDType("threefry2x32", "fry", 2)
rbg = KeyDType("rbg", "rbg", 4)
"""XLA's own generator draws the bits, threefry makes the keys: of their words, two are one threefry key each."""
unsafe_rbg = KeyDType("unsafe_rbg", "urbg", 4)
"""XLA's own generator does both; nothing is known of how independent its keys are."""
threefry4x32 = KeyDType("threefry4x32", "fry4", 4, threefry4x32_p)
philox2x32 = KeyDType("philox2x32", "phx2", 1, philox2x32_p)
philox4x32 = KeyDType("philox4x32", "phx4", 2, philox4x32_p)
GENERATORS = {dtype.impl: dtype for dtype in (threefry, threefry4x32, philox2x32, philox4x32, rbg, unsafe_rbg)}
"""The dtypes of keys by the names of their generators."""


def _words(data: Any) -> list[Any]:
    """The words of keys, u32[..., n] → u32[...] each."""
    *shape, count = aval_of(data).shape
    return [reshape(slice_in_dim(data, i, i + 1, axis=len(shape)), tuple(shape)) for i in range(count)]


def _stack(*words: Any) -> Any:
    shape = aval_of(words[0]).shape
    rows = [reshape(x, (*shape, 1)) for x in words]
    return concatenate_p(*rows, dimension=len(shape)) if len(rows) > 1 else rows[0]


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
    return _generated(first, (*keys, *shape), dtype)


def _each_key(data: Any, shape: Sequence[int]) -> tuple[list[Any], tuple[int, ...]]:
    """Key words and counters, all of shape keys × `shape`."""
    keys = aval_of(data).shape[:-1]
    whole = (*keys, *shape)
    own, rest = tuple(range(len(keys))), tuple(range(len(keys), len(whole)))
    words = [broadcast_in_dim(k, whole, own) for k in _words(data)]
    return [*words, *[broadcast_in_dim(c, whole, rest) for c in counters(shape)]], whole


def _generated(state: Any, shape: Sequence[int], dtype: Any) -> Any:
    return rng_bit_generator_p(state, shape=tuple(shape), dtype=dtype, algorithm=RandomAlgorithm.RNG_DEFAULT)[1]


# Primitives on keys --------------------------------------------------------------------------------------------------


class KeyPrimitive(Discrete):
    """Base of operations on an array of keys; one mapped axis is one more leading axis.

    `draws`: whether a generator runs.
    """

    draws = False

    def check(self, keys: ShapedArray, /) -> None:
        if not isinstance(keys.dtype, KeyDType):
            raise TypeError(f"{self.name} needs random keys (random.key(seed)), it got {keys.short()}")

    def lower(self, ctx, /, *values, **params):
        compute = lambda *args: self.compute(*args, **params)
        own, out = ctx.avals_in[0], ctx.avals_out[0]
        apart = self.draws and RANDOM_BITS_APART.holds(ctx.module.platform) and own.dtype is threefry
        if not apart or is_symbolic_dim(out.size) or not self.drawn_apart(out.size):
            return ctx.inline(compute, *values)
        one_way = lambda: [ctx.inline(compute, *values)]
        return ctx.case(ctx.inline(_zero, *values), [out], [one_way, lambda: [ctx.zeros(out)]])[0]

    def drawn_apart(self, size: int) -> bool:
        """Whether so many numbers are drawn in a kernel of their own."""
        return size >= RANDOM_BITS_APART.value

    def compute(self, /, *args: Any, **params: Any) -> Any:
        """The operation over other primitives."""
        raise self.missing("lower")

    def batch(self, axis, args, dims, /, **params):
        return self.bind(*[axis.move(x, d, 0) for x, d in zip(args, dims)], **params), 0


def _zero(keys: Any, *others: Any) -> Any:
    """0, but the compiler cannot know it, and leaves apart what is chosen by it."""
    words = reshape(random_unwrap_p(keys), (aval_of(keys).size * 2,))
    first = reshape(slice_in_dim(words, 0, 1), ())
    return convert(eq_p(or_p(first, np.uint32(1)), np.uint32(0)), dtypes.int32)


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
        if impl.hash:
            return random_wrap_p(_stack(*impl.hash.seeded(high, low)), impl=impl)
        words = _stack(high, low)
        if impl is not threefry:
            words = concatenate_p(words, words, dimension=aval_of(words).ndim - 1)
        return random_wrap_p(words, impl=impl)


class RandomWrap(KeyPrimitive):
    """Keys from their words, u32[..., 2] (1 or 4 for some generators)."""

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


class Drawing(KeyPrimitive):
    """Base of what draws with threefry: with the option threefry_partitionable off, from JAX's older stream (`original`)."""

    draws = True

    def bind(self, *args, **params):
        if not settings().threefry_partitionable:
            params["original"] = True
        return super().bind(*args, **params)

    __call__ = bind


class RandomBits(Drawing):
    """Unsigned integers of `bit_width` random bits, of shape keys × `shape`."""

    def drawn_apart(self, size):
        return super().drawn_apart(size) or size == 1

    def abstract(self, keys, /, *, bit_width, shape, original=False):
        self.check(keys)
        return pure(ShapedArray((*keys.shape, *shape), UINTS[bit_width]))

    def compute(self, keys, /, *, bit_width, shape, original=False):
        impl = aval_of(keys).dtype
        if impl.hash:
            *words, high, low = _each_key(random_unwrap_p(keys), shape)[0]
            return impl.hash.bits(words, high, low, bit_width)
        if impl is not threefry:
            return _drawn(random_unwrap_p(keys), shape, UINTS[bit_width])
        if original:
            k1, k2 = _words(random_unwrap_p(keys))
            return self.older(k1, k2, bit_width, tuple(shape))
        operands, _ = _each_key(random_unwrap_p(keys), shape)
        high, low = threefry2x32_p(*operands)
        if bit_width == 64:
            return or_p(shift_left_p(convert(high, uint64), np.uint64(32)), convert(low, uint64))
        return convert(xor_p(high, low), UINTS[bit_width])

    def older(self, k1, k2, bit_width, shape):
        """The bits of JAX's older form: of a word, several small numbers; of two, a large one."""
        keys, size = aval_of(k1).shape, math.prod(shape)
        words = threefry_stream(k1, k2, -(-bit_width * size // 32))
        if bit_width == 64:
            high, low = (convert(slice_in_dim(words, i * size, (i + 1) * size, axis=len(keys)), uint64) for i in (0, 1))
            bits = or_p(shift_left_p(high, np.uint64(32)), low)
        else:
            parts, count = 32 // bit_width, aval_of(words).shape[-1]
            wide = broadcast_in_dim(words, (*keys, count, parts), tuple(range(len(keys) + 1)))
            by = mul_p(iota_p(dtype=uint32, shape=(*keys, count, parts), dimension=len(keys) + 1), np.uint32(bit_width))
            mask = np.uint32(2**bit_width - 1)
            small = convert(and_p(shift_right_logical_p(wide, by), mask), UINTS[bit_width])
            bits = slice_in_dim(reshape(small, (*keys, count * parts)), 0, size, axis=len(keys))
        return reshape(bits, (*keys, *shape))


class RandomSplit(Drawing):
    """New keys, of shape keys × `shape`."""

    def drawn_apart(self, size):
        return size > 0

    def abstract(self, keys, /, *, shape, original=False):
        self.check(keys)
        return pure(ShapedArray((*keys.shape, *shape), keys.dtype))

    def compute(self, keys, /, *, shape, original=False):
        impl, words = aval_of(keys).dtype, random_unwrap_p(keys)
        new_words = self.older if original else self.partitioned
        if impl.hash:
            *own, high, low = _each_key(words, shape)[0]
            new = _stack(*impl.hash.keys(own, high, low))
        elif impl is unsafe_rbg:
            new = self.unsafe(words, shape)
        elif impl is rbg:
            n, m = aval_of(keys).ndim, len(shape)  # keys × 2 × shape × 2 → keys × shape × 2 × 2
            order = (*range(n), *range(n + 1, n + 1 + m), n, n + 1 + m)
            new = _whole(transpose(new_words(_halves(words), shape), order))
        else:
            new = new_words(words, shape)
        return random_wrap_p(new, impl=impl)

    def partitioned(self, words, shape):
        """Words of new threefry keys, of shape keys × `shape` × 2."""
        operands, _ = _each_key(words, shape)
        return _stack(*threefry2x32_p(*operands))

    def older(self, words, shape):
        """The same in JAX's older form."""
        keys, (k1, k2) = aval_of(words).shape[:-1], _words(words)
        return reshape(threefry_stream(k1, k2, 2 * math.prod(shape)), (*keys, *shape, 2))

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

    draws = True

    def abstract(self, keys, data, /):
        self.check(keys)
        if data.dtype != uint32 or data.shape != keys.shape:
            raise TypeError(f"fold_in needs one uint32 for each key; it got {keys.short()} and {data.short()}")
        return pure(keys)

    def compute(self, keys, data, /):
        impl, words = aval_of(keys).dtype, random_unwrap_p(keys)
        if impl.hash:
            new = _stack(*impl.hash.keys(_words(words), full(aval_of(data).shape, 0, uint32), data))
        elif impl is unsafe_rbg:
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
