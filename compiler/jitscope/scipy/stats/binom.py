"""The binomial distribution: the probability of k successes in n trials, each of probability p, k counted from `loc`."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, standard


@formula(weak=True)
def logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    y = standard(k, loc, 1.0)
    ways = special.gammaln(n + 1) - (special.gammaln(y + 1) + special.gammaln(n - y + 1))
    chance = special.xlogy(y, p) + special.xlog1py(n - y, -p)
    certain = ((y == 0) & (n == 0)) | (chance == 0)
    return jnp.where((k >= loc) & (k < loc + n + 1), jnp.where(certain, 0, ways + chance), -jnp.inf)


pmf = derived("pmf", logpmf, jnp.exp)
