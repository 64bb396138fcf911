"""Modified Bessel functions of the first kind, scaled by e^-|x|."""

from __future__ import annotations

import math
from typing import Any

from ..ops.elementwise import abs_p, exp_p, sign_p, sqrt_p
from ..ops.families import Elementwise
from ..ops.linear import mul_p
from . import tables
from .approximations import chebyshev, choose, constant_like, epsilon, polynomial
from .primitive import special


def _slope_of_order_0(t: Any, out: Any, x: Any) -> Any:
    return mul_p(t, bessel_i1e_p(x) - sign_p(x) * out)


@special("bessel_i0e", _slope_of_order_0, weak=True)
def bessel_i0e_p(x: Any) -> Any:
    """e^-|x| I₀(x)."""
    x = abs_p(x)
    far = x > 8.0
    large = choose(far, x, 8.0)
    return choose(
        far,
        chebyshev(1.0 / large, 0, 1 / 8, tables.I0_FAR) / sqrt_p(large),
        chebyshev(choose(far, 0.0, x), 0, 8, tables.I0_NEAR),
    )


@special("bessel_i0", lambda t, out, x: mul_p(t, bessel_i1_p(x)), weak=True)
def bessel_i0_p(x: Any) -> Any:
    """I₀(x). Its slope is I₁: a product rule would leave that of |x| at 0."""
    return exp_p(abs_p(x)) * bessel_i0e_p.fun(x)


def _slope_of_order_1(t: Any, out: Any, x: Any) -> Any:
    small = abs_p(x) <= epsilon(x)
    safe = choose(small, constant_like(x, 1), x)
    return mul_p(t, choose(small, 0.5, bessel_i0e_p(safe) - out * (sign_p(safe) + 1.0 / safe)))


bessel_i1e_p = Elementwise("bessel_i1e", _slope_of_order_1, accepts="f", hlo="chlo.bessel_i1e")


_I1_NEAR = [0.5 / (4**k * math.factorial(k) * math.factorial(k + 1)) for k in range(10, -1, -1)]
"""I₁(x) / x by powers of x², the highest first."""


def _slope_of_unscaled(t: Any, out: Any, x: Any) -> Any:
    near = abs_p(x) < 1.0
    safe = choose(near, constant_like(x, 1), x)
    inside = choose(near, x, 0.0)
    return mul_p(t, bessel_i0_p(x) - choose(near, polynomial(inside * inside, _I1_NEAR), out / safe))


@special("bessel_i1", _slope_of_unscaled, weak=True)
def bessel_i1_p(x: Any) -> Any:
    """I₁(x)."""
    return exp_p(abs_p(x)) * bessel_i1e_p(x)
