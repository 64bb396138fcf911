"""Buffers over the schedule: what lies where from when to when, and how much is in use at each position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .plan import Allocation, Kind, Plan, Value


KINDS: tuple[Kind, ...] = ("argument", "constant", "result", "temporary")
"""The kinds of memory that are shown, in this order."""


class Buffer(NamedTuple):
    """Bytes that hold one thing: a value, or the carry of a loop with all values that stand for it in turn. From position `born` to
    `dies`, both included."""

    allocation: Allocation
    offset: int
    size: int
    born: int
    dies: int
    values: tuple[Value, ...]

    @property
    def kind(self) -> Kind:
        return self.allocation.kind

    @property
    def main(self) -> Value:
        """The value that it is called by: the last one that an instruction computes."""
        computed = [value for value in self.values if not value.merges]
        return (computed or self.values)[-1]


def buffers_of(plan: Plan) -> list[Buffer]:
    """The buffers that are in the schedule, by birth."""
    found = [buffer for allocation in plan.allocations for buffer in _buffers(allocation)]
    return sorted(found, key=lambda b: (b.born, b.allocation.number, b.offset))


def _buffers(allocation: Allocation) -> Iterable[Buffer]:
    if allocation.kind == "thread":
        return
    places: dict[tuple[int, int], list[Value]] = defaultdict(list)
    for value in allocation.values:
        if value.born is not None:
            places[value.offset, value.size].append(value)
    for (offset, size), values in places.items():
        for chain in _chains(sorted(values, key=lambda v: (v.born, v.dies))):
            born, dies = min(v.born or 0 for v in chain), max(v.dies or 0 for v in chain)
            yield Buffer(allocation, offset, size, born, dies, tuple(chain))


def _chains(values: Sequence[Value]) -> Iterable[list[Value]]:
    """The values of one place in turn: those that a loop or a branch hands on stay together."""
    chain: list[Value] = []
    end = -1
    for value in values:
        handed_on = chain and (value.merges or chain[-1].merges) and (value.born or 0) <= end
        if chain and not handed_on:
            yield chain
            chain, end = [], -1
        chain.append(value)
        end = max(end, value.dies or 0)
    if chain:
        yield chain


class Curve(NamedTuple):
    """The bytes in use by kind: `positions` are those at which one of the figures changes."""

    positions: list[int]
    bytes: dict[Kind, list[int]]

    def at(self, n: int) -> int:
        return sum(of[n] for of in self.bytes.values())

    def peak(self) -> int:
        """The number, in the lists, of the first position with most bytes in use."""
        return max(range(len(self.positions)), key=self.at)


def curve_of(plan: Plan, buffers: Sequence[Buffer]) -> Curve:
    """How many bytes of the allocations hold something that is still needed while the instruction at a position runs: its operands
    and its result, and what later ones read. Bytes that two values share count once."""
    starts, ends = defaultdict(list), defaultdict(list)
    for buffer in buffers:
        starts[buffer.born].append(buffer)
        ends[min(buffer.dies, plan.positions - 1) + 1].append(buffer)
    use = {number: Cover() for number in {b.allocation.number for b in buffers}}
    totals: dict[Kind, int] = dict.fromkeys(KINDS, 0)
    positions: list[int] = []
    curve: dict[Kind, list[int]] = {kind: [] for kind in KINDS}
    last: tuple[int, ...] = ()
    for at in sorted({0, *starts, *ends}):
        for buffer in ends.get(at, ()):
            totals[buffer.kind] -= use[buffer.allocation.number].remove(buffer)
        for buffer in starts.get(at, ()):
            totals[buffer.kind] += use[buffer.allocation.number].add(buffer)
        now = tuple(totals[kind] for kind in KINDS)
        if at < plan.positions and now != last:
            positions.append(at)
            for kind in KINDS:
                curve[kind].append(totals[kind])
            last = now
    return Curve(positions, curve)


class Cover:
    """The bytes of one allocation that are in use, as intervals of buffers that are alive; those that lie in another that is alive
    add nothing."""

    def __init__(self) -> None:
        self.alive: list[Buffer] = []

    def add(self, buffer: Buffer) -> int:
        before = self._covered(buffer)
        self.alive.append(buffer)
        return buffer.size - before

    def remove(self, buffer: Buffer) -> int:
        self.alive.remove(buffer)
        return buffer.size - self._covered(buffer)

    def _covered(self, buffer: Buffer) -> int:
        """How much of a buffer's bytes the others cover."""
        low, high = buffer.offset, buffer.offset + buffer.size
        covered, at = 0, low
        others = [(b.offset, b.offset + b.size) for b in self.alive if b.offset < high and low < b.offset + b.size]
        for start, end in sorted(others):
            covered += max(0, min(end, high) - max(start, at))
            at = max(at, min(end, high))
        return covered
