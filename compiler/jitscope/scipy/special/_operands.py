"""Operands of special functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.avals import aval_of
from ...core.dtypes import kind
from ...numpy.operands import operand_and_aval, operands
from ...ops.linear import convert


def real_operands(name: str, *xs: Any, error: type[Exception] = ValueError) -> list[Any]:
    """Operands as floats of one dtype and one shape (scalars stay scalars). Raises `error` for complex ones."""
    found = operands(name, *xs, inexact=True)
    if kind(aval_of(found[0]).dtype) == "c":
        raise error(f"{name} does not take complex numbers: it got {' and '.join(aval_of(x).short() for x in xs)}")
    return found


def wide_operand(name: str, x: Any) -> Any:
    """A float32 or float64 operand, as it is. Raises TypeError for other dtypes."""
    x, aval = operand_and_aval(name, x)
    if aval.dtype not in (np.float32, np.float64):
        raise TypeError(f"{name} takes float32 and float64, it got {aval.short()}: convert with .astype(...)")
    return x


def strong_array(out: Any) -> Any:
    """A result that is weakly typed only if it is a scalar."""
    aval = aval_of(out)
    return convert(out, aval.dtype, aval.weak_type and not aval.shape)
