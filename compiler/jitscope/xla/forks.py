"""A forked child of a process that uses XLA gets an error at every entry, never a hang.

XLA runs on its own threads and a fork copies none of them, so the child would wait for ever; starting a second client
there aborts the process and destroying the first one crashes it. The guard costs nothing until a fork happens: the
child then replaces the *code* of each guarded function, which reaches every place that imported the function by name.
"""

import ctypes
import os
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, NoReturn

from .errors import ForkedProcessError


_MESSAGE = (
    "this process was forked from one that had already started XLA, whose threads do not survive a fork: nothing can "
    'be computed here. Start worker processes with multiprocessing\'s "spawn" method, for example '
    'multiprocessing.get_context("spawn").Pool()'
)

_guarded: "weakref.WeakKeyDictionary[FunctionType, FunctionType]" = weakref.WeakKeyDictionary()
_in_child: list[Callable[[], None]] = []
_started: list[Any] = []
_forked = False


def refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise ForkedProcessError."""
    raise ForkedProcessError(_MESSAGE)


def _refusing(*args, **kwargs):
    from jitscope.xla.forks import refuse  # this code runs with the globals of the function it replaces

    refuse()


def guard(function: FunctionType, instead: FunctionType = _refusing) -> FunctionType:
    """Make `function` raise ForkedProcessError in a forked child; usable as a decorator, free of cost per call.

    `instead`, a function of the same module without free variables, gives the child other behaviour than to raise.
    """
    _guarded[function] = instead
    if _forked:
        _replace(function, instead)
    return function


def run_in_children(callback: Callable[[], None]) -> None:
    """Call `callback()` in every forked child, where there are such."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=callback)


def on_child(callback: Callable[[], None]) -> None:
    """Call `callback()` in a forked child of a process that has started XLA."""
    _in_child.append(callback)


def note_threads(client: Any) -> None:
    """Note that this process runs XLA's threads, which belong to `client`."""
    _started.append(client)


def _replace(function: FunctionType, instead: FunctionType) -> None:
    function.__code__ = _with_cells(instead.__code__, function.__code__)


def _with_cells(code: CodeType, old: CodeType) -> CodeType:
    """`code` with `old`'s free variables: Python demands the same number of a function's new code."""
    return code.replace(co_freevars=old.co_freevars)


def _after_fork() -> None:
    global _forked
    if not _started:
        return
    _forked = True
    for client in _started:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))  # destroying it would join threads that are not there
    for function, instead in list(_guarded.items()):
        _replace(function, instead)
    for callback in _in_child:
        callback()


run_in_children(_after_fork)
