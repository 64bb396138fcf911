"""`jitscope.Array`: the type of arrays, for annotations and isinstance."""

from __future__ import annotations

from typing import Any

from ..backend.array import Array as _Concrete
from ..core.annotations import ArrayLike, Ref
from ..core.avals import ShapedArray, aval_of
from ..core.trace import Tracer


__all__ = ["Array", "typeof"]


class _AnyArray(type(_Concrete)):
    """Tracers count as arrays: code that is traced sees in them what it sees in arrays."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (_Concrete, Tracer))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, (_Concrete, Tracer))


class Array(_Concrete, metaclass=_AnyArray):
    """An array: on a device, or traced. `isinstance(x, jitscope.Array)` is true for both.

    Arrays are made by `jitscope.numpy`, for example by `jnp.array`, `jnp.zeros`, `jnp.arange`; this class makes none
    (TypeError).
    """

    __slots__ = ()

    def __new__(cls, *_: Any, **__: Any) -> Array:
        raise TypeError("arrays are made by jitscope.numpy: jnp.array(values), jnp.zeros(shape), …")


def typeof(x: ArrayLike | Ref) -> ShapedArray:
    """What is known of a value while tracing: its aval (shape, dtype, weak type). Raises TypeError for what is not an array."""
    return aval_of(x)
