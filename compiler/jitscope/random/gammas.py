"""Gamma numbers, by rejection, with derivatives in the parameter."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from .. import lax
from ..api.vmap import vmap
from ..backend.placement import laying
from ..control.fori_loop import map as loop
from ..control.while_loop import while_loop
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..core.avals import aval_of
from ..core.zeros import Zero, is_zero
from ..eager.functions import eager_jit
from ..ops.families import pure
from ..ops.linear import mul_p, reshape
from ..ops.rng import KeyPrimitive, random_split_p, threefry
from .approximating import approximate, log_gammas
from .arguments import drawn_shape, in_dtype, key_and_dtype, spread
from .keys import pair, several
from .samplers import Shape, normal, uniform


__all__ = ["gamma", "loggamma", "random_gamma_p"]


class RandomGamma(KeyPrimitive):
    """Gamma numbers, or with `log_space` their logarithms, of the parameters `a`, keys × more; each element its own key.

    The derivative in `a` is that of the distribution function's level: x(a) with P(a, x) fixed (the implicit derivative;
    Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", 2018).
    """

    def abstract(self, keys, a, /, *, log_space):
        self.check(keys)
        if a.shape[: keys.ndim] != keys.shape:
            raise TypeError(
                f"random_gamma: the keys' axes lead those of the parameters; they are {keys.short()}, {a.short()}"
            )
        return pure(a)

    def compute(self, keys, a, /, *, log_space):
        shape = aval_of(a).shape
        each = random_split_p(keys, shape=(math.prod(shape[aval_of(keys).ndim :]),))
        each, flat = reshape(each, (math.prod(shape),)), reshape(a, (math.prod(shape),))
        one = lambda key, a: _gamma(key, a, log_space)
        if aval_of(keys).dtype is threefry or aval_of(keys).dtype.hash:
            drawn = vmap(one)(each, flat)
        else:  # under vmap one key would draw for all
            drawn = loop(lambda pair: one(*pair), (each, flat))
        return reshape(drawn, shape)

    def jvp(self, primals, tangents, /, *, log_space):
        keys, a = primals
        drawn = self(keys, a, log_space=log_space)
        if is_zero(tangents[1]):
            return drawn, Zero(aval_of(drawn))
        return drawn, mul_p(tangents[1], _slope(a, drawn, log_space))


random_gamma_p = RandomGamma("random_gamma")


def _slope(a: Any, drawn: Any, log_space: bool) -> Any:
    """The derivative of a drawn number in its parameter."""
    if not log_space:
        return lax.random_gamma_grad(a, drawn)
    x = lax.exp(drawn)
    x = lax.select(x == 0, lax.full_like(x, ml_dtypes.finfo(aval_of(x).dtype).tiny), x)
    return lax.random_gamma_grad(a, x) / x


def _gamma(key: Any, a: Any, log_space: bool) -> Any:
    """One number, by the method of Marsaglia and Tsang (2000): with d = a - 1/3, c = 1 / sqrt(9 d) and normal x, the number
    d (1 + c x)³ is accepted with some probability near 1. For a < 1 it is drawn for a + 1 and multiplied by u^(1 / a)."""
    large = a >= 1
    d = lax.select(large, a, a + 1) - 1 / 3
    key, for_boost = pair(key)
    cube = _accepted(key, d, (1 / 3) / lax.sqrt(d))
    dtype = aval_of(a).dtype
    if not log_space:
        boost = lax.select(large, lax.full_like(a, 1), lax.pow(1 - uniform(for_boost, (), dtype), 1 / a))
        return d * cube * boost
    log_u = lax.log1p(-uniform(for_boost, (), dtype))
    boost = lax.select(large | (log_u == 0), lax.full_like(a, 0), log_u * (1 / a))
    return lax.log(d) + lax.log(cube) + boost


def _accepted(key: Any, d: Any, c: Any) -> Any:
    """(1 + c x)³ of the first x that is accepted."""
    dtype = aval_of(d).dtype

    def rejected(state: Any) -> Any:
        _, squared, cube, u = state
        # The first comparison is cheap and nearly always decides.
        slow = lax.log(u) >= squared * 0.5 + d * (1 - cube + lax.log(cube))
        return (u >= 1 - 0.0331 * (squared * squared)) & slow

    def positive(key: Any) -> Any:
        def draw(state: Any) -> Any:
            key, own = pair(state[0])
            x = normal(own, (), dtype)
            return key, x, 1 + x * c

        zero = lax.full_like(d, 0)
        return while_loop(lambda state: state[2] <= 0, draw, (key, zero, lax.full_like(d, -1)))[1:]

    def again(state: Any) -> Any:
        key, for_normal, for_uniform = several(state[0], 3)
        x, v = positive(for_normal)
        return key, x * x, v * v * v, uniform(for_uniform, (), dtype)

    start = key, lax.full_like(d, 0), lax.full_like(d, 1), lax.full_like(d, 2)
    return while_loop(rejected, again, start)[2]


# Functions -----------------------------------------------------------------------------------------------------------


@laying
@eager_jit(static="shape dtype method", nested=True)
def gamma(
    key: ArrayLike,
    a: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Gamma numbers: density x^(a - 1) exp(-x) / Γ(a) for x > 0; differentiable in `a` (implicitly, at the same level of the
    distribution function).

    `shape`: by default that of `a`. For small a many numbers are too small for the dtype, and 0: see `loggamma`.
    `method="approximate"` has no loop and a small bias. Raises ValueError for shapes that do not broadcast to it, a dtype that is not a
    float, and another method.
    """
    return _drawn("gamma", key, a, shape, dtype, method)


@laying
@eager_jit(static="shape dtype method", nested=True)
def loggamma(
    key: ArrayLike,
    a: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Logarithms of gamma numbers [*shape], exact for small `a`, too; arguments and errors as in `gamma`."""
    return _drawn("loggamma", key, a, shape, dtype, method)


def _drawn(name: str, key: Any, a: Any, shape: Any, dtype: Any, method: str) -> Any:
    quick = approximate(name, method)
    key, dtype = key_and_dtype(name, key, dtype)
    shape = drawn_shape(name, shape, a)
    if quick:
        wide = np.dtype(np.float32) if dtype.itemsize < 4 else dtype
        found = log_gammas(key, in_dtype(a, wide), shape, wide)
        return lax.convert_element_type(found if name == "loggamma" else lax.exp(found), dtype)
    (a,) = spread(shape, in_dtype(a, dtype))
    return random_gamma_p(key, a, log_space=name == "loggamma")
