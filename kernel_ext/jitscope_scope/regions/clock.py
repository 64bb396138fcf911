"""Seconds of work: the smaller of what passed on the wall and what was computed, which other processes do not lengthen."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Seconds(NamedTuple):
    """What passed on the wall, what all threads of the process computed (waiting does not count), and what the thread that asks did."""

    wall: float = 0.0
    process: float = 0.0
    thread: float = 0.0


NOTHING = Seconds()


def now() -> Seconds:
    """All clocks."""
    return Seconds(time.perf_counter(), time.process_time(), time.thread_time())


def added(a: Seconds, b: Seconds, sign: float = 1.0) -> Seconds:
    """All sums, or differences."""
    return Seconds(*(x + sign * y for x, y in zip(a, b, strict=True)))


def total(spent: Iterable[Seconds]) -> Seconds:
    """The sums of several."""
    return Seconds(*map(sum, zip(*spent, strict=True)))


def computed(spent: Seconds) -> float:
    """What was computed. That of a process with several threads is known only at the system's ticks, and may be less than one thread's."""
    return max(spent.thread, spent.process)


def work(spent: Seconds) -> float:
    """The smaller one."""
    return max(0.0, min(spent.wall, computed(spent)))


def of_one(runs: Sequence[Seconds]) -> float:
    """Seconds of one of several equal runs. Where nothing was computed in all of them, the wall's alone count."""
    wall, used = min(r.wall for r in runs), computed(total(runs)) / len(runs)
    return min(wall, used) if used > 0 else wall


class Stopwatch:
    """Started when made."""

    def __init__(self) -> None:
        self._start = now()

    def passed(self) -> Seconds:
        """What passed on all clocks since the start."""
        return added(now(), self._start, -1)

    def seconds(self, without: Seconds = NOTHING) -> float:
        """Seconds of work since the start, without some that passed meanwhile."""
        return work(added(self.passed(), without, -1))
