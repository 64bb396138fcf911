"""The normal distribution, with mean `loc` and standard deviation `scale`: exp(-y²/2) / (sqrt(2 pi) scale), y being
(x - loc) / scale."""

from __future__ import annotations

import math

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from ...eager.functions import eager_jit
from ...numpy.operands import promoted
from .. import special
from ._formulas import derived, formula, log, standard


@formula(complex=True)
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    y = standard(x, loc, scale)
    return -0.5 * (y * y + log(2 * math.pi * (scale * scale)))


pdf = derived("pdf", logpdf, jnp.exp)


@formula()
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return special.ndtr(standard(x, loc, scale))


@formula()
def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return special.log_ndtr(standard(x, loc, scale))


@formula()
def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return special.ndtr(-standard(x, loc, scale))


@formula()
def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return special.log_ndtr(-standard(x, loc, scale))


@eager_jit(nested=True)
def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The value up to which the probability is `q`: the inverse of `cdf`. A float of the usual width, whatever the operands.
    Raises TypeError for integers and complex numbers."""
    return jnp.add(jnp.multiply(special.ndtri(q), scale), loc).astype(float)


@eager_jit(nested=True)
def isf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """The value above which the probability is `q`: the inverse of `sf`; see `ppf`."""
    (q, loc, scale), *_ = promoted("norm.isf", (q, loc, scale), inexact=True)
    return -ppf(jnp.asarray(q), -jnp.asarray(loc), jnp.asarray(scale))
