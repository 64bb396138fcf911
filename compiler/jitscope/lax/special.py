"""Special functions, element by element: operands are floats of one dtype and one shape (scalars go with any), and so
are results. All raise TypeError for other operands; all have derivatives of every order in all operands."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of, is_python_scalar
from ..ops.elementwise import number_like
from ..ops.linear import convert, full
from ..special.approximations import spread
from ..special.bessel import bessel_i0e_p, bessel_i1e_p
from ..special.incomplete_beta import regularized_incomplete_beta_p
from ..special.incomplete_gamma import igamma_grad_a_p, igamma_p, igammac_p, random_gamma_grad_p
from ..special.polynomial import polynomial_p
from ..special.zeta import zeta_p
from ._operands import as_array, operands


def polynomial(x: ArrayLike, coeffs: Sequence[Any], *, unroll: int | None = None) -> Array:
    """The sum of coeffs[k] xᵏ by Horner's rule, in the dtype of x [...]: the coefficients, from the constant on, are numbers or
    arrays that fit x. Up to `unroll` of them (8) are written out, more are run through in a loop."""
    dtype = aval_of(x).dtype
    given = [number_like(x, c) if is_python_scalar(c) else convert(c, dtype) for c in coeffs]
    if not given:
        return convert(full(aval_of(x).shape, 0, dtype), dtype, aval_of(x).weak_type)
    x, *given = operands("polynomial", as_array(x), *given)
    if len(given) == 1:
        return spread(given[0], aval_of(x).shape) if not aval_of(given[0]).shape else given[0]
    return polynomial_p(x, *given, **({} if unroll is None else {"unroll": operator.index(unroll)}))


def igamma(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized lower incomplete gamma function P(a, x), the integral of tᵃ⁻¹ e⁻ᵗ from 0 to x over Γ(a); NaN for
    negative a or x."""
    return igamma_p(*operands("igamma", a, x))


def igammac(a: ArrayLike, x: ArrayLike) -> Array:
    """1 - igamma(a, x), exact where that is small."""
    return igammac_p(*operands("igammac", a, x))


def igamma_grad_a(a: ArrayLike, x: ArrayLike) -> Array:
    """The derivative of igamma(a, x) with respect to a."""
    return igamma_grad_a_p(*operands("igamma_grad_a", a, x))


def random_gamma_grad(*args: ArrayLike) -> Array:
    """The derivative with respect to a of a sample x of the gamma distribution of shape a, for `random_gamma_grad(a,
    x)`: how x moves with a while igamma(a, x) stays the same. Raises ValueError where their shapes differ."""
    a, x = operands("random_gamma_grad", *args)
    shapes = {aval_of(a).shape, aval_of(x).shape} - {()}
    if len(shapes) > 1:
        raise ValueError(
            f"random_gamma_grad: a and x must be of one shape, they are {aval_of(a).short()} and {aval_of(x).short()}"
        )
    return random_gamma_grad_p(a, x)


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularized incomplete beta function, the integral of tᵃ⁻¹ (1 - t)ᵇ⁻¹ from 0 to x over B(a, b); NaN for
    negative a or b and for x outside of [0, 1]."""
    return regularized_incomplete_beta_p(*operands("betainc", a, b, x))


def zeta(x: ArrayLike, q: ArrayLike) -> Array:
    """The Hurwitz zeta function, the sum of (q + k)⁻ˣ over k = 0, 1, …; NaN for x < 1, infinity for x = 1."""
    return zeta_p(*operands("zeta", x, q))


def bessel_i0e(x: ArrayLike) -> Array:
    """e^-|x| I₀(x), the modified Bessel function of order 0, scaled."""
    return bessel_i0e_p(x)


def bessel_i1e(x: ArrayLike) -> Array:
    """e^-|x| I₁(x), the modified Bessel function of order 1, scaled."""
    return bessel_i1e_p(x)
