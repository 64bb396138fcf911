"""`jitscope.profiler`: XLA's profiler, which records what runs, for tools that show it (XProf, TensorBoard, Perfetto).

with jitscope.profiler.trace("profile"):
    with jitscope.profiler.StepTraceAnnotation("train", step_num=3):
        train_step(params, batch).block_until_ready()

`jitscope.observe.kernel_times` reads such a recording itself: the times of single kernels, with their source lines.
"""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .api.processes import check_backend
from .core.wrapping import wraps
from .xla import client, profiler as _xla


__all__ = ["ProfileOptions", "StepTraceAnnotation", "TraceAnnotation", "annotate_function", "device_memory_profile",
           "register_subprocess", "save_device_memory_profile", "start_server", "start_trace", "stop_server",
           "stop_trace", "trace"]  # fmt: skip


_native = _xla.native()


class ProfileOptions(_native.ProfileOptions):
    """What a recording takes down, by attributes: `host_tracer_level` (0 to 3), `python_tracer_level` (0 or 1),
    `device_tracer_level`, `enable_hlo_proto`, `advanced_configuration`, …"""


class TraceAnnotation(_native.TraceMe):
    """Context manager: what happens inside is one event of a recording, called `name`, with metadata by name."""


class StepTraceAnnotation(TraceAnnotation):
    """Context manager: what happens inside is one step (of training, say), its number given as `step_num`."""

    def __init__(self, name: str, **kwargs: object):
        super().__init__(name, _r=1, **kwargs)


def __getattr__(name: str) -> Any:
    if name in ("ProfileData", "ProfileEvent", "ProfileLine", "ProfilePlane"):
        return getattr(_xla.reader(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "ProfileData", "ProfileEvent", "ProfileLine", "ProfilePlane"})


def annotate_function(
    func: Callable[..., Any], name: str | None = None, **decorator_kwargs: object
) -> Callable[..., Any]:
    """Decorator: each call is one event of a recording, called as the function or `name`."""
    called = name or getattr(func, "__qualname__", None) or getattr(func, "__name__", type(func).__name__)

    @wraps(func)
    def annotated(*args: Any, **kwargs: Any) -> Any:
        with TraceAnnotation(called, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


# Recording -----------------------------------------------------------------------------------------------------------


class _Recording:
    """The recording that `start_trace` began."""

    def __init__(self, session: Any, folder: str, for_perfetto: bool):
        self.session, self.folder, self.for_perfetto = session, folder, for_perfetto


_lock = threading.Lock()
_recordings: list[_Recording] = []


def start_trace(
    log_dir: str | os.PathLike[str],
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: object = None,
) -> None:
    """Begin to record what runs, in all threads; `stop_trace` ends it and writes it to the folder `log_dir`.

    With `create_perfetto_trace` a file perfetto_trace.json.gz is written beside, which the Perfetto viewer opens.
    `create_perfetto_link` (a page served until it is opened) is not there: NotImplementedError. Raises RuntimeError where a
    recording is under way.
    """
    if create_perfetto_link:
        raise NotImplementedError(
            "create_perfetto_link serves the recording to a page in the web: pass create_perfetto_trace=True and open the file"
        )
    with _lock:
        if _recordings:
            raise RuntimeError("a profile is being recorded already: one at a time; stop_trace() ends it")
        session = _xla.session(ProfileOptions() if profiler_options is None else profiler_options)
        _recordings.append(_Recording(session, os.fspath(log_dir), create_perfetto_trace))


def stop_trace() -> None:
    """End the recording and write it to its folder, under plugins/profile/. Raises RuntimeError if there is none."""
    with _lock:
        if not _recordings:
            raise RuntimeError("no profile is being recorded: start_trace(folder) begins one")
        recording = _recordings.pop()
        _xla.finish(recording.session, recording.folder)
        if recording.for_perfetto:
            _write_for_perfetto(Path(recording.folder))


@contextmanager
def trace(
    log_dir: str | os.PathLike[str],
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: object = None,
) -> Iterator[None]:
    """Context manager: what happens inside is recorded and written to the folder `log_dir`. See `start_trace`."""
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


def _write_for_perfetto(folder: Path) -> None:
    """The last recording's events without the metadata that Perfetto does not read."""
    latest = max((folder / "plugins" / "profile").iterdir(), key=os.path.getmtime)
    (found,) = latest.glob("*.trace.json.gz")
    events = json.loads(gzip.decompress(found.read_bytes()))
    events.pop("metadata", None)
    (latest / "perfetto_trace.json.gz").write_bytes(gzip.compress(json.dumps(events).encode()))


# Servers -------------------------------------------------------------------------------------------------------------


_servers: list[Any] = []


def start_server(port: int, requires_backend: bool = True) -> Any:
    """Let tools ask this process for recordings, at `port` of this machine. Raises ValueError if a server runs."""
    with _lock:
        if _servers:
            raise ValueError("a profiler server runs already: one at a time; stop_server() ends it")
        if requires_backend:
            client.cpu_devices()
        _servers.append(_native.start_server(port))
        return _servers[0]


def stop_server() -> None:
    """End the server. Raises ValueError if there is none."""
    with _lock:
        if not _servers:
            raise ValueError("no profiler server runs: start_server(port) starts one")
        _servers.clear()  # it ends with its object


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Record the process `pid`, which has a profiler server at `port`, together with this one; gives the function that ends
    that. Raises RuntimeError where it cannot be reached."""
    return _native.register_subprocess(pid, port)


# Memory --------------------------------------------------------------------------------------------------------------


def device_memory_profile(backend: str | None = None) -> bytes:
    """Which arrays and programs take memory, in the form that the tool pprof reads (compressed). Raises RuntimeError for an
    unknown backend."""
    check_backend(backend)
    return _xla.memory_profile()


def save_device_memory_profile(filename: str | os.PathLike[str], backend: str | None = None) -> None:
    """Write `device_memory_profile` to a file."""
    Path(filename).write_bytes(device_memory_profile(backend))
