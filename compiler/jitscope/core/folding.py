"""Tracebacks that show the user's code: at the borders of the library its own frames are taken out of errors that pass.

The option `traceback_filtering` decides: "fold" (the default), or "off" to see everything.
"""

from __future__ import annotations

from opcode import opmap
from types import TracebackType

from .config import config
from .source import is_internal


_BUGS = (AssertionError, AttributeError, KeyError, NameError)
"""Where they arise inside the library, without a `raise` of its own, these are its mistakes, whose tracebacks must be seen whole."""


def fold(error: BaseException) -> None:
    """Take the library's frames out of an error that leaves it. The caller raises it again with a bare `raise`, which adds
    no frame."""
    traceback = error.__traceback__
    if config.traceback_filtering == "off" or isinstance(error, RecursionError) or is_bug(error, traceback):
        return
    error.__traceback__ = without_internal_frames(traceback)


class _Folding:
    """Context manager: errors that leave the block lose the library's frames."""

    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Exception):
            fold(error)


folding = _Folding()


def without_internal_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The frames that are not the library's. None, if there are none yet: the caller's frames are still to come."""
    kept = []
    while traceback is not None:
        if not is_internal(traceback.tb_frame.f_code.co_filename):
            kept.append(traceback)
        traceback = traceback.tb_next
    shown = None
    for one in reversed(kept):
        shown = TracebackType(shown, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return shown


def is_bug(error: BaseException, traceback: TracebackType | None) -> bool:
    """Whether an error was raised by a mistake in the library, not in the code that uses it: what a `raise` says there is meant."""
    if not isinstance(error, _BUGS) or traceback is None:
        return False
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    code = traceback.tb_frame.f_code
    is_said = code.co_code[traceback.tb_lasti] == opmap["RAISE_VARARGS"] and not isinstance(error, AssertionError)
    return is_internal(code.co_filename) and not is_said
