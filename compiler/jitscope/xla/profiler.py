"""XLA's own profiler: what ran inside compiled programs, and for how long."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from . import client


class Event(NamedTuple):
    """One run of an instruction of a compiled program."""

    module: str
    instruction: str
    start: float
    seconds: float


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
    found = [_event(event) for _, event in _recorded(work)]
    return sorted((event for event in found if event is not None), key=lambda event: event.start)


def phases(work: Callable[[], object]) -> list[Phase]:
    """What XLA says it did while `work` ran, in the order of its beginning, what holds others before them. Raises as `record`."""
    found = [_phase(thread, event) for thread, event in _recorded(work)]
    return sorted(found, key=lambda phase: (phase.start, -phase.seconds))


def _recorded(work: Callable[[], object]) -> list[tuple[str, Any]]:
    """The profiler's events while `work` ran, each with the name of its thread."""
    profiler, reader = import_module("jaxlib._profiler"), import_module("jaxlib._profile_data")
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
    planes = reader.ProfileData.from_serialized_xspace(data).planes
    return [(line.name, event) for plane in planes for line in plane.lines for event in line.events]


def _phase(thread: str, event: Any) -> Phase:
    return Phase(thread, event.name, event.start_ns * 1e-9, event.duration_ns * 1e-9, dict(event.stats).get("module"))


def _event(event: object) -> Event | None:
    name = event.name  # pyright: ignore[reportAttributeAccessIssue]
    if name.startswith("end: "):
        return None
    stats = dict(event.stats)  # pyright: ignore[reportAttributeAccessIssue]
    if "hlo_op" not in stats:
        return None
    start, length = event.start_ns, event.duration_ns  # pyright: ignore[reportAttributeAccessIssue]
    return Event(str(stats.get("hlo_module", "")), str(stats["hlo_op"]), start * 1e-9, length * 1e-9)


def native() -> Any:
    """jaxlib's profiler: `ProfileOptions`, `ProfilerSession`, `TraceMe`, `start_server`, …"""
    return import_module("jaxlib._profiler")


def reader() -> Any:
    """jaxlib's reader of recordings: `ProfileData` and what it holds."""
    return import_module("jaxlib._profile_data")


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
