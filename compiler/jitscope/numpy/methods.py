"""The methods that arrays and tracers share: most are functions of this package, with the array as first argument."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from ..backend.array import Array
from . import (
    bits,
    creation,
    dtypes,
    editing,
    linear,
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


API_VERSION = "2025.12"


def _method(function: Callable[..., Any], *hidden: str) -> Callable[..., Any]:
    """A function as a method, at no cost for the call: the same code, shown with `self` as first parameter and without
    those that arrays' methods do not have."""
    assert isinstance(function, FunctionType), function
    code = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    code.__kwdefaults__, code.__doc__, code.__qualname__ = function.__kwdefaults__, function.__doc__, function.__name__
    shown = [p for p in inspect.signature(function).parameters.values() if p.name not in hidden]
    shown[0] = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    code.__signature__ = inspect.Signature(shown)  # pyright: ignore[reportFunctionMemberAccess]
    return code


def _reshape(self: Any, *args: Any, order: str = "C", out_sharding: Any = None) -> Any:
    """The elements in another shape: x.reshape(2, 3) or x.reshape((2, 3)); one size may be -1."""
    return structure.reshape(self, args[0] if len(args) == 1 else args, order, out_sharding=out_sharding)


def _transpose(self: Any, *args: Any) -> Any:
    """The array with its axes in another order: x.transpose(1, 0) or x.transpose((1, 0)); without any, reversed."""
    axes = (
        args[0]
        if len(args) == 1 and (args[0] is None or isinstance(args[0], (tuple, list)) or getattr(args[0], "ndim", 0))
        else args
    )
    return structure.transpose(self, None if axes is None or not len(axes) else tuple(axes))


def _astype(self: Any, dtype: Any, copy: bool = False, device: Any = None) -> Any:
    """The array in another dtype."""
    return dtypes.astype(self, dtype, copy=copy, device=device)


def _clip(self: Any, min: Any = None, max: Any = None) -> Any:
    """The elements limited to [min, max]."""
    return rounding.clip(self, min, max)


def _copy(self: Any) -> Any:
    """A copy in memory of its own."""
    return creation.array(self, copy=True)


def _clone(self: Any) -> Any:
    """Another array object of the same memory."""
    return Array(self.buf, self.aval) if isinstance(self, Array) else self


def _flatten(self: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
    """All elements as a vector."""
    return structure.ravel(self, order, out_sharding=out_sharding)


def _conj(self: Any) -> Any:
    """The complex conjugate."""
    return rounding.conjugate(self)


def _conjugate(self: Any) -> Any:
    """The complex conjugate."""
    return rounding.conjugate(self)


def _compress(
    self: Any,
    condition: Any,
    axis: int | None = None,
    *,
    out: None = None,
    size: int | None = None,
    fill_value: Any = 0,
) -> Any:
    """The slices along `axis` for which the vector `condition` holds; see `jitscope.numpy.compress`."""
    return selecting.compress(condition, self, axis, size=size, fill_value=fill_value, out=out)


def _nonzero(self: Any, *, fill_value: Any = None, size: int | None = None) -> tuple[Any, ...]:
    """The indices of the elements that are not zero, one array for each axis; see `jitscope.numpy.nonzero`."""
    return selecting.nonzero(self, size=size, fill_value=fill_value)


def _to_device(self: Any, device: Any, *, stream: Any = None) -> Any:
    """The array on a device. Raises NotImplementedError for `stream`."""
    if stream is not None:
        raise NotImplementedError("to_device: stream= is not supported")
    return dtypes.on_device(self, device)


def _flat(self: Any) -> Any:
    """Not there, as in JAX: raises NotImplementedError."""
    raise NotImplementedError("x.flat is an iterator that writes, and arrays cannot be changed: use x.ravel()")


def _array_namespace(self: Any, *, api_version: str | None = None) -> ModuleType:
    """`jitscope.numpy`: the namespace of the Python array API standard to which arrays belong. Raises ValueError for another
    version of the standard than "2025.12"."""
    if api_version not in (None, API_VERSION):
        raise ValueError(f"version {api_version!r} of the array API is not available; {API_VERSION!r} is")
    return sys.modules[__package__ or ""]


def _same(*functions: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    return {function.__name__: _method(function) for function in functions}


METHODS: dict[str, Any] = {
    "__array_namespace__": _array_namespace,
    "reshape": _reshape,
    "transpose": _transpose,
    "astype": _astype,
    "clip": _clip,
    "copy": _copy,
    "clone": _clone,
    "flatten": _flatten,
    "conj": _conj,
    "conjugate": _conjugate,
    "compress": _compress,
    "nonzero": _nonzero,
    "view": bits.view,
    "byteswap": bits.byteswap,
    "to_device": _to_device,
    "flat": property(_flat, doc=_flat.__doc__),
    "argsort": _method(sorting.argsort, "dtype"),
    "std": _method(statistics.std, "mean"),
    "var": _method(statistics.var, "mean"),
    "dot": _method(linear.dot, "out_sharding"),
    **_same(structure.ravel, structure.swapaxes, structure.squeeze, triangles.diagonal, linear.trace, repeating.repeat),
    **_same(reductions.sum, reductions.prod, reductions.max, reductions.min, reductions.all, reductions.any),
    **_same(reductions.argmax, reductions.argmin, reductions.ptp, running.cumsum, running.cumprod, statistics.mean),
    **_same(rounding.round, sorting.sort, sorting.argpartition, sorting.searchsorted, selecting.take, editing.choose),
}
