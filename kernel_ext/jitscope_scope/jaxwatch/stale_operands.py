"""A value of a trace of jax's that has ended, among what a failed operation was given: jax tells of the shapes or dtypes that do not fit."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any

from jitscope.core.source import in_program

from ..source_code.frames import entries
from . import private
from .errors import is_tracer


def stale_operand(error: BaseException) -> Any | None:
    """The value, if something still keeps it. It is noted on the error, since jax's frames, which have it, are taken out of its traceback
    before it is shown."""
    if (kept := getattr(error, _KEPT, None)) is not None:
        return kept()
    for frame_locals in _inside(error.__traceback__):
        for value in frame_locals.values():
            if is_tracer(value) and private.is_over(value):
                setattr(error, _KEPT, weakref.ref(value))
                return value
    return None


def _inside(traceback: TracebackType | None) -> list[dict[str, Any]]:
    """The variables of jax's frames behind the last frame of the user's, the innermost first."""
    found: list[dict[str, Any]] = []
    for frame in (one.tb_frame for one in entries(traceback)):
        if frame.f_code.co_filename.startswith(private.folder()):
            found.append(frame.f_locals)
        elif in_program(frame.f_code.co_filename):
            found.clear()
    return found[::-1]


_KEPT = "stale_value_of_jax"
