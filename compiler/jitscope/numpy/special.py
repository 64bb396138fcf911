"""The one special function that NumPy has. `jitscope.scipy.special` has the others."""

from __future__ import annotations

from typing import Any

from ..ops.elementwise import abs_p, exp_p
from ..ops.linear import mul_p
from ..special.bessel import bessel_i0e_p
from ._operands import operand
from ._ufunc import kind_of, unary


@unary
def _i0(x: Any) -> Any:
    x = operand("i0", x, inexact=True)
    if kind_of(x) == "c":
        raise ValueError("i0 does not take complex numbers")
    return mul_p(exp_p(abs_p(x)), bessel_i0e_p(x))


def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind and order 0, element by element. Integers become floats. Raises
    ValueError for complex numbers."""
    return _i0(x)
