"""Seconds of work: the smaller of what passed on the wall and what the process computed, which other processes do not lengthen. Of short pieces
both are added up first: what a process with several threads computed is known only now and then."""

from __future__ import annotations

import time
from collections.abc import Sequence


Pair = tuple[float, float]
"""Seconds on the wall, and seconds that the process computed (waiting does not count, threads side by side count each)."""


def now() -> Pair:
    """Both clocks."""
    return time.perf_counter(), time.process_time()


def added(a: Pair, b: Pair, sign: float = 1.0) -> Pair:
    """Both sums, or differences."""
    return a[0] + sign * b[0], a[1] + sign * b[1]


def work(spent: Pair) -> float:
    """The smaller one."""
    return max(0.0, min(spent))


def of_one(runs: Sequence[Pair]) -> float:
    """Seconds of one of several equal runs. Where what the process computed stood still in all of them, the wall's alone count."""
    wall, computed = min(r[0] for r in runs), sum(r[1] for r in runs) / len(runs)
    return min(wall, computed) if computed > 0 else wall


class Stopwatch:
    """Started when made."""

    def __init__(self) -> None:
        self._start = now()

    def passed(self) -> Pair:
        """What passed on both clocks since the start."""
        return added(now(), self._start, -1)

    def seconds(self, without: Pair = (0.0, 0.0)) -> float:
        """Seconds of work since the start, without some that passed meanwhile."""
        return work(added(self.passed(), without, -1))
