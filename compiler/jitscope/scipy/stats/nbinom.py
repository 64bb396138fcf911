"""The negative binomial distribution: the probability of k failures before the n-th success, each of probability p, k counted
from `loc`."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, standard


@formula()
def logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    y = standard(k, loc, 1.0)
    ways = special.gammaln(y + n) - special.gammaln(n) - special.gammaln(y + 1)
    return jnp.where(k < loc, -jnp.inf, ways + special.xlogy(n, p) + special.xlogy(y, 1 - p))


pmf = derived("pmf", logpmf, jnp.exp)
