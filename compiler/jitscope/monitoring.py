"""`jitscope.monitoring`: events that tools may listen to, by the names JAX gives them.

The compiler's own: durations of `/jax/core/compile/jaxpr_trace_duration`, `…/jaxpr_to_mlir_module_duration` and
`…/backend_compile_duration` (with `fun_name`), also as time spans, and the events `/jax/compilation_cache/cache_hits` and
`cache_misses` of the cache on disk. Listeners are called in the thread in which the event happens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .core import records


__all__ = ["clear_event_listeners", "record_event", "record_event_duration_secs", "record_event_time_span",
           "record_scalar", "register_event_duration_secs_listener", "register_event_listener",
           "register_event_time_span_listener", "register_scalar_listener", "unregister_event_duration_listener",
           "unregister_event_listener", "unregister_event_time_span_listener", "unregister_scalar_listener"]  # fmt: skip


EventListener = Callable[..., None]
"""Called with the event's name and its metadata by name; of durations, scalars and spans, with their numbers in between."""

_events: list[EventListener] = []
_durations: list[EventListener] = []
_spans: list[EventListener] = []
_scalars: list[EventListener] = []


# Recording -----------------------------------------------------------------------------------------------------------


def record_event(event: str, **kwargs: str | int) -> None:
    """Tell the listeners that something happened."""
    for listener in tuple(_events):
        listener(event, **kwargs)


def record_event_duration_secs(event: str, duration: float, **kwargs: str | int) -> None:
    """Tell the listeners how many seconds something took."""
    for listener in tuple(_durations):
        listener(event, duration, **kwargs)


def record_event_time_span(event: str, start_time: float, end_time: float, **kwargs: str | int) -> None:
    """Tell the listeners when something began and ended, in seconds since the epoch."""
    for listener in tuple(_spans):
        listener(event, start_time, end_time, **kwargs)


def record_scalar(event: str, value: float, **kwargs: str | int) -> None:
    """Tell the listeners a number."""
    for listener in tuple(_scalars):
        listener(event, value, **kwargs)


# Listening -----------------------------------------------------------------------------------------------------------


def register_event_listener(callback: EventListener) -> None:
    """Call `callback(event, **metadata)` for each event from now on."""
    _listen(_events, callback)


def register_event_duration_secs_listener(callback: EventListener) -> None:
    """Call `callback(event, seconds, **metadata)` for each duration from now on."""
    _listen(_durations, callback)


def register_event_time_span_listener(callback: EventListener) -> None:
    """Call `callback(event, start, end, **metadata)` for each span of time from now on."""
    _listen(_spans, callback)


def register_scalar_listener(callback: EventListener) -> None:
    """Call `callback(event, number, **metadata)` for each number from now on."""
    _listen(_scalars, callback)


def unregister_event_listener(callback: EventListener) -> None:
    """Stop calling a listener of events. Raises ValueError if it is none."""
    _stop(_events, callback)


def unregister_event_duration_listener(callback: EventListener) -> None:
    """Stop calling a listener of durations. Raises ValueError if it is none."""
    _stop(_durations, callback)


def unregister_event_time_span_listener(callback: EventListener) -> None:
    """Stop calling a listener of spans. Raises ValueError if it is none."""
    _stop(_spans, callback)


def unregister_scalar_listener(callback: EventListener) -> None:
    """Stop calling a listener of numbers. Raises ValueError if it is none."""
    _stop(_scalars, callback)


def clear_event_listeners() -> None:
    """Forget all listeners."""
    for listeners in (_events, _durations, _spans, _scalars):
        listeners.clear()
    _follow_compiler()


def _listen(listeners: list[EventListener], callback: EventListener) -> None:
    if not callable(callback):
        raise TypeError(f"a listener is a function, not {type(callback).__name__}")
    listeners.append(callback)
    _follow_compiler()


def _stop(listeners: list[EventListener], callback: EventListener) -> None:
    if callback not in listeners:
        raise ValueError(f"{callback!r} is not a listener, or no longer")
    listeners.remove(callback)
    _follow_compiler()


# The compiler's own events -------------------------------------------------------------------------------------------


_following: list[Callable[[], None]] = []
_STEPS = {
    "trace": "/jax/core/compile/jaxpr_trace_duration",
    "lower": "/jax/core/compile/jaxpr_to_mlir_module_duration",
    "compile": "/jax/core/compile/backend_compile_duration",
}


def _follow_compiler() -> None:
    """Hear of the compiler's records while there are listeners."""
    wanted = bool(_events or _durations or _spans)
    if wanted and not _following:
        _following.append(records.listen(_compiler_did))
    elif not wanted and _following:
        _following.pop()()


def _compiler_did(record: records.Record) -> None:
    name = _STEPS.get(record.step)
    if name is None or record.detail.get("known"):
        return
    disk: Any = record.detail.get("disk")
    if disk is not None:
        record_event("/jax/compilation_cache/compile_requests_use_cache")
        record_event(f"/jax/compilation_cache/cache_{'hits' if disk.found else 'misses'}")
        if disk.found:
            saved = max(disk.before - record.seconds, 0.0)
            record_event_duration_secs("/jax/compilation_cache/compile_time_saved_sec", saved)
            record_event_duration_secs("/jax/compilation_cache/cache_retrieval_time_sec", record.seconds)
    record_event_duration_secs(name, record.seconds, fun_name=record.function)
    record_event_time_span(name, record.at - record.seconds, record.at, fun_name=record.function)
