"""`jitscope.experimental.hijax`: types of values that users make. They are not there; code that only says what such types
would be runs (flax.nnx does, and has variables of such a type when told to)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.avals import *
from ..core.primitive import Primitive
from ..core.zeros import Zero, is_linear as is_undefined_primal
from ..ops.linear import instantiate as instantiate_zeros


_MISSING = (
    "types of values of your own (hijax) are not there. Make a tree of arrays of it: "
    "jitscope.tree_util.register_dataclass or register_pytree_node_class"
)


class HiType(AbstractValue):
    """The aval of a value of a user's type. Making one raises NotImplementedError."""

    def __init__(self, *_: Any, **__: Any):
        raise NotImplementedError(_MISSING)


class MutableHiType(HiType):
    """The aval of a value that changes. Making one raises NotImplementedError."""


class AvalQDD(HiType):
    """An aval with what changes about it. Making one raises NotImplementedError."""


class AvalMutableQDD(HiType):
    """An aval with what changes about it, to be changed. Making one raises NotImplementedError."""


class HiPrimitive(Primitive):
    """An operation on values of users' types. Binding one raises NotImplementedError."""

    def bind(self, *_: Any, **__: Any) -> Any:
        """Raises NotImplementedError: see `experimental.hijax`."""
        raise NotImplementedError(_MISSING)


class HiPrim:
    """An operation whose types and rules a class of the user's says. Making one raises NotImplementedError."""

    def __init__(self, *_: Any, **__: Any):
        raise NotImplementedError(_MISSING)


VJPHiPrimitive = HiPrim
"""`HiPrim`, as it was called up to JAX 0.11.1."""


class aval_property:
    """A property that values take from their aval."""

    __slots__ = ("fget",)

    def __init__(self, fget: Callable[[Any], Any]):
        self.fget = fget


class aval_method:
    """A method that values take from their aval."""

    __slots__ = ("fun",)

    def __init__(self, fun: Callable[..., Any]):
        self.fun = fun


class _Types(set):
    def add_type(self, kind: type) -> None:
        self.add(kind)


control_flow_allowed_effects = _Types()


def register_hitype(val_cls: type, typeof_fn: Callable[[Any], Any]) -> None:
    """Say what the aval of values of a class is. Such values raise TypeError where they meet an operation."""


__all__ = ["AbstractValue", "AvalMutableQDD", "AvalQDD", "HiPrimitive", "HiType", "MutableHiType", "ShapedArray",
           "Zero", "aval_method", "aval_property", "control_flow_allowed_effects", "instantiate_zeros",
           "is_undefined_primal", "register_hitype"]  # fmt: skip
