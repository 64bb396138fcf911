"""What a piece of work that takes long tells of itself on the way, where somebody listens: the step it is at, and the seconds since it began.

A listener is called at each step and, while XLA compiles, twice a second, always in the thread that it was set in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


__all__ = ["Listener", "listens", "step", "tick", "told_to"]

Listener = Callable[[str, float], None]
EVERY = 0.5
"""Seconds between calls while nothing new happens."""


class _Work:
    def __init__(self, listener: Listener):
        self.listener, self.start, self.what = listener, time.monotonic(), ""

    def tell(self) -> None:
        self.listener(self.what, time.monotonic() - self.start)


_now: ContextVar[_Work | None] = ContextVar("jitscope_progress", default=None)


@contextmanager
def told_to(listener: Listener) -> Iterator[None]:
    """What is done inside tells a listener how far it is."""
    token = _now.set(_Work(listener))
    try:
        yield
    finally:
        _now.reset(token)


def step(what: str) -> None:
    """The next step begins: "compiling it once more, for what XLA writes"."""
    work = _now.get()
    if work is not None:
        work.what = what
        work.tell()


def tick() -> None:
    """The step goes on."""
    work = _now.get()
    if work is not None:
        work.tell()


def listens() -> bool:
    """Whether somebody listens."""
    return _now.get() is not None
