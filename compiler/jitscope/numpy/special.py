"""The one special function that NumPy has. `jitscope.scipy.special` has the others."""

from __future__ import annotations

from typing import Any

from ..control.custom_jvp import custom_jvp
from ..core.annotations import Array, ArrayLike
from ..eager.functions import elementwise
from ..ops.elementwise import abs_p, exp_p
from ..ops.linear import mul_p
from ..special.bessel import bessel_i0e_p, bessel_i1e_p
from ._ufunc import kind_of
from .operands import operand


@elementwise
def _i0(x: Any) -> Any:
    x = operand("i0", x, inexact=True)
    if kind_of(x) == "c":
        raise ValueError("i0 does not take complex numbers")
    return _bessel(x)


@custom_jvp
def _bessel(x: Any) -> Any:
    return mul_p(exp_p(abs_p(x)), bessel_i0e_p(x))


@_bessel.defjvp
def _slope(primals: Any, tangents: Any) -> Any:
    """The function of order 1. The product rule would leave the slope of |x| at 0."""
    (x,), (t,) = primals, tangents
    return _bessel(x), mul_p(t, mul_p(exp_p(abs_p(x)), bessel_i1e_p(x)))


def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind and order 0, element by element [...]. Integers become floats.
    Raises ValueError for complex numbers."""
    return _i0(x)
