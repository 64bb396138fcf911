"""What a value holds: a short text of it, and the numbers inside, by name. Runs no code of the user's but `repr` of plain values."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..core.words import cut


MOST = 32
"""Parts of a value that are looked at."""

UNTOLD = "…"
"""What stands in a text for what is not told."""


def parts_of_partial(fun: Any) -> tuple[Any, Sequence[Any], Mapping[str, Any]] | None:
    """The function of a partial and the arguments it holds; also of one of jax's that can be hashed."""
    if isinstance(fun, functools.partial):
        return fun.func, fun.args, fun.keywords
    if type(fun).__name__ == "HashablePartial" and {"f", "args", "kwargs"} <= vars(fun).keys():
        return fun.f, fun.args, fun.kwargs
    return None


@functools.lru_cache(1024)
def globals_read(code: types.CodeType) -> tuple[str, ...]:
    """The names that code, and the code inside it, may read from its globals; attributes are none."""
    own = [one.argval for one in dis.get_instructions(code) if one.opname in _LOADS] if code.co_names else []
    inner = [name for part in code.co_consts if isinstance(part, types.CodeType) for name in globals_read(part)]
    return tuple(dict.fromkeys([*own, *inner]))[:MOST]


_LOADS = {"LOAD_GLOBAL", "LOAD_NAME"}


# --- numbers ------------------------------------------------------------------------------------------------------------------


def numbers_in(value: Any) -> tuple[tuple[str, str], ...]:
    """The numbers that a function captured, or that an object has among its attributes, by name; the same inside of those."""
    found: list[tuple[str, str]] = []
    todo, met = [("", value)], set[int]()
    while todo and len(met) < MOST:
        name, one = todo.pop(0)
        if isinstance(one, _NUMBERS):
            found.append((name, cut(repr(one), _LONGEST)))
        elif id(one) not in met:
            met.add(id(one))
            todo += _parts(one, name)
    return tuple(found[:MOST])


_NUMBERS = (bool, int, float, complex)


def _parts(value: Any, name: str) -> list[tuple[str, Any]]:
    """What a value holds, by name: cells of a function, its defaults and the numbers among the globals that it reads, parts of a partial,
    fields of a tuple, attributes."""
    if isinstance(value, types.FunctionType):
        read = ((one, part) for one, part in _globals_of(value) if isinstance(part, _NUMBERS))
        return [*_cells_of(value), *_defaults_of(value), *read]
    if (partial := parts_of_partial(value)) is not None:
        function, args, keywords = partial
        code = getattr(function, "__code__", None)
        names = code.co_varnames[: code.co_argcount] if isinstance(code, types.CodeType) else ()
        given = [(names[i] if i < len(names) else f"argument {i}", part) for i, part in enumerate(args)]
        return [("", function), *given, *keywords.items()]
    if isinstance(value, types.MethodType):
        return [(name, value.__self__), (name, value.__func__)]
    if isinstance(value, (tuple, list)):
        names = getattr(value, "_fields", None) or [name] * len(value)
        return list(zip(names, value[:MOST]))
    held = getattr(value, "__dict__", None)
    return (
        list(held.items())[:MOST] if isinstance(held, dict) and not isinstance(value, (type, types.ModuleType)) else []
    )


def _cells_of(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    return ((name, cell.cell_contents) for name, cell in cells if cell != types.CellType())


def _defaults_of(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    yield from zip(names, defaults)
    yield from (function.__kwdefaults__ or {}).items()


def _globals_of(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function reads from its globals, but for modules, classes and what is built in."""
    around = function.__globals__
    for name in globals_read(function.__code__):
        if name in around and not isinstance(around[name], _NAMED):
            yield name, around[name]


_NAMED = (types.ModuleType, type, types.BuiltinFunctionType)


# --- text ---------------------------------------------------------------------------------------------------------------------


def content_of(value: Any) -> str:
    """What an object holds that is compared by identity, as a text; "" for one that is compared by value."""
    return _Content().of(value) if type(value).__hash__ is object.__hash__ else ""


class _Content:
    """`UNTOLD` stands for what a short text does not tell."""

    def __init__(self) -> None:
        self._left = _LONGEST

    def of(self, value: Any, depth: int = 5) -> str:
        if value is None or isinstance(value, (*_NUMBERS, str, bytes)):
            return short if len(short := repr(value)) <= _LONGEST else UNTOLD
        self._left -= 1
        if not depth or self._left < 0:
            return UNTOLD
        if isinstance(value, _NAMED):
            return f"{getattr(value, '__module__', '')} {getattr(value, '__qualname__', value.__name__)}"
        if type(value) in (tuple, list):
            return self._each(value, depth)
        if type(value) is dict:
            return self._each([part for item in value.items() for part in item], depth)
        if isinstance(value, types.FunctionType):
            code = value.__code__
            held = [part for _, part in (*_cells_of(value), *_defaults_of(value), *_globals_of(value))]
            return f"{code.co_qualname} of {code.co_filename}:{code.co_firstlineno} {self._each(held, depth)}"
        if isinstance(value, types.MethodType):
            return f"method {self._each([value.__self__, value.__func__], depth)}"
        if (partial := parts_of_partial(value)) is not None:
            function, args, keywords = partial
            return f"partial {self._each([function, *args, keywords], depth)}"
        held = getattr(value, "__dict__", None)
        whole = type(held) is dict and type(value).__basicsize__ <= _Plain.__basicsize__
        return f"{type(value).__qualname__} {self.of(held, depth - 1) if whole else UNTOLD}"

    def _each(self, values: Sequence[Any], depth: int) -> str:
        return f"({', '.join(self.of(one, depth - 1) for one in values)})" if len(values) <= _LONGEST else UNTOLD


class _Plain:
    """An object of a class like this one has nothing beside its `__dict__`; one with slots, or written in C, is larger."""


_LONGEST = 200
