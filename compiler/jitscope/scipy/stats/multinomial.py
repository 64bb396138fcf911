"""The multinomial distribution: n! prod over i of p[i]^x[i] / x[i]!, for x that sum up to n."""

from __future__ import annotations

from typing import Any

from ... import numpy as jnp
from ...core import dtypes
from ...core.annotations import Array, ArrayLike
from ...eager.functions import eager_jit
from ...numpy.operands import promoted
from ...numpy.structure import array_operand
from .. import special


@eager_jit(nested=True)
def logpmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The logarithm of the probability of the counts `x` [..., k] in `n` trials with probabilities `p` [..., k]; -inf where they do
    not sum up to n. Raises ValueError for x and n that are not integers, TypeError for complex p."""
    return _logpmf("multinomial.logpmf", x, n, p)


@eager_jit(nested=True)
def pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The probability of the counts `x` [..., k]; see `logpmf`."""
    return jnp.exp(_logpmf("multinomial.pmf", x, n, p))


def _logpmf(name: str, x: Any, n: Any, p: Any) -> Any:
    (p,), _, _, _ = promoted(name, [p], inexact=True)
    values, _, dtype, _ = promoted(name, [x, n])
    if not (dtypes.is_integer(dtype) or dtypes.kind(dtype) == "b"):
        raise ValueError(f"{name}: x and n are integers, not {dtype.name}")
    p, x, n = (jnp.asarray(array_operand(name, v)) for v in (p, *values))
    if dtypes.is_complex(p.dtype):
        raise TypeError(f"{name} is not defined for complex numbers")
    whole = jnp.sum(x, -1) == n
    x, n = x.astype(p.dtype), n.astype(p.dtype)
    value = special.gammaln(n + 1) + jnp.sum(special.xlogy(x, p) - special.gammaln(x + 1), -1)
    return jnp.where(whole, value, -jnp.inf)
