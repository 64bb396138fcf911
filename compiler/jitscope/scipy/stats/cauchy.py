"""The Cauchy distribution: 1 / (pi scale (1 + y²)), y being (x - loc) / scale."""

from __future__ import annotations

import math
from typing import Any

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from ._formulas import derived, formula, log, not_a_probability, shifted, standard


@formula(complex=True)
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    y = standard(x, loc, scale)
    return -(jnp.log1p(y * y) + log(math.pi * scale))


pdf = derived("pdf", logpdf, jnp.exp)


def _share_below(y: Any) -> Any:
    """1/2 + arctan(y) / pi; of real numbers below -1 arctan(-1 / y) / pi, which is exact far below, too."""
    if jnp.iscomplexobj(y):
        return (jnp.arctan(y) + math.pi / 2) / math.pi
    below = y < -1
    return (jnp.arctan(jnp.where(below, -1 / y, y)) + jnp.where(below, 0, math.pi / 2)) / math.pi


@formula(complex=True)
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return _share_below(standard(x, loc, scale))


@formula(complex=True)
def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return _share_below(-standard(x, loc, scale))


logcdf = derived("logcdf", cdf, jnp.log)
logsf = derived("logsf", sf, jnp.log)


def _below(share: Any) -> Any:
    """The number below which that share lies: tan(pi (share - 1/2)). Of real shares -1 / tan(pi share), or that of the share
    above, which is exact at both ends, too."""
    if jnp.iscomplexobj(share):
        return jnp.tan(math.pi * share - math.pi / 2)
    upper = share > 0.5
    tail = jnp.where(upper, 1 - share, share)
    far = jnp.where(upper, 1, -1) / jnp.tan(math.pi * jnp.where(tail == 0.5, 0.25, tail))
    found = jnp.where(
        tail == 0, jnp.where(upper, jnp.inf, -jnp.inf), jnp.where(tail == 0.5, math.pi * (share - 0.5), far)
    )
    return jnp.where(not_a_probability(share), jnp.nan, found)


@formula(complex=True)
def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return shifted(_below(q), loc, scale)


@formula(complex=True)
def isf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return shifted(-_below(q), loc, scale)
