"""Elementwise functions of one and two operands, with the shortest way from a call to a program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..backend.array import Array, to_array
from ..core import config, dtypes
from ..core.avals import aval_of
from ..core.config import scoped, settings
from ..core.primitive import Primitive
from ..core.trace import Tracer, evaluating, leaked, traced_by
from ._fused import compile_function, program_cache
from ._operands import checked, operand, operands, unsupported


def unary(fun: Callable[[Any], Any]) -> Callable[..., Any]:
    """Decorator for functions of one operand: outside any trace, one program for each aval."""
    programs = program_cache()
    name = fun.__name__

    @functools.wraps(fun)
    def ufunc(x: Any, /) -> Any:
        if traced_by() is not None and not evaluating():
            return fun(x)
        if type(x) is not Array:
            x = concrete(name, x)
        key = (x.aval, config.unscoped if scoped() is None else settings())
        try:
            run = programs[key]
        except KeyError:
            run = None
        if run is None:
            run = programs.again(key) or programs.keep(key, compile_function(fun, [x.aval], name.strip("_")))
        return run([x.buf])

    _inside[ufunc] = fun, programs
    return ufunc


def binary(fun: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Decorator for functions of two operands: outside any trace, one program for each pair of avals."""
    programs = program_cache()
    name = fun.__name__

    @functools.wraps(fun)
    def ufunc(x: Any, y: Any, /) -> Any:
        if traced_by() is not None and not evaluating():
            return fun(x, y)
        if type(x) is not Array:
            x = concrete(name, x)
        if type(y) is not Array:
            y = concrete(name, y, 1)
        key = (x.aval, y.aval, config.unscoped if scoped() is None else settings())
        try:
            run = programs[key]
        except KeyError:
            run = None
        if run is None:
            run = programs.again(key) or programs.keep(key, compile_function(fun, [x.aval, y.aval], name.strip("_")))
        return run([x.buf, y.buf])

    _inside[ufunc] = fun, programs
    return ufunc


_inside: dict[Any, tuple[Callable[..., Any], Any]] = {}
"""What is behind a function of `unary` or `binary`, and its programs."""


def with_options(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, with the same programs, that also accepts NumPy's `out` and `where`, which must be None.

    The body stands here once more: a call that handed its operands on would cost one call more.
    """
    fun, programs = _inside[ufunc]
    name = fun.__name__

    def one(x: Any, /, *, out: None = None, where: None = None) -> Any:
        if out is not None or where is not None:
            _refuse(name, out)
        return ufunc(x)

    def two(x: Any, y: Any, /, *, out: None = None, where: None = None) -> Any:
        if out is not None or where is not None:
            _refuse(name, out)
        if traced_by() is not None and not evaluating():
            return fun(x, y)
        if type(x) is not Array:
            x = concrete(name, x)
        if type(y) is not Array:
            y = concrete(name, y, 1)
        key = (x.aval, y.aval, config.unscoped if scoped() is None else settings())
        try:
            run = programs[key]
        except KeyError:
            run = None
        if run is None:
            run = programs.again(key) or programs.keep(key, compile_function(fun, [x.aval, y.aval], name.strip("_")))
        return run([x.buf, y.buf])

    return one if fun.__code__.co_argcount == 1 else two


def _refuse(name: str, out: Any) -> None:
    unsupported(name, out=out)
    raise NotImplementedError(f"{name}: where= is not supported, use jnp.where(where, {name}(...), otherwise)")


_numbers = program_cache()


def concrete(name: str, x: Any, position: int = 0) -> Any:
    """An operand as an Array. Raises TypeError, with the function's name, for what is none, and for leaked tracers."""
    kind = type(x)
    if kind is int or (kind is float and x):  # 0.0 and -0.0 are equal
        key = (kind, x, settings())
        found = _numbers.get(key)
        if found is None:
            found = _numbers.again(key) or _numbers.keep(key, to_array(x))
        return found
    x = checked(name, x, position)[0]
    if isinstance(x, Tracer):
        raise leaked(x)
    return to_array(x)


def kind_of(x: Any) -> str:
    """The kind of the dtype of a value: a letter as `dtypes.kind` gives it."""
    return dtypes.kind(aval_of(x).dtype)


def describe(fun: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    """Give a function made by a table its name and its docstring."""
    fun.__name__ = fun.__qualname__ = name
    fun.__doc__ = doc
    return fun


def unary_of(name: str, primitive: Primitive, doc: str, inexact: bool = False) -> Callable[..., Any]:
    """The function that is one primitive; with `inexact`, integers and booleans become floats first."""

    def fun(x: Any, /) -> Any:
        return primitive.bind(operand(name, x, inexact))

    return unary(describe(fun, name, doc))


def binary_of(
    name: str,
    primitive: Primitive,
    doc: str,
    inexact: bool = False,
    complex_rule: Callable[[Any, Any], Any] | None = None,
) -> Callable[..., Any]:
    """The function of two operands that is one primitive, after promotion and broadcasting."""

    def fun(x: Any, y: Any, /) -> Any:
        x, y = operands(name, x, y, inexact=inexact)
        if complex_rule is not None and kind_of(x) == "c":
            return complex_rule(x, y)
        return primitive.bind(x, y)

    return binary(describe(fun, name, doc))
