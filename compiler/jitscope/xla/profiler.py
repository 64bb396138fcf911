"""XLA's own profiler: what ran inside compiled programs, and for how long."""

from __future__ import annotations

import functools
import gzip
import threading
import warnings
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ..named_tuple import NamedTuple
from . import client


class Event(NamedTuple):
    """One run of an instruction of a compiled program, and the thread on which it began; on a GPU one run of a kernel, with its name, and
    the stream. A library's instruction may have several kernels."""

    module: str
    instruction: str
    start: float
    seconds: float
    thread: str = ""
    kernel: str = ""


_one_session = threading.Lock()


class Phase(NamedTuple):
    """Something that XLA did while it compiled: the thread's name, what, when, and the module, where it is said."""

    thread: str
    name: str
    start: float
    seconds: float
    module: str | None


def record(work: Callable[[], object]) -> list[Event]:
    """The instructions that ran while `work` did, in the order they started, those of other threads included.

    There can be one recording in a process at a time. Raises RuntimeError where another is under way.
    """
    return _events(_recorded(work))


class Run(NamedTuple):
    """One call that was recorded: when it began, what it took in seconds, and the instructions that ran in it."""

    start: float
    seconds: float
    events: tuple[Event, ...]


_MARK = "jitscope runs"


def record_runs(prepare: Callable[[], Any], run: Callable[[Any], object], times: int) -> list[Run]:
    """`run(prepare())` so many times, each a recording of its own; what `prepare` does is in none. `run` must wait for what it
    starts. Raises as `record`."""
    native_mark = native().TraceMe

    def work() -> None:
        for _ in range(times):
            prepared = prepare()
            with native_mark(_MARK):
                run(prepared)

    recorded = _recorded(work)
    marks = sorted((e.start_ns * 1e-9, e.duration_ns * 1e-9) for _, e in recorded if e.name == _MARK)
    events = _events(recorded)
    starts = [event.start for event in events]
    return [Run(a, s, tuple(events[bisect_left(starts, a) : bisect_left(starts, a + s)])) for a, s in marks]


def phases(work: Callable[[], object]) -> list[Phase]:
    """What XLA says it did while `work` ran, in the order of its beginning, what holds others before them. Raises as `record`."""
    found = [_phase(thread, event) for thread, event in _recorded(work)]
    return sorted(found, key=lambda phase: (phase.start, -phase.seconds))


def _recorded(work: Callable[[], object]) -> list[tuple[str, Any]]:
    """The profiler's events while `work` ran, each with the name of its thread."""
    profiler = native()
    if not _one_session.acquire(blocking=False):
        raise RuntimeError("the profiler is recording already: one recording at a time")
    try:
        options = profiler.ProfileOptions()
        options.python_tracer_level = 0
        options.host_tracer_level = 2
        session = profiler.ProfilerSession(options)
        try:
            work()
        finally:
            data = session.stop()
    finally:
        _one_session.release()
    planes = reader().ProfileData.from_serialized_xspace(data).planes
    return [(line.name, event) for plane in planes for line in plane.lines for event in line.events]


def _phase(thread: str, event: Any) -> Phase:
    return Phase(thread, event.name, event.start_ns * 1e-9, event.duration_ns * 1e-9, dict(event.stats).get("module"))


def _events(recorded: Sequence[tuple[str, Any]]) -> list[Event]:
    """The instructions that ran. One that works with several threads ends when the last of them does: XLA records that by itself,
    with the number of its beginning."""
    ends = {dict(each.stats).get("_c"): each.start_ns for _, each in recorded if each.name.startswith("end: ")}
    found = [event for thread, each in recorded if (event := _event(thread, each, ends)) is not None]
    return sorted(found, key=lambda event: event.start)


def _event(thread: str, event: Any, ends: Mapping[Any, float]) -> Event | None:
    if event.name.startswith("end: "):
        return None
    stats = dict(event.stats)
    if "hlo_op" not in stats:
        return None
    start = event.start_ns
    length = max(event.duration_ns, ends.get(stats.get("_p"), 0.0) - start)
    kernel = event.name if thread.startswith("Stream") else ""
    return Event(str(stats.get("hlo_module", "")), str(stats["hlo_op"]), start * 1e-9, length * 1e-9, thread, kernel)


def native() -> Any:
    """jaxlib's profiler: `ProfileOptions`, `ProfilerSession`, `TraceMe`, `start_server`, …"""
    return import_module("jaxlib._profiler")


@functools.cache
def reader() -> Any:
    """jaxlib's reader of recordings: `ProfileData` and what it holds."""
    found = import_module("jaxlib._profile_data")
    with warnings.catch_warnings():  # from Python 3.12 on; where warnings are errors the process would end
        warnings.filterwarnings("ignore", "builtin type .* has no __module__ attribute", DeprecationWarning)
        for plane in found.ProfileData.from_serialized_xspace(_ONE_EVENT).planes:
            for line in plane.lines:
                _kept.extend(type(event.stats) for event in line.events)
    return found


_kept: list[type] = []
"""Else they would be made again."""


_ONE_EVENT = b'\n\n\x1a\x08"\x06"\x04\x08\x01 \x02'
"""A recording with one event. Types of iterators are made when the first one is asked for."""


def session(options: Any) -> Any:
    """A recording that has begun; `finish` ends it. Raises RuntimeError where another is under way."""
    client.cpu_devices()
    if not _one_session.acquire(blocking=False):
        raise RuntimeError("the profiler is recording already: one recording at a time")
    try:
        return native().ProfilerSession(options)
    except BaseException:
        _one_session.release()
        raise


def finish(recording: Any, folder: str) -> None:
    """End a recording and write it to a folder, as tools that show profiles want it."""
    try:
        recording.stop_and_export(folder)
    finally:
        _one_session.release()


def memory_profile() -> bytes:
    """What takes memory on the devices: a compressed profile in pprof's form."""
    return gzip.compress(client.get_client().heap_profile())
