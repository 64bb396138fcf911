"""The normal distribution with mean `loc` and standard deviation `scale`, cut off where y = (x - loc) / scale is below a or above
b; NaN where a ≥ b."""
# Formulas get arrays and floats, whatever the function is given.
# pyright: reportOperatorIssue=false

from __future__ import annotations

import math
from typing import Any

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from ...nn.activations import log1mexp
from .. import special
from ._formulas import derived, formula, like, log, standard


def _log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the probability of a standard normal number between a and b, seen from the nearer tail."""
    right, left = a > 0, b <= 0
    low, high = special.log_ndtr(jnp.where(right, -b, a)), special.log_ndtr(jnp.where(right, -a, b))
    gap = jnp.where(low == high, 0, high - low)
    middle = jnp.log1p(-special.ndtr(a) - special.ndtr(-b))
    return jnp.where(left | right, high + log1mexp(gap), middle)


@formula()
def logpdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    y, a, b = standard(x, loc, scale), like(a, x), like(b, x)
    value = -0.5 * (y * y + log(2 * math.pi * (scale * scale))) - _log_mass(a, b)
    return jnp.where(a >= b, jnp.nan, jnp.where((y < a) | (y > b), -jnp.inf, value))


pdf = derived("pdf", logpdf, jnp.exp)


@formula()
def logcdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return _log_share(standard(x, loc, scale), like(a, x), like(b, x))


cdf = derived("cdf", logcdf, jnp.exp)


@formula()
def logsf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return _log_share(-standard(x, loc, scale), -like(b, x), -like(a, x))


sf = derived("sf", logsf, jnp.exp)


def _log_share(y: Any, a: Any, b: Any) -> Any:
    """The logarithm of the share of what lies below y of all between a and b; near 1 from what lies above."""
    inside = (a < y) & (y < b)
    place = jnp.where(inside, y, _middle(a, b))  # elsewhere slopes would not be finite
    mass = _log_mass(a, b)
    below, above = _log_mass(a, place) - mass, _log_mass(place, b) - mass
    value = jnp.where(below > -0.1, jnp.log1p(-jnp.exp(above)), below)
    value = jnp.where(inside, value, jnp.where(y >= b, 0, jnp.where(y <= a, -jnp.inf, jnp.nan)))
    return jnp.where(a >= b, jnp.nan, value)


def _middle(a: Any, b: Any) -> Any:
    """A number between a and b."""
    right, left = (a + jnp.minimum(b, a + 1)) / 2, (b + jnp.maximum(a, b - 1)) / 2
    return jnp.where(a >= 0, right, jnp.where(b <= 0, left, 0))
