"""The von Mises distribution: exp(kappa cos(x)) / (2 pi I0(kappa)); NaN for a kappa that is not positive."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

import math

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, where


@formula(weak=True)
def logpdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    value = kappa * (jnp.cos(x) - 1) - jnp.log(2 * math.pi * special.i0e(kappa))
    return where(kappa > 0, value, jnp.nan)


pdf = derived("pdf", logpdf, jnp.exp)
