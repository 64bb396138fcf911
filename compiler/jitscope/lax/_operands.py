"""Operands of `lax` functions: nothing is promoted, but Python scalars take the dtype of the arrays they meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of, is_python_scalar
from ..core.dtypes import python_dtype


_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def operands(name: str, *xs: Any) -> list[Any]:
    """Operands in one dtype. Raises TypeError for a scalar that would lose something (a float among integers) and for
    what is no array."""
    dtype = next((aval_of(x).dtype for x in xs if not is_python_scalar(x)), None)
    if dtype is None:
        widest = max((type(x) for x in xs), key=lambda kind: _RANK[dtypes.kind(python_dtype(kind))])
        return [widest(x) for x in xs]
    return [_scalar(name, x, dtype) if is_python_scalar(x) else x for x in xs]


def _scalar(name: str, x: Any, dtype: Any) -> Any:
    own = python_dtype(type(x))
    if _RANK[dtypes.kind(own)] > _RANK.get(dtypes.kind(dtype), 9):
        raise TypeError(
            f"lax.{name} does not convert: the number {x!r} does not fit {dtypes.short_name(dtype)}; convert the "
            "array with .astype(...), or use jitscope.numpy, which promotes"
        )
    return np.asarray(x).astype(dtype)[()]


def axes_tuple(axes: Any) -> tuple[int, ...]:
    """One axis or several, as a sorted tuple."""
    return (int(axes),) if isinstance(axes, (int, np.integer)) else tuple(sorted(int(a) for a in axes))
