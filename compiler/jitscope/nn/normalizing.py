"""Sums of exponentials, softmax, and standardizing, along axes.

`axis` is an int, a tuple or None (all); `where` (booleans that broadcast to the array) picks the elements that count. All raise
ValueError for axes that do not exist and TypeError for what is not an array.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal, overload

import numpy as np

from .. import lax, numpy as jnp
from ..control.custom_jvp import custom_jvp
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Axes
from ..eager.functions import eager_jit
from ..numpy.operands import axes_of, operands
from ..numpy.reductions import level
from ..ops.elementwise import rsqrt_p, sign_p
from .activations import array


__all__ = ["log_softmax", "logmeanexp", "logsumexp", "softmax", "standardize"]


def _inexact(x: Any) -> Array:
    return x.astype(dtypes.to_inexact(x.dtype)) if not jnp.issubdtype(x.dtype, jnp.inexact) else x


@overload
def logsumexp(
    a: ArrayLike,
    axis: Axes = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: Literal[False] = False,
    where: ArrayLike | None = None,
) -> Array: ...
@overload
def logsumexp(
    a: ArrayLike,
    axis: Axes = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    *,
    return_sign: Literal[True],
    where: ArrayLike | None = None,
) -> tuple[Array, Array]: ...
@overload
def logsumexp(
    a: ArrayLike,
    axis: Axes = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: ArrayLike | None = None,
) -> Array | tuple[Array, Array]: ...
@eager_jit(static="axis keepdims return_sign")
def logsumexp(
    a: ArrayLike,
    axis: Axes = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: ArrayLike | None = None,
) -> Array | tuple[Array, Array]:
    """log(sum(b * exp(a))) over `axis`, without overflow on the way: [..., n] to floats [...] for the last axis; -inf
    where nothing is summed.

    `b` (default 1) broadcasts to a. With `return_sign` a tuple of the logarithm of the sum's absolute value and of its
    sign; otherwise the result is NaN where a real sum is negative.
    """
    a = array("logsumexp", a)
    if where is not None:
        a = jnp.where(where, a, 0)
    if b is None:
        a = _inexact(a)
    else:
        a, b = map(jnp.asarray, operands("logsumexp", a, b, inexact=True))
        a = jnp.where(b != 0, a, -np.inf)
    is_complex = jnp.iscomplexobj(a)
    top = level(jnp.real(a), axis, keepdims=True, where=where, initial=-np.inf)
    top = lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0))
    terms = jnp.exp(a - top.astype(a.dtype))
    total = jnp.sum(terms if b is None else terms * b, axis, keepdims=keepdims, where=where)
    sign = sign_p(total)
    if return_sign or not is_complex:
        total = jnp.abs(total)
    top = top if keepdims else jnp.squeeze(top, axes_of("logsumexp", axis, a.ndim))
    out = jnp.log(total) + top.astype(total.dtype)
    if return_sign:
        return out, sign
    return out if b is None or is_complex else jnp.where(sign < 0, np.nan, out)


@eager_jit(static="axis keepdims")
def logmeanexp(x: ArrayLike, axis: Axes = None, where: ArrayLike | None = None, keepdims: bool = False) -> Array:
    """log(mean(exp(x))) over `axis`, without overflow on the way: [..., n] to floats [...] for the last axis."""
    x = array("logmeanexp", x)
    out = logsumexp(x, axis, where=where, keepdims=keepdims)
    if where is None:
        count = math.prod(x.shape[i] for i in axes_of("logmeanexp", axis, x.ndim))
        return out - jnp.log(jnp.asarray(count, out.dtype))
    counted = jnp.broadcast_to(where, x.shape)
    return out - jnp.log(jnp.sum(counted, axis, dtype=out.dtype, keepdims=keepdims))


@eager_jit(static="axis")
def log_softmax(x: ArrayLike, axis: Axes = -1, where: ArrayLike | None = None) -> Array:
    """log(softmax(x)), exact where softmax is near 0, in the shape of x [...]; -inf where `where` does not hold.
    Integers become floats."""
    x = _inexact(array("log_softmax", x))
    top = level(x, axis, keepdims=True, where=where, initial=-np.inf)
    shifted = (x if where is None else jnp.where(where, x, -np.inf)) - lax.stop_gradient(top)
    out = shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis, keepdims=True, where=where))
    return out if where is None else jnp.where(where, out, -np.inf)


def softmax(x: ArrayLike, axis: Axes = -1, where: ArrayLike | None = None) -> Array:
    """exp(x) / sum(exp(x)) over `axis`, without overflow on the way, in the shape of x [...]; 0 where `where` does not
    hold. Integers become floats."""
    return _softmax(x, tuple(axis) if isinstance(axis, list) else axis, where)


# The derivative needs the result only; that of the formula would keep the exponentials and their sum.
@partial(custom_jvp, nondiff_argnums=(1,))
@eager_jit(static="axis")
def _softmax(x: Any, axis: Any, where: Any) -> Any:
    x = _inexact(array("softmax", x))
    top = level(x, axis, keepdims=True, where=where, initial=-np.inf)
    terms = jnp.exp((x if where is None else jnp.where(where, x, -np.inf)) - top)
    out = terms / jnp.sum(terms, axis, keepdims=True, where=where)
    return out if where is None else jnp.where(where, out, 0)


@_softmax.defjvp
def _softmax_jvp(axis: Any, primals: Any, tangents: Any) -> Any:
    (x, where), (t, _) = primals, tangents
    y = _softmax(x, axis, where)
    return y, y * (t - jnp.sum(y * t, axis, keepdims=True, where=where))


@eager_jit(static="axis algorithm")
def standardize(
    x: ArrayLike,
    axis: Axes = -1,
    mean: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    epsilon: ArrayLike = 1e-5,
    where: ArrayLike | None = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """(x - mean) / sqrt(variance + epsilon), mean and variance being those of x over `axis` where they are not given;
    in the shape of x [...]. Integers become floats.

    `algorithm`: "fast" takes the variance as the mean of squares minus the square of the mean (which cancels where the
    mean is large), "stable" as the mean of squared distances. Raises ValueError for others.
    """
    x = array("standardize", x)
    if algorithm not in ("fast", "stable"):
        raise ValueError(f"standardize: algorithm is 'fast' or 'stable', not {algorithm!r}")
    if mean is None:
        mean = jnp.mean(x, axis, keepdims=True, where=where)
    if variance is None:
        if algorithm == "stable":
            variance = jnp.mean(jnp.square(jnp.subtract(x, mean)), axis, keepdims=True, where=where)
        else:
            squares = jnp.mean(jnp.square(x), axis, keepdims=True, where=where)
            variance = jnp.clip(squares - jnp.square(mean), 0)
    return jnp.subtract(x, mean) * rsqrt_p(jnp.add(variance, epsilon))
