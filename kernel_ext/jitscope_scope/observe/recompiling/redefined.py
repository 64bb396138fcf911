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
from ..stacks import is_installed


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


class _NameRead(NamedTuple):
    path: str
    called: bool
    where: Position


def redefined(row: Row) -> list[Redefinition]:
    """What the function of a row called when it was traced and would not call now."""
    assert row.signature is not None
    made = row.signature.made
    function = python_function(made.object() if made.object is not None else None)
    if not isinstance(function, types.FunctionType):
        return []
    known = {one.name: one.inside for one in made.captures if one.how in ("global", "closure") and one.inside}
    return list(_Search(_codes(row)).of(function, known))


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
            if not source.is_internal(code.co_filename) and not is_installed(code.co_filename):
                self._by_name.setdefault(code.co_qualname, []).append(code)

    def of(self, function: types.FunctionType, known: dict[str, Inside], depth: int = 0) -> Iterator[Redefinition]:
        """What is another one of what a function reads; `known` is what it captured when it was traced."""
        if function.__code__ in self._met or depth > _DEEPEST:
            return
        self._met.add(function.__code__)
        for read in _reads(function.__code__):
            found = _value(read.path, function)
            if isinstance(found, type):
                yield from self._of_class(read, found, function) if read.called else ()
                continue
            called = python_function(found)
            if not isinstance(called, types.FunctionType):
                continue
            before = self._before(read, found, called, known.get(read.path), function)
            if before is None:
                yield from self.of(called, {}, depth + 1)
            else:
                yield Redefinition(read.path, function.__name__, read.where, before, called.__code__)

    def _before(
        self, read: _NameRead, found: Any, now: types.FunctionType, known: Inside | None, reader: types.FunctionType
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
        return self._other(read.path.rpartition(".")[2], now.__code__)

    def _of_class(self, read: _NameRead, now: type, reader: types.FunctionType) -> Iterator[Redefinition]:
        """The methods that ran of a class of which the code makes an object."""
        for name, method in vars(now).items():
            method = python_function(method)
            if isinstance(method, types.FunctionType):
                before = self._other(f"{now.__name__}.{name}", method.__code__)
                if before is not None:
                    yield Redefinition(read.path, reader.__name__, read.where, before, method.__code__)
                    return

    def _other(self, name: str, now: types.CodeType) -> types.CodeType | None:
        candidates = [code for code in self._by_name.get(name, ()) if _is_of_one_module(code, now)]
        return None if any(is_same_code(code, now) for code in candidates) else next(iter(candidates), None)


def _is_of_one_module(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether both are of one file, or of cells of a notebook."""
    return one.co_filename == other.co_filename or (_is_cell(one) and _is_cell(other))


def _is_cell(code: types.CodeType) -> bool:
    return "ipykernel_" in code.co_filename or code.co_filename.startswith("<ipython-input")


def _branches(code: types.CodeType) -> bool:
    return any("JUMP" in one.opname or "FOR_ITER" in one.opname for one in dis.get_instructions(code))


@functools.lru_cache(512)
def _reads(code: types.CodeType) -> tuple[_NameRead, ...]:
    """The names and attributes of names that code, and the code inside it, reads from outside."""
    found: dict[str, _NameRead] = {}
    for read in _reads_at_once(code):
        known = found.get(read.path)
        found[read.path] = read._replace(called=read.called or (known is not None and known.called))
    return tuple(found.values())


def _reads_at_once(code: types.CodeType) -> Iterator[_NameRead]:
    path, called, at = "", False, 0
    for one in dis.get_instructions(code):
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
            if path:
                yield _NameRead(path, called, source.position_in(code, at))
            path, at = str(one.argval), one.offset
            called = one.opname == "LOAD_GLOBAL" and bool((one.arg or 0) & 1)
        elif path and one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            path, called, at = f"{path}.{one.argval}", False, one.offset
        elif path and one.opname != "CACHE":
            yield _NameRead(path, called, source.position_in(code, at))
            path = ""
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _reads_at_once(part)


def _value(path: str, function: types.FunctionType) -> Any:
    """What a path means now; None where that takes more than looking into modules and classes."""
    name, *rest = path.split(".")
    found = function.__globals__.get(name)
    if name in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        found = cell.cell_contents if cell != types.CellType() else None
    for attr in rest:
        if not isinstance(found, types.ModuleType):
            return None
        found = vars(found).get(attr)
    return found
