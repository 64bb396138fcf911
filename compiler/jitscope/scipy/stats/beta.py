"""The beta distribution: y^(a - 1) (1 - y)^(b - 1) / (B(a, b) scale) for 0 ≤ y ≤ 1, y being (x - loc) / scale."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, log, not_, standard, where


@formula()
def logpdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    y = standard(x, loc, scale)
    value = special.xlogy(a - 1, y) + special.xlog1py(b - 1, -y) - special.betaln(a, b) - log(scale)
    outside = (x > loc + scale) | (x < loc)
    wrong = (a <= 0) | (b <= 0) | (scale <= 0)
    return where(not_(wrong), jnp.where(outside, -jnp.inf, value), jnp.nan)


pdf = derived("pdf", logpdf, jnp.exp)


@formula(refusal=ValueError)
def cdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return special.betainc(a, b, jnp.clip(standard(x, loc, scale), 0, 1))


@formula(refusal=ValueError)
def sf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return special.betainc(b, a, 1 - jnp.clip(standard(x, loc, scale), 0, 1))


logcdf = derived("logcdf", cdf, jnp.log)
logsf = derived("logsf", sf, jnp.log)
