"""The beta-binomial distribution: the binomial one, p of which has the beta distribution of a and b; k is counted from `loc`."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, not_, standard, where


@formula()
def logpmf(k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0) -> Array:
    y = standard(jnp.floor(k), loc, 1.0)
    rest = n - y
    ways = -(jnp.log1p(n) + special.betaln(rest + 1, y + 1))
    value = ways + special.betaln(y + a, rest + b) - special.betaln(a, b)
    value = jnp.where((y == 0) & (n == 0), 0, value)
    value = jnp.where((y < -loc) | (y > n) | (y + a <= 0), -jnp.inf, value)
    return where(not_((n < 0) | (a <= 0) | (b <= 0)), value, jnp.nan)


pmf = derived("pmf", logpmf, jnp.exp)
