"""The geometric distribution: p (1 - p)^(k - 1), the probability of the first success in trial k ≥ 1, counted from `loc`."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, log, standard


@formula()
def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    x = standard(k, loc, 1.0)
    return jnp.where(x <= 0, -jnp.inf, special.xlog1py(x - 1, -p) + log(p))


pmf = derived("pmf", logpmf, jnp.exp)
