"""The Dirichlet distribution: Gamma(sum alpha) prod over i of x[i]^(alpha[i] - 1) / Gamma(alpha[i]), for x > 0 that sum up to 1."""

from __future__ import annotations

from typing import Any

from ... import numpy as jnp
from ...core import dtypes
from ...core.annotations import Array, ArrayLike
from ...eager.functions import eager_jit
from ...numpy.operands import promoted
from ...numpy.structure import array_operand
from .. import special


SUM_TOLERANCE = 1e-6


@eager_jit(nested=True)
def logpdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """The logarithm of the density at `x` [n, ...], or [n - 1, ...] where the last number is what is missing to 1, for `alpha` [n];
    -inf outside of the support. Raises ValueError for other shapes, TypeError for complex numbers."""
    return _logpdf("dirichlet.logpdf", x, alpha)


@eager_jit(nested=True)
def pdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """The density at `x` [n, ...]; see `logpdf`."""
    return jnp.exp(_logpdf("dirichlet.pdf", x, alpha))


def _logpdf(name: str, x: Any, alpha: Any) -> Any:
    values, _, dtype, _ = promoted(name, (x, alpha), inexact=True)
    x, alpha = (jnp.asarray(array_operand(name, v)) for v in values)
    if alpha.ndim != 1 or not x.ndim or x.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise ValueError(
            f"{name}: alpha is a vector, and x has as many numbers along its first axis, or one less; their shapes are "
            f"{alpha.shape} and {x.shape}"
        )
    if dtypes.is_complex(dtype):
        raise TypeError(f"{name} is not defined for complex numbers")
    if x.shape[0] != alpha.shape[0]:
        x = jnp.concatenate([x, 1 - jnp.sum(x, 0, keepdims=True)], 0)
    constant = jnp.sum(special.gammaln(alpha)) - special.gammaln(jnp.sum(alpha))
    powers = jnp.expand_dims(alpha - 1, tuple(range(1, x.ndim)))
    value = jnp.sum(special.xlogy(powers, x), 0) - constant
    inside = jnp.all(x > 0, 0) & (jnp.abs(jnp.sum(x, 0) - 1) < SUM_TOLERANCE)
    return jnp.where(inside, value, -jnp.inf)
