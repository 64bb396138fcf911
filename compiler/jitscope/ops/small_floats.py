"""Operations on floats of 16 bits, computed in float32 and rounded once: XLA does the same for each operation by itself, and none of the ways in which
float32 is computed more quickly is its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from .linear import convert


_NAMES = ("bfloat16", "float16")


def are_small(*avals: ShapedArray) -> bool:
    """Whether all are arrays of one such type."""
    return avals[0].dtype.name in _NAMES and all(a.dtype == avals[0].dtype for a in avals)


def widened(avals: Sequence[ShapedArray]) -> list[ShapedArray]:
    """The same arrays in float32."""
    return [a.update(dtype=dtypes.float32) for a in avals]


def in_single(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, of operands in float32, its result rounded to their own type."""

    def rounded(*operands: Any) -> Any:
        return convert(function(*[convert(x, dtypes.float32) for x in operands]), aval_of(operands[0]).dtype)

    return rounded
