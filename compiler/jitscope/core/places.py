"""What arrays say of where they are, asked of a tracer: that is not known while a function is traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import ConcretizationTypeError
from .messages import message_here


_AFTER = "ask the result of the compiled function"
_LAID = "jax.typeof(x) says what the type knows of it; lax.with_sharding_constraint(x, sharding) lays it out"


def _read(tracer: Any, name: str, error: type[Exception], advice: str) -> Any:
    known = tracer.known()
    if known is not None:
        return getattr(known, name)
    what = (
        f"`{name}` was asked of a traced value: where it is, and whether it is there, is known when the program runs."
    )
    raise error(message_here(what, advice, detail=f"the value is {tracer.description()}"))


def _property(name: str, error: type[Exception] = ConcretizationTypeError, advice: str = _AFTER) -> property:
    doc = f"Raises {error.__name__} where the value is not known while tracing."
    return property(lambda self: _read(self, name, error, advice), doc=doc)


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Raises ConcretizationTypeError where the value is not known while tracing."""
        return _read(self, name, ConcretizationTypeError, _AFTER)(*args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


class PlaceUnknown:
    """What a tracer answers where an array says on which devices it is."""

    __slots__ = ()

    addressable_shards, global_shards = _property("addressable_shards"), _property("global_shards")
    is_fully_addressable, is_fully_replicated = _property("is_fully_addressable"), _property("is_fully_replicated")
    committed, is_deleted, delete = _property("committed"), _method("is_deleted"), _method("delete")
    addressable_data, devices = _method("addressable_data"), _method("devices")
    on_device_size_in_bytes = _method("on_device_size_in_bytes")
    unsafe_buffer_pointer = _method("unsafe_buffer_pointer")
    # As in JAX, `hasattr` denies these.
    sharding, device = _property("sharding", AttributeError, _LAID), _property("device", AttributeError, _LAID)
    is_ready, block_until_ready = _property("is_ready", AttributeError), _property("block_until_ready", AttributeError)
    copy_to_host_async = _property("copy_to_host_async", AttributeError)
