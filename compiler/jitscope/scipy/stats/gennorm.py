"""The generalized normal distribution: beta exp(-|x|^beta) / (2 Gamma(1 / beta))."""

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, log, over


@formula(weak=True)
def logpdf(x: ArrayLike, beta: ArrayLike) -> Array:
    return log(0.5 * beta) - special.gammaln(over(1.0, beta)) - jnp.abs(x) ** beta


pdf = derived("pdf", logpdf, jnp.exp)


@formula(weak=True)
def cdf(x: ArrayLike, beta: ArrayLike) -> Array:
    return 0.5 * (1 + jnp.sign(x) * special.gammainc(over(1.0, beta), jnp.abs(x) ** beta))
