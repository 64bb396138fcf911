"""References to mutable arrays, as far as traces know them. What they are and do stands in `control.refs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .annotations import HigherOrder, JaxprTrace, Trace, Var


class OfAval:
    """What is said of a value by its aval."""

    __slots__ = ()
    aval: Any
    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)
    size = property(lambda self: self.aval.size)


class Reference(OfAval):
    """Base of `Ref`. A trace asks it for the variable it is there, and operations with inner jaxprs for what becomes of a
    call that gets it."""

    __slots__ = ("__weakref__",)

    @property
    def transient(self) -> bool:
        """Whether it belongs to a trace, and ends with it."""
        raise NotImplementedError

    @property
    def array(self) -> Any:
        """The array that it is the memory of; None if it belongs to a trace."""
        raise NotImplementedError

    @property
    def whole(self) -> Reference:
        """The reference itself; of a part, that of which it is one."""
        return self

    def variable(self, trace: JaxprTrace) -> Var:
        """What it is in the program that `trace` records."""
        raise NotImplementedError

    def called(self, primitive: HigherOrder, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """The results of an operation that has inner jaxprs, and references among its operands."""
        raise NotImplementedError

    def example(self, trace: Trace, dim: int | None) -> Reference:
        """What one example sees of it, under `vmap`."""
        raise NotImplementedError

    def dual(self, trace: Any, tangent: Any) -> Reference:
        """What a differentiated function sees of it; `tangent` is a reference, a value to begin with, or Zero."""
        raise NotImplementedError


class ReferenceAval:
    """Base of the aval of references. `inner_aval` is that of what they refer to."""

    __slots__ = ("__weakref__", "inner_aval")
    inner_aval: Any
    shape: Any
    dtype: Any

    def brief(self) -> str:
        """As of arrays, with whether it is weak; references are not."""
        return self.short()

    def short(self) -> str:
        """As in a jaxpr."""
        raise NotImplementedError

    def made(self, trace: Trace, var: Var) -> Reference:
        """The reference that stands for a variable of a trace."""
        raise NotImplementedError

    def holding(self, trace: Trace, value: Any) -> Any:
        """A reference that holds a value of a trace."""
        raise NotImplementedError
