"""Seconds of work: the smaller of what passed on the wall and what the process computed, which other processes do not lengthen. Of short pieces
both are added up first: what a process with several threads computed is known only now and then."""

from __future__ import annotations

import time


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
