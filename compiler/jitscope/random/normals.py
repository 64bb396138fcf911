"""Distributions made of normal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import lax, numpy as jnp
from ..backend.placement import laying
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..numpy.operands import integer, lenient, promoted
from .arguments import ANY, drawn_shape, key_and_dtype, sampler_arguments, shape_over, spread
from .keys import pair
from .samplers import Shape, normal, rademacher, uniform


__all__ = ["double_sided_maxwell", "lognormal", "maxwell", "multivariate_normal", "orthogonal", "wald"]


_ONE = np.float32(1)


@laying
@eager_jit(static="shape dtype", nested=True)
def lognormal(
    key: ArrayLike,
    sigma: ArrayLike = _ONE,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """exp(sigma × a standard normal number); complex dtypes are allowed.

    `shape`: by default that of `sigma`. Raises ValueError for shapes that do not broadcast to it, and integer dtypes.
    """
    key, shape, dtype, sigma = sampler_arguments("lognormal", key, shape, dtype, sigma, kinds="fc")
    return lax.exp(normal(key, shape, dtype) * sigma)


@laying
@eager_jit(static="shape dtype", nested=True)
def maxwell(
    key: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Maxwell numbers [*shape]: the length of a vector of three standard normal numbers.

    Raises ValueError for a dtype that is not a float.
    """
    key, dtype = key_and_dtype("maxwell", key, dtype)
    parts = normal(key, (*drawn_shape("maxwell", shape), 3), dtype)
    return lax.sqrt(jnp.sum(parts * parts, -1))


@eager_jit(static="shape dtype", nested=True)
def double_sided_maxwell(
    key: ArrayLike, loc: ArrayLike, scale: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> Array:
    """Maxwell numbers with a random sign, times `scale`, plus `loc`.

    The result has the shape `shape` + that of the parameters together (for () that of the parameters twice). Raises
    ValueError for a dtype that is not a float.
    """
    key, dtype = key_and_dtype("double_sided_maxwell", key, dtype)
    own = drawn_shape("double_sided_maxwell", None, loc, scale)
    shape = (drawn_shape("double_sided_maxwell", shape) or own) + own
    for_size, for_sign = pair(key)
    sign = rademacher(for_sign, shape, dtype)
    return sign * maxwell(for_size, shape, dtype) * scale + loc


@laying
@eager_jit(static="shape dtype", nested=True)
def wald(
    key: ArrayLike,
    mean: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Wald (inverse Gaussian) numbers of that mean and of shape parameter 1, by the method of Michael, Schucany and Haas.

    `shape`: by default that of `mean`. Raises ValueError for shapes that do not broadcast to it and a dtype that is not a
    float.
    """
    key, shape, dtype, *params = sampler_arguments("wald", key, shape, dtype, mean)
    (mean,) = spread(shape, *params)
    for_normal, for_uniform = pair(key)
    y = lax.square(normal(for_normal, shape, dtype))
    u = uniform(for_uniform, shape, dtype)
    squared = lax.square(mean)
    # The smaller root of a quadratic equation; the larger one is mean² / x.
    x = mean + squared * y / 2 - mean / 2 * lax.sqrt(4 * mean * y + squared * lax.square(y))
    return lax.select(u <= mean / (mean + x), x, squared / x)


_METHODS = ("cholesky", "eigh", "svd")


@laying
@lenient
@eager_jit(static="shape dtype method", nested=True)
def multivariate_normal(
    key: ArrayLike, mean: ArrayLike, cov: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, method: str = "cholesky", *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:  # fmt: skip
    """Normal vectors of mean [..., n] and covariance [..., n, n]: mean + F z with F Fᵀ = cov and standard normal z.

    `shape` is that of the result without its last axis; by default that of the leading axes of both together. `dtype` (by
    default that of the parameters) is z's. `method`: F is the Cholesky factor, or made of the eigenvectors ("eigh") or
    the singular vectors ("svd") of cov, which may then be singular. Raises ValueError for other methods, for a mean or
    cov of too few dimensions or other sizes, shapes that do not broadcast, and a dtype that is not a float, TypeError for parameters
    in half precision.
    """
    if method not in _METHODS:
        raise ValueError(f"random.multivariate_normal: method is one of {', '.join(_METHODS)}, not {method!r}")
    (centre, cov), _, number, _ = promoted("random.multivariate_normal", (mean, cov), inexact=True)
    key, dtype = key_and_dtype("multivariate_normal", key, number if dtype is None else dtype)
    of_mean, of_cov = aval_of(centre).shape, aval_of(cov).shape
    if not of_mean or of_cov[-2:] != (of_mean[-1],) * 2:
        raise ValueError(
            f"random.multivariate_normal needs a mean [..., n] and a cov [..., n, n]; they have the shapes {of_mean} and {of_cov}"
        )
    shape = shape_over("multivariate_normal", shape, of_mean[:-1], of_cov[:-2])
    drawn = normal(key, (*shape, of_mean[-1]), dtype)
    return centre + jnp.einsum("...ij,...j->...i", _factor(cov, method), drawn)


def _factor(cov: Any, method: str) -> Any:
    """A matrix F with F Fᵀ = cov."""
    if method == "cholesky":
        return jnp.linalg.cholesky(cov)
    if method == "eigh":
        sizes, vectors = jnp.linalg.eigh(cov)
    else:
        vectors, sizes, _ = jnp.linalg.svd(cov)
    return vectors * jnp.sqrt(sizes[..., None, :])


@laying
@eager_jit(static="n shape dtype m", nested=True)
def orthogonal(
    key: ArrayLike,
    n: int,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    m: int | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Random matrices [*shape, n, m] with orthonormal columns, or rows if there are fewer of these; all equally likely.

    `m` is n by default. A complex dtype gives unitary ones. Raises TypeError for sizes that are not ints, ValueError for an
    integer dtype.
    """
    key, dtype = key_and_dtype("orthogonal", key, dtype, ANY)
    rows = integer("random.orthogonal", n, "n")
    columns = rows if m is None else integer("random.orthogonal", m, "m")
    shape = (*drawn_shape("orthogonal", shape), max(rows, columns), min(rows, columns))
    q, r = jnp.linalg.qr(normal(key, shape, dtype))
    q = q * jnp.sign(jnp.diagonal(r, axis1=-2, axis2=-1))[..., None, :]  # or QR's choice of signs would show
    return q.mT if rows < columns else q
