"""The Poisson distribution: mu^k exp(-mu) / k!, k counted from `loc`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .. import special
from ._formulas import derived, formula, standard


@formula(weak=True)
def logpmf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    x = standard(k, loc, 1.0)
    return jnp.where((x < 0) | (jnp.round(k) != k), -jnp.inf, special.xlogy(x, mu) - special.gammaln(x + 1) - mu)


pmf = derived("pmf", logpmf, jnp.exp)


@formula()
def cdf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    x = standard(k, loc, 1.0)
    return jnp.where(x < 0, 0, special.gammaincc(jnp.floor(1 + jnp.where(x < 0, 0, x)), mu))


TERMS = 250
"""Of so many numbers the probabilities are added up, where the mean is less than 100."""


@formula()
def entropy(mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The entropy in nats, which `loc` changes in shape and dtype only: a sum of p log(1 / p) for means below 100, Stirling's
    series log(2 pi e mu) / 2 - 1 / (12 mu) above. Source: R. Evans, J. Boersma, SIAM Review 30 (1988). Raises TypeError for
    complex numbers."""
    means: Any = mu
    means = means.astype(means.dtype)
    few = jnp.where(means < 100, means, 1)
    total = jnp.sum(special.entr(_probabilities(few)), 0)
    series = 0.5 * jnp.log(2 * math.pi * math.e * means) - 1 / (12 * means)
    value = jnp.where(means == 0, 0, jnp.where(means < 100, total, series))
    return jnp.broadcast_to(value, jnp.broadcast_shapes(means.shape, jnp.shape(loc)))


def _probabilities(mu: Any) -> Any:
    """Of 0, 1, …, TERMS - 1, along a new first axis; in numbers of the size of k - mu, so that nothing large cancels."""
    k = np.arange(1.0, TERMS)
    likeliest = k * np.log(k) - k - np.array([math.lgamma(n + 1) for n in k])
    k, likeliest = (v.astype(mu.dtype).reshape(-1, *[1] * mu.ndim) for v in (k, likeliest))
    away = mu - k
    return jnp.exp(jnp.concatenate([-mu[None], likeliest - away + k * jnp.log1p(away / k)]))
