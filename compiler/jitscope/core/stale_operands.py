"""A tracer of a trace that has ended, among what a failed operation was given: where shapes or dtypes do not fit, the error speaks of
those, and what is wrong is that the tracer was kept."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from .trace import Tracer


def remember_stale_operand(error: BaseException, operands: Iterable[Any]) -> None:
    """Note on an error which of the values that the failing operation was given is a tracer of a trace that has ended. An error that says
    itself what it tells of stays as it is."""
    if hasattr(error, "sharp_bit") or hasattr(error, _KEPT) or isinstance(error, RecursionError):
        return
    stale = next((x for x in operands if isinstance(x, Tracer) and is_over(x)), None)
    if stale is not None:
        setattr(error, _KEPT, weakref.ref(stale))
        error.add_note(
            f"One of the operands is a tracer whose trace has ended: {stale.description()}. It was kept outside of the traced function "
            "(a cache, a dict, an attribute, a global), and has no value."
        )


def stale_operand(error: BaseException) -> Tracer | None:
    """The tracer that was noted on an error, if something still keeps it."""
    kept = getattr(error, _KEPT, None)
    return kept() if kept is not None else None


def is_over(tracer: Tracer) -> bool:
    """Whether the trace of a tracer has ended, or that of the value which it differentiates or batches."""
    with suppress(Exception):
        inner: Any = tracer
        while isinstance(inner, Tracer):
            if inner._is_over():
                return True
            inner = inner.underlying()
    return False


_KEPT = "jitscope_stale_operand"
