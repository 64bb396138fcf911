"""Distributions made of gamma numbers; all differentiable in their parameters."""

from __future__ import annotations

from .. import lax, numpy as jnp
from ..backend.placement import laying
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..numpy.operands import integer
from .approximating import approximate
from .arguments import ANY, drawn_shape, in_dtype, key_and_dtype, sampler_arguments, shape_over
from .continuous import exponential
from .gammas import gamma, loggamma
from .keys import pair
from .samplers import Shape, normal, rademacher


__all__ = ["ball", "beta", "chisquare", "dirichlet", "f", "generalized_normal", "t"]


@laying
@eager_jit(static="shape dtype method", nested=True)
def beta(
    key: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Beta numbers: density x^(a - 1) (1 - x)^(b - 1) / B(a, b) on (0, 1), x / (x + y) of gamma x and y.

    `shape`: by default that of the parameters together. `method`: as in `gamma`. Raises ValueError for shapes that do not
    broadcast to it, a dtype that is not a float, and another method.
    """
    approximate("beta", method)
    key, shape, dtype, *params = sampler_arguments("beta", key, shape, dtype, a, b)
    logs = [loggamma(k, x, shape, dtype, method=method) for k, x in zip(pair(key), params, strict=True)]
    greater = lax.stop_gradient(lax.max(*logs))  # so that neither overflows, nor both are 0
    x, y = (lax.exp(log - greater) for log in logs)
    return x / (x + y)


@laying
@eager_jit(static="shape dtype", nested=True)
def dirichlet(
    key: ArrayLike,
    alpha: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Dirichlet vectors of parameters [..., n]: n positive numbers of sum 1, gamma numbers over their sum.

    `shape` is that of the result without its last axis; by default that of alpha's leading axes. Raises ValueError for a
    scalar alpha, shapes that do not broadcast, and a dtype that is not a float.
    """
    key, dtype = key_and_dtype("dirichlet", key, dtype)
    own = aval_of(alpha).shape
    if not own:
        raise ValueError(
            "random.dirichlet: alpha has at least one axis, that of the numbers whose sum is 1; it is a scalar"
        )
    shape = shape_over("dirichlet", shape, own[:-1])
    logs = loggamma(key, in_dtype(alpha, dtype), (*shape, own[-1]), dtype)
    parts = lax.exp(logs - lax.stop_gradient(jnp.max(logs, -1, keepdims=True, initial=-jnp.inf)))
    return parts / jnp.sum(parts, -1, keepdims=True)


@laying
@eager_jit(static="shape dtype method", nested=True)
def chisquare(
    key: ArrayLike,
    df: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Chi-square numbers of `df` degrees of freedom: twice gamma numbers of df / 2.

    `shape`: by default that of `df`. `method`: as in `gamma`. Raises ValueError for shapes that do not broadcast to it, a dtype that is not
    a float, and another method.
    """
    approximate("chisquare", method)
    key, shape, dtype, df = sampler_arguments("chisquare", key, shape, dtype, df)
    return lax.exp(loggamma(key, df / 2, shape, dtype, method=method)) * 2


@laying
@eager_jit(static="shape dtype", nested=True)
def f(
    key: ArrayLike,
    dfnum: ArrayLike,
    dfden: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """F numbers: the ratio of two chi-square numbers, each over its degrees of freedom.

    `shape`: by default that of the parameters together. Raises ValueError for shapes that do not broadcast to it and a
    dtype that is not a float.
    """
    key, shape, dtype, dfnum, dfden = sampler_arguments("f", key, shape, dtype, dfnum, dfden)
    below, above = pair(key)
    return (chisquare(above, dfnum, shape, dtype) / dfnum) / (chisquare(below, dfden, shape, dtype) / dfden)


@laying
@eager_jit(static="shape dtype", nested=True)
def t(
    key: ArrayLike,
    df: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Student's t numbers of `df` degrees of freedom: a normal number over the root of a chi-square one over df.

    `shape`: by default that of `df`. Raises ValueError for shapes that do not broadcast to it and a dtype that is not a float.
    """
    key, shape, dtype, df = sampler_arguments("t", key, shape, dtype, df)
    for_normal, for_gamma = pair(key)
    half = df / 2
    return normal(for_normal, shape, dtype) * lax.sqrt(half / gamma(for_gamma, half, shape, dtype))


@laying
@eager_jit(static="shape dtype", nested=True)
def generalized_normal(
    key: ArrayLike,
    p: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Numbers of density proportional to exp(-|x|^p): a gamma number of 1 / p to the power 1 / p, with a random sign.

    `p` broadcasts to `shape`, else ValueError.
    """
    key, dtype = key_and_dtype("generalized_normal", key, dtype, ANY)
    shape = drawn_shape("generalized_normal", shape)
    for_size, for_sign = pair(key)
    size = gamma(for_size, 1 / p, shape, dtype)
    return rademacher(for_sign, shape, dtype) * size ** (1 / p)


@laying
@eager_jit(static="d shape dtype", nested=True)
def ball(
    key: ArrayLike,
    d: int,
    p: ArrayLike = 2,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Vectors [*shape, d] uniform in the ball of the p-norm, |x₁|^p + … + |x_d|^p ≤ 1, by the method of Barthe et al. (2005).

    Raises TypeError for a `d` that is not an int.
    """
    key, dtype = key_and_dtype("ball", key, dtype, ANY)
    shape = drawn_shape("ball", shape)
    for_direction, for_rest = pair(key)
    g = generalized_normal(for_direction, p, (*shape, integer("random.ball", d, "d")), dtype)
    rest = exponential(for_rest, shape, dtype)
    return g / ((jnp.sum(jnp.abs(g) ** p, -1) + rest) ** (1 / p))[..., None]
