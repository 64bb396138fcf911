"""What `x + y`, `x[i]` and `x.sum()` mean: the one table of the operators, properties and methods of arrays and tracers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..backend.array import Array
from ..core.avals import is_python_scalar, physical
from ..core.jax_values import jax_kind, refuse
from ..core.operators import Operators, install
from ..core.trace import Tracer
from . import (
    arithmetic,
    dtypes,
    indexing,
    joining,
    linear,
    logic,
    reductions,
    rounding,
    structure,
)
from .at import At
from .methods import METHODS
from .operands import operand_and_aval


# Operators -----------------------------------------------------------------------------------------------------------


def _accepts(other: Any) -> bool:
    """Whether an operator takes it; for anything else Python asks the other operand, then raises TypeError."""
    if isinstance(other, (Operators, np.ndarray, np.generic)) or is_python_scalar(other):
        return True
    if (kind := jax_kind(other)) is not None:
        return kind != "tracer"  # JAX's operators take our arrays
    return hasattr(other, "__jax_array__") or hasattr(other, "__jitscope_array__")


def _declined(self: Any, other: Any) -> Any:
    """What an operator answers that does not take the other operand. Raises TypeError for tracers of both libraries."""
    if isinstance(self, Tracer) and jax_kind(other) == "tracer":
        raise refuse(other, "tracer")
    return NotImplemented


def _forward(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        if type(other) is not Array and not _accepts(other):
            return _declined(self, other)
        return function(self, other)

    return operator


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        return function(other, self) if _accepts(other) else _declined(self, other)

    return operator


_BINARY = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "truediv": arithmetic.divide,
    "floordiv": arithmetic.floor_divide,
    "mod": arithmetic.remainder,
    "divmod": arithmetic.divmod,
    "pow": arithmetic.power,
    "matmul": linear.matmul,
    "and": logic.bitwise_and,
    "or": logic.bitwise_or,
    "xor": logic.bitwise_xor,
    "lshift": logic.left_shift,
    "rshift": logic.right_shift,
}
_COMPARISONS = {
    "eq": logic.equal,
    "ne": logic.not_equal,
    "lt": logic.less,
    "le": logic.less_equal,
    "gt": logic.greater,
    "ge": logic.greater_equal,
}


def _comparison(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator that refuses containers, of which Python would say that an array does not equal them."""
    compare = _forward(function)

    def operator(self: Any, other: Any) -> Any:
        if type(other) in (list, tuple, set, dict):
            raise TypeError(f"an array is compared with a {type(other).__name__}: wrap it in jnp.array(...)")
        return compare(self, other)

    return operator


def _pow(self: Any, other: Any, modulus: None = None) -> Any:
    if modulus is not None or not _accepts(other):
        return NotImplemented
    return arithmetic.power(self, other)


def _round(number: Any, ndigits: int | None = None) -> Any:
    """The nearest number with so many decimals, halves to even; without `ndigits` an integer."""
    rounded = rounding.round(number, ndigits or 0)
    return dtypes.astype(rounded, int) if ndigits is None else rounded


def _length(self: Any) -> int:
    if not self.aval.shape:
        raise TypeError("a scalar has no len()")
    return self.aval.shape[0]


def _iterate(self: Any) -> Iterator[Any]:
    if not self.aval.shape:
        raise TypeError("a scalar cannot be iterated over")
    return iter(joining.unstack(self))


def _contains(self: Any, other: Any) -> bool:
    """Whether a number is among the elements of a vector. Raises TypeError for what is not a number, ValueError for arrays of
    other ranks."""
    if self.aval.ndim != 1 or operand_and_aval("in", other)[1].ndim:
        raise ValueError(f"x in array: of a number and a vector; the array is {self.aval.short()}")
    return bool(reductions.any(logic.equal(self, other)))


# Properties ----------------------------------------------------------------------------------------------------------


def _property(function: Callable[[Any], Any], doc: str) -> property:
    return property(function, doc=doc)


_PROPERTIES = {
    "shape": _property(lambda self: self.aval.shape, "The size of every axis."),
    "dtype": _property(lambda self: self.aval.dtype, "The type of the elements."),
    "ndim": _property(lambda self: self.aval.ndim, "The number of axes."),
    "size": _property(lambda self: self.aval.size, "The number of elements."),
    "itemsize": _property(lambda self: self.aval.dtype.itemsize, "Bytes of one element."),
    "nbytes": _property(lambda self: physical(self.aval).bytes, "Bytes of all elements."),
    "weak_type": _property(lambda self: self.aval.weak_type, "Whether the dtype gives way in promotion."),
    "T": _property(structure.transpose, "The array with its axes reversed."),
    "mT": _property(
        structure.matrix_transpose,
        "The array with its last two axes exchanged. Raises ValueError for fewer than two axes.",
    ),
    "real": _property(rounding.real, "The real part."),
    "imag": _property(rounding.imag, "The imaginary part."),
    "at": _property(At, "Changes that give a new array: x.at[index].set(values), add, multiply, …"),
}


def table() -> dict[str, Any]:
    """All of it, by name."""
    found: dict[str, Any] = {**_PROPERTIES, **METHODS}
    for name, function in _BINARY.items():
        found[f"__{name}__"], found[f"__r{name}__"] = _forward(function), _reflected(function)
    for name, function in _COMPARISONS.items():
        found[f"__{name}__"] = (_comparison if name in ("eq", "ne") else _forward)(function)
    found |= {
        "__pow__": _pow,
        "__neg__": arithmetic.negative,
        "__pos__": arithmetic.positive,
        "__abs__": arithmetic.absolute,
        "__invert__": logic.invert,
        "__round__": _round,
        "__getitem__": indexing.getitem,
        "__len__": _length,
        "__iter__": _iterate,
        "__contains__": _contains,
    }
    return found


install(table())
