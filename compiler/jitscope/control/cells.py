"""Cells: where the values of references are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.avals import aval_of
from ..core.jaxpr import Var
from ..core.trace import using
from ..ops.linear import instantiate
from .indexers import Parts, Span, changed, element_of, rebuilt
from .ref_errors import freed_error


class Cell:
    """Where the value of a reference is. `trace` is the transformation it belongs to, None for memory. `read`, `write` and
    `put` run under that trace."""

    __slots__ = ()
    trace: Any = None

    def read(self) -> Any:
        """The whole value."""
        raise NotImplementedError

    def write(self, value: Any) -> None:
        """Another value, of the same aval."""
        raise NotImplementedError

    def get(self, parts: Parts, operands: Sequence[Any]) -> Any:
        """The element at an index."""
        return element_of(self.read(), parts, operands)

    def put(self, value: Any, parts: Parts, operands: Sequence[Any], add: bool) -> None:
        """Another element at an index, or `value` added to it."""
        self.write(changed(self.read(), value, parts, operands, add))

    def end(self) -> Any:
        """The last value; from now on there is none."""
        value = self.read()
        self.write(None)
        return value


class ValueCell(Cell):
    """The value itself."""

    __slots__ = ("trace", "value")

    def __init__(self, trace: Any, value: Any):
        self.trace, self.value = trace, value

    def read(self):
        if self.value is None:
            raise freed_error()
        return self.value

    def write(self, value):
        self.value = value


class TracedCell(Cell):
    """A variable of a program being traced, whose equations read and write it."""

    __slots__ = ("ended", "trace", "var")

    def __init__(self, trace: Any, var: Var):
        self.trace, self.var, self.ended = trace, var, False

    @property
    def given(self) -> bool:
        """Whether it is an argument of the program."""
        return self.var in self.trace.invars


class Example(Cell):
    """One example's part of a reference that has all examples along axis `dim`."""

    __slots__ = ("dim", "trace", "whole")

    def __init__(self, trace: Any, whole: Any, dim: int):
        self.trace, self.whole, self.dim = trace, whole, dim

    def read(self):
        with using(self.trace.parent):
            return self.trace.join(self.whole[...], self.dim)

    def write(self, value):
        value, dim = self.trace.split(value)
        with using(self.trace.parent):
            self.whole[...] = self.trace.axis.move(value, dim, self.dim)

    def get(self, parts, operands):
        place = self._place(parts, operands)
        if place is None:
            return super().get(parts, operands)
        with using(self.trace.parent):
            return self.trace.join(self.whole[rebuilt(place, operands)], self._axis(parts))

    def put(self, value, parts, operands, add):
        place = self._place(parts, operands)
        if place is None:
            return super().put(value, parts, operands, add)
        value, dim = self.trace.split(value)
        with using(self.trace.parent):
            moved = self.trace.axis.move(value, dim, self._axis(parts))
            self.whole.put(rebuilt(place, operands), moved, add)

    def _place(self, parts: Parts, operands: Sequence[Any]) -> Parts | None:
        """The same index of all examples, if it is one of numbers and slices and the same for all."""
        if any(p is None for p in parts) or any(
            aval_of(x).shape or self.trace.split(x)[1] is not None for x in operands
        ):
            return None
        return (*parts[: self.dim], Span(0, self.trace.axis.size, 1), *parts[self.dim :]) if parts else ()

    def _axis(self, parts: Parts) -> int:
        """Where the examples lie in the element at such an index."""
        return sum(type(p) is Span for p in parts[: self.dim]) if parts else self.dim


class Dual(Cell):
    """A reference that is differentiated: what it holds, and its tangent, a reference too."""

    __slots__ = ("primal", "tangent", "trace")

    def __init__(self, trace: Any, primal: Any, tangent: Any):
        self.trace, self.primal, self.tangent = trace, primal, tangent

    def read(self):
        with using(self.trace.parent):
            return self.trace.join(self.primal[...], self.tangent[...])

    def write(self, value):
        value, tangent = self.trace.split(value)
        with using(self.trace.parent):
            self.primal[...] = value
            self.tangent[...] = instantiate(tangent)
