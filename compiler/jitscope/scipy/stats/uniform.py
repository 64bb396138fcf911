"""The uniform distribution: 1 / scale from loc to loc + scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import numpy as jnp
from ._formulas import derived, formula, like, log, not_a_probability, shifted, standard


if TYPE_CHECKING:
    from ...api.arrays import Array


@formula(weak=True)
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return jnp.where((x > loc + scale) | (x < loc), -jnp.inf, like(-log(scale), x))


pdf = derived("pdf", logpdf, jnp.exp)


@formula()
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return jnp.where(x < loc, jnp.zeros((), x.dtype), jnp.where(x > loc + scale, 1, standard(x, loc, scale)))


@formula(complex=True, weak=True)
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return jnp.where(not_a_probability(q), jnp.nan, shifted(q, loc, scale))
