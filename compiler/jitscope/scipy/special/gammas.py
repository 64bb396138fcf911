"""The gamma function and its kin."""

from __future__ import annotations

import math

import numpy as np

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from ...core.avals import aval_of
from ...core.dtypes import is_integer, kind
from ...eager.functions import eager_jit
from ...numpy.operands import integer, lenient, operand, operand_and_aval, operands, weak_as
from ...ops.elementwise import digamma_p, exp_p, gt_p, lgamma_p, polygamma_p
from ...ops.families import scalar_like
from ...ops.linear import where
from ...special.complex_gamma import gamma_p, loggamma_p
from ...special.gamma import betaln_p, comb_p, gamma_sign_p, poch_p
from ...special.incomplete_beta import regularized_incomplete_beta_p
from ...special.incomplete_gamma import igamma_p, igammac_p
from ._operands import real_operands


__all__ = ["beta", "betainc", "betaln", "comb", "digamma", "factorial", "gamma", "gammainc", "gammaincc", "gammaln",
           "gammasgn", "loggamma", "multigammaln", "poch", "polygamma"]  # fmt: skip


@eager_jit(nested=True)
def gammaln(x: ArrayLike) -> Array:
    """log|Γ(x)|, element by element [...]; ∞ at the poles. Raises TypeError for complex numbers (loggamma takes them)."""
    return lgamma_p(operand("gammaln", x, inexact=True))


@eager_jit(nested=True)
def gammasgn(x: ArrayLike) -> Array:
    """The sign of Γ(x): NaN at negative integers and -∞, ±1 at ±0, element by element [...]. Raises ValueError for
    complex numbers."""
    return gamma_sign_p(*real_operands("gammasgn", x))


@eager_jit(nested=True)
def loggamma(x: ArrayLike) -> Array:
    """log Γ(x), element by element [...]; NaN for real x that are not positive. Of complex numbers the branch that is
    continuous but for the negative axis."""
    x = operand("loggamma", x, inexact=True)
    if kind(aval_of(x).dtype) == "c":
        return loggamma_p(x)
    return weak_as(where(gt_p(x, scalar_like(x, 0)), lgamma_p(x), scalar_like(x, math.nan)), x)


@eager_jit(nested=True)
def gamma(x: ArrayLike) -> Array:
    """Γ(x), element by element [...]; NaN at negative integers and -∞, ±∞ at ±0. Takes complex numbers; there NaN at
    all poles."""
    return gamma_p(operand("gamma", x, inexact=True))


@eager_jit(nested=True)
def digamma(x: ArrayLike) -> Array:
    """The derivative of log Γ(x), element by element [...]; NaN at the poles. Raises TypeError for complex numbers."""
    return digamma_p(operand("digamma", x, inexact=True))


@eager_jit(nested=True)
def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """The n-th derivative of digamma at x, element by element [...]. n: integers, from 0 on; x: real. Raises ValueError
    for n that are not integers, and for complex numbers."""
    order = operand_and_aval("polygamma", n)[1]
    if not is_integer(order.dtype):
        raise ValueError(f"polygamma: n must be of an integer dtype, it is {order.short()}")
    return polygamma_p(*real_operands("polygamma", n, x))


@eager_jit(nested=True)
def factorial(n: ArrayLike, exact: bool = False) -> Array:
    """n!, as a float: Γ(n + 1), and 0 for negative n. Raises NotImplementedError for `exact`, TypeError for complex
    numbers."""
    if exact:
        raise NotImplementedError(
            "factorial: exact=True needs integers of any size; arrays have none, use math.factorial"
        )
    value = operand("factorial", n, inexact=True)
    return jnp.where(value < 0, 0, exp_p(lgamma_p(value + 1)))


@eager_jit(static="repetition", nested=True)
def comb(N: ArrayLike, k: ArrayLike, *, repetition: bool = False) -> Array:
    """The number of ways to take k things out of N, as a float, element by element [...]; 0 for negative N or k, and
    for k > N. `repetition`: things may be taken several times. Raises TypeError for complex numbers."""
    among, taken = real_operands("comb", N, k, error=TypeError)
    if repetition:
        return jnp.where((taken == 0) & (among >= 0), 1, comb_p(among + taken - 1, taken))
    return comb_p(among, taken)


@eager_jit(nested=True)
def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """Pochhammer's symbol Γ(z + m) / Γ(z), element by element [...]; the limit where both have poles. Raises ValueError
    for complex numbers."""
    return poch_p(*real_operands("poch", z, m))


@eager_jit(nested=True)
def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """The beta function Γ(a) Γ(b) / Γ(a + b), element by element [...]. Raises ValueError for complex numbers."""
    a, b = real_operands("beta", a, b)
    sign = gamma_sign_p(a) * gamma_sign_p(b) * gamma_sign_p(a + b)
    return sign * exp_p(betaln_p(a, b))


@eager_jit(nested=True)
def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """log|beta(a, b)|, exact for large numbers, too, element by element [...]. Raises TypeError for complex numbers."""
    return betaln_p(*real_operands("betaln", a, b, error=TypeError))


@eager_jit(nested=True)
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularized incomplete beta function, the integral of tᵃ⁻¹ (1 - t)ᵇ⁻¹ from 0 to x over beta(a, b); NaN for
    negative a or b and for x outside of [0, 1]. Raises ValueError for complex numbers."""
    return regularized_incomplete_beta_p(*real_operands("betainc", a, b, x))


@eager_jit(nested=True)
def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized lower incomplete gamma function, the integral of tᵃ⁻¹ exp(-t) from 0 to x over Γ(a), element by
    element [...]; NaN for negative a or x. Raises TypeError for complex numbers."""
    return igamma_p(*operands("gammainc", a, x, inexact=True))


@eager_jit(nested=True)
def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """1 - gammainc(a, x), exact where that is small, element by element [...]. Raises TypeError for complex numbers."""
    return igammac_p(*operands("gammaincc", a, x, inexact=True))


@lenient
@eager_jit(static="d", nested=True)
def multigammaln(a: ArrayLike, d: ArrayLike) -> Array:
    """The logarithm of the multivariate gamma function of dimension d, d (d - 1)/4 log π + Σ log|Γ(a - i/2)| over i <
    d, element by element [...]. d: an int; raises TypeError for others (a traced d is unknown) and for complex a."""
    d = integer("multigammaln", d, "d")
    (a,) = real_operands("multigammaln", a, error=TypeError)
    steps = np.arange(d, dtype=np.float64) / 2
    terms = lgamma_p(jnp.expand_dims(a, -1) - steps.astype(aval_of(a).dtype))
    return jnp.sum(terms, -1) + d * (d - 1) / 4 * math.log(math.pi)
