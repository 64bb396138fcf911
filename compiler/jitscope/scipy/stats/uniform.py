"""The uniform distribution: 1 / scale from loc to loc + scale."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import numpy as jnp
from ._formulas import derived, formula, like, log, not_a_probability, shifted, standard


if TYPE_CHECKING:
    from ...api.arrays import Array
    from ...typing import ArrayLike


@formula(weak=True)
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.where((x > loc + scale) | (x < loc), -jnp.inf, like(-log(scale), x))


pdf = derived("pdf", logpdf, jnp.exp)


@formula()
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    zero = jnp.zeros((), x.dtype)  # pyright: ignore[reportAttributeAccessIssue]
    return jnp.where(x < loc, zero, jnp.where(x > loc + scale, 1, standard(x, loc, scale)))


@formula(complex=True, weak=True)
def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return jnp.where(not_a_probability(q), jnp.nan, shifted(q, loc, scale))
