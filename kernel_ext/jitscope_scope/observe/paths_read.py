"""What a function's code reads from outside, as paths of names, attributes and elements with a constant index, and what such a path means
now. Read off the bytecode; no code of the user's runs."""

from __future__ import annotations

import dis
import functools
import types
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from jitscope.backend.contents import parts_of_partial
from jitscope.named_tuple import NamedTuple


Step = tuple[str, Any]
"""A part of a path: ("global", name), ("closure", name), ("argument", name) of the object of a method, or of an argument that is known; ("attribute", name); ("item", key)."""


class PathRead(NamedTuple):
    """A path as the code writes it (`cfg['lr']`, `layers.act`); the code that reads it and where (an offset into its bytecode); `called`:
    what is there is called at once; `iterated`: it is looped over; `always`: that code reads it whenever it runs to its end."""

    path: str
    steps: tuple[Step, ...]
    code: types.CodeType
    offset: int
    called: bool = False
    iterated: bool = False
    always: bool = True

    @property
    def how(self) -> str:
        """How the function has it, as `Capture` says: "global", "closure" or "self"."""
        kind = self.steps[0][0]
        return "self" if kind == "argument" else kind


NOTHING: Any = object()
"""What a path means that leads nowhere, or further than looking leads."""


@functools.lru_cache(1024)
def paths_read(code: types.CodeType, given: frozenset[str] = frozenset()) -> tuple[PathRead, ...]:
    """The paths that code, and the code inside it, reads from its globals, its closure, its first argument, and those that are `given`."""
    own = (*code.co_varnames[: min(1, code.co_argcount)], *given.intersection(code.co_varnames))
    read = dict(_instructions(code))
    stored = frozenset(_stored(code, read))
    found = _paths_of(code, frozenset(code.co_freevars), frozenset(own) - stored, read)
    return tuple(one for one in found if one.steps[0][1] not in stored)


_Instructions = Mapping[types.CodeType, list[dis.Instruction]]


def _instructions(code: types.CodeType) -> Iterator[tuple[types.CodeType, list[dis.Instruction]]]:
    """Those of code, and of each code inside it."""
    yield code, list(dis.get_instructions(code))
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _instructions(part)


def _stored(code: types.CodeType, read: _Instructions) -> Iterator[str]:
    """The names that code, and the code inside it, gives values: a counter of traces is nothing that it reads from outside."""
    yield from (str(one.argval) for one in read[code] if one.opname in _STORES)
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from (name for name in _stored(part, read) if name not in part.co_varnames)


_STORES = frozenset(("STORE_GLOBAL", "STORE_DEREF", "STORE_FAST"))


def _paths_of(
    code: types.CodeType, free: frozenset[str], own: frozenset[str], read: _Instructions
) -> Iterator[PathRead]:
    branches = _Branches(code)
    path: _Path | None = None
    for one in read[code]:
        branches.pass_by(one)
        if path is not None and path.goes_on(one):
            continue
        if path is not None:
            yield path.done(one)
        path = _Path.begun(one, code, free, own, branches)
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _paths_of(part, free & frozenset(part.co_freevars), own & frozenset(part.co_freevars), read)


class _Path:
    """A path that is being read off; `key` is a constant that may be its next index."""

    def __init__(self, code: types.CodeType, offset: int, root: Step, called: bool, always: bool) -> None:
        self.code, self.offset, self.steps, self.key = code, offset, [root], NOTHING
        self.text, self.called, self.always = str(root[1]), called, always

    @staticmethod
    def begun(
        one: dis.Instruction, code: types.CodeType, free: frozenset[str], own: frozenset[str], branches: _Branches
    ) -> _Path | None:
        name = one.argval[-1] if isinstance(one.argval, tuple) and one.argval else one.argval
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            root = ("global", name)
        elif one.opname.startswith("LOAD_FAST") and name in own:
            root = ("argument", name)
        elif one.opname == "LOAD_DEREF" and name in free | own:
            root = ("closure" if name in free else "argument", name)
        else:
            return None
        called = one.opname == "LOAD_GLOBAL" and bool((one.arg or 0) & 1)
        return _Path(code, one.offset, root, called, branches.always)

    def goes_on(self, one: dis.Instruction) -> bool:
        """Whether an instruction is a part of the path, which it takes in."""
        key, self.key = self.key, NOTHING
        if one.opname in ("CACHE", "NOP"):
            self.key = key
        elif one.opname == "PUSH_NULL":
            self.called = True
        elif one.opname in ("LOAD_ATTR", "LOAD_METHOD") and key is NOTHING:
            self.steps.append(("attribute", one.argval))
            self.text += f".{one.argval}"
            self.called = _is_method(one)
        elif one.opname.startswith(("LOAD_CONST", "LOAD_SMALL_INT")) and key is NOTHING and _is_key(one.argval):
            self.key = one.argval
        elif key is not NOTHING and (one.opname == "BINARY_SUBSCR" or one.argrepr == "[]"):
            self.steps.append(("item", key))
            self.text += f"[{key!r}]"
            self.called = False
        else:
            return False
        return True

    def done(self, after: dis.Instruction) -> PathRead:
        iterated = after.opname == "GET_ITER"
        return PathRead(self.text, tuple(self.steps), self.code, self.offset, self.called, iterated, self.always)


def _is_method(one: dis.Instruction) -> bool:
    """Whether an attribute is loaded to be called; from Python 3.12 on it is an option of LOAD_ATTR."""
    return one.opname == "LOAD_METHOD" or one.argrepr.startswith("NULL|") or one.argrepr.endswith(" + NULL|self")


def _is_key(x: Any) -> bool:
    return type(x) in (int, str)


class _Branches:
    """Whether code that is gone through from its beginning is at a place to which every run comes."""

    def __init__(self, code: types.CodeType) -> None:
        self._until, self._left, self.always = 0, False, True

    def pass_by(self, one: dis.Instruction) -> None:
        self.always = one.offset >= self._until and not self._left
        if one.opname.startswith("RETURN_") and one.opname != "RETURN_GENERATOR":
            self._left = True
        elif one.opcode in _JUMPS and isinstance(one.argval, int) and one.argval > one.offset:
            self._until = max(self._until, one.argval)


_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))


# --- what a path means --------------------------------------------------------------------------------------------------------


def meaning(
    read: PathRead, function: types.FunctionType, owner: Any = NOTHING, given: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """What a path of a function's code means now, `owner` being the object whose method it is and `given` its arguments that are known;
    NOTHING where it takes more than looking."""
    (kind, name), *rest = read.steps
    if kind == "global":
        found = function.__globals__.get(name, NOTHING)
    elif kind == "argument":
        found = given.get(name, owner if name == function.__code__.co_varnames[0] else NOTHING)
    else:
        found = _cell(function, name)
    for kind, name in rest:
        if found is NOTHING:
            break
        found = attribute(found, name) if kind == "attribute" else _item(found, name)
    return found


def _cell(function: types.FunctionType, name: str) -> Any:
    if name not in function.__code__.co_freevars:
        return NOTHING
    cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
    return cell.cell_contents if cell != types.CellType() else NOTHING


def attribute(of: Any, name: str) -> Any:
    """An attribute of a module, a class or an object where looking it up runs nothing of the user's; a method is bound to its object."""
    if isinstance(of, types.ModuleType):
        return vars(of).get(name, NOTHING)
    if isinstance(of, type):
        found = in_classes(of, name)
        return NOTHING if hasattr(type(found), "__get__") and not isinstance(found, types.FunctionType) else found
    if type(of).__getattribute__ is not object.__getattribute__:
        return NOTHING
    found = in_classes(type(of), name)
    if type(found) in _FIELDS:
        try:
            return found.__get__(of)
        except AttributeError:
            return NOTHING
    held = getattr(of, "__dict__", {})
    if not hasattr(type(found), "__set__") and name in held:
        return held[name]
    if isinstance(found, types.FunctionType):
        return types.MethodType(found, of)
    return NOTHING if hasattr(type(found), "__get__") else found


def in_classes(kind: type, name: str) -> Any:
    """What a class, or one that it is made from, has of that name."""
    return next((one.__dict__[name] for one in kind.__mro__ if name in one.__dict__), NOTHING)


class _Pair(NamedTuple):
    first: Any


_FIELDS = (types.MemberDescriptorType, type(_Pair.__dict__["first"]))
"""How a class has its slots, and a named tuple its fields."""


def _item(of: Any, key: Any) -> Any:
    if type(of) in (dict, OrderedDict, defaultdict):
        return of.get(key, NOTHING)
    if type(of) in (list, tuple) and type(key) is int and -len(of) <= key < len(of):
        return of[key]
    return NOTHING


def functions_of(found: Any) -> Iterator[tuple[types.FunctionType, Any]]:
    """The Python functions that run when something is called, each with the object whose method it is: of a decorated function the
    decorator's and its own. None of what is compiled by itself."""
    owner = NOTHING
    for _ in range(20):
        if isinstance(found, types.MethodType):
            found, owner = found.__func__, found.__self__
        elif isinstance(found, types.FunctionType):
            yield found, owner
            if "__wrapped__" not in found.__dict__:
                return
            found = found.__dict__["__wrapped__"]
        elif (partial := parts_of_partial(found)) is not None:
            found = partial[0]
        elif is_compiled(found):
            return
        else:
            found = attribute(found, "__call__") if not isinstance(found, type) else NOTHING
            if not isinstance(found, types.MethodType):
                return


def is_compiled(found: Any) -> bool:
    """Whether a function is compiled by itself: it has programs, and another one inside."""
    return not isinstance(found, type) and hasattr(type(found), "clear_cache") and hasattr(found, "__wrapped__")


def inside(compiled: Any) -> Any:
    """What was compiled, of something that `is_compiled`."""
    return compiled.__wrapped__
