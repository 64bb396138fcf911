"""How long the collectives of a program over several devices take, by XLA's profiler."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jitscope.backend.call_arguments import CallArguments
from jitscope.core.errors import Unavailable
from jitscope.xla import processes, profiler

from ..annotations import Collective, CollectiveSeconds, CommunicationDocument
from .ledger import Row
from .rerunning import rerun_of


_MOST, _LIMIT = 20, 1.0
"""Recorded runs at most, and the seconds that they may take."""


def with_times(document: CommunicationDocument, row: Row, given: CallArguments | None) -> CommunicationDocument:
    """A communication document with the time that a device spends in each collective in one run of the program. It is run for about a
    second.

    Raises Unavailable where the program has effects or needs other processes to run, and what `rerun_of` raises.
    """
    if row.jaxpr is not None and row.jaxpr.effects:
        raise Unavailable(f"{row.function} has effects: it is not run again to be measured")
    if processes.joined is not None:
        raise Unavailable(
            f"{row.function} is not run again to be measured: all processes would have to run it together"
        )
    rerun = rerun_of(row, given)
    rerun.timed()
    count = int(np.clip(_LIMIT / max(rerun.timed(), 1e-6), 3, _MOST))
    runs = profiler.record_runs(rerun.prepared, rerun.run, count)
    found: list[Collective] = [
        {**one, "seconds": _seconds(one, runs, document["devices"])} for one in document["collectives"]
    ]
    return {**document, "collectives": found, "measured": {"runs": count, "on": rerun.on}}


def _seconds(one: Collective, runs: Sequence[profiler.Run], devices: int) -> CollectiveSeconds | None:
    """What a device takes for a collective in one run: the median over runs and devices, the 10th and 90th percentile, and the median
    over runs of the device that waits least; None where the profiler did not see each of its runs."""
    of_devices, least = [], []
    times = one["runs"]
    if times is None:
        return None
    for run in runs:
        seconds = [e.seconds for e in run.events if e.instruction == one["name"]]
        if len(seconds) != times * devices or not seconds:
            return None
        of_devices += seconds
        least.append(min(seconds) * times)
    low, median, high = (float(n) * times for n in np.percentile(of_devices, (10, 50, 90)))
    return {"median": median, "low": low, "high": high, "least": float(np.median(least))}
