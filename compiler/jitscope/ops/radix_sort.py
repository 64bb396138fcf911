"""Stable sorts by digits: a radix sort that begins with the least significant digit (Knuth, "The Art of Computer Programming", volume
3, 2nd ed., section 5.2.5). For each digit the elements are counted, and then moved behind those of smaller digits, the last one first.

It is a function of its own that goes from element to element, with a mark by which XLA compiles it in one piece, as it does small loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import IN_ONE_PIECE, RADIX_SORT


_PLACE = np.dtype(np.uint32)
_BOOL = np.dtype(bool)
_COUNT = ShapedArray((), _PLACE)
_SAMPLE = 1024


def sorts_by_digits(ctx: Any, dimension: int) -> bool:
    """Whether the equation's sort along an axis is one by digits: in programs for one device, of arrays that are large enough; not of
    64-bit numbers alone, which XLA sorts in the same time."""
    key = ctx.avals_in[0]
    if len(ctx.avals_in) == 1 and key.dtype.itemsize > 4 and not dtypes.is_complex(key.dtype):
        return False
    if not RADIX_SORT.holds(ctx.module.platform) or ctx.module.meshes.group is not None or not is_static(key.shape):
        return False
    least = RADIX_SORT.value
    return key.shape[dimension] >= least["length"] and least["elements"] <= key.size < 2**31


def sorted_words(ctx: Any, keys: Sequence[Any], word: ShapedArray, bits: int, length: int, as_places: bool) -> Any:
    """Vectors of unsigned integers of so many bits, all of aval `word`, sorted in stretches of so many elements by the first of them,
    among equals by the second, and so on. What is given is the one vector sorted, or the places (uint32) that the elements had in
    their stretch."""
    out = word.update(dtype=_PLACE) if as_places else word
    sort = _Sort(ctx, word, bits, out, length, as_places)
    return ctx.call_apart("radix_sort", [word] * len(keys), out, sort.stretches, keys, IN_ONE_PIECE)


def in_runs(ctx: Any, key: Any, word: ShapedArray) -> Any:
    """1 (int32) where of a sample of pairs side by side few rise or few fall, in a vector that `sorted_words` takes: to sort it by
    comparing is quick then. 0 otherwise."""
    return ctx.call_apart(
        "in_runs", [word], ShapedArray((), np.dtype(np.int32)), _Loops(ctx, word).in_runs, [key], IN_ONE_PIECE
    )


class _Loops:
    """Operations on elements of vectors, as values of MLIR's."""

    def __init__(self, ctx: Any, word: ShapedArray):
        self.ctx, self.hlo, self.word = ctx, ctx.hlo, word

    def in_runs(self, key: Any) -> Any:
        """What `in_runs` says."""
        step = -(-self.word.size // _SAMPLE)
        number = self.word.size // step

        def count(i: Any, rising: Any, falling: Any) -> list[Any]:
            at = self.hlo.multiply(i, self.number(step))
            x, y = (self.get(key, self.word.dtype, self.hlo.add(at, self.number(k))) for k in (0, 1))
            pairs = ((rising, self.ctx.compare(x, y, "LT")), (falling, self.ctx.compare(y, x, "LT")))
            return [self.hlo.add(n, self.ctx.convert(more, _BOOL, _PLACE)) for n, more in pairs]

        counts = self.loop(0, number, 1, [_COUNT, _COUNT], [self.number(0)] * 2, count)
        few = self.ctx.compare(self.hlo.minimum(*counts), self.number(number // 16), "LT")
        return self.ctx.convert(few, _BOOL, np.dtype(np.int32))

    def loop(
        self,
        first: int,
        end: int,
        step: int,
        avals: Sequence[ShapedArray],
        values: Sequence[Any],
        body: Callable[..., list[Any]],
    ) -> list[Any]:
        """Values after `body` ran with first, first + step, … and them."""

        def going(i: Any, *_: Any) -> Any:
            return self.ctx.compare(i, self.number(end), "LT")

        def run(i: Any, *state: Any) -> list[Any]:
            return [self.hlo.add(i, self.number(step)), *body(i, *state)]

        return self.ctx.while_loop([_COUNT, *avals], [self.number(first), *values], going, run)[1:]

    def number(self, value: int) -> Any:
        return self.ctx.scalar(value, _PLACE)

    def get(self, array: Any, dtype: Any, at: Any) -> Any:
        return self.hlo.reshape(
            self.ctx.type(ShapedArray((), dtype)), self.hlo.dynamic_slice(array, [at], self.ctx.ints([1]))
        )

    def put(self, array: Any, value: Any, at: Any) -> Any:
        kind = self.ctx.ir.RankedTensorType(value.type).element_type
        row = self.hlo.reshape(self.ctx.ir.RankedTensorType.get([1], kind), value)
        return self.hlo.dynamic_update_slice(array, row, [at])


class _Sort(_Loops):
    """What builds the operations of such a function, on values of MLIR's."""

    def __init__(self, ctx: Any, word: ShapedArray, bits: int, out: ShapedArray, length: int, as_places: bool):
        super().__init__(ctx, word)
        self.out, self.length, self.as_places = out, length, as_places
        self.width = 11 if bits > 16 else 8
        self.shifts = range(0, bits, self.width)
        self.counts = ShapedArray((len(self.shifts) << self.width,), _PLACE)

    def stretches(self, *keys: Any) -> Any:
        """The whole result."""
        if self.out.size == self.length:
            return self.stretch(keys, self.number(0))

        def one(start: Any, out: Any) -> list[Any]:
            return [self.hlo.dynamic_update_slice(out, self.stretch(keys, start), [start])]

        return self.loop(0, self.out.size, self.length, [self.out], [self.ctx.zeros(self.out)], one)[0]

    def stretch(self, keys: Sequence[Any], start: Any) -> Any:
        """The stretch of the result at `start`."""
        sorted_ = places = None
        for key in reversed(keys):
            ends, sorted_ = self.ends(key, start), None
            for digit in range(len(self.shifts)):
                element = self.reader(key, start, sorted_, places)
                keeps = digit < len(self.shifts) - 1 or not self.as_places
                sorted_, places, ends = self.moved(element, digit, ends, keeps)
        return places if self.as_places else sorted_

    def reader(self, key: Any, start: Any, sorted_: Any, places: Any) -> Callable[[Any], tuple[Any, Any]]:
        """What gives an element of the order so far and its place at first; `sorted_` and `places` are None where they are not yet."""

        def element(i: Any) -> tuple[Any, Any]:
            place = i if places is None else self.get(places, _PLACE, i)
            array, at = (key, self.hlo.add(start, place)) if sorted_ is None else (sorted_, i)
            return self.get(array, self.word.dtype, at), place

        return element

    def moved(
        self, element: Callable[[Any], tuple[Any, Any]], digit: int, ends: Any, keeps: bool
    ) -> tuple[Any, Any, Any]:
        """The elements, if it `keeps` them, and their places, if these are wanted, in the order of a digit, and what became of `ends`."""
        kept = [self.word.dtype] * keeps + [_PLACE] * self.as_places
        avals = [ShapedArray((self.length,), dtype) for dtype in kept]

        def move(i: Any, ends: Any, *arrays: Any) -> list[Any]:
            x, place = element(self.hlo.subtract(self.number(self.length - 1), i))
            at = self.digit(x, digit)
            ends = self.put(ends, self.hlo.subtract(self.get(ends, _PLACE, at), self.number(1)), at)
            to = self.get(ends, _PLACE, at)  # of the new ones: XLA would copy the old ones to have both
            return [ends, *[self.put(a, v, to) for a, v in zip(arrays, [x] * keeps + [place] * self.as_places)]]

        ends, *arrays = self.loop(0, self.length, 1, [self.counts, *avals], [ends, *map(self.ctx.zeros, avals)], move)
        return arrays[0] if keeps else None, arrays[-1] if self.as_places else None, ends

    def ends(self, key: Any, start: Any) -> Any:
        """For each digit and each value of it, behind how many elements those with that value end."""

        def count(i: Any, counts: Any) -> list[Any]:
            x = self.get(key, self.word.dtype, self.hlo.add(start, i))
            for digit in range(len(self.shifts)):
                at = self.digit(x, digit)
                counts = self.put(counts, self.hlo.add(self.get(counts, _PLACE, at), self.number(1)), at)
            return [counts]

        def add(i: Any, counts: Any, total: Any) -> list[Any]:
            value = self.hlo.and_(i, self.number((1 << self.width) - 1))
            total = self.hlo.select(self.ctx.compare(value, self.number(0), "EQ"), self.number(0), total)
            counts = self.put(counts, self.hlo.add(total, self.get(counts, _PLACE, i)), i)
            return [counts, self.get(counts, _PLACE, i)]

        (counts,) = self.loop(0, self.length, 1, [self.counts], [self.ctx.zeros(self.counts)], count)
        return self.loop(0, self.counts.size, 1, [self.counts, _COUNT], [counts, self.number(0)], add)[0]

    def digit(self, x: Any, digit: int) -> Any:
        """The place of an element's digit in the table of counts."""
        dtype = self.word.dtype
        x = self.hlo.shift_right_logical(x, self.ctx.scalar(self.shifts[digit], dtype))
        x = self.hlo.and_(x, self.ctx.scalar((1 << self.width) - 1, dtype))
        return self.hlo.add(self.ctx.convert(x, dtype, _PLACE), self.number(digit << self.width))
