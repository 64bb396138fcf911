"""Timing documents, and steady-state measurements on request."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..backend.array import Array, array_from_numpy
from ..core import dtypes
from ..core.avals import ShapedArray, physical
from ..xla import client
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


def measure_steady(row: Row, budget: float = 0.5, most: int = 100) -> dict[str, Any]:
    """Run the row's program again and again, for about `budget` seconds, and file the times of single runs.

    The arguments are random numbers of the same shapes: users' arrays are not kept. Raises LookupError when the program
    is no longer there, or calls Python functions of the user's: those are not run unless asked for.
    """
    entry = row.entry
    if entry is None or row.jaxpr is None:
        raise LookupError(f"the program of {row.function} is no longer kept: call the function again")
    if entry.executable.calls_python:
        raise LookupError(
            f"{row.function} calls Python functions, which may have effects: it is not run again to be measured"
        )
    run = _runner(entry)
    run()
    seconds: list[float] = []
    deadline = time.perf_counter() + budget
    while len(seconds) < most and (len(seconds) < 5 or time.perf_counter() < deadline):
        seconds.append(run())
    note = f"{len(seconds)} runs on random arguments of the same shapes"
    low, median, high = np.percentile(seconds, [5, 50, 95])
    row.steady = {
        "median": quantity(float(median), "s", note=note),
        "low": quantity(float(low), "s", note="5th percentile"),
        "high": quantity(float(high), "s", note="95th percentile"),
        "runs": len(seconds),
        "source": "button",
    }
    return timing_document(row)


def _runner(entry: Any) -> Any:
    """A function that runs the program once on fresh arguments and gives the seconds it took."""
    avals = entry.argument_avals

    def run() -> float:
        bufs = [_random(aval).buf for aval in avals]
        client.block_until_ready(bufs)
        start = time.perf_counter()
        outs = entry.executable.run(bufs)
        client.block_until_ready(outs)
        return time.perf_counter() - start

    return run


def _random(aval: ShapedArray) -> Array:
    aval = physical(aval)
    rng = np.random.default_rng(0)
    if dtypes.is_inexact(aval.dtype):
        return array_from_numpy(rng.uniform(0.1, 1.0, aval.shape).astype(aval.dtype))
    return array_from_numpy(rng.integers(0, 2, aval.shape).astype(aval.dtype))
