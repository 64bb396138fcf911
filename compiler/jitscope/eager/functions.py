"""The library's functions outside of any trace: each call runs as one compiled program.

A program is kept under the options in force, the avals of the operands and the values of static arguments. While a program is being
traced, a function simply runs, so that its equations land in the jaxpr at hand, and what it gives is traced, even where it is one
of its operands.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, TypeVar

from ..backend.array import Array, to_array
from ..control.call import call
from ..core import config
from ..core.avals import aval_of
from ..core.config import scoped, settings
from ..core.staging import all_captured, recording
from ..core.trace import Tracer, current_trace, evaluating, traced_by
from .operands import concrete
from .running import Programs, Run, compile_function, trace_arrays


F = TypeVar("F", bound=Callable[..., Any])

# Elementwise functions: the shortest way from a call to a program ------------------------------------------------------


def elementwise(fun: F) -> F:
    """Decorator for functions of one or two operands, by position: outside of any trace, one program for their avals."""
    code: CodeType = fun.__code__  # pyright: ignore[reportFunctionMemberAccess]
    return (_of_one if code.co_argcount == 1 else _of_two)(fun)


def _of_one(fun: Any) -> Any:
    name = fun.__name__
    programs = Programs(lambda aval, options: compile_function(fun, [aval], name.strip("_")))

    @functools.wraps(fun)
    def wrapper(x: Any, /) -> Any:
        if traced_by() is not None and not evaluating():
            out = fun(x)
            return out if isinstance(out, Tracer) else all_captured(out, to_array)
        if type(x) is not Array:
            x = concrete(name, x)
        return programs[x.aval, config.unscoped if scoped() is None else settings()]([x.buf])

    return wrapper


def _of_two(fun: Any) -> Any:
    name = fun.__name__
    programs = Programs(lambda one, other, options: compile_function(fun, [one, other], name.strip("_")))

    @functools.wraps(fun)
    def wrapper(x: Any, y: Any, /) -> Any:
        if traced_by() is not None and not evaluating():
            out = fun(x, y)
            return out if isinstance(out, Tracer) else all_captured(out, to_array)
        if type(x) is not Array:
            x = concrete(name, x)
        if type(y) is not Array:
            y = concrete(name, y, 1)
        return programs[x.aval, y.aval, config.unscoped if scoped() is None else settings()]([x.buf, y.buf])

    return wrapper


# Functions of any arguments ---------------------------------------------------------------------------------------------


def eager_jit(*, static: str = "", nested: bool = False, same: bool = False) -> Callable[[F], F]:
    """Decorator: outside of any trace, run the function as one program.

    `static` names the parameters (separated by blanks) that are not arrays: each of their values gets its own program. Of
    the others, arrays, numbers, and lists and tuples of these are operands; the function sees sequences as lists. Where an argument is
    none of these, or a static one has no hash, the function runs operation by operation.

    Under `grad` and `vmap` outside of jit, the operations of the function are transformed one by one; `nested`: it is one call of its
    jaxpr there, whose derivative and map are programs, too. `same`: in JAX, too, an array that stays what it is is given back itself, not traced.
    """
    names = frozenset(static.split())

    def decorate(fun: Any) -> Any:
        call_of = _Call(fun, names)
        fixed, rest = call_of.fixed, call_of.rest
        programs = Programs()

        @functools.wraps(fun)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not evaluating():
                out = call_of.nested(programs, args, kwargs) if nested else fun(*args, **kwargs)
                return out if same and type(out) is Array else all_captured(out, to_array)
            key: list[Any] = [settings()]
            bufs: list[Any] = []
            try:
                for x, still in zip(args, fixed):
                    if still:
                        key.append(x if type(x) in _PLAIN else _static(x))
                    elif type(x) is Array:
                        key.append(x.aval)
                        bufs.append(x.buf)
                    else:
                        _filed(x, key, bufs)
                if len(args) > len(fixed):
                    if not rest:
                        return fun(*args, **kwargs)  # raises
                    _filed(args[len(fixed) :], key, bufs)
                for name, x in kwargs.items():
                    key.append(name)
                    if name in names:
                        key.append(x if type(x) in _PLAIN else _static(x))
                    else:
                        _filed(x, key, bufs)
                found = tuple(key)
                run = programs.get(found)
            except (_NoOperand, TypeError):
                found = run = None
            # Out of the handler: an error of the function's own is not one "during handling" of another.
            if found is None:
                return fun(*args, **kwargs)
            if run is None:
                run = programs.again(found) or programs.keep(found, call_of.program(args, kwargs))
            return run(bufs)

        return wrapper

    return decorate


class _Hole:
    """Stands for an operand in the structure of a call's arguments."""


_hole = _Hole()


class _NoOperand(Exception):
    """A static argument has no hash, or a value has no place in a program: run operation by operation."""


_ARRAYS = frozenset((Array,))


def _taken(x: Any, operands: list[Any]) -> Any:
    """The structure of an argument, whose operands are appended."""
    if isinstance(x, (list, tuple)):
        if _ARRAYS.issuperset(map(type, x)):
            operands += x
            return type(x), *[_hole] * len(x)
        return (type(x), *[_taken(item, operands) for item in x])
    if x is None or isinstance(x, (str, slice)):
        return x
    operands.append(x)
    return _hole


def _restored(structure: Any, operands: Iterator[Any]) -> Any:
    if structure is _hole:
        return next(operands)
    if isinstance(structure, tuple):
        return [_restored(item, operands) for item in structure[1:]]
    return structure


def _filed(x: Any, key: list[Any], bufs: list[Any]) -> None:
    """Add what is not an array, or not one alone, to a key and to the buffers."""
    operands: list[Any] = []
    structure = _taken(x, operands)
    for operand in operands:
        if isinstance(operand, Tracer):
            raise _NoOperand
        array = to_array(operand)
        key.append(array.aval)
        bufs.append(array.buf)
    key.append((structure,))


_PLAIN = frozenset((bool, int, str, type(None), type))
"""Types of static values that stand for themselves in a key."""
_INTS = frozenset((int,))


def _static(x: Any) -> Any:
    """A static value that is not plain, as part of a key. Raises TypeError if it is not hashable."""
    if isinstance(x, (list, tuple)):
        return tuple(x) if _INTS.issuperset(map(type, x)) else tuple(map(_static, x))
    if isinstance(x, Array):
        raise _NoOperand
    hash(x)
    return (type(x), x) if isinstance(x, (float, complex)) else x  # 1.0 and 1 are equal


class _Call:
    """What is known of the calls of a function: `fixed` says for each positional parameter whether it is static, `rest` whether there
    are more (`*args`)."""

    def __init__(self, fun: FunctionType, static: frozenset[str]):
        code = fun.__code__  # inspect.signature takes a hundred times as long
        parameters = code.co_varnames[: code.co_argcount]
        assert static <= set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]), fun
        self.fun, self.static = fun, static
        self.fixed = tuple(name in static for name in parameters)
        self.rest = bool(code.co_flags & inspect.CO_VARARGS)

    def program(self, args: tuple, kwargs: dict[str, Any]) -> Run:
        """What runs calls like this one."""
        operands, _, again = self.taken_apart(args, kwargs)
        return compile_function(again, [to_array(x).aval for x in operands], self.fun.__name__)

    def nested(self, programs: Programs, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The call under a transformation: where operations are evaluated in the end, one equation."""
        fun = self.fun
        if settings().disable_jit or recording(current_trace()) or (len(args) > len(self.fixed) and not self.rest):
            return fun(*args, **kwargs)
        operands: list[Any] = []
        avals: tuple[Any, ...] = ()
        again, key, found = fun, None, None
        try:
            operands, structure, again = self.taken_apart(args, kwargs)
            avals = tuple(map(aval_of, operands))
            key = ("nested", settings(), structure, avals)
            found = programs.get(key)
        except (_NoOperand, TypeError):
            key = None
        if key is None:
            return fun(*args, **kwargs)
        if found is None:
            found = programs.again(key) or programs.keep(key, trace_arrays(again, avals, fun.__name__))
        closed, out_tree = found
        return out_tree.unflatten(call(closed, operands, fun.__name__))

    def taken_apart(self, args: tuple, kwargs: dict[str, Any]) -> tuple[list[Any], tuple, Callable[..., Any]]:
        """The operands of a call, the rest of it as part of a key, and the function of operands in their places."""
        operands: list[Any] = []
        fixed = self.fixed + (False,) * (len(args) - len(self.fixed))
        places = [x if still else _taken(x, operands) for x, still in zip(args, fixed)]
        named = {name: x if name in self.static else _taken(x, operands) for name, x in kwargs.items()}
        structure = (
            *[_typed(x) if still else x for x, still in zip(places, fixed)],
            *[(name, _typed(x) if name in self.static else x) for name, x in named.items()],
        )

        def again(*values: Any) -> Any:
            given = iter(values)
            inner = [x if still else _restored(x, given) for x, still in zip(places, fixed)]
            return self.fun(*inner, **{n: x if n in self.static else _restored(x, given) for n, x in named.items()})

        return operands, structure, again


def _typed(x: Any) -> Any:
    return type(x), _static(x)
