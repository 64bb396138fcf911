"""The wrapped Cauchy distribution: (1 - c²) / (2 pi (1 + c² - 2 c cos(x))) for 0 ≤ x ≤ 2 pi; NaN for a c that is not between 0
and 1."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

import math

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from ._formulas import derived, formula, log, where


@formula(weak=True)
def logpdf(x: ArrayLike, c: ArrayLike) -> Array:
    value = log(1 - c * c) - math.log(2 * math.pi) - jnp.log(1 + c * c - 2 * c * jnp.cos(x))
    return where((c > 0) & (c < 1), jnp.where((x >= 0) & (x <= 2 * math.pi), value, -jnp.inf), jnp.nan)


pdf = derived("pdf", logpdf, jnp.exp)
