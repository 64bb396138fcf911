"""The logistic distribution: exp(-y) / (scale (1 + exp(-y))²), y being (x - loc) / scale."""

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, log, shifted, standard


@formula(complex=True)
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    half = standard(x, loc, scale) / 2
    return -2 * jnp.logaddexp(half, -half) - log(scale)


pdf = derived("pdf", logpdf, jnp.exp)


@formula(complex=True, weak=True)
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return special.expit(standard(x, loc, scale))


@formula(complex=True, weak=True)
def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return special.expit(-standard(x, loc, scale))


@formula(complex=True)
def ppf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return shifted(special.logit(x), loc, scale)


@formula(complex=True)
def isf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return shifted(-special.logit(x), loc, scale)
