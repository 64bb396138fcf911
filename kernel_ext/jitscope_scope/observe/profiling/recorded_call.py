"""One recorded call on a time axis: what ran on which thread, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jitscope.xla.profiler import Run

from ...annotations import RecordedCall


MOST = 2000
"""Runs of kernels that are listed, the longest."""
STRETCHES = 40
"""Equal stretches of a call of which it is told how busy they were."""


def call_document(run: Run, places: Mapping[str, int]) -> RecordedCall:
    """The runs of kernels in a call, by their beginning; `places` says which kernel an instruction is, others are left out. Threads, streams
    on a GPU, are numbered in the order in which they begin to work, seconds have steps of a nanosecond."""
    events = [event for event in run.events if event.instruction in places]
    threads = list(dict.fromkeys(event.thread for event in events))
    kept = sorted(events, key=lambda event: -event.seconds)[:MOST]
    kept.sort(key=lambda event: event.start)
    return {
        "seconds": _short(run.seconds),
        "threads": [
            f"{'stream' if name.startswith('Stream') else 'thread'} {number}" for number, name in enumerate(threads, 1)
        ],
        "thread": [threads.index(event.thread) for event in kept],
        "kernel": [places[event.instruction] for event in kept],
        "start": [_short(event.start - run.start) for event in kept],
        "length": [_short(event.seconds) for event in kept],
        "left_out": len(events) - len(kept),
        "busy": busy([(event.start - run.start, event.seconds) for event in events], run.seconds),
    }


def busy(spans: Sequence[tuple[float, float]], seconds: float) -> list[float]:
    """The part of each of `STRETCHES` equal stretches of `seconds` in which any of the `spans` (start, length) went on."""
    if seconds <= 0:
        return []
    edges = np.linspace(0.0, seconds, STRETCHES + 1)
    covered, end = np.zeros(STRETCHES), 0.0
    for start, length in sorted(spans):
        low, end = max(start, end), max(end, start + length)
        covered += np.clip(np.minimum(end, edges[1:]) - np.maximum(low, edges[:-1]), 0.0, None)
    return [round(float(part), 3) for part in np.minimum(covered * STRETCHES / seconds, 1.0)]


def _short(seconds: float) -> float:
    return round(seconds, 9)
