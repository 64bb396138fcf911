"""The right-skewed Gumbel distribution, of greatest values: exp(-y - exp(-y)) / scale, y being (x - loc) / scale; NaN for a
scale that is not positive."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from ...nn.activations import log1mexp
from ._formulas import derived, formula, log, shifted, standard, where


@formula(weak=True)
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    y = standard(x, loc, scale)
    return where(scale > 0, -(y + jnp.exp(-y)) - log(scale), jnp.nan)


pdf = derived("pdf", logpdf, jnp.exp)


@formula(weak=True)
def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return where(scale > 0, -jnp.exp(-standard(x, loc, scale)), jnp.nan)


cdf = derived("cdf", logcdf, jnp.exp)


@formula()
def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return where(scale > 0, -jnp.expm1(-jnp.exp(-standard(x, loc, scale))), jnp.nan)


@formula(weak=True)
def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return where(scale > 0, log1mexp(jnp.exp(-standard(x, loc, scale))), jnp.nan)


@formula(weak=True)
def ppf(p: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    quantile = shifted(-jnp.log(-jnp.log(p)), loc, scale)
    return jnp.where((p > 0) & (p < 1), quantile, jnp.nan)
