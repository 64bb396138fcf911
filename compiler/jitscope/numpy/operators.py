"""What `x + y`, `x[i]` and `x.sum()` mean: the one table of the operators, properties and methods of arrays and tracers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..backend.array import Array
from ..core.avals import is_python_scalar, physical
from ..core.operators import Operators, install
from . import (
    arithmetic,
    creation,
    dtypes,
    indexing,
    joining,
    linear,
    logic,
    reductions,
    repeating,
    rounding,
    running,
    selecting,
    sorting,
    statistics,
    structure,
    triangles,
)
from .at import At


# Operators -----------------------------------------------------------------------------------------------------------


def _accepts(other: Any) -> bool:
    """Whether an operator takes it; for anything else Python asks the other operand, then raises TypeError."""
    return (
        isinstance(other, (Operators, np.ndarray, np.generic))
        or is_python_scalar(other)
        or hasattr(other, "__jitscope_array__")
    )


def _forward(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        if type(other) is not Array and not _accepts(other):
            return NotImplemented
        return function(self, other)

    return operator


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        return function(other, self) if _accepts(other) else NotImplemented

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


def _pow(self: Any, other: Any, modulus: None = None) -> Any:
    if modulus is not None or not _accepts(other):
        return NotImplemented
    return arithmetic.power(self, other)


def _round(self: Any, ndigits: int | None = None) -> Any:
    """The nearest number with so many decimals, halves to even."""
    return rounding.round(self, ndigits or 0)


def _length(self: Any) -> int:
    if not self.aval.shape:
        raise TypeError("a scalar has no len()")
    return self.aval.shape[0]


def _iterate(self: Any) -> Iterator[Any]:
    if not self.aval.shape:
        raise TypeError("a scalar cannot be iterated over")
    return iter(joining.unstack(self))


def _contains(self: Any, value: Any) -> Any:
    return bool(reductions.any(logic.equal(self, value)))


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
    "mT": _property(structure.matrix_transpose, "The array with its last two axes exchanged."),
    "real": _property(rounding.real, "The real part."),
    "imag": _property(rounding.imag, "The imaginary part."),
    "at": _property(At, "Changes that give a new array: x.at[index].set(values), add, multiply, …"),
}


# Methods -------------------------------------------------------------------------------------------------------------


def _reshape(self: Any, *args: Any, order: str = "C") -> Any:
    """The elements in another shape: x.reshape(2, 3) or x.reshape((2, 3)); one size may be -1."""
    return structure.reshape(self, args[0] if len(args) == 1 else args, order)


def _transpose(self: Any, *args: Any) -> Any:
    """The array with its axes in another order: x.transpose(1, 0) or x.transpose((1, 0)); without any, reversed."""
    axes = args[0] if len(args) == 1 and (args[0] is None or isinstance(args[0], (tuple, list))) else args
    return structure.transpose(self, axes or None if args else None)


def _astype(self: Any, dtype: Any, copy: bool = False, device: Any = None) -> Any:
    """The array in another dtype."""
    return dtypes.astype(self, dtype, copy=copy, device=device)


def _clip(self: Any, min: Any = None, max: Any = None) -> Any:
    """The elements limited to [min, max]."""
    return rounding.clip(self, min, max)


def _copy(self: Any) -> Any:
    """A copy in memory of its own."""
    return creation.array(self, copy=True)


def _flatten(self: Any, order: str = "C") -> Any:
    """All elements as a vector."""
    return structure.ravel(self, order)


def _view(self: Any, dtype: Any = None, type: None = None) -> Any:
    """The same bits read as another dtype."""
    if type is not None:
        raise NotImplementedError("view: type= is not supported")
    return self if dtype is None else dtypes.view(self, dtype)


_METHODS = {
    "reshape": _reshape,
    "transpose": _transpose,
    "astype": _astype,
    "clip": _clip,
    "copy": _copy,
    "flatten": _flatten,
    "view": _view,
    "ravel": structure.ravel,
    "swapaxes": structure.swapaxes,
    "squeeze": structure.squeeze,
    "diagonal": triangles.diagonal,
    "trace": linear.trace,
    "dot": linear.dot,
    "repeat": repeating.repeat,
    "sum": reductions.sum,
    "prod": reductions.prod,
    "max": reductions.max,
    "min": reductions.min,
    "all": reductions.all,
    "any": reductions.any,
    "argmax": reductions.argmax,
    "argmin": reductions.argmin,
    "ptp": reductions.ptp,
    "cumsum": running.cumsum,
    "cumprod": running.cumprod,
    "mean": statistics.mean,
    "var": statistics.var,
    "std": statistics.std,
    "conj": rounding.conjugate,
    "conjugate": rounding.conjugate,
    "round": rounding.round,
    "sort": sorting.sort,
    "argsort": sorting.argsort,
    "searchsorted": sorting.searchsorted,
    "take": selecting.take,
    "nonzero": selecting.nonzero,
    "compress": selecting.compress,
}


def table() -> dict[str, Any]:
    """All of it, by name."""
    found: dict[str, Any] = {**_PROPERTIES, **_METHODS}
    for name, function in _BINARY.items():
        found[f"__{name}__"], found[f"__r{name}__"] = _forward(function), _reflected(function)
    for name, function in _COMPARISONS.items():
        found[f"__{name}__"] = _forward(function)
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
