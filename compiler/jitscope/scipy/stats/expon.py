"""The exponential distribution: exp(-y) / scale for y ≥ 0, y being (x - loc) / scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import numpy as jnp
from ._formulas import derived, formula, log, not_a_probability, shifted, standard


if TYPE_CHECKING:
    from ...api.arrays import Array


@formula(weak=True)
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return jnp.where(x < loc, -jnp.inf, -(standard(x, loc, scale) + log(scale)))


pdf = derived("pdf", logpdf, jnp.exp)


@formula(weak=True)
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return jnp.where(x < loc, 0, -jnp.expm1(-standard(x, loc, scale)))


@formula(weak=True)
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return jnp.where(x < loc, 0, -standard(x, loc, scale))


sf = derived("sf", logsf, jnp.exp)
logcdf = derived("logcdf", logsf, lambda y: jnp.log1p(-jnp.exp(y)))


@formula(complex=True, weak=True)
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return jnp.where(not_a_probability(q), jnp.nan, shifted(-jnp.log1p(-q), loc, scale))
