"""Operands as users write them: what functions accept as an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.array import Array, to_array
from ..core.avals import ShapedArray, aval_of, from_protocol
from ..core.config import settings
from ..core.trace import Tracer, leak_error
from .running import Programs


_PLAIN = frozenset((Array, np.ndarray, bool, int, float, complex))


def operand_and_aval(name: str, x: Any, position: int = 0) -> tuple[Any, ShapedArray]:
    """An operand with its aval. Raises TypeError, with the function's name, for what is not an array and no number."""
    if type(x) not in _PLAIN and not isinstance(x, Tracer):
        x = from_protocol(x)
    try:
        return x, aval_of(x)
    except TypeError as error:
        what = (
            "a list: wrap it in jnp.array(...)"
            if isinstance(x, list)
            else "a tuple: wrap it in jnp.array(...)"
            if isinstance(x, tuple)
            else "None"
            if x is None
            else str(error).partition(" is not an array, a number or a tree")[0]
        )
        raise TypeError(f"{name} takes arrays and numbers; its argument {position} is {what}") from None


_numbers = Programs(lambda kind, x, options: to_array(x))


def concrete(name: str, x: Any, position: int = 0) -> Array:
    """An operand as an Array. Raises TypeError, with the function's name, for what is none, and for leaked tracers."""
    kind = type(x)
    if kind is int or (kind is float and x):  # 0.0 and -0.0 are equal
        return _numbers[kind, x, settings()]
    x = operand_and_aval(name, x, position)[0]
    if isinstance(x, Tracer):
        raise leak_error(x)
    return to_array(x)
