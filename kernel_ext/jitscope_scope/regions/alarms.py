"""Statements that may take so long and no longer."""

from __future__ import annotations

import contextlib
import gc
import signal
import threading
import weakref
from collections.abc import Iterator
from types import FrameType, FunctionType
from typing import Any


SOON = 0.001
"""Seconds after which an alarm comes again that came where nothing may be raised."""
AGAIN = 0.5
"""Seconds after which it comes again where what it raised was lost: in a weak reference's callback, or where the statements catch it. What is put back
on the way out has that long."""


@contextlib.contextmanager
def no_longer_than(limit: float, error: Exception, computing: bool = False) -> Iterator[None]:
    """Raises the error after so many seconds, those of the wall or what the process spends `computing`, where the system has alarms and this
    is the main thread."""

    def ended(number: int, frame: FrameType | None) -> None:
        if left:
            return
        unheard = _goes_unheard(frame)
        signal.setitimer(timer, SOON if unheard else AGAIN)
        if not unheard:
            raise error

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    timer, number = (signal.ITIMER_PROF, signal.SIGPROF) if computing else (signal.ITIMER_REAL, signal.SIGALRM)
    left: list[bool] = []
    before = signal.signal(number, ended)
    signal.setitimer(timer, min(limit, 1e6))
    try:
        try:
            yield
        finally:
            left.append(True)
    finally:  # also where the alarm comes just before it is put off
        left.append(True)
        signal.setitimer(timer, 0)
        signal.signal(number, before)


def _goes_unheard(frame: FrameType | None) -> bool:
    """Whether what is raised here is lost, in what the collector of garbage or a weak set calls, or taken for a thread that did not start, and may
    be wrong."""
    called = {c.__code__ for c in gc.callbacks if isinstance(c, FunctionType)} | _LOST
    while frame is not None and frame.f_code not in called and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


_WEAK = (weakref.WeakSet(), weakref.WeakKeyDictionary[Any, Any](), weakref.WeakValueDictionary[Any, Any]())
_LOST = {threading.Thread.start.__code__, *(weak._remove.__code__ for weak in _WEAK)}  # type: ignore[union-attr]
