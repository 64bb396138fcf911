"""What the sizes of an array were, one compilation after the other: a smaller last batch, growing, ragged."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .groups import Group


class Sizes(NamedTuple):
    """The sizes that `axis` of the argument at `path` had, in the order in which programs were made for them. `pattern`: "last
    batch", "growing", "shrinking", "two" or "ragged"."""

    path: str
    axis: int
    sizes: tuple[int, ...]
    pattern: str

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        axis, distinct = f"axis {self.axis} of {self.path}", len(set(self.sizes))
        first, second = [*dict.fromkeys(self.sizes)][:2]
        ends = f"from {min(self.sizes):,} to {max(self.sizes):,}"
        return {
            "last batch": f"the last batch is smaller: {axis} is {first:,}, then {second:,}",
            "growing": f"{axis} grows {ends}, {distinct:,} sizes",
            "shrinking": f"{axis} shrinks from {max(self.sizes):,} to {min(self.sizes):,}, {distinct:,} sizes",
            "two": f"{axis} is {first:,}, then {second:,}",
            "ragged": f"{axis} has {distinct:,} sizes {ends}, in no order",
        }[self.pattern]

    @property
    def buckets(self) -> tuple[int, ...]:
        """The sizes to pad to, so that few programs serve all."""
        found = {bucket(size) for size in self.sizes}
        few = self.pattern not in ("last batch", "two") and len(found) < len(set(self.sizes))
        return tuple(sorted(found)) if few else (max(self.sizes),)


def bucket(size: int) -> int:
    """The next power of two."""
    return 1 << max(size - 1, 0).bit_length()


def padded(size: int, buckets: Sequence[int]) -> int:
    """The smallest of the sizes to pad to that is no smaller."""
    return min((one for one in buckets if one >= size), default=size)


def sizes_of(group: Group) -> list[Sizes]:
    """The axes that changed size; none where the number of axes changed as well."""
    found = []
    for path in group.paths:
        rows = [
            (row, leaf.shape)
            for row in group.history
            for leaf in (row.signature.leaves if row.signature else ())
            if leaf.path == path
        ]
        if len({len(shape) for _, shape in rows}) != 1:
            return []
        for axis in range(len(rows[0][1])):
            calls: Counter[int] = Counter()
            for row, shape in rows:
                calls[shape[axis]] += row.calls
            if len(calls) > 1:
                sizes = tuple(shape[axis] for _, shape in rows)
                in_a_loop = len({(row.cell, row.call_site) for row, _ in rows}) == 1
                found.append(Sizes(path, axis, sizes, _pattern(sizes, calls, in_a_loop)))
    return found


def _pattern(sizes: tuple[int, ...], calls: Counter[int], in_a_loop: bool) -> str:
    """`in_a_loop`: one line of one cell made all the calls."""
    if len(calls) == 2:
        large, small = max(calls), min(calls)
        falls = list(sizes) == sorted(sizes, reverse=True)
        return "last batch" if in_a_loop and falls and calls[large] > calls[small] else "two"
    steps = [after - before for before, after in itertools.pairwise(sizes)]
    if all(step >= 0 for step in steps):
        return "growing"
    return "shrinking" if all(step <= 0 for step in steps) else "ragged"
