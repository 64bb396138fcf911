"""The normal distribution of vectors of n numbers: exp(-(x - mean)^T cov^-1 (x - mean) / 2) / sqrt((2 pi)^n det cov)."""

from __future__ import annotations

import math
from typing import Any

from ... import lax, numpy as jnp
from ...core.annotations import Array, ArrayLike
from ...eager.functions import eager_jit
from ...numpy.operands import broadcast_shape, promoted, weak_as
from ...numpy.structure import array_operand


@eager_jit(static="allow_singular", nested=True)
def logpdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike, allow_singular: None = None) -> Array:
    """The logarithm of the density at `x` [..., n] for `mean` [..., n] and `cov` [..., n, n], which is made symmetric; a number as
    `cov` is the variance of each of the n, a number as `mean` that of one variable. Raises ValueError for shapes that do not
    fit, NotImplementedError for `allow_singular`."""
    if allow_singular is not None:
        raise NotImplementedError("multivariate_normal.logpdf: allow_singular is not supported; leave it out")
    return _logpdf("multivariate_normal.logpdf", x, mean, cov)


@eager_jit(nested=True)
def pdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array:
    """The density at `x` [..., n]; see `logpdf`."""
    return jnp.exp(_logpdf("multivariate_normal.pdf", x, mean, cov))


def _logpdf(name: str, x: Any, mean: Any, cov: Any) -> Any:
    values, _, _, _ = promoted(name, (x, mean, cov), inexact=True)
    x, mean, cov = (jnp.asarray(array_operand(name, v)) for v in values)
    away, n = x - mean, mean.shape[-1] if mean.ndim else 1
    if not mean.ndim:
        squares, volume = jnp.square(away) / cov, jnp.log(cov)
    elif not cov.ndim:
        squares, volume = jnp.sum(away * away, -1) / cov, n * jnp.log(cov)
    else:
        if cov.shape[-2:] != (n, n):
            raise ValueError(
                f"{name}: for a mean of shape {mean.shape}, cov has {n} rows and columns; its shape is {cov.shape}"
            )
        factor = lax.linalg.cholesky(cov)
        whitened = _solved(factor, away)
        squares = jnp.sum(whitened * whitened, -1)
        volume = 2 * jnp.sum(jnp.log(jnp.diagonal(factor, axis1=-2, axis2=-1)), -1)
    return weak_as(-0.5 * (squares + volume + n * math.log(2 * math.pi)), *values)


def _solved(factor: Any, away: Any) -> Any:
    """L^-1 of vectors: of all at once where there is one L."""
    n = away.shape[-1]
    if factor.ndim == 2:
        rows = away.reshape(math.prod(away.shape[:-1]), n)
        return lax.linalg.triangular_solve(factor, rows, lower=True, transpose_a=True).reshape(away.shape)
    batch = broadcast_shape(factor.shape[:-2], away.shape[:-1])
    factor, rows = jnp.broadcast_to(factor, (*batch, n, n)), jnp.broadcast_to(away, (*batch, n))[..., None, :]
    return lax.linalg.triangular_solve(factor, rows, lower=True, transpose_a=True)[..., 0, :]
