"""The calls that programs were made for, recorded so that an edited program can be run on them: copies of their arguments and results.

Nothing is recorded unless somebody asked for it (`Recorder.begin`), and nothing of it is on the way of a call that finds its program.
Copies are on the host and small, the oldest are let go first; functions are held weakly, arrays of the user's and executables not at all.
"""

from __future__ import annotations

import enum
import functools
import sys
import threading
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jitscope import tree
from jitscope.backend.array import Array, array_from_numpy
from jitscope.backend.contents import globals_read
from jitscope.core import records
from jitscope.core.source import is_internal, is_stdlib

from ..source_code.frames import outwards


__all__ = ["RecordedCall", "Recorder", "Trees", "recorder"]


MOST_BYTES = 2 << 20
"""Bytes of the arguments of one call, and of its result, up to which it is recorded."""
MOST_IN_TOTAL = 32 << 20
MOST_CALLS = 512
_MOST_LEAVES = 2000

Restore = Callable[[], Any]
"""Gives a value that was recorded, anew each time. Raises Lost where it is gone."""


class Lost(Exception):
    """A value of a recorded call is gone."""


class Trees(NamedTuple):
    """How a library takes trees apart and puts them together, and how its arrays are copied: None for what is no array of its own."""

    flatten: Callable[[Any], tuple[Sequence[Any], Any]]
    unflatten: Callable[[Any, Sequence[Any]], Any]
    array: Callable[[Any], tuple[Restore, int] | None]


def _array(x: Any) -> tuple[Restore, int] | None:
    if type(x) is not Array or x.aval.mark is not None or x.is_deleted() or not isinstance(x.aval.dtype, np.dtype):
        return None
    value, weak = np.array(x), x.aval.weak_type
    return lambda: array_from_numpy(value.copy(), weak), value.nbytes


def _unflatten(structure: Any, leaves: Sequence[Any]) -> Any:
    return tree.unflatten(structure, leaves)


OWN = Trees(tree.flatten, _unflatten, _array)


class Copy:
    """A tree of values that is copied: its containers, its arrays, and numbers as they are. Raises Lost for what cannot be copied."""

    def __init__(self, value: Any, trees: Trees):
        leaves, self._structure = trees.flatten(value)
        if len(leaves) > _MOST_LEAVES:
            raise Lost("there are too many of them")
        self._unflatten, self.bytes, self._leaves = trees.unflatten, 0, list[Restore]()
        for leaf in leaves:
            restore, size = _kept(leaf, trees)
            self.bytes += size
            self._leaves.append(restore)
            if self.bytes > MOST_BYTES:
                raise Lost("they are too large")

    def __call__(self) -> Any:
        return self._unflatten(self._structure, [restore() for restore in self._leaves])


_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.dtype, np.generic, enum.Enum, types.ModuleType)


def _kept(x: Any, trees: Trees) -> tuple[Restore, int]:
    if isinstance(x, _PLAIN):
        return lambda: x, 0
    if type(x) is tuple and all(isinstance(part, _PLAIN) for part in x):
        return lambda: x, 0
    if type(x) is np.ndarray and x.dtype.kind != "O":
        if x.nbytes > MOST_BYTES:
            raise Lost("they are too large")
        value = x.copy()
        return value.copy, value.nbytes
    if getattr(x, "nbytes", 0) > MOST_BYTES:
        raise Lost("they are too large")
    if (found := trees.array(x)) is not None:
        return found
    try:
        reference = weakref.ref(x)
    except TypeError:
        raise Lost(f"a {type(x).__name__} cannot be kept") from None
    if isinstance(x, (type, types.FunctionType)):
        return functools.partial(_there, reference), 0
    return _object(x, reference), 0


def _there(reference: weakref.ref[Any]) -> Any:
    found = reference()
    if found is None:
        raise Lost("an object that was passed is gone")
    return found


def _object(x: Any, reference: weakref.ref[Any]) -> Restore:
    """An object of the user's: itself where it is there, else one that holds the same."""
    held, kind = getattr(x, "__dict__", None), type(x)
    if not isinstance(held, dict) or not all(isinstance(part, _PLAIN) for part in held.values()):
        return functools.partial(_there, reference)
    held, of_class = dict(held), weakref.ref(kind)

    def restore() -> Any:
        there = of_class()
        if there is None:
            raise Lost("the class of an object that was passed is gone")
        made = object.__new__(there)
        made.__dict__.update(held)
        return made

    return restore


class RecordedCall:
    """A call: `function` gives the Python function, `jit` compiles a function as that one was compiled, `arguments` gives (args, kwargs) and
    `result` what the call gave (None where it was not recorded), `leaves` the arrays among the arguments (None likewise);
    `captured` are the plain values that the function captured, and `module` is the name of the module whose code made the call."""

    def __init__(
        self, function: Any, jit: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], trees: Trees
    ):
        self.jit, self.trees = jit, trees
        self.function = functools.partial(_there, weakref.ref(function)) if _has_weak(function) else _lost
        self.arguments: Restore = (copy := Copy((tuple(args), dict(kwargs)), trees))
        self.result: Restore | None = None
        self.leaves: Restore | None = None
        self.bytes = copy.bytes
        self.captured = dict(_captured(function))
        self.module = _calling_module()

    def gave(self, result: Any) -> None:
        """Record the result of the call. Raises Lost where it cannot be."""
        self.result = copy = Copy(result, self.trees)
        self.bytes += copy.bytes

    def names(self) -> dict[str, Any]:
        """A copy of the globals of the code that made the call, as they are now."""
        module = sys.modules.get(self.module)
        return {**vars(module)} if module is not None else {}


def _has_weak(x: Any) -> bool:
    return type(x).__weakrefoffset__ != 0


def _lost() -> Any:
    raise Lost("the function is gone")


def _captured(function: Any) -> Iterator[tuple[str, Any]]:
    """The plain values that a Python function reads from around it, by name."""
    while not isinstance(function, types.FunctionType):
        inner = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        if inner is None:
            return
        function = inner
    code = function.__code__
    for name in globals_read(code):
        if isinstance(value := function.__globals__.get(name), (bool, int, float, complex)):
            yield name, value
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        if cell != types.CellType() and isinstance(value := cell.cell_contents, (bool, int, float, complex)):
            yield name, value
    defaults = function.__defaults__ or ()
    for name, value in zip(code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount], defaults):
        if isinstance(value, (bool, int, float, complex)):
            yield name, value


def _calling_module() -> str:
    """The module whose code makes the call, "" where that is none that is there to stay."""
    files = ((one, one.f_code.co_filename) for one in outwards(sys._getframe(2)))
    frame = next((one for one, file in files if not is_internal(file) and not is_stdlib(file)), None)
    name = str(frame.f_globals.get("__name__", "")) if frame is not None else ""
    there = frame is not None and getattr(sys.modules.get(name), "__dict__", None) is frame.f_globals
    return name if there else ""


class Recorder:
    """The recorded calls by the number of the program that was made for them."""

    def __init__(self) -> None:
        self._calls: OrderedDict[int, RecordedCall] = OrderedDict()
        self._bytes, self._users, self._lock = 0, 0, threading.Lock()

    @property
    def on(self) -> bool:
        """Whether calls are recorded now."""
        return self._users > 0

    def begin(self) -> Callable[[], None]:
        """Record calls from now on, until the function that this gives is called."""
        self._users += 1
        stop = records.subscribe(records.before_running, self._first_run)

        def end() -> None:
            self._users -= 1
            stop()
            if not self._users:
                self._calls.clear()
                self._bytes = 0

        return end

    def of(self, number: int) -> RecordedCall | None:
        """The call that a program was made for; None where it is not recorded."""
        return self._calls.get(number)

    def keep(self, number: int, call: RecordedCall) -> None:
        """File a call; the oldest make room."""
        with self._lock:
            self._calls[number] = call
            self._bytes += call.bytes
            while len(self._calls) > MOST_CALLS or self._bytes > MOST_IN_TOTAL:
                self._bytes -= self._calls.popitem(last=False)[1].bytes

    def _first_run(
        self, jitted: Any, number: int, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Callable[[Any], None]:
        try:
            call = RecordedCall(jitted.__wrapped__, jitted.jit_alike(), args, kwargs, OWN)
        except Exception:  # of classes of the user's: a call that cannot be copied is not recorded
            return lambda result: None

        def ran(result: Any) -> None:
            try:
                call.gave(result)
                self.keep(number, call)
            except Exception:
                return

        return ran


recorder = Recorder()
