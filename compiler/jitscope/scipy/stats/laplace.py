"""The Laplace distribution: exp(-|y|) / (2 scale), y being (x - loc) / scale."""

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from ._formulas import derived, formula, log, over, standard


@formula()
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return -(over(jnp.abs(standard(x, loc, 1.0)), scale) + log(2 * scale))


pdf = derived("pdf", logpdf, jnp.exp)


@formula()
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    y = standard(x, loc, scale)
    below = y <= 0
    tail = 0.5 * jnp.exp(jnp.where(below, y, -y))
    return jnp.where(below, tail, 1 - tail)
