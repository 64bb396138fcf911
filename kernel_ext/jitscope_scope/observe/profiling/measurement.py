"""Several calls of a program, with and without the profiler."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jitscope.xla import profiler
from jitscope.xla.hlo_module import Computation

from ...page_faults import page_faults
from ..rerunning import Rerun
from .spans import Recording, recording_of


MOST = 40
"""Recorded calls at most."""
FEW = 4
"""Calls of each kind at least, where they take but a part of the limit."""
_EVENTS = 200_000  # that are read; each takes some microseconds


@dataclass(frozen=True)
class Measurement:
    """The recording, the most usual call of it, the seconds of calls that were not recorded and the page faults of each, the seconds that all of it took, and
    whether what was recorded is the program as a GPU is given its kernels one by one."""

    recording: Recording
    call: profiler.Run
    plain: np.ndarray
    faults: np.ndarray
    seconds: float
    step_by_step: bool = False

    @property
    def wall(self) -> float:
        """Seconds of a call without the profiler: the median."""
        return float(np.median(self.plain))


def take(
    rerun: Rerun, computations: Sequence[Computation], limit: float, step_by_step: Rerun | None = None
) -> Measurement:
    """Call a program again and again for about `limit` seconds (at least twice): half of the calls recorded, half of the others before
    them and half after. `step_by_step`: the program to be recorded, if it is not the same. Raises RuntimeError while something else is
    recorded."""
    start = time.perf_counter()
    recorded = step_by_step or rerun
    rerun.timed()
    once, _ = first_call = _one(rerun)
    if step_by_step:
        step_by_step.timed()
    (first,) = profiler.record_runs(recorded.prepared, recorded.run, 1)
    spent = time.perf_counter() - start
    room = max(0.0, limit - spent)
    quick = min(once, first.seconds)  # one call alone may be held up by another program: recording makes none quicker
    most = min(MOST, _EVENTS // max(len(first.events), 1))
    least = FEW if quick * FEW < limit / 2 else 0  # a slow profiler takes no spread from a quick program
    calls = int(np.clip(0.3 * room / max(quick, 1e-6), min(least, most), most))
    unrecorded = max(calls, FEW if quick * FEW < limit else 0)
    plain = [first_call, *_plain(rerun, unrecorded // 2)]
    runs = profiler.record_runs(recorded.prepared, recorded.run, calls) if calls else [first]
    plain += _plain(rerun, unrecorded - unrecorded // 2)
    recording = recording_of(runs, computations)
    usual, spent = recording.runs[most_usual(recording)], time.perf_counter() - start
    seconds, faults = (np.array(each) for each in zip(*plain, strict=True))
    return Measurement(recording, usual, seconds, faults, spent, step_by_step is not None)


def most_usual(recording: Recording) -> int:
    """The number of the call that is nearest to the medians in what it and each of its kernels took: a call of usual length may have a
    kernel that something else held up."""
    apart = np.abs(recording.calls - np.median(recording.calls))
    for span in recording.alone:
        apart += np.abs(span.totals - span.total)
    return int(np.argmin(apart))


def _plain(rerun: Rerun, times: int) -> list[tuple[float, int]]:
    """The seconds and the page faults of calls."""
    return [_one(rerun) for _ in range(times)]


def _one(rerun: Rerun) -> tuple[float, int]:
    bufs = rerun.prepared()
    before, start = page_faults(), time.perf_counter()
    rerun.run(bufs)
    seconds = time.perf_counter() - start
    return seconds, page_faults() - before
