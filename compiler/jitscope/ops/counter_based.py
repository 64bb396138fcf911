"""Generators that hash a counter with a key (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), beside Threefry-2x32: Philox of
two and of four words, Threefry of four."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, aval_of
from ..core.dtypes import uint32, uint64
from .elementwise import mulhi_p, or_p, shift_left_p, xor_p
from .families import Discrete, broadcast_shapes, pure
from .generators import PARITY, UINTS, rotate_left
from .linear import add_p, convert, full, mul_p


class CounterHash(Discrete):
    """Words of random bits from `key_words` words of key and `words` of counter, element by element; and how keys and numbers are
    made of them, as JAX 0.12 does."""

    multiple_results = True
    key_words = words = 0
    seeds_the_key = False
    """Whether a seed is hashed as a key, and not as a counter."""
    pairs: tuple[tuple[int, ...], tuple[int, ...]] = (0,), (1,)
    """The results whose exclusive or is the high word of a number of 64 bits, and those of the low word."""

    def abstract(self, /, *avals):
        if len(avals) != self.key_words + self.words or any(a.dtype != uint32 for a in avals):
            raise TypeError(
                f"{self.name} takes {self.key_words + self.words} operands of uint32, it got {', '.join(a.short() for a in avals)}"
            )
        return pure([ShapedArray(broadcast_shapes(self.name, avals), uint32)] * self.words)

    def lower(self, ctx, /, *values):
        return ctx.inline(self.rounds, *values)

    def batch(self, axis, args, dims, /):
        args, dim = axis.align(args, dims)
        return self.bind(*args), [dim] * self.words

    def rounds(self, /, *operands: Any) -> list[Any]:
        """The hash over other primitives."""
        raise self.missing("lower")

    def seeded(self, high: Any, low: Any) -> list[Any]:
        """Words of keys from seeds in two words."""
        zero = full(aval_of(low).shape, 0, uint32)
        seed = [high, low]
        if self.seeds_the_key:
            operands = [*seed, *[zero] * (self.key_words - 2 + self.words)]
        else:
            operands = [*[zero] * self.key_words, *seed, *[zero] * (self.words - 2)]
        return self.bind(*operands)[: self.key_words]

    def keys(self, key: Sequence[Any], high: Any, low: Any) -> list[Any]:
        """Words of new keys, by their number in two words."""
        zero = full(aval_of(low).shape, 0, uint32)
        return self.bind(*key, *[zero] * (self.words - 2), high, low)[: self.key_words]

    def bits(self, key: Sequence[Any], high: Any, low: Any, width: int) -> Any:
        """Numbers of `width` random bits, by their index in two words."""
        zero = full(aval_of(low).shape, 0, uint32)
        out = self.bind(*key, high, low, *[zero] * (self.words - 2))
        if width != 64:
            return convert(functools.reduce(xor_p, out), UINTS[width])
        top, bottom = (convert(functools.reduce(xor_p, [out[i] for i in chosen]), uint64) for chosen in self.pairs)
        return or_p(shift_left_p(top, np.uint64(32)), bottom)


class Philox2x32(CounterHash):
    """Philox-2x32, ten rounds."""

    key_words, words = 1, 2

    def rounds(self, /, k, x1, x2):
        for i in range(10):
            m = _times(x1, 0xD256D193)
            x1, x2 = xor_p(xor_p(mulhi_p(m, x1), x2), _bumped(k, i, 0x9E3779B9)), mul_p(m, x1)
        return [x1, x2]


class Philox4x32(CounterHash):
    """Philox-4x32, ten rounds."""

    key_words, words = 2, 4

    def rounds(self, /, k1, k2, x1, x2, x3, x4):
        for i in range(10):
            m1, m2 = _times(x1, 0xD2511F53), _times(x3, 0xCD9E8D57)
            first = xor_p(xor_p(mulhi_p(m2, x3), x2), _bumped(k1, i, 0x9E3779B9))
            third = xor_p(xor_p(mulhi_p(m1, x1), x4), _bumped(k2, i, 0xBB67AE85))
            x1, x2, x3, x4 = first, mul_p(m2, x3), third, mul_p(m1, x1)
        return [x1, x2, x3, x4]


class Threefry4x32(CounterHash):
    """Threefry-4x32, 20 rounds, the key injected after every fourth."""

    key_words = words = 4
    seeds_the_key = True
    pairs = (0, 2), (1, 3)

    def rounds(self, /, k1, k2, k3, k4, x1, x2, x3, x4):
        keys = (k1, k2, k3, k4, functools.reduce(xor_p, (k1, k2, k3, k4, PARITY)))
        x = [add_p(a, k) for a, k in zip((x1, x2, x3, x4), keys)]
        for i in range(20):
            rotations = _ROTATIONS[i % 8]
            partners = (1, 3) if i % 2 == 0 else (3, 1)
            for to, partner, rotation in zip((0, 2), partners, rotations):
                x[to] = add_p(x[to], x[partner])
                x[partner] = xor_p(x[to], rotate_left(x[partner], rotation))
            if i % 4 == 3:
                turn = i // 4 + 1
                x = [add_p(a, keys[(turn + j) % 5]) for j, a in enumerate(x)]
                x[3] = add_p(x[3], np.uint32(turn))
        return x


_ROTATIONS = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))


def _times(x: Any, factor: int) -> Any:
    """The factor for each element."""
    return full(aval_of(x).shape, factor, uint32)


def _bumped(key: Any, i: int, by: int) -> Any:
    """A word of the key in round `i`."""
    return add_p(key, np.uint32(i * by % 2**32)) if i else key


philox2x32_p = Philox2x32("philox2x32")
philox4x32_p = Philox4x32("philox4x32")
threefry4x32_p = Threefry4x32("threefry4x32")
