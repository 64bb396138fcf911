"""The distributions that initializers draw from, beside the uniform and the normal one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import lax, numpy as jnp, random
from ..core import dtypes
from ..numpy._fused import fused
from ..ops.elementwise import erf_inv_p, erf_p, nextafter_p


@fused(static="shape dtype")
def truncated_normal(key: Any, lower: Any, upper: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Standard normal numbers between `lower` and `upper`. Raises ValueError for a dtype that is no float."""
    if not dtypes.is_float(dtype):
        raise ValueError(f"truncated_normal gives floats, not {dtype.name}")
    root = np.asarray(math.sqrt(2), dtype)[()]
    ends = [jnp.asarray(end, dtype) for end in (lower, upper)]
    low, high = (erf_p(end / root) for end in ends)
    drawn = root * erf_inv_p(random.uniform(key, shape, dtype, low, high))
    # Rounding must not reach the ends.
    inner = (
        nextafter_p(lax.stop_gradient(end), jnp.asarray(to, dtype))
        for end, to in zip(ends, (np.inf, -np.inf), strict=True)
    )
    return jnp.clip(drawn, *inner)


def _turned(radius: Any, key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Complex numbers of that absolute value and of a random angle."""
    angle = 2 * math.pi * random.uniform(key, shape, dtypes.real_part(dtype)).astype(dtype)
    return radius * jnp.exp(1j * angle)


@fused(static="shape dtype")
def in_disc(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Complex numbers uniform in the disc of radius sqrt(2), so that their variance is 1."""
    for_radius, for_angle = random.split(key)
    radius = jnp.sqrt(2 * random.uniform(for_radius, shape, dtypes.real_part(dtype))).astype(dtype)
    return _turned(radius, for_angle, shape, dtype)


@fused(static="shape dtype")
def normal_in_disc(key: Any, upper: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Complex normal numbers of variance 1 before they are cut at the radius `upper`."""
    for_radius, for_angle = random.split(key)
    part = random.uniform(for_radius, shape, dtypes.real_part(dtype)).astype(dtype)
    share = 1 - jnp.exp(-jnp.square(jnp.asarray(upper, dtype)))
    return _turned(jnp.sqrt(-jnp.log(1 - share * part)), for_angle, shape, dtype)


@fused(static="rows columns dtype")
def orthogonal(key: Any, rows: int, columns: int, dtype: Any) -> Any:
    """A random matrix [rows, columns] with orthonormal columns, or rows if there are fewer of these."""
    q, r = jnp.linalg.qr(random.normal(key, (max(rows, columns), min(rows, columns)), dtype))
    q = q * jnp.sign(jnp.diagonal(r))  # makes all orthogonal matrices equally likely
    return q.T if rows < columns else q
