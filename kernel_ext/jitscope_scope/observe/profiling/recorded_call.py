"""One recorded call on a time axis: what ran on which thread, and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jitscope.xla.profiler import Run


if TYPE_CHECKING:
    from jitscope_widgets.documents.profile import RecordedCall


MOST = 2000
"""Runs of kernels that are listed, the longest."""


def call_document(run: Run, places: Mapping[str, int]) -> RecordedCall:
    """The runs of kernels in a call, by their beginning; `places` says which kernel an instruction is, others are left out. Threads are
    numbered in the order in which they begin to work, seconds have steps of a nanosecond."""
    events = [event for event in run.events if event.instruction in places]
    threads = list(dict.fromkeys(event.thread for event in events))
    kept = sorted(events, key=lambda event: -event.seconds)[:MOST]
    kept.sort(key=lambda event: event.start)
    return {
        "seconds": _short(run.seconds),
        "threads": [f"thread {number}" for number in range(1, len(threads) + 1)],
        "thread": [threads.index(event.thread) for event in kept],
        "kernel": [places[event.instruction] for event in kept],
        "start": [_short(event.start - run.start) for event in kept],
        "length": [_short(event.seconds) for event in kept],
        "left_out": len(events) - len(kept),
    }


def _short(seconds: float) -> float:
    return round(seconds, 9)
