"""Operands of `lax` functions: nothing is promoted."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, is_python_scalar
from ..core.staging import capturing, constant_atom
from ..ops.linear import broadcast_in_dim, convert
from ..symbolic.dimension import size


def operands(name: str, *xs: Any) -> list[Any]:
    """Operands of one dtype, in one shape where they have as many axes. A Python number has its own dtype (float32, int32, …).
    Raises TypeError for two dtypes and for what is not an array."""
    return in_one_shape(list(xs), of_one_dtype(name, xs))


def of_one_dtype(name: str, xs: Sequence[Any]) -> list[ShapedArray]:
    """The avals of operands. Raises TypeError unless they have one dtype."""
    avals = [aval_of(x) for x in xs]
    dtype = avals[0].dtype
    for aval in avals:
        if aval.dtype != dtype:
            raise TypeError(_two_dtypes(name, xs, avals))
    return avals


def _two_dtypes(name: str, xs: Sequence[Any], avals: Sequence[ShapedArray]) -> str:
    shown = [f"{a.short()} (the number {x!r})" if is_python_scalar(x) else a.short() for x, a in zip(xs, avals)]
    return (
        f"lax.{name} needs operands of one dtype, it got {', '.join(shown)}: lax promotes nothing; convert one with "
        ".astype(...), or use the operators and jitscope.numpy, which promote"
    )


def in_one_shape(xs: list[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    """Arrays with as many axes as each other, their axes of size 1 repeated; scalars, and what does not fit, as given."""
    shapes = {a.shape for a in avals} - {()}
    if len(shapes) < 2 or len(set(map(len, shapes))) > 1:
        return xs
    sizes = [set(ns) - {1} for ns in zip(*shapes)]
    if any(len(ns) > 1 for ns in sizes):
        return xs
    shape = tuple(ns.pop() if ns else 1 for ns in sizes)
    return [broadcast_in_dim(x, shape, tuple(range(len(shape)))) if a.shape else x for x, a in zip(xs, avals)]


def check_numbers(name: str, x: Any, refuses: str) -> None:
    """Raise TypeError for a dtype of a kind (letters as in `dtypes.kind`) that the function does not take."""
    if refuses and dtypes.kind(aval_of(x).dtype) in refuses:
        raise TypeError(f"lax.{name} does not work on {aval_of(x).short()}: convert it, or use jitscope.numpy")


def as_array(x: Any) -> Any:
    """`x`, if it is an array or traced; numbers and NumPy's arrays as arrays, which keep their weak type."""
    if hasattr(x, "aval"):
        return x
    if capturing() is not None:
        return constant_atom(x)
    aval = aval_of(x)
    return convert(x, aval.dtype, aval.weak_type)


def ints(values: Sequence[int]) -> tuple[int, ...]:
    """A sequence of ints (symbolic ones, too) as a tuple. Raises TypeError for other numbers."""
    return tuple(map(size, values))


def check_sizes(name: str, shape: Sequence[int]) -> tuple[int, ...]:
    """A shape as a tuple of ints. Raises TypeError for a negative size."""
    found = ints(shape)
    if any(n < 0 for n in found):
        raise TypeError(f"lax.{name}: sizes are not negative; the shape is {found}")
    return found


def axes_tuple(axes: Sequence[int]) -> tuple[int, ...]:
    """Axes as a sorted tuple. Raises TypeError for what is not a sequence of ints."""
    return tuple(sorted(map(operator.index, axes)))
