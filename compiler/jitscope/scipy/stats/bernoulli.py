"""The Bernoulli distribution: p for k = 1, 1 - p for k = 0, k counted from `loc`."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, like, not_a_probability, standard


@formula()
def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    x = standard(k, loc, 1.0)
    return jnp.where((x < 0) | (x > 1), -jnp.inf, special.xlogy(x, p) + special.xlog1py(1 - x, -p))


pmf = derived("pmf", logpmf, jnp.exp)


@formula()
def cdf(k: ArrayLike, p: ArrayLike) -> Array:
    wrong = jnp.isnan(k) | not_a_probability(p)
    return jnp.where(wrong, jnp.nan, jnp.where(k < 0, 0, jnp.where(k < 1, like(1 - p, k), 1)))


@formula()
def ppf(q: ArrayLike, p: ArrayLike) -> Array:
    wrong = not_a_probability(q) | not_a_probability(p)
    return jnp.where(wrong, jnp.nan, jnp.where(q <= 1 - p, like(0.0, q), 1))
