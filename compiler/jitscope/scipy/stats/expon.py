"""The exponential distribution: exp(-y) / scale for y ≥ 0, y being (x - loc) / scale."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from ._formulas import derived, formula, log, log_of_rest, not_a_probability, shifted, standard


@formula(weak=True)
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.where(x < loc, -jnp.inf, -(standard(x, loc, scale) + log(scale)))


pdf = derived("pdf", logpdf, jnp.exp)


@formula(weak=True)
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.where(x < loc, 0, -jnp.expm1(-standard(x, loc, scale)))


@formula(weak=True)
def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.where(x < loc, 0, -standard(x, loc, scale))


sf = derived("sf", logsf, jnp.exp)
logcdf = derived("logcdf", logsf, log_of_rest)


@formula(complex=True, weak=True)
def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.where(not_a_probability(q), jnp.nan, shifted(-jnp.log1p(-q), loc, scale))
