"""The beta distribution: y^(a - 1) (1 - y)^(b - 1) / (B(a, b) scale) for 0 ≤ y ≤ 1, y being (x - loc) / scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import numpy as jnp
from .. import special
from ._formulas import derived, formula, log, not_, standard, where


if TYPE_CHECKING:
    from ...api.arrays import Array


@formula()
def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    y = standard(x, loc, scale)
    value = special.xlogy(a - 1, y) + special.xlog1py(b - 1, -y) - special.betaln(a, b) - log(scale)
    outside = (x > loc + scale) | (x < loc)
    wrong = (a <= 0) | (b <= 0) | (scale <= 0)
    return where(not_(wrong), jnp.where(outside, -jnp.inf, value), jnp.nan)


pdf = derived("pdf", logpdf, jnp.exp)


@formula(refusal=ValueError)
def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return special.betainc(a, b, jnp.clip(standard(x, loc, scale), 0, 1))


@formula(refusal=ValueError)
def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return special.betainc(b, a, 1 - jnp.clip(standard(x, loc, scale), 0, 1))


logcdf = derived("logcdf", cdf, jnp.log)
logsf = derived("logsf", sf, jnp.log)
