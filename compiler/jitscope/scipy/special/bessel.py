"""Bessel functions."""

from __future__ import annotations

from typing import Any

from ... import lax, numpy as jnp
from ...control.custom_jvp import custom_jvp
from ...core.annotations import Array, ArrayLike
from ...eager.functions import eager_jit
from ...numpy.operands import integer, lenient, operand
from ...special.bessel import bessel_i0_p, bessel_i0e_p, bessel_i1_p, bessel_i1e_p
from ._operands import real_operands


__all__ = ["bessel_jn", "i0", "i0e", "i1", "i1e"]


@eager_jit(nested=True)
def i0e(x: ArrayLike) -> Array:
    """exp(-|x|) i0(x), element by element [...]. Raises TypeError for complex numbers."""
    return bessel_i0e_p(operand("i0e", x, inexact=True))


@eager_jit(nested=True)
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind and order 0, element by element [...]. Raises ValueError for
    complex numbers."""
    (x,) = real_operands("i0", x)
    return bessel_i0_p(x)


@eager_jit(nested=True)
def i1e(x: ArrayLike) -> Array:
    """exp(-|x|) i1(x), element by element [...]. Raises TypeError for complex numbers."""
    return bessel_i1e_p(operand("i1e", x, inexact=True))


@eager_jit(nested=True)
def i1(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind and order 1, element by element [...]. Raises ValueError for
    complex numbers."""
    (x,) = real_operands("i1", x)
    return bessel_i1_p(x)


@lenient
@eager_jit(static="v n_iter", nested=True)
def bessel_jn(z: ArrayLike, *, v: int, n_iter: int = 50) -> Array:
    """The Bessel functions of the first kind of orders 0 to v at real z: an array of shape [v + 1, *z.shape].

    By Miller's backward recurrence (DLMF 3.6) from order `n_iter` on, which must be well above |z| and v. Raises
    ValueError for v above n_iter, TypeError for complex z and for v and n_iter that are not ints (traced ones are
    unknown).
    """
    (z,) = real_operands("bessel_jn", z, error=TypeError)
    v, n_iter = integer("bessel_jn", v, "v"), integer("bessel_jn", n_iter, "n_iter")
    if not 0 <= v <= n_iter:
        raise ValueError(f"bessel_jn: the order v must be from 0 to n_iter, it is {v} and n_iter is {n_iter}")
    return _orders(jnp.asarray(z), v, n_iter)


def _orders_directly(z: Any, v: int, n_iter: int) -> Any:
    """The ratios Jₖ/Jₖ₋₁ = 1 / (2 k / z - Jₖ₊₁/Jₖ) from k = n_iter down, then J₀ + 2 J₂ + 2 J₄ + … = 1. For z = 0, J₀
    alone is 1."""
    none = z == 0
    down = 2 / jnp.where(none, 1, z)

    def step(state: Any, k_and_even: Any) -> Any:
        ratio, evens = state  # Jₖ₊₁/Jₖ, and the sum of all Jⱼ of even j > k over Jₖ
        k, even = k_and_even
        ratio = jnp.where(none, 0, 1 / (k * down - ratio))
        return (ratio, ratio * (even + evens)), ratio

    def lower(state: Any, first: int, last: int) -> Any:
        k = jnp.arange(first, last + 1, dtype=z.dtype)
        return lax.scan(step, state, (k, (k + 1) % 2), reverse=True)

    state, _ = lower((jnp.zeros_like(z), jnp.zeros_like(z)), v + 1, n_iter)
    (_, evens), ratios = lower(state, 1, v)
    first = 1 / (1 + 2 * evens)
    return jnp.concatenate([first[None], first * jnp.cumprod(ratios, axis=0)])


_orders = custom_jvp(_orders_directly, nondiff_argnums=(1, 2))


@_orders.defjvp
def _orders_jvp(v: int, n_iter: int, primals: Any, tangents: Any) -> Any:
    """2 Jₖ' = Jₖ₋₁ - Jₖ₊₁, where J₋₁ = -J₁."""
    ((z,), (t,)) = primals, tangents
    found = _orders(z, v + 1, max(n_iter, v + 2))
    before = jnp.concatenate([-found[1:2], found[:-2]])
    return found[:-1], 0.5 * t * (before - found[1:])
