"""Spherical harmonics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import lax, numpy as jnp
from ...core.annotations import Array, ArrayLike
from ...core.trace import Tracer
from ...eager.functions import eager_jit
from ...numpy.operands import integer


__all__ = ["sph_harm_y"]


def sph_harm_y(
    n: ArrayLike,
    m: ArrayLike,
    theta: ArrayLike,
    phi: ArrayLike,
    diff_n: int | tuple[int, int] | None = None,
    n_max: int | None = None,
) -> Array:
    """The spherical harmonics of degree n and order m at the polar angle theta and the azimuth phi; complex.

    n, m: integers; theta, phi: real. All broadcast against each other (a single theta counts as an array of one
    element). `n_max`, an int, is the greatest degree, max(n) if not given: where n is traced it must be, else
    TypeError, as for complex numbers. Degrees above it count as n_max. Raises NotImplementedError for `diff_n`, SciPy's
    number of derivatives: use `grad` or `jacfwd`.
    """
    if diff_n is not None:
        raise NotImplementedError("sph_harm_y: diff_n is not supported; take derivatives with jacfwd or jacrev")
    if n_max is None:
        if isinstance(n, Tracer):
            raise TypeError("sph_harm_y: n is traced, so its greatest value is unknown: give n_max=")
        n_max = np.max(np.asarray(n))
    return _harmonics(n, m, theta, phi, integer("sph_harm_y", n_max, "n_max"))


@eager_jit(static="n_max", nested=True)
def _harmonics(n: Any, m: Any, theta: Any, phi: Any, n_max: int) -> Any:
    n, m, theta, phi = (jnp.asarray(x) for x in (n, m, jnp.atleast_1d(theta), phi))
    if any(jnp.iscomplexobj(x) for x in (n, m, theta, phi)):
        raise TypeError("sph_harm_y does not take complex numbers")
    order = jnp.abs(m)
    angle = order * phi
    found = _legendre(jnp.minimum(n, n_max), order, theta, n_max)
    real, imag = found * jnp.cos(angle), found * jnp.sin(angle)
    mirrored = jnp.where((m < 0) & (order % 2 == 1), -1, 1)
    return lax.complex(mirrored * real, mirrored * jnp.where(m < 0, -imag, imag))


def _legendre(n: Any, m: Any, theta: Any, n_max: int) -> Any:
    """The normalized associated Legendre functions: from degree m on by the recurrence in the degree (DLMF 14.10.3),
    before that along the diagonal (14.7.15)."""
    cosine, sine = jnp.cos(theta), jnp.abs(jnp.sin(theta))
    dtype = cosine.dtype
    shape = jnp.broadcast_shapes(n.shape, m.shape, theta.shape)
    n, m = jnp.broadcast_to(n, shape), jnp.broadcast_to(m, shape)
    cosine, sine = jnp.broadcast_to(cosine, shape), jnp.broadcast_to(sine, shape)
    order = m.astype(dtype)

    def step(carry: Any, degree: Any) -> Any:
        diagonal, before, last, found = carry
        diagonal = jnp.where(degree == 0, diagonal, -jnp.sqrt(1 + 0.5 / jnp.maximum(degree, 1)) * sine * diagonal)
        above = degree > order
        away = jnp.where(above, (degree - order) * (degree + order), 1)
        previous = jnp.where(above, degree - 1, order)
        down = jnp.sqrt((previous - order) * (previous + order) / jnp.maximum(4 * previous * previous - 1, 1))
        risen = jnp.sqrt((4 * degree * degree - 1) / away * above) * (cosine * last - down * before)
        now = jnp.where(degree == order, diagonal, jnp.where(above, risen, 0))
        return (diagonal, last, now, jnp.where(degree == n, now, found)), None

    zero = jnp.zeros(shape, dtype)
    first = (zero + 0.5 / math.sqrt(math.pi), zero, zero, zero)
    return lax.scan(step, first, jnp.arange(n_max + 1, dtype=dtype))[0][3]
