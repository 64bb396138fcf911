"""What stands between the brackets of a reference: the part known while tracing, and the values."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, aval_of
from ..core.config import Settings, settings
from ..core.jaxpr import ClosedJaxpr, DebugInfo
from ..core.references import Reference
from ..core.slices import Slice
from ..core.staging import trace_to_jaxpr
from ..named_tuple import NamedTuple
from ..ops.families import add_tangents
from ..ops.linear import convert
from ..symbolic.dimension import reach


class Span(NamedTuple):
    """A slice whose bounds are settled: so many elements from `start`, a `step` apart."""

    start: int
    size: int
    step: int

    def as_slice(self) -> slice:
        return slice(self.start, self.start + self.size * self.step, self.step)


VALUE = "value"
"""Stands in an index for an operand."""


class MovingSlice(NamedTuple):
    """Stands in an index for a slice of this size whose start is an operand."""

    size: int
    step: int


Parts = tuple[Any, ...]
"""An index taken apart: ints, spans, None for a new axis, VALUE or Moving for operands in their order. Empty: the whole array."""


def parse(index: Any, shape: tuple[int, ...]) -> tuple[Parts, list[Any]]:
    """An index expression taken apart, and its operands.

    Raises ValueError for an index out of bounds, too many indices and steps below 1, TypeError for what is not an index.
    """
    if index is None or index is Ellipsis or (type(index) is tuple and not index):
        return (), []
    given = [_mask_or_array(p) for p in (index if isinstance(index, tuple) and type(index) is not Slice else (index,))]
    taken = sum(map(_axes_taken, given))
    if taken > len(shape):
        raise ValueError(f"too many indices ({taken}) for a reference of shape {shape}")
    if sum(p is Ellipsis for p in given) > 1:
        raise IndexError("an index can contain only one ellipsis (...)")
    at = next((i for i, p in enumerate(given) if p is Ellipsis), len(given))
    given[at : at + 1] = [slice(None)] * (len(shape) - taken)
    parts: list[Any] = []
    operands: list[Any] = []
    axis = 0
    for part in given:
        if part is None:
            parts.append(None)
            continue
        for settled in _settled(part, axis, shape):
            fixed = isinstance(settled, (int, Span))
            moving = type(settled) is Slice
            parts.append(settled if fixed else MovingSlice(settled.size, settled.stride) if moving else VALUE)
            operands += [] if fixed else [settled.start if moving else settled]
            axis += 1
    whole = [Span(0, n, 1) for n in shape]
    return (() if parts == whole else tuple(parts)), operands


def _mask_or_array(part: Any) -> Any:
    if isinstance(part, Reference):
        raise TypeError("a reference cannot be an index: read it first, ref[...]")
    if isinstance(part, (list, np.ndarray)):
        part = np.asarray(part)
        return part if part.ndim else part.item()
    return part


def _axes_taken(part: Any) -> int:
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype == np.bool_ else 1


def _settled(part: Any, axis: int, shape: tuple[int, ...]) -> list[Any]:
    size = shape[axis]
    if isinstance(part, slice):
        if part.step is not None and operator.index(part.step) < 1:
            raise ValueError(f"slices of references have a step of at least 1, not {part.step}")
        start, stop, step = slice(*map(_bound, (part.start, part.stop, part.step))).indices(size)
        return [Span(start, len(range(start, stop, step)), step)]
    if type(part) is Slice:
        part = part.within(axis, size)
        return [Span(*part) if isinstance(part.start, int) else part]
    if isinstance(part, np.ndarray) and part.dtype == np.bool_:
        if part.shape != shape[axis : axis + part.ndim]:
            raise IndexError(
                f"a mask of shape {part.shape} does not fit axes of sizes {shape[axis : axis + part.ndim]}"
            )
        return [column.astype(np.int32) for column in np.nonzero(part)]
    if isinstance(part, (int, np.integer)):
        number = int(part)
        if not -size <= number < size:
            raise ValueError(f"Out of bound indexer: {number} for axis {axis}, which has size {size}")
        return [number]
    if not hasattr(part, "aval") and not isinstance(part, np.ndarray):
        raise TypeError(f"a reference cannot be indexed with a {type(part).__name__}: {part!r}")
    if aval_of(part).dtype.kind not in "iu":
        raise TypeError(f"an index must consist of integers, not {aval_of(part).short()}")
    return [part]


def _bound(bound: Any) -> int | None:
    return bound if bound is None else operator.index(bound)


def rebuilt(parts: Parts, operands: Sequence[Any]) -> Any:
    """The index as Python writes it, to be used on an array."""
    if not parts:
        return Ellipsis
    given = iter(operands)
    return tuple([_written(p, given) for p in parts])


def _written(part: Any, given: Iterator[Any]) -> Any:
    if type(part) is Span:
        return part.as_slice()
    if type(part) is MovingSlice:
        return Slice(next(given), *part)
    return next(given) if part is VALUE else part


def index_text(parts: Parts, operands: Sequence[str], shape: tuple[int, ...]) -> str:
    """As in a jaxpr: 0,1:3,:"""
    if not parts:
        return "..."
    given, axes, words = iter(operands), iter(shape), []
    for part in parts:
        size = None if part is None else next(axes)
        if type(part) is MovingSlice:
            start = next(given)
            words.append(f"{start}:{start}+{reach(*part)}{f':{part.step}' if part.step > 1 else ''}")
        else:
            words.append(_span_text(part, size) if type(part) is Span else next(given) if part is VALUE else str(part))
    return ",".join(words)


def _span_text(span: Span, size: Any) -> str:
    stop = span.start + (span.size - 1) * span.step + 1 if span.size else span.start
    first = str(span.start) if span.start else ""
    last = "" if stop == size or (span.step > 1 and stop + span.step > size) else str(stop)
    return f"{first}:{last}{f':{span.step}' if span.step > 1 else ''}"


# What reading and changing does to the value of a reference ------------------------------------------------------------


def element_of(value: Any, parts: Parts, operands: Sequence[Any]) -> Any:
    """value[index]"""
    return value[rebuilt(parts, operands)] if parts else value


def changed(value: Any, new: Any, parts: Parts, operands: Sequence[Any], add: bool) -> Any:
    """`value` with `new` at the index, or added there; of the same aval."""
    aval = aval_of(value)
    if parts:
        place = value.at[rebuilt(parts, operands)]
        out = place.add(new) if add else place.set(new)
    else:
        out = add_tangents(value, new) if add else new
    found = aval_of(out)
    return out if found is aval else convert(out, aval.dtype, aval.weak_type)


def reading(aval: ShapedArray, parts: Parts, operands: Sequence[ShapedArray]) -> ClosedJaxpr:
    """The program (value, operands of the index) → element."""
    return _reading(aval, parts, tuple(operands), settings())


def swapping(aval: ShapedArray, parts: Parts, new: ShapedArray, operands: Sequence[ShapedArray]) -> ClosedJaxpr:
    """The program (value, new element, operands of the index) → (element there was, new value)."""
    return _changing(aval, parts, new, tuple(operands), False, settings())


def adding(aval: ShapedArray, parts: Parts, new: ShapedArray, operands: Sequence[ShapedArray]) -> ClosedJaxpr:
    """The program (value, what is added, operands of the index) → new value."""
    return _changing(aval, parts, new, tuple(operands), True, settings())


@lru_cache(4096)
def _reading(aval: ShapedArray, parts: Parts, operands: tuple[ShapedArray, ...], _: Settings) -> ClosedJaxpr:
    return trace_to_jaxpr(lambda x, *places: [element_of(x, parts, places)], [aval, *operands], DebugInfo("get"))


@lru_cache(4096)
def _changing(
    aval: ShapedArray, parts: Parts, new: ShapedArray, operands: tuple[ShapedArray, ...], add: bool, _: Settings
) -> ClosedJaxpr:
    def fun(x: Any, y: Any, *places: Any) -> list[Any]:
        return [*([] if add else [element_of(x, parts, places)]), changed(x, y, parts, places, add)]

    return trace_to_jaxpr(fun, [aval, new, *operands], DebugInfo("addupdate" if add else "swap"))
