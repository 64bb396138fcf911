"""Operands of `lax` functions: nothing is promoted, but Python scalars take the dtype of the arrays they meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of, is_python_scalar
from ..core.dtypes import python_dtype
from ..ops.linear import broadcast_in_dim
from ..symbolic.dimension import size


_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def operands(name: str, *xs: Any) -> list[Any]:
    """Operands in one dtype, and in one shape where they have as many axes. Raises TypeError for a scalar that would lose
    something (a float among integers) and for what is no array."""
    dtype = next((aval_of(x).dtype for x in xs if not is_python_scalar(x)), None)
    if dtype is None:
        widest = max((type(x) for x in xs), key=lambda kind: _RANK[dtypes.kind(python_dtype(kind))])
        return [widest(x) for x in xs]
    return in_one_shape([_scalar(name, x, dtype) if is_python_scalar(x) else x for x in xs])


def in_one_shape(xs: list[Any]) -> list[Any]:
    """Arrays with as many axes as each other, their axes of size 1 repeated; scalars, and what does not fit, as given."""
    shapes = {aval_of(x).shape for x in xs} - {()}
    if len(shapes) < 2 or len(set(map(len, shapes))) > 1:
        return xs
    sizes = [set(ns) - {1} for ns in zip(*shapes)]
    if any(len(ns) > 1 for ns in sizes):
        return xs
    shape = tuple(ns.pop() if ns else 1 for ns in sizes)
    return [broadcast_in_dim(x, shape, tuple(range(len(shape)))) if aval_of(x).shape else x for x in xs]


def _scalar(name: str, x: Any, dtype: Any) -> Any:
    own = python_dtype(type(x))
    if _RANK[dtypes.kind(own)] > _RANK.get(dtypes.kind(dtype), 9):
        raise TypeError(
            f"lax.{name} does not convert: the number {x!r} does not fit {dtypes.short_name(dtype)}; convert the "
            "array with .astype(...), or use jitscope.numpy, which promotes"
        )
    return np.asarray(x).astype(dtype)[()]


def check_numbers(name: str, x: Any, refuses: str) -> None:
    """Raise TypeError for a dtype of a kind (letters as in `dtypes.kind`) that the function does not take."""
    if refuses and dtypes.kind(aval_of(x).dtype) in refuses:
        raise TypeError(f"lax.{name} does not work on {aval_of(x).short()}: convert it, or use jitscope.numpy")


def check_sizes(name: str, shape: Sequence[int]) -> tuple[int, ...]:
    """A shape as a tuple of ints. Raises TypeError for a negative size."""
    found = tuple(map(size, shape))
    if any(n < 0 for n in found):
        raise TypeError(f"lax.{name}: sizes are not negative; the shape is {found}")
    return found


def axes_tuple(axes: Any) -> tuple[int, ...]:
    """One axis or several, as a sorted tuple."""
    return (int(axes),) if isinstance(axes, (int, np.integer)) else tuple(sorted(int(a) for a in axes))


def here_only(name: str, **given: Any) -> None:
    """Raise NotImplementedError for a sharding: arrays lie on one device."""
    for parameter, sharding in given.items():
        if sharding is not None:
            raise NotImplementedError(f"lax.{name}: {parameter} comes in a later release; leave it out")
