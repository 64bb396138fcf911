"""Exponential, sine and Fresnel integrals, the dilogarithm."""

from __future__ import annotations

from ...core.annotations import Array, ArrayLike
from ...eager.functions import eager_jit
from ...special.exponential import (
    cosine_integral_p,
    exp1_p,
    expi_p,
    expn_p,
    fresnel_cosine_p,
    fresnel_sine_p,
    sine_integral_p,
    spence_p,
)
from ._operands import real_operands, wide_operand


__all__ = ["exp1", "expi", "expn", "fresnel", "sici", "spence"]


@eager_jit(nested=True)
def exp1(x: ArrayLike) -> Array:
    """The exponential integral E₁, of exp(-t)/t from x to ∞, element by element [...]; ∞ at 0, NaN for negative x.
    Raises ValueError for complex numbers."""
    return exp1_p(*real_operands("exp1", x))


@eager_jit(nested=True)
def expi(x: ArrayLike) -> Array:
    """The exponential integral Ei, the principal value of exp(t)/t from -∞ to x, element by element [...]; -∞ at 0.
    Raises ValueError for complex numbers."""
    return expi_p(*real_operands("expi", x))


@eager_jit(nested=True)
def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """The generalized exponential integral, of exp(-x t)/tⁿ over t from 1 to ∞, element by element [...]; NaN for
    negative n or x.

    n may be any number from 0 on. There is no derivative with respect to n: asking for it raises ValueError, as do
    complex numbers.
    """
    return expn_p(*real_operands("expn", n, x))


@eager_jit(nested=True)
def sici(x: ArrayLike) -> tuple[Array, Array]:
    """The sine integral, of sin(t)/t from 0 to x, and the cosine integral, γ + log|x| + that of (cos(t) - 1)/t, element
    by element [...]; a tuple.

    At -∞ the cosine integral is NaN. Raises ValueError for complex numbers.
    """
    (x,) = real_operands("sici", x)
    return sine_integral_p(x), cosine_integral_p(x)


@eager_jit(nested=True)
def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """Fresnel's integrals, of sin(π t²/2) and of cos(π t²/2) from 0 to x, element by element [...]; a tuple. Raises
    NotImplementedError for complex numbers."""
    (x,) = real_operands("fresnel", x, error=NotImplementedError)
    return fresnel_sine_p(x), fresnel_cosine_p(x)


@eager_jit(nested=True)
def spence(x: ArrayLike) -> Array:
    """Spence's function, the integral of log(t)/(1 - t) from 1 to x, which is the dilogarithm of 1 - x, element by
    element [...]; NaN for negative x. x: float32 or float64; raises TypeError for others."""
    return spence_p(wide_operand("spence", x))
