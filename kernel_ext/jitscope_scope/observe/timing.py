"""Timing documents, and steady-state measurements on request."""

from __future__ import annotations

import time

import numpy as np

from jitscope.backend.call_arguments import CallArguments
from jitscope.core.words import counted
from jitscope.xla import hlo_module, profiler

from ..annotations import Quantity, QuantityOrigin, Stage, StageName, TimingDocument
from .ledger import Row
from .profiling.spans import recording_of
from .rerunning import Rerun, rerun_of


STAGES: tuple[tuple[str, StageName], ...] = (
    ("trace", "trace"),
    ("lower", "lower"),
    ("compile", "compile"),
    ("arguments", "convert arguments"),
    ("run", "first run"),
)


def quantity(value: float | None, unit: str, origin: QuantityOrigin = "measured", note: str = "") -> Quantity:
    """A number with its unit and origin; None is unknown."""
    return {"value": value, "unit": unit, "origin": origin if value is not None else "unknown", "note": note}


def timing_document(row: Row) -> TimingDocument:
    """What each step of a row took."""
    stages: list[Stage] = [
        {
            "name": "load" if row.loaded and step == "compile" else name,
            "seconds": quantity(row.seconds[step], "s", note=_note(row, step)),
        }
        for step, name in STAGES
        if step in row.seconds
    ]
    total = sum(row.seconds.get(step, 0.0) for step, _ in STAGES)
    return {
        "kind": "timing",
        "version": 1,
        "title": row.title,
        "stages": stages,
        "total": quantity(total, "s", note="the sum of the steps"),
        "steady": row.steady,
        "can_measure": row.entry is not None and row.jaxpr is not None and not row.entry.executable.calls_python,
    }


def _note(row: Row, step: str) -> str:
    if step == "arguments":
        return "NumPy arrays are copied at each call, and turned into the dtype that arrays have; arrays are taken as they are"
    told = (row.disk_said if step == "compile" else "") or "wall time of this step"
    return f"{told}; {row.tuned}" if row.tuned and step in ("compile", "run") else told


def measure_steady(row: Row, given: CallArguments | None = None, budget: float = 1.0) -> TimingDocument:
    """Run the row's program again and again, for about `budget` seconds (at least once), and file the times of single runs.

    What it runs on, and what it raises: see `rerun_of`.
    """
    rerun = rerun_of(row, given)
    deadline = time.perf_counter() + budget
    rerun.timed()
    seconds = [rerun.timed()]
    while len(seconds) < _MOST_RUNS and time.perf_counter() < deadline:
        seconds.append(rerun.timed())
    note = f"{counted(len(seconds), 'run')} on {rerun.on}"
    low, median, high = np.percentile(seconds, [5, 50, 95])
    row.shares = _kernel_shares(rerun, median)
    row.steady = {
        "median": quantity(float(median), "s", note=note),
        "low": quantity(float(low), "s", note="5th percentile"),
        "high": quantity(float(high), "s", note="95th percentile"),
        "runs": len(seconds),
        "source": "button",
    }
    return timing_document(row)


_MOST_RUNS, _PROFILED = 100, 20


def _kernel_shares(rerun: Rerun, seconds: float) -> dict[str, float] | None:
    """The share of each kernel in the time of all, from a few runs more, that XLA's profiler records; None where that is busy."""
    times = int(np.clip(0.5 / max(seconds, 1e-6), 1, _PROFILED))
    try:
        runs = profiler.record_runs(rerun.prepared, rerun.run, times)
    except RuntimeError:  # another recording is under way
        return None
    return recording_of(runs, hlo_module.computations(hlo_module.optimized(rerun.entry.executable))).shares()
