"""The values that a compiled function read from outside when it was traced, itself or in what it called: names, attributes and elements of
dicts, lists and objects. Kept small, to be compared with what is there later."""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from jitscope.backend.function_objects import Capture, FunctionObject, capture_of
from jitscope.backend.signature import Static, short_repr
from jitscope.core.jaxpr import Jaxpr, equations_in
from jitscope.core.source import in_program, position_in
from jitscope.named_tuple import NamedTuple
from jitscope.xla import tracebacks

from .paths_read import PathRead, attribute, functions_of, inside, is_compiled, meaning, paths_read


_DEEPEST, _MOST, _PARTS, _BYTES = 6, 128, 32, 4096


class Reader(NamedTuple):
    """A function that reads values: its code, and by which path of which function it was come to; None for the one that is traced."""

    code: types.CodeType
    read: PathRead | None = None
    above: Reader | None = None


class ValueRead(NamedTuple):
    """A value, as `Capture` has it, and how it was come to. `whole`: equal ones have equal tokens; of others, arrays on a device, the token
    tells the object."""

    path: PathRead
    reader: Reader
    value: Capture
    whole: bool = True

    @property
    def key(self) -> tuple[str, str]:
        """What it is known again by."""
        return self.path.path, self.reader.code.co_qualname

    @property
    def helper(self) -> str:
        """The name of the function that reads it, "" where that is the one that was traced."""
        code = self.reader.code
        plain = "<locals>" in code.co_qualname
        return "" if self.reader.above is None else code.co_name if plain else code.co_qualname


class ValueChange(NamedTuple):
    """A value that a program was traced with and that is another one now."""

    read: ValueRead
    now: Capture

    @property
    def name(self) -> str:
        """The path, as the code writes it."""
        return self.read.path.path

    @property
    def before(self) -> Capture:
        """What it was."""
        return self.read.value

    @property
    def certain(self) -> bool:
        """Whether it is another value, and not an equal one in another place."""
        return self.read.whole or self.before.text != self.now.text


def values_read(made: FunctionObject, statics: Iterable[Static] = (), traced: bool = False) -> tuple[ValueRead, ...]:
    """What a function, and those it calls, read now, of its static arguments those that are compared by identity; with `traced`, of those
    that are compiled by themselves what they were traced with. Runs no code of the user's."""
    given = {one.name: value for one in statics if one.object is not None and (value := one.object()) is not None}
    found: dict[tuple[str, str], ValueRead] = {}
    todo = [(function, owner, Reader(function.__code__), 0) for function, owner in functions_traced(made)]
    met: set[types.CodeType] = set()
    while todo and len(found) < _MOST:
        function, owner, reader, depth = todo.pop(0)
        if function.__code__ in met or not in_program(function.__code__.co_filename):
            continue
        met.add(function.__code__)
        known = given if depth == 0 else {}
        for path in paths_read(function.__code__, frozenset(known)):
            value = meaning(path, function, owner, known)
            if (kept := _kept(path, value)) is not None:
                one = ValueRead(path, reader, kept, not _by_place(value))
                found.setdefault(one.key, one)
            elif traced and is_compiled(value):
                for one in _of_compiled(value, path, reader):
                    found.setdefault(one.key, one)
            elif depth < _DEEPEST and callable(value):
                inner = functions_of(inside(value) if is_compiled(value) else value)
                todo += [(one, its, Reader(one.__code__, path, reader), depth + 1) for one, its in inner]
    return tuple(found.values())


def functions_traced(made: FunctionObject) -> Iterator[tuple[types.FunctionType, Any]]:
    """The Python functions behind one that is traced, each with the object whose method it is (NOTHING for others); none where they are gone."""
    found = made.object() if made.object is not None else None
    if made.kind == "method":
        found = attribute(found, made.qualname.rpartition(".")[2])
    return functions_of(found)


def _kept(path: PathRead, value: Any) -> Capture | None:
    """What is kept of a value that is data; None for all else."""
    if isinstance(value, np.generic):
        return Capture(path.path, path.how, short_repr(value), hash((type(value), value.tobytes())))
    if type(value) is np.ndarray and value.nbytes <= _BYTES and not value.dtype.hasobject:
        kept = capture_of(path.path, path.how, value)
        return kept._replace(token=hash((value.shape, value.dtype, value.tobytes())))
    if (type(value) is list or (type(value) is dict and path.iterated)) and _is_plain(value):
        return Capture(path.path, path.how, text := short_repr(value), hash(text))
    kept = capture_of(path.path, path.how, value) if _is_data(value) else None
    return kept if kept is None or not kept.text.startswith(("function ", "object of ")) else None


def _is_data(value: Any) -> bool:
    return type(value) is tuple or isinstance(value, (*_PLAIN, np.ndarray)) or hasattr(value, "aval")


def _by_place(value: Any) -> bool:
    """Whether what is kept of a value tells it by the object: reading what is in it costs."""
    if type(value) is tuple:
        return any(map(_by_place, value))
    return hasattr(value, "aval") or (isinstance(value, np.ndarray) and value.nbytes > _BYTES)


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple, dict):
        parts = [part for item in value.items() for part in item] if type(value) is dict else value
        return len(parts) <= _PARTS and all(map(_is_plain, parts))
    return type(value) in _PLAIN


_PLAIN = (bool, int, float, complex, str, bytes, type(None))


# --- functions that are compiled by themselves ----------------------------------------------------------------------------------


_traced_with: weakref.WeakKeyDictionary[Any, dict[tuple[str, str], ValueRead | None]] = weakref.WeakKeyDictionary()
"""By function, what its traces read; None for a value that was not the same in all."""


def traced_with(made: FunctionObject, statics: Iterable[Static] = ()) -> tuple[ValueRead, ...]:
    """What a function that was just traced reads, also of these static arguments. It is known from now on to those that call the compiled function: they get that trace."""
    values = values_read(made, statics, traced=True)
    for function, _ in functions_traced(made):
        known = _traced_with.setdefault(function, {})
        for one in values:
            before = known.setdefault(one.key, one)
            if before is not None and before.value != one.value:
                known[one.key] = None
    return values


def _of_compiled(compiled: Any, path: PathRead, above: Reader) -> Iterator[ValueRead]:
    """What a function that is compiled by itself read in its own traces."""
    for function, _ in functions_of(inside(compiled)):
        for one in _traced_with.get(function, {}).values():
            if one is not None and one.reader.above is None:
                yield one._replace(reader=Reader(one.reader.code, path, above))


# --- what became of them ------------------------------------------------------------------------------------------------------


def changed(
    values: Iterable[ValueRead], made: FunctionObject, jaxpr: Jaxpr | None, statics: Iterable[Static] = ()
) -> list[ValueChange]:
    """Which of the values that a program was traced with, with these static arguments, are other ones now. Those of branches that did not run, as far as the program
    tells, are left out."""
    now = {one.key: one.value for one in values_read(made, statics)}
    found = [
        ValueChange(one, other)
        for one in values
        if (other := now.get(one.key)) is not None and (one.value.text, one.value.token) != (other.text, other.token)
    ]
    ran = _Ran(jaxpr) if found else None
    return [one for one in found if ran is not None and ran.has_read(one.read.path, one.read.reader)]


class _Ran:
    """Which code ran while a program was traced, and left something in it."""

    def __init__(self, jaxpr: Jaxpr | None) -> None:
        handles = {eqn.traceback for eqn in equations_in(jaxpr)} if jaxpr is not None else set()
        places = {place for handle in handles for place in tracebacks.frames(handle)}
        self._codes = {code for code, _ in places}
        self._lines = {(code, position_in(code, at).line) for code, at in places}

    def has_read(self, path: PathRead, reader: Reader) -> bool:
        """Whether it certainly read this."""
        if not path.always and (path.code, position_in(path.code, path.offset).line) not in self._lines:
            return False
        return path.code in self._codes or (path.code is reader.code and self._has_called(reader))

    def _has_called(self, reader: Reader) -> bool:
        if reader.read is None or reader.above is None or reader.code in self._codes:
            return True
        return reader.read.called and self.has_read(reader.read, reader.above)
