"""Samplers without loops, `method="approximate"`: one normal number each, mapped to the distribution by a series for its quantiles.
They are quicker than rejection, and have a small bias."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import lax, numpy as jnp
from ..core import dtypes
from ..core.avals import aval_of
from .arguments import in_dtype, spread
from .continuous import exponential
from .keys import pair
from .samplers import normal


METHODS = ("exact", "approximate")
BOOSTS = 4
"""By how much a gamma number's shape is raised: from there on the series is good to 0.05 %."""
_QUANTILES = (
    (1.0, -0.2237368, -0.01513904),
    (0.4713941, 0.02607083, -0.008986007),
    (0.0001348028, 0.01128186, 0.02277679),
    (-0.008553069, -0.01153761, -0.01323293),
    (0.00312558, 0.005169654, -0.006950356),
    (-0.0008426812, 0.00253001, 0.001060438),
    (0.00009780499, -0.001450117, 0.001565326),
)
"""The cube root of chi² / n is the sum of row[k](1 / n) zᵏ n^(-k/2), z the normal quantile (Goldstein, 1973, algorithm 451); the leading
constant is 1, as it must be for n to infinity, not 1.0000886 as printed."""
SPLIT, TERMS, CORRECTION = 7.0, 20, 0.02
"""Poisson numbers of a mean below `SPLIT` are read from the first `TERMS` probabilities, others from the normal approximation of Peizer and
Pratt (1968) with its `CORRECTION`."""


def approximate(name: str, method: Any) -> bool:
    """Whether a sampler is to be approximate. Raises ValueError for another method than these two."""
    if method not in METHODS:
        raise ValueError(f"random.{name}: method is 'exact' or 'approximate', not {method!r}")
    return method == "approximate"


def log_gammas(key: Any, a: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Logarithms of gamma numbers [*shape] of shape parameter `a`, which has the result's dtype or a wider one."""
    (a,) = spread(shape, a)
    for_base, for_boosts = pair(key)
    steps = jnp.arange(BOOSTS, dtype=dtype).reshape((BOOSTS,) + (1,) * len(shape))
    boosts = -exponential(for_boosts, (BOOSTS, *shape), dtype) / (a[None] + steps)  # Stuart (1962)
    return _log_of_chisquare(for_base, a + BOOSTS) + jnp.sum(boosts, axis=0)


def _log_of_chisquare(key: Any, a: Any) -> Any:
    count = 2 * a
    z = normal(key, aval_of(a).shape, aval_of(a).dtype)
    rows = [lax.polynomial(1 / count, row) for row in _QUANTILES]
    root = lax.polynomial(z * lax.rsqrt(count), rows)
    return jnp.log(a) + 3 * jnp.log(jnp.maximum(root, jnp.finfo(aval_of(a).dtype).tiny))


def poissons(key: Any, lam: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Poisson numbers [*shape] of mean `lam`, no further from the distribution than 1e-4 (in total variation)."""
    own = aval_of(lam).dtype
    wide = (dtypes.is_float(own) and own.itemsize > 4) or np.dtype(dtype).itemsize > 4
    wide = np.dtype(np.float64 if wide else np.float32)
    lam = jnp.broadcast_to(in_dtype(lam, wide), shape)
    z = normal(key, shape, wide)
    found = jnp.where(lam < SPLIT, _few(0.5 * lax.erfc(-z * np.sqrt(0.5).astype(wide)), lam), _many(z, lam))
    return lax.convert_element_type(found, dtype)


def _few(u: Any, lam: Any) -> Any:
    probability = total = lax.exp(-lam)
    count = lax.convert_element_type(total < u, u.dtype)
    for k in range(1, TERMS - 1):
        probability = probability * (lam / k)
        total = total + probability
        count = count + lax.convert_element_type(total < u, u.dtype)
    return count


def _many(z: Any, lam: Any) -> Any:
    """The least whole number whose normal quantile is z or more: a guess (Cornish-Fisher), looked at on both sides."""
    root = jnp.sqrt(lam)
    guess = lam + root * z - 2 / 3 + jnp.square(z) / 6 + z * (1 - jnp.square(z)) / (72 * root)
    guess = jnp.ceil(guess + 0.6)

    def reaches(count: Any) -> Any:
        quantile = jnp.where(count < 0, -np.inf, _quantile(jnp.maximum(count, 0.0), lam))
        return lax.convert_element_type(quantile >= z, guess.dtype)

    return jnp.maximum(guess + 1 - reaches(guess) - reaches(guess - 1), 0.0)


def _quantile(count: Any, lam: Any) -> Any:
    bend = _bend((count + 0.5) / lam)
    return (count - lam + 2 / 3 + CORRECTION / (count + 1)) * jnp.sqrt((1 + bend) / lam)


def _bend(y: Any) -> Any:
    """(1 - y² + 2 y log y) / (1 - y)², near 1 by its series."""
    d = y - 1
    near, series = jnp.abs(d) < 0.25, jnp.zeros_like(d)
    for k in reversed(range(1, 10)):
        series = d * (2 * (-1) ** k / ((k + 1) * (k + 2)) + series)
    y, d = jnp.where(near, 2.0, y), jnp.where(near, 1.0, d)
    return jnp.where(near, series, (1 - jnp.square(y) + 2 * y * jnp.log(y)) / jnp.square(d))
