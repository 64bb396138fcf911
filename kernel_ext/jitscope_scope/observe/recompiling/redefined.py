"""Functions and classes that a compiled function called while it was traced, and that are other ones now under the same names.

Nothing of the user's runs for it: the code that a trace ran is in the tracebacks of its equations.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from jitscope.backend.function_objects import Inside, inside_of, is_same_code
from jitscope.core import source
from jitscope.core.jaxpr import equations_in
from jitscope.core.source import Position
from jitscope.xla import tracebacks

from ..ledger import Row
from ..paths_read import NOTHING, PathRead, attribute, meaning, paths_read
from ..values_read import functions_traced


_DEEPEST = 8
Codes = set[types.CodeType]


class Redefinition(NamedTuple):
    """A name as the code writes it (`act`, `layers.act`), the function that reads it and where, what it named when that was traced,
    and what it names now."""

    path: str
    reader: str
    where: Position
    before: types.CodeType
    now: types.CodeType

    @property
    def renamed(self) -> bool:
        """Whether the name was given another function, of another name."""
        return self.before.co_name != self.now.co_name


def redefined(row: Row) -> list[Redefinition]:
    """What the function of a row called when it was traced and would not call now."""
    assert row.signature is not None
    made = row.signature.made
    known = {one.name: one.inside for one in made.captures if one.how in ("global", "closure") and one.inside}
    search = _Search(_codes(row))
    found: list[Redefinition] = []
    for function, owner in functions_traced(made):
        found += [*search.itself(function), *search.of(function, owner, known)]
    return found


def python_function(found: Any) -> Any:
    """The function that is compiled, or bound to an object."""
    for _ in range(20):
        if isinstance(found, types.MethodType):
            found = found.__func__
        elif isinstance(found, functools.partial):
            found = found.func
        elif isinstance(own := getattr(found, "__dict__", None), dict) and "__wrapped__" in own:
            found = own["__wrapped__"]
        else:
            break
    return found


def _codes(row: Row) -> Codes:
    """The code that ran while a program was traced and left something in it."""
    jaxpr = row.jaxpr
    handles = {eqn.traceback for eqn in equations_in(jaxpr)} if jaxpr is not None else set()
    return {code for handle in handles for code, _ in tracebacks.frames(handle)}


class _Search:
    def __init__(self, ran: Codes) -> None:
        self._ran, self._met = ran, set[types.CodeType]()
        self._by_name: dict[str, list[types.CodeType]] = {}
        for code in ran:
            if source.in_program(code.co_filename):
                self._by_name.setdefault(code.co_qualname, []).append(code)

    def itself(self, function: types.FunctionType) -> Iterator[Redefinition]:
        """Whether a function was given other code than it was traced with, as what reloads a module does."""
        now = function.__code__
        if (
            now not in self._ran
            and "<lambda>" not in now.co_qualname
            and (before := self._other(now.co_qualname, now)) is not None
        ):
            yield Redefinition("", now.co_name, position_of_code(now), before, now)

    def of(
        self, function: types.FunctionType, owner: Any, known: dict[str, Inside], depth: int = 0
    ) -> Iterator[Redefinition]:
        """What is another one of what a function reads; `known` is what it captured when it was traced, `owner` the object whose method it
        is."""
        if function.__code__ in self._met or depth > _DEEPEST or (depth and _leads_nowhere(function, owner)):
            return
        self._met.add(function.__code__)
        for read in _reads(function.__code__):
            found = meaning(read, function, owner)
            if isinstance(found, type):
                yield from self._of_class(read, found, function) if read.called else ()
                continue
            called = python_function(_bound(found))
            if not isinstance(called, types.FunctionType):
                continue
            name = _name(read, found, function, owner)
            before = self._before(name, found, called, known.get(read.path), function)
            if before is None:
                yield from self.of(called, _owner(found), {}, depth + 1)
            else:
                path = read.path if _bound(found) is found else f"{read.path}.__call__"
                yield Redefinition(path, function.__name__, _place(read), before, called.__code__)

    def _before(
        self, name: str, found: Any, now: types.FunctionType, known: Inside | None, reader: types.FunctionType
    ) -> types.CodeType | None:
        """What ran under a name, if that was another function than the one of today. Of a decorated function (`found` is what the
        decorator made of `now`) the wrapper was captured, and the function by itself ran."""
        if known is not None:
            decorated = isinstance(found, types.FunctionType) and found is not now
            same = inside_of(found if decorated else now).is_same(known)
            ran = known.code in self._ran or not _branches(reader.__code__)
            if not same:
                return (now.__code__ if decorated else known.code) if ran else None
            if not decorated:
                return None
        return self._other(name, now.__code__)

    def _of_class(self, read: PathRead, now: type, reader: types.FunctionType) -> Iterator[Redefinition]:
        """The methods that ran of a class of which the code makes an object."""
        for name, method in vars(now).items():
            method = python_function(method)
            if isinstance(method, types.FunctionType):
                before = self._other(f"{now.__name__}.{name}", method.__code__)
                if before is not None:
                    yield Redefinition(read.path, reader.__name__, _place(read), before, method.__code__)
                    return

    def _other(self, name: str, now: types.CodeType) -> types.CodeType | None:
        candidates = [code for code in self._by_name.get(name, ()) if _is_of_one_module(code, now)]
        return None if any(is_same_code(code, now) for code in candidates) else next(iter(candidates), None)


def _leads_nowhere(function: types.FunctionType, owner: Any) -> bool:
    """Whether a function reads from its module alone, which is this library's or Python's: what it calls there is no user's."""
    file = function.__code__.co_filename
    return owner is NOTHING and not function.__closure__ and (source.is_internal(file) or source.is_stdlib(file))


def _is_of_one_module(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether both are of one file, or of cells of a notebook."""
    return one.co_filename == other.co_filename or (_is_cell(one) and _is_cell(other))


def _is_cell(code: types.CodeType) -> bool:
    return "ipykernel_" in code.co_filename or code.co_filename.startswith("<ipython-input")


def _branches(code: types.CodeType) -> bool:
    return any("JUMP" in one.opname or "FOR_ITER" in one.opname for one in dis.get_instructions(code))


@functools.lru_cache(512)
def _reads(code: types.CodeType) -> tuple[PathRead, ...]:
    """The paths that code, and the code inside it, reads from outside, once each."""
    found: dict[str, PathRead] = {}
    for read in paths_read(code):
        known = found.get(read.path)
        found[read.path] = read._replace(called=read.called or (known is not None and known.called))
    return tuple(found.values())


def _place(read: PathRead) -> Position:
    return source.position_in(read.code, read.offset)


def position_of_code(code: types.CodeType) -> Position:
    """Where code begins."""
    line = code.co_firstlineno
    return Position(code.co_filename, line, line, 0, 0, code.co_name)


def _bound(found: Any) -> Any:
    """What runs when something is called: of an object of the user's its `__call__`."""
    plain = isinstance(found, (types.FunctionType, types.MethodType, functools.partial, types.ModuleType))
    method = NOTHING if plain or hasattr(found, "__wrapped__") else attribute(found, "__call__")
    return method if isinstance(method, types.MethodType) else found


def _owner(found: Any) -> Any:
    bound = _bound(found)
    return bound.__self__ if isinstance(bound, types.MethodType) else NOTHING


def _name(read: PathRead, found: Any, reader: types.FunctionType, owner: Any) -> str:
    """The qualified name of what a path names: of a method with the class that has it, of a function that an object holds its own; "" where
    the path tells no name."""
    bound, (kind, last) = _bound(found), read.steps[-1]
    if isinstance(bound, types.MethodType):
        name = "__call__" if bound is not found else str(last)
        its = next((one for one in type(bound.__self__).__mro__ if name in one.__dict__), None)
        return f"{its.__qualname__}.{name}" if its is not None else ""
    if len(read.steps) == 1 or isinstance(
        meaning(read._replace(steps=read.steps[:-1]), reader, owner), types.ModuleType
    ):
        return str(last)
    name = getattr(getattr(python_function(found), "__code__", None), "co_qualname", "")
    return "" if "<lambda>" in name or kind == "item" else name
