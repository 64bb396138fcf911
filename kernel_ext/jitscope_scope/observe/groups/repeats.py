"""Stretches of a sequence that repeat: k equal blocks one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


LEAST = 3
"""So many equal blocks make a repeat."""


class Stretch(NamedTuple):
    """`sequence[start:end]` is equal to itself moved by `period`, and cannot be made longer."""

    start: int
    end: int
    period: int

    @property
    def times(self) -> int:
        return (self.end - self.start) // self.period


def stretches(sequence: Sequence[int]) -> list[Stretch]:
    """Stretches of at least `LEAST` equal blocks that do not overlap, longest first taken, in order; of equal length those of
    the shortest period."""
    symbols = np.asarray(sequence, np.int64)
    found = [s for period in _periods(symbols) for s in _stretches_of(symbols, period)]
    found.sort(key=lambda s: (s.start - s.end, s.period, s.start))
    taken: list[Stretch] = []
    free = np.ones(len(symbols), bool)
    for stretch in found:
        for start, end in _true_runs(free[stretch.start : stretch.end]):
            part = Stretch(stretch.start + start, stretch.start + end, stretch.period)
            if part.times >= LEAST:
                taken.append(part)
                free[part.start : part.end] = False
    return sorted(taken)


def _periods(symbols: np.ndarray) -> list[int]:
    """Distances that a repeat may have. Windows of a length that occur once in each block lie one period apart, so that this
    distance is frequent; of all lengths, the powers of two are looked at."""
    n, width = len(symbols), 1
    ranks, different = symbols, 0
    found: set[int] = set()
    while n >= LEAST * max(width // 2, 1) and len(ranks) > 1:
        windows, ranks = np.unique(ranks, return_inverse=True)
        distances = _to_next(ranks)
        counts = np.bincount(distances)
        periods = np.flatnonzero(counts)
        # a stretch of k blocks has this distance at least (k - 1) * period - width times
        enough = counts[periods] >= np.maximum(1, (LEAST - 1) * periods - width + 1)
        found.update(int(p) for p in periods[enough & (periods > 0) & (periods * LEAST <= n)])
        if len(windows) in (len(ranks), different):
            break  # all windows differ, or each tells what follows it: longer ones say nothing new
        followed = ranks[:-width]
        different = np.count_nonzero(np.bincount(followed))
        ranks = followed * np.int64(len(ranks) + 1) + ranks[width:] if width < len(ranks) else ranks[:0]
        width *= 2
    return sorted(found)


def _to_next(ranks: np.ndarray) -> np.ndarray:
    """The distance of each place to the next with the same rank; 0: there is none."""
    order = np.argsort(ranks, kind="stable")
    distances = np.zeros(len(ranks), np.int64)
    same = ranks[order[1:]] == ranks[order[:-1]]
    distances[order[:-1][same]] = (order[1:] - order[:-1])[same]
    return distances


def _stretches_of(symbols: np.ndarray, period: int) -> list[Stretch]:
    equal = symbols[:-period] == symbols[period:]
    long = (LEAST - 1) * period
    return [Stretch(start, end + period, period) for start, end in _true_runs(equal) if end - start >= long]


def _true_runs(flags: np.ndarray) -> list[tuple[int, int]]:
    padded = np.concatenate([[False], flags, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2])]


def equal_stretches(items: Sequence[Any]) -> list[tuple[int, int]]:
    """Maximal runs of equal items, as (start, end)."""
    found, start = [], 0
    for i in range(1, len(items) + 1):
        if i == len(items) or items[i] != items[start]:
            found.append((start, i))
            start = i
    return found
