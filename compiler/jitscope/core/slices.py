"""Slices of known size that start anywhere: `ds`."""

from __future__ import annotations

import operator
from typing import Any

from ..named_tuple import NamedTuple
from .annotations import ArrayLike
from .avals import aval_of


class Slice(NamedTuple):
    """So many elements (`size`) from `start`, `stride` apart. The start may be a traced integer."""

    start: Any
    size: int
    stride: int = 1

    def within(self, axis: int, length: Any) -> Slice:
        """Itself, its start a number where it is known, moved so that all of it is inside an axis of this length.

        Raises IndexError for one that is longer than the axis, TypeError for a start that is not an integer."""
        span = (self.size - 1) * self.stride + 1 if self.size else 0
        if isinstance(length, int) and span > length:
            raise IndexError(f"a slice of {span} elements does not fit axis {axis}, which has size {length}")
        start = self.start
        while hasattr(start, "known"):
            known = start.known()
            if known is None:
                break
            start = known
        if hasattr(start, "known"):
            if aval_of(start).shape or aval_of(start).dtype.kind not in "iu":
                raise TypeError(f"a slice starts at an integer, not at {aval_of(start).short()}")
            return Slice(start, self.size, self.stride)
        try:
            start = operator.index(start)
        except TypeError:
            raise TypeError(f"a slice starts at an integer, not at {start!r}") from None
        return Slice(min(max(start, 0), length - span) if isinstance(length, int) else start, self.size, self.stride)


def ds(start: ArrayLike | None, size: ArrayLike | None = None, stride: int | None = None) -> Any:
    """A slice for use between brackets, of an array or a reference, whose start may be traced: x[ds(i, 4)] are four elements from i.

    `ds(i, n, stride)` takes every stride-th; `ds(n)` and `ds(None, n)` are the first n, `ds(None)` all. A slice that would leave the array is moved
    into it, as those of `lax.dynamic_slice` are. Raises TypeError where the size or the stride is not known while tracing, ValueError
    where one is negative.

    >>> jx.jit(lambda x, i: x[jx.ds(i, 2)])(jnp.arange(10), 4)
    Array([4, 5], dtype=int32)
    """
    if start is None and size is None:
        return slice(None, None, stride)
    first: Any = 0 if start is None else start
    if size is None:
        first, size = 0, start
    n, step = _number(size, "size"), _number(1 if stride is None else stride, "stride")
    if n < 0 or step < 1:
        raise ValueError(f"ds: the size must be at least 0 and the stride at least 1; they are {n} and {step}")
    return Slice(first, n, step)


def _number(x: Any, what: str) -> int:
    try:
        return operator.index(x)
    except TypeError as error:
        raise TypeError(
            f"ds: the {what} of a slice must be a number that is known while tracing, since the shape of the result depends on it; it "
            f"is {aval_of(x).short() if hasattr(x, 'aval') else repr(x)}. What to do: make it a static argument"
        ) from error
