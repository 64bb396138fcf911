"""The Pareto distribution: b / (scale y^(b + 1)) for y ≥ 1, y being (x - loc) / scale."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from ._formulas import derived, formula, log, log_of_rest, not_a_probability, over, shifted, standard


@formula()
def logpdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    y = standard(x, loc, scale)
    return jnp.where(x < loc + scale, -jnp.inf, -(log(over(scale, b)) + (b + 1) * jnp.log(y)))


pdf = derived("pdf", logpdf, jnp.exp)


@formula()
def cdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.where(x < loc + scale, 0, -jnp.expm1(-b * jnp.log(jnp.maximum(standard(x, loc, scale), 1))))


@formula(weak=True)
def logcdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.where(x < loc + scale, -jnp.inf, log_of_rest(-b * jnp.log(jnp.maximum(standard(x, loc, scale), 1))))


@formula()
def logsf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.where(x < loc + scale, 0, -(b * jnp.log(standard(x, loc, scale))))


sf = derived("sf", logsf, jnp.exp)


@formula(complex=True)
def ppf(q: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.where(not_a_probability(q), jnp.nan, shifted((1 - q) ** -over(1.0, b), loc, scale))
