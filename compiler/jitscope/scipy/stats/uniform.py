"""The uniform distribution: 1 / scale from loc to loc + scale."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from ._formulas import derived, formula, like, log, not_a_probability, shifted, standard


@formula(complex=True, weak=True)
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    z = standard(x, loc, scale)
    inside = jnp.where((z >= 0) & (z <= 1), like(-log(scale), x), jnp.nan)
    return jnp.where((z < 0) | (z > 1), -jnp.inf, inside)


pdf = derived("pdf", logpdf, jnp.exp)


@formula(refusal=ValueError, weak=True)
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.clip(standard(x, loc, scale), 0, 1)


@formula(complex=True, weak=True)
def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.where(not_a_probability(q), jnp.nan, shifted(q, loc, scale))
