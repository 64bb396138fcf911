"""The gamma distribution of shape `a`: y^(a - 1) exp(-y) / (Gamma(a) scale) for y ≥ 0, y being (x - loc) / scale."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, log, standard


@formula()
def logpdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    inside = x >= loc
    y = jnp.where(inside, standard(x, loc, scale), 1)
    return jnp.where(inside, special.xlogy(a - 1, y) - y - (special.gammaln(a) + log(scale)), -jnp.inf)


pdf = derived("pdf", logpdf, jnp.exp)


@formula()
def cdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return special.gammainc(a, jnp.maximum(standard(x, loc, scale), 0))


@formula(weak=True)
def sf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return special.gammaincc(a, jnp.maximum(standard(x, loc, scale), 0))


logcdf = derived("logcdf", cdf, jnp.log)
logsf = derived("logsf", sf, jnp.log)
