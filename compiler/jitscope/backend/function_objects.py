"""How a function object came to be: what tells one made anew from another function, and what it captured."""

from __future__ import annotations

import dis
import functools
import itertools
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import source
from ..named_tuple import NamedTuple
from .contents import MOST, globals_read, numbers_in, parts_of_partial
from .signature import code_of, short_repr


class Inside(NamedTuple):
    """What a function does, as far as its own text says: its code, and its defaults as `Capture` has them."""

    code: types.CodeType
    defaults: tuple[tuple[str, int], ...]

    def is_same(self, other: Inside) -> bool:
        """Whether both say the same, wherever they stand."""
        return self.defaults == other.defaults and is_same_code(self.code, other.code)


class Capture(NamedTuple):
    """A value that a function reads from around it. `how`: "closure", "global", "default", "argument" (of a partial), "self".
    `token` differs between values that print alike; `inside` is there for functions; `held` are the numbers inside of a function or an
    object, by name; `code` see `code_of`."""

    name: str
    how: str
    text: str
    token: int
    inside: Inside | None = None
    held: tuple[tuple[str, str], ...] = ()
    code: str = ""

    @property
    def passable(self) -> bool:
        """Whether it is a number or an array, which can be an argument of a compiled function."""
        return not self.text.startswith(("function ", "object of ", "'", '"', "b'", "None", "("))


class FunctionObject(NamedTuple):
    """A function object: `kind` ("function", "lambda", "nested function", "partial", "method", "object"), the qualified name of its
    code, the names of the parameters that a call gives by position, the values it captured, `object`, a weak reference to it
    (None where there can be none), the names of what wraps that code: what `grad`, `vmap` and decorators make, outermost first, the column at
    which a lambda's begins, and a weak reference to the code."""

    kind: str
    qualname: str
    parameters: tuple[str, ...]
    captures: tuple[Capture, ...]
    object: Callable[[], Any] | None
    wrappers: tuple[str, ...] = ()
    column: int = 0
    code: Callable[[], types.CodeType | None] | None = None

    @property
    def alive(self) -> bool:
        """Whether the function object is still there."""
        return self.object is not None and self.object() is not None

    def is_compiled_after(self, other: FunctionObject) -> bool:
        """Whether Python compiled its code anew: the file or the text that defines it was run again."""
        return self.code is not None and other.code is not None and self.code() is not other.code()


_PLAIN = (int, float, complex, str, bytes, type(None))


def _parameters(fun: Any) -> tuple[str, ...]:
    """The names of what a function takes by position; none where it is no function of Python."""
    code = getattr(fun, "__code__", None)
    return code.co_varnames[isinstance(fun, types.MethodType) : code.co_argcount] if code is not None else ()


def function_object(fun: Any) -> FunctionObject:
    """How `fun` came to be. Runs no code of the user's."""
    found: list[Capture] = []
    wrappers: list[str] = []
    kind, met, given = "", set[int](), 0
    owner = fun.__self__ if isinstance(fun, types.MethodType) else fun
    while id(fun) not in met and len(met) < MOST:  # functions may wrap each other
        met.add(id(fun))
        bound, held = bound_to(fun), getattr(fun, "__dict__", None)
        if (partial := parts_of_partial(fun)) is not None:
            inner, args, keywords = partial
            kind, given = kind or "partial", given + len(args)
            names = _parameters(inner)
            found += [
                capture_of(names[i] if i < len(names) else f"argument {i}", "argument", value)
                for i, value in enumerate(args)
            ]
            found += [capture_of(name, "argument", value) for name, value in keywords.items()]
            fun = inner
        elif bound is not None:
            kind, given = kind or "method", given + 1
            found.append(capture_of("self", "self", bound[1]))
            fun = bound[0]
        elif isinstance(held, dict) and "__wrapped__" in held:
            wrappers.append(_wrapper(fun))
            fun = held["__wrapped__"]
    code = getattr(fun, "__code__", None)
    if not isinstance(code, types.CodeType):
        if callable(fun) and not isinstance(fun, type):
            found.append(capture_of("self", "self", fun))
        return FunctionObject(
            kind or "object", str(type(fun).__name__), (), tuple(found), _reference(owner), tuple(wrappers)
        )
    found += _captured(fun, code)
    kind = kind or ("lambda" if code.co_name == "<lambda>" else _nested(code))
    parameters = code.co_varnames[given : code.co_argcount]
    column = _column(code) if code.co_name == "<lambda>" else 0
    return FunctionObject(
        kind, code.co_qualname, parameters, tuple(found), _reference(owner), tuple(wrappers), column, weakref.ref(code)
    )


def _column(code: types.CodeType) -> int:
    return min(
        (column for line, _, column, _ in code.co_positions() if column and line == code.co_firstlineno), default=0
    )


def bound_to(fun: Any) -> tuple[Any, Any] | None:
    """The function of a bound method and the object it is bound to; also of an object of a library's that stands for one (equinox's)."""
    held = fun.__dict__ if not isinstance(fun, (types.MethodType, type)) and hasattr(fun, "__dict__") else {}
    if isinstance(fun, types.MethodType):
        return fun.__func__, fun.__self__
    return (held["__func__"], held["__self__"]) if {"__func__", "__self__"} <= held.keys() else None


def _wrapper(fun: Any) -> str:
    """What wraps a function, by name: `decorated.<locals>.wrapper`; of the library's own, and of jax's, with its options,
    `vmap … (0, None)`."""
    code = getattr(fun, "__code__", None)
    if not isinstance(code, types.CodeType):
        return type(fun).__name__
    if code.co_qualname == _BOUNDARY and isinstance(inside := fun.__closure__[0].cell_contents, types.FunctionType):
        fun, code = inside, inside.__code__
    elif not source.is_internal(code.co_filename):
        return code.co_qualname
    held = [cell.cell_contents for cell in fun.__closure__ or () if cell != types.CellType()]
    return " ".join([code.co_qualname, *filter(None, map(_choice, held))])


_BOUNDARY = "api_boundary.<locals>.reraise_with_filtered_traceback"
"""What jax puts round each of its transformations, to shorten tracebacks."""


def _choice(value: Any) -> str:
    """An option of a transformation, or what of the library it holds; "" for what it is given to transform."""
    if type(value) in (bool, *_PLAIN) or (type(value) is tuple and all(map(_choice, value))):
        return repr(value)
    code = getattr(value, "__code__", None)
    return code.co_qualname if isinstance(code, types.CodeType) and source.is_internal(code.co_filename) else ""


def _nested(code: types.CodeType) -> str:
    return "nested function" if "<locals>" in code.co_qualname else "function"


def _reference(fun: Any) -> Callable[[], Any] | None:
    try:
        return weakref.ref(fun)
    except TypeError:
        return None


def _captured(fun: Any, code: types.CodeType) -> Iterator[Capture]:
    for name, cell in zip(code.co_freevars, fun.__closure__ or ()):
        try:
            yield capture_of(name, "closure", cell.cell_contents)
        except ValueError:  # not given a value yet
            continue
    defaults = fun.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    given = [*zip(names[len(names) - len(defaults) :], defaults), *(fun.__kwdefaults__ or {}).items()]
    for name, value in given:
        yield capture_of(name, "default", value)
    around = fun.__globals__
    for name in globals_read(code):
        if name in around and not isinstance(around[name], (types.ModuleType, type, types.BuiltinFunctionType)):
            yield capture_of(name, "global", around[name])


def capture_of(name: str, how: str, value: Any) -> Capture:
    """What is kept of a value that a function reads by this name; `how` see `Capture`."""
    kind = type(value)
    if kind in _PLAIN or kind is bool or (kind is tuple and all(type(part) in _PLAIN for part in value)):
        return Capture(name, how, short_repr(value), hash((kind, value)))
    if kind is np.ndarray:
        return Capture(name, how, f"numpy {value.dtype}{list(value.shape)}", _number(value))
    short = getattr(getattr(value, "aval", None), "short", None)
    if short is not None:
        return Capture(name, how, str(short()), _number(value))
    if isinstance(value, types.FunctionType):
        return Capture(
            name,
            how,
            f"function {value.__name__}",
            _number(value),
            inside_of(value),
            numbers_in(value),
            code_of(value),
        )
    return Capture(name, how, f"object of {kind.__name__}", _number(value), None, numbers_in(value), code_of(value))


def inside_of(function: types.FunctionType) -> Inside:
    """What a function does; of its defaults those that are plain."""
    given = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    return Inside(
        function.__code__,
        tuple((short_repr(one), hash((type(one), one))) for one in given if type(one) in (bool, *_PLAIN)),
    )


def is_same_code(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether two pieces of code do the same, wherever they stand and whatever their docstrings say."""
    if one is other:
        return True
    if _frame(one) != _frame(other):
        return False
    steps, others = list(dis.get_instructions(one)), list(dis.get_instructions(other))
    return len(steps) == len(others) and all(map(_is_same_step, steps, others))


_HAS_DOCSTRING = 0x4000000  # since Python 3.13


def _frame(code: types.CodeType) -> tuple[Any, ...]:
    return code.co_argcount, code.co_kwonlyargcount, code.co_varnames, code.co_freevars, code.co_flags & ~_HAS_DOCSTRING


def _is_same_step(one: dis.Instruction, other: dis.Instruction) -> bool:
    """Whether two instructions do the same; a docstring moves the numbers of constants, not the constants."""
    if one.opcode != other.opcode:
        return False
    return _is_same_constant(one.argval, other.argval) if one.opcode in dis.hasconst else one.argrepr == other.argrepr


def _is_same_constant(one: Any, other: Any) -> bool:
    if isinstance(one, types.CodeType) and isinstance(other, types.CodeType):
        return is_same_code(one, other)
    return type(one) is type(other) and repr(one) == repr(other)


_numbers: dict[int, tuple[weakref.ref[Any], int]] = {}
_next = itertools.count(1)


def _number(value: Any) -> int:
    """Tells objects apart, also one that lies where another one was, which is gone; of those without weak
    references tuples by their parts, and others by place alone."""
    at = id(value)
    known = _numbers.get(at)
    if known is not None and known[0]() is value:
        return known[1]
    try:
        reference = weakref.ref(value, functools.partial(_forget, at))
    except TypeError:
        parts = [capture_of("", "", part).token for part in value[:MOST]] if isinstance(value, tuple) else [at]
        return hash((type(value), *parts))
    _numbers[at] = reference, next(_next)
    return _numbers[at][1]


def _forget(at: int, reference: weakref.ref[Any]) -> None:
    known = _numbers.get(at)
    if known is not None and known[0] is reference:
        del _numbers[at]
