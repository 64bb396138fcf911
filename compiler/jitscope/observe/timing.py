"""Timing documents, and steady-state measurements on request."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend.array import Array, array_from_numpy
from ..backend.given import Given
from ..core import dtypes
from ..core.avals import ShapedArray, physical
from ..xla import client, hlo_module, profiler
from .cost import depends_on_values
from .kernel_timing import shares_of
from .ledger import Row


STAGES = (("trace", "trace"), ("lower", "lower"), ("compile", "compile"), ("run", "first run"))


def quantity(value: float | None, unit: str, origin: str = "measured", note: str = "") -> dict[str, Any]:
    """A number with its unit and origin; None is unknown."""
    return {"value": value, "unit": unit, "origin": origin if value is not None else "unknown", "note": note}


def timing_document(row: Row) -> dict[str, Any]:
    """What each step of a row took."""
    stages = [
        {"name": name, "seconds": quantity(row.seconds[step], "s", note=_note(row, step))}
        for step, name in STAGES
        if step in row.seconds
    ]
    total = sum(row.seconds.get(step, 0.0) for step, _ in STAGES)
    return {
        "kind": "timing",
        "version": 1,
        "title": row.function,
        "stages": stages,
        "total": quantity(total, "s", note="the sum of the steps"),
        "steady": row.steady,
        "can_measure": row.entry is not None and row.jaxpr is not None and not row.entry.executable.calls_python,
    }


def _note(row: Row, step: str) -> str:
    return (row.disk_said if step == "compile" else "") or "wall time of this step"


def measure_steady(row: Row, given: Given | None = None, budget: float = 1.0, most: int = 100) -> dict[str, Any]:
    """Run the row's program again and again, for about `budget` seconds (at least once), and file the times of single runs.

    It runs on the arguments `given`, by default those of the row's first call, while they are still there; what the program
    takes over is copied for each run. Else it runs on random numbers of the same shapes, and says so, but only a program whose
    work does not depend on values. Raises LookupError when the program is no longer there, when it calls Python functions of
    the user's (those are not run unless asked for), and when it depends on values that are gone.
    """
    entry = row.entry
    if entry is None or row.jaxpr is None:
        raise LookupError(f"the program of {row.function} is no longer kept: call the function again")
    if entry.executable.calls_python:
        raise LookupError(
            f"{row.function} calls Python functions, which may have effects: it is not run again to be measured"
        )
    make, on = _arguments(row, given or row.given)
    deadline = time.perf_counter() + budget
    _timed(entry, make())
    seconds = [_timed(entry, make())]
    while len(seconds) < most and time.perf_counter() < deadline:
        seconds.append(_timed(entry, make()))
    note = f"{len(seconds)} run{'s' * (len(seconds) > 1)} on {on}"
    low, median, high = np.percentile(seconds, [5, 50, 95])
    row.shares = _kernel_shares(row, make, median)
    row.steady = {
        "median": quantity(float(median), "s", note=note),
        "low": quantity(float(low), "s", note="5th percentile"),
        "high": quantity(float(high), "s", note="95th percentile"),
        "runs": len(seconds),
        "source": "button",
    }
    return timing_document(row)


_PROFILED = 20


def _kernel_shares(row: Row, make: Callable[[], list[Any]], seconds: float) -> dict[str, float] | None:
    """The share of each kernel in the time of all, from a few runs more, that XLA's profiler records; None where that is busy."""
    runs = int(np.clip(0.5 / max(seconds, 1e-6), 1, _PROFILED))

    def work() -> None:
        for _ in range(runs):
            _timed(row.entry, make())

    try:
        return shares_of(profiler.record(work), hlo_module.computations(hlo_module.optimized(row.entry.executable)))
    except RuntimeError:  # another recording is under way
        return None


def _arguments(row: Row, given: Given | None) -> tuple[Callable[[], list[Any]], str]:
    """What makes the buffers of one run, and what they are in words. Raises LookupError where there are none to be had."""
    takes, arrays = row.takes, given.arrays() if given is not None else None
    if takes is not None and arrays is not None and takes.buffers(arrays) is not None:
        return lambda: takes.buffers(arrays) or [], "the arguments of the call"
    if depends_on_values(hlo_module.optimized(row.entry.executable)):
        raise LookupError(
            f"how long {row.function} takes depends on the values it gets, and the arguments of its call are gone: keep them in "
            "variables, call it once more, and measure then"
        )
    made = "stand-ins, random numbers of the same shapes: the arguments of the call are gone"
    if row.library:
        return row.entry.stand_ins, made
    avals = row.entry.argument_avals
    return lambda: [_random(aval).buf for aval in avals], made


def _timed(entry: Any, bufs: list[Any]) -> float:
    client.block_until_ready(bufs)
    start = time.perf_counter()
    outs = entry.executable.run(bufs)
    client.block_until_ready(outs)
    return time.perf_counter() - start


def _random(aval: ShapedArray) -> Array:
    aval = physical(aval)
    rng = np.random.default_rng(0)
    if dtypes.is_inexact(aval.dtype):
        return array_from_numpy(rng.uniform(0.1, 1.0, aval.shape).astype(aval.dtype))
    return array_from_numpy(rng.integers(0, 2, aval.shape).astype(aval.dtype))
