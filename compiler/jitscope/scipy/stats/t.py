"""Student's t distribution with `df` degrees of freedom: Gamma((df + 1) / 2) / (Gamma(df / 2) sqrt(df pi) scale)
(1 + y² / df)^(-(df + 1) / 2), y being (x - loc) / scale."""

from __future__ import annotations

import math

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, log, standard


@formula()
def logpdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    y, half = standard(x, loc, scale), df / 2
    constant = special.gammaln(half) - special.gammaln(half + 0.5) + log(math.pi * df * (scale * scale)) / 2
    return -(constant + (half + 0.5) * jnp.log1p(y * y / df))


pdf = derived("pdf", logpdf, jnp.exp)
