"""Distributions of counts, drawn by rejection: all elements in one loop that ends with the last of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import lax, numpy as jnp
from ..backend.placement import laying
from ..control.scan import scan
from ..control.while_loop import while_loop
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..numpy.operands import promoted
from ..ops.linear import convert
from ..ops.rng import random_clone_p, random_split_p, threefry
from .approximating import approximate, poissons
from .arguments import ANY, drawn_shape, in_dtype, key_and_dtype, shape_over, spread
from .keys import pair, several
from .samplers import Shape, uniform


__all__ = ["binomial", "multinomial", "poisson"]


def _until_accepted(key: Any, needless: Any, dtype: Any, propose: Callable[[Any, Any], tuple[Any, Any]]) -> Any:
    """Floats of `needless`'s shape, accepted proposals. If all elements are `needless`, nothing is drawn.

    `propose(u, v)`, with u uniform in [-1/2, 1/2) and v in [0, 1), gives a proposal and whether it is accepted. Each element
    keeps its last accepted one of the rounds that all need together (as in JAX; the first would be as good).
    """
    shape = aval_of(needless).shape

    def again(state: Any) -> Any:
        key, found, done = state
        key, for_u, for_v = several(key, 3)
        proposal, accepted = propose(uniform(for_u, shape, dtype) - 0.5, uniform(for_v, shape, dtype))
        return key, lax.select(accepted, proposal, found), done | accepted

    start = key, lax.full(shape, -1, dtype), jnp.broadcast_to(jnp.all(needless), shape)
    return while_loop(lambda state: ~jnp.all(state[2]), again, start)[1]


# Poisson -------------------------------------------------------------------------------------------------------------


@laying
@eager_jit(static="shape dtype method", nested=True)
def poisson(
    key: ArrayLike,
    lam: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Poisson numbers of mean `lam` (converted to float32): integers, -1 where lam is negative or NaN.

    Below 10 by counting uniform factors (Knuth), from there by the transformed rejection of Hörmann (1993). `shape`: by default
    that of `lam`. `method="approximate"` has no loops and a small bias. Raises ValueError for shapes that do not
    broadcast to it, a dtype that is not an integer and another method, NotImplementedError for keys of other generators than threefry, which
    the exact method needs.
    """
    quick = approximate("poisson", method)
    key, dtype = key_and_dtype("poisson", key, dtype, "iu", int)
    if quick:
        return poissons(key, lam, drawn_shape("poisson", shape, lam), dtype)
    if aval_of(key).dtype is not threefry:
        raise NotImplementedError(
            "random.poisson takes threefry keys; make one with random.key(seed, impl='threefry2x32')"
        )
    (lam,) = spread(drawn_shape("poisson", shape, lam), in_dtype(lam, dtypes.float32))
    small = (lam != lam) | (lam < 10)
    few = _by_factors(key, lam, small)
    many = _by_ratio(random_clone_p(key), lax.select(small, lax.full_like(lam, 1e5), lam), small)
    found = lax.select(small, convert(few, dtype), convert(many, dtype))
    return lax.select(lam == 0, lax.full_like(found, 0), found)


def _by_factors(key: Any, lam: Any, wanted: Any) -> Any:
    """How many uniform numbers have a product above exp(-lam), where `wanted`."""
    shape, least = aval_of(lam).shape, -lam

    def again(state: Any) -> Any:
        key, count, log = state
        key, own = pair(key)
        count = lax.select(log > least, count + 1, count)
        return key, count, log + lax.log(uniform(own, shape, dtypes.float32))

    start = (
        key,
        lax.full(shape, 0, dtypes.int32),
        lax.select(wanted, lax.full_like(lam, 0), lax.full_like(lam, -np.inf)),
    )
    return while_loop(lambda state: jnp.any(state[2] > least), again, start)[1] - 1


def _by_ratio(key: Any, lam: Any, needless: Any) -> Any:
    """Poisson numbers of a large mean: algorithm PTRS, whose constants these are."""
    log_lam = lax.log(lam)
    b = 0.931 + 2.53 * lax.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    enough = 0.9277 - 3.6224 / (b - 2)

    def propose(u: Any, v: Any) -> tuple[Any, Any]:
        rest = 0.5 - lax.abs(u)
        k = lax.floor((2 * a / rest + b) * u + lam + 0.43)
        at_once = (rest >= 0.07) & (v <= enough)
        never = (k < 0) | (rest < 0.013) & (v > rest)
        below = lax.log(v * inverse_alpha / (a / (rest * rest) + b)) <= k * log_lam - lam - lax.lgamma(k + 1)
        return k, at_once | ~never & below

    return _until_accepted(key, needless, dtypes.float32, propose)


# Binomial ------------------------------------------------------------------------------------------------------------


@eager_jit(static="shape dtype", nested=True)
def binomial(
    key: ArrayLike, n: ArrayLike, p: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None
) -> Array:
    """How many of `n` trials of probability `p` succeed, as floats; NaN where n or p is negative or NaN, or p above 1.

    Up to a mean of 10 by adding the gaps between successes, above by the transformed rejection of Hörmann (1993).
    `shape`: by default that of the parameters together. Raises ValueError for shapes that do not broadcast to it and a
    dtype that is not a float.
    """
    key, dtype = key_and_dtype("binomial", key, dtype)
    (p,), _, number, _ = promoted("random.binomial", (p,), inexact=True)
    shape = drawn_shape("binomial", shape, n, p)
    n, p = spread(shape, in_dtype(n, number), p)
    rare = p < 0.5
    q = lax.select(rare, p, 1 - p)
    no_count, endless = (n != n) | (n < 0), n == np.inf
    no_chance, negative = q != q, q < 0
    q = lax.select(no_chance | negative, lax.full_like(q, 0.01), q)
    few = no_count | ~(n * q > 10)
    n = lax.floor(n)
    one_by_one = _by_gaps(key, lax.select(few & ~endless, n, lax.full_like(n, -1)), q)
    many = lax.select(few, lax.full_like(n, 1e4), n), lax.select(few, lax.full_like(q, 0.5), q)
    found = lax.select(few, convert(one_by_one, dtype), convert(_by_squeeze(random_clone_p(key), *many, few), dtype))
    wrong = negative | no_chance | no_count
    found = lax.select(wrong, lax.full_like(found, np.nan), found)
    found = lax.select(endless & ~wrong, lax.full_like(found, np.inf), found)
    return lax.select(rare | no_count | no_chance | endless, found, convert(n, dtype) - found)


def _by_gaps(key: Any, n: Any, q: Any) -> Any:
    """How many gaps between successes, each a geometric number, fit into `n` trials."""
    log_miss = lax.log1p(-q)

    def again(state: Any) -> Any:
        key, count, total = state
        own, key = pair(key)
        count = lax.select(total <= n, count + 1, count)
        return key, count, total + lax.ceil(lax.log(uniform(own, aval_of(n).shape, aval_of(n).dtype)) / log_miss)

    start = key, lax.full_like(n, 0), lax.full_like(n, 0)
    return while_loop(lambda state: jnp.any(state[2] <= n), again, start)[1] - 1


def _by_squeeze(key: Any, n: Any, q: Any, needless: Any) -> Any:
    """Binomial numbers of a large mean: algorithm BTRS, whose constants these are."""
    deviation = lax.sqrt(n * q * (1 - q))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * q
    enough = 0.92 - 4.2 / b
    odds = q / (1 - q)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = lax.floor((n + 1) * q)

    def propose(u: Any, v: Any) -> tuple[Any, Any]:
        rest = 0.5 - lax.abs(u)
        k = lax.floor((2 * a / rest + b) * u + (n * q + 0.5))
        at_once = (rest >= 0.07) & (v <= enough)
        never = (k < 0) | (k > n)
        ratio = (  # of the probabilities of k and of the mode, as a logarithm
            (mode + 0.5) * lax.log((mode + 1) / (odds * (n - mode + 1)))
            + (n + 1) * lax.log((n - mode + 1) / (n - k + 1))
            + (k + 0.5) * lax.log(odds * (n - k + 1) / (k + 1))
            + _stirling_rest(mode)
            + _stirling_rest(n - mode)
            - _stirling_rest(k)
            - _stirling_rest(n - k)
        )
        return k, at_once | ~never & (lax.log(v * alpha / (a / (rest * rest) + b)) <= ratio)

    return _until_accepted(key, needless, aval_of(n).dtype, propose)


def _stirling_rest(k: Any) -> Any:
    """What Stirling's formula lacks of log(k!); from 10 on a constant, as in JAX: it hardly varies there, and cancels."""
    table, end = jnp.asarray(_RESTS, k.dtype), k.dtype.type
    return jnp.take(table, convert(lax.clamp(end(0), k, end(10)), dtypes.int32), mode="clip")


def _rest(k: int) -> float:
    return math.lgamma(k + 1) - (k + 0.5) * math.log(k + 1) + (k + 1) - 0.5 * math.log(2 * math.pi)


_RESTS = [*map(_rest, range(10)), (1 / 12 - (1 / 360 - 1 / 126000) / 100) / 10]


# Multinomial ---------------------------------------------------------------------------------------------------------


@eager_jit(static="shape dtype unroll", nested=True)
def multinomial(
    key: ArrayLike,
    n: ArrayLike,
    p: ArrayLike,
    *,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    unroll: int | bool = 1,
) -> Array:
    """How often each of k outcomes of probabilities `p` [..., k] occurs in `n` trials: counts of sum n, as floats by default.

    Each outcome is a binomial number of the trials that are left. `shape`: that of the result without its last axis, to
    which n, and p without its last axis, broadcast; by default p's. `unroll`: so many outcomes stand in one round of the compiled loop. Raises
    ValueError for shapes that do not broadcast.
    """
    key, dtype = key_and_dtype("multinomial", key, dtype, ANY)
    (n, p), _, number, _ = promoted("random.multinomial", (n, p), inexact=True)
    *before, outcomes = aval_of(p).shape
    shape = shape_over("multinomial", tuple(before) if shape is None else shape, aval_of(n).shape, tuple(before))
    (n,), (p,) = spread(shape, n), spread((*shape, outcomes), p)

    def one(remaining: Any, row: Any) -> Any:
        ratio, key = row
        count = binomial(key, remaining, jnp.clip(ratio, 0, 1), dtype=number)
        return remaining - count, count

    p = jnp.moveaxis(p, -1, 0)
    rest = lax.cumsum(p, 0, reverse=True)
    ratios = p / jnp.where(rest == 0, 1, rest)
    keys = random_split_p(key, shape=(aval_of(p).shape[0],))
    _, counts = scan(one, n, (ratios, keys), unroll=unroll)
    return convert(jnp.moveaxis(counts, 0, -1), dtype)
