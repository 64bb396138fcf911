"""Running a row's program once more, on the arguments of its call or on stand-ins: what may be run again, and how one run is timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jitscope.backend.array import Array, array_from_numpy
from jitscope.backend.call_arguments import CallArguments, copy_of, laid_out
from jitscope.core import dtypes
from jitscope.core.avals import ShapedArray, physical
from jitscope.core.errors import Unavailable
from jitscope.xla import client, hlo_module

from .cost import depends_on_values
from .ledger import Row


class Rerun(NamedTuple):
    """What it takes to run a program again: its entry in the cache, what makes the buffers of one run, what these are in words, and
    whether they are random numbers."""

    entry: Any
    make: Callable[[], list[Any]]
    on: str
    stand_ins: bool = False

    def prepared(self) -> list[Any]:
        """The buffers of one run, all there; of what the program takes over, copies."""
        bufs = self.make()
        client.block_until_ready(bufs)
        return bufs

    def run(self, bufs: list[Any]) -> list[Any]:
        """One run, to its end: the results as buffers."""
        outs = self.entry.executable.run(bufs)
        client.block_until_ready(outs)
        return outs

    def timed(self) -> float:
        """The seconds of one run."""
        bufs = self.prepared()
        start = time.perf_counter()
        self.run(bufs)
        return time.perf_counter() - start


def rerun_of(row: Row, given: CallArguments | None = None) -> Rerun:
    """How to run the row's program again: on the arguments `given`, by default those of the row's first call, while they are still
    there; what the program takes over is copied for each run. Else on random numbers of the same shapes, but only a program whose
    work does not depend on values.

    Raises Unavailable when the program is no longer there, when it calls Python functions of the user's (those are not run unless
    asked for), and when it depends on values that are gone.
    """
    entry, _ = row.needed("entry"), row.needed("jaxpr")
    if entry.executable.calls_python:
        raise Unavailable(
            f"{row.function} calls Python functions, which may have effects: it is not run again to be measured"
        )
    found = _given(row, given or row.given)
    if found is not None:
        return Rerun(entry, found, "the arguments of the call")
    if depends_on_values(hlo_module.optimized(entry.executable)):
        raise Unavailable(
            f"how long {row.function} takes depends on the values it gets, and the arguments of its call are gone: keep them in "
            "variables, call it once more, and measure then"
        )
    made = "stand-ins, random numbers of the same shapes: the arguments of the call are gone"
    return Rerun(entry, _stand_ins(row), made, True)


def _given(row: Row, given: CallArguments | None) -> Callable[[], list[Any]] | None:
    """What makes the buffers of one run on the arguments of a call; None where they are gone."""
    takes, arrays = row.takes, given.arrays() if given is not None else None
    if takes is None or arrays is None:
        return None
    captured = takes.captured()
    if captured is None or takes.buffers(arrays) is None:
        return None

    def make(kept: list[Any] = captured) -> list[Any]:  # captured arrays stay as long as it may run again
        return takes.buffers(arrays) or []

    return make


def _stand_ins(row: Row) -> Callable[[], list[Any]]:
    """What makes the buffers of one run on random numbers. These are made once: that would slow a run that follows."""
    taken = row.takes is None or bool(row.takes.donated)
    if row.library:
        make = row.entry.stand_ins
        bufs = [] if taken else make()
        return make if taken else lambda: bufs
    made: list[Any] = []

    def again() -> list[Any]:
        if not made or any(map(client.is_deleted, made)):  # what references held, the program takes over
            made[:] = laid_out([_random(aval).buf for aval in row.entry.argument_avals], row.entry.executable.device)
        return list(map(copy_of, made)) if taken else list(made)

    again()
    return again


def _random(aval: ShapedArray) -> Array:
    aval = physical(aval)
    rng = np.random.default_rng(0)
    if dtypes.is_inexact(aval.dtype):
        return array_from_numpy(rng.uniform(0.1, 1.0, aval.shape).astype(aval.dtype))
    return array_from_numpy(rng.integers(0, 2, aval.shape).astype(aval.dtype))
