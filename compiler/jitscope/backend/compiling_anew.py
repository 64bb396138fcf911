"""Programs that are compiled though the same ones are known, in memory or on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..core import records


_turn: ContextVar[object | None] = ContextVar("compiling_anew", default=None)


def turn() -> object | None:
    """What programs that are compiled anew share with each other alone; None where they are shared with all."""
    return _turn.get()


@contextmanager
def compiling_anew() -> Iterator[None]:
    """What is called within is compiled, once, as in a process that knows none of its programs; nobody is told."""
    token, unseen = _turn.set(object()), records.unseen.set(True)
    try:
        yield
    finally:
        _turn.reset(token)
        records.unseen.reset(unseen)
