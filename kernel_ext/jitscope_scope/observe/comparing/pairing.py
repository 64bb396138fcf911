"""Which of two programs is faster, by runs in pairs.

What disturbs a machine lasts longer than a run, so runs are made in pairs, one of each program, in random order, and only what pairs
say is used: the logarithm of the ratio of their times. Its centre is the median of the averages of all two of them (Hodges and Lehmann,
"Estimates of Location Based on Rank Tests", Ann. Math. Statist. 34, 1963), its confidence interval that of Wilcoxon's signed ranks
(Hollander, Wolfe, Chicken, "Nonparametric Statistical Methods", 3rd ed., section 3.3, for large samples). It is one of 99 %, so that who
compares often is rarely told of a difference that is none. Neither cares how far off a disturbed pair is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


METHOD = (
    "runs in pairs, in random order (of a short program the fastest of up to eight); what a call takes are medians, their ratio is the "
    "Hodges-Lehmann estimate of the pairs' ratios and not of the medians, its 99 % interval that of Wilcoxon's signed ranks"
)
MOST = 200
LEAST, ENOUGH = 10, 40
"""Pairs."""
_NARROW = 0.1  # of an interval, as a share of the ratio
_SHORT = 2e-3  # seconds; of shorter programs a pair has several runs of each, and the fastest count: what interrupts only adds
_Z = 2.5758293035489  # of the normal distribution, for 99 %

Run = Callable[[], float]
"""One run; gives its seconds."""


@dataclass(frozen=True)
class Pairs:
    """Seconds of the first and of the second program, pair by pair."""

    one: np.ndarray
    other: np.ndarray

    @property
    def interval(self) -> tuple[float, float, float]:
        """The ratio of the second to the first: the low end of its 99 % interval, the estimate, the high end."""
        low, centre, high = interval_of(np.log(self.other / self.one))
        return float(np.exp(low)), float(np.exp(centre)), float(np.exp(high))


def interval_of(differences: np.ndarray) -> tuple[float, float, float]:
    """The 99 % interval of the centre of a symmetric distribution, and its estimate between the ends."""
    n = len(differences)
    rows, columns = np.triu_indices(n)
    averages = np.sort((differences[rows] + differences[columns]) / 2)
    below = n * (n + 1) / 4 - _Z * np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    at = max(0, int(np.floor(below)))
    return float(averages[at]), float(np.median(averages)), float(averages[len(averages) - 1 - at])


def paired(one: Run, other: Run, limit: float, seed: int = 0) -> Pairs:
    """Run two programs in pairs for about `limit` seconds: at least `LEAST` pairs, at most `MOST`. On a busy machine it goes on for
    up to four times as long, until there are `ENOUGH` and the interval is narrow."""
    once = max(min(one(), one()), min(other(), other()), 1e-7)
    repeats = int(np.clip(np.ceil(_SHORT / once), 1, 8))
    order = np.random.default_rng(seed).integers(0, 2, MOST)
    found: list[tuple[float, float]] = []
    start = time.perf_counter()
    while len(found) < MOST and (len(found) < LEAST or _goes_on(time.perf_counter() - start, limit, found)):
        first, second = (one, other) if order[len(found)] else (other, one)
        a, b = _fastest(first, repeats), _fastest(second, repeats)
        found.append((a, b) if order[len(found)] else (b, a))
    return _pairs(found)


def _pairs(found: Sequence[tuple[float, float]]) -> Pairs:
    times = np.asarray(found)
    return Pairs(times[:, 0], times[:, 1])


def _goes_on(spent: float, limit: float, found: Sequence[tuple[float, float]]) -> bool:
    """(It must not hang on which of them is faster: who looks until there is a difference finds one.)"""
    if not limit <= spent < 4 * limit:
        return spent < limit
    if len(found) < ENOUGH or len(found) % 10:
        return True
    low, centre, high = _pairs(found).interval
    return high - low > _NARROW * centre


def _fastest(run: Run, times: int) -> float:
    return min(run() for _ in range(times))
