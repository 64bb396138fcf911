"""The one special function that NumPy has. `jitscope.scipy.special` has the others."""

from __future__ import annotations

from typing import Any

from ..core.annotations import Array, ArrayLike
from ..eager.functions import elementwise
from ..special.bessel import bessel_i0_p
from ._ufunc import kind_of
from .operands import operand


@elementwise
def _i0(x: Any) -> Any:
    x = operand("i0", x, inexact=True)
    if kind_of(x) == "c":
        raise ValueError("i0 does not take complex numbers")
    return bessel_i0_p(x)


def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind and order 0, element by element [...]. Integers become floats.
    Raises ValueError for complex numbers."""
    return _i0(x)
