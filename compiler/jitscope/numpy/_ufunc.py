"""Elementwise functions that are one operation each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..core.annotations import Binary, Unary
from ..core.avals import aval_of
from ..core.primitive import Primitive
from ..eager.functions import elementwise
from .operands import cast, operand, operands


def kind_of(x: Any) -> str:
    """The kind of the dtype of a value: a letter as `dtypes.kind` gives it."""
    return dtypes.kind(aval_of(x).dtype)


def numeric(name: str, *xs: Any) -> list[Any]:
    """Operands of one dtype and shape; booleans as integers of 32 bits."""
    values = operands(name, *xs)
    return values if kind_of(values[0]) != "b" else [cast(x, aval_of(x), dtypes.int32) for x in values]


def not_complex(name: str, x: Any, error: type[Exception] = TypeError) -> Any:
    """The operand `x` of the function `name`. Raises `error` for complex numbers."""
    if kind_of(x) == "c":
        raise error(f"{name} is not defined for complex numbers")
    return x


def describe(fun: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    """Give a function made by a table its name and its docstring."""
    fun.__name__ = fun.__qualname__ = name
    fun.__doc__ = doc
    return fun


def unary_of(name: str, primitive: Primitive, doc: str, inexact: bool = False) -> Unary:
    """The function that is one primitive; with `inexact`, integers and booleans become floats first."""

    def fun(x: Any, /) -> Any:
        return primitive.bind(operand(name, x, inexact))

    floats = "; integers and booleans become floats" if inexact else ""
    return elementwise(describe(fun, name, f"{doc}\n\n    Element by element: [...] to [...]{floats}."))


def binary_of(
    name: str,
    primitive: Primitive,
    doc: str,
    inexact: bool = False,
    complex_rule: Callable[[Any, Any], Any] | None = None,
) -> Binary:
    """The function of two operands that is one primitive, after promotion and broadcasting."""

    def fun(x: Any, y: Any, /) -> Any:
        x, y = operands(name, x, y, inexact=inexact)
        if complex_rule is not None and kind_of(x) == "c":
            return complex_rule(x, y)
        return primitive.bind(x, y)

    both = "Element by element [...]: the operands broadcast, and are taken in their common dtype."
    return elementwise(describe(fun, name, f"{doc}\n\n    {both}"))
