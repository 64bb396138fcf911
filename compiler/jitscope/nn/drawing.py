"""The distributions of complex numbers that initializers draw from, beside the normal one."""

from __future__ import annotations

import math
from typing import Any

from .. import numpy as jnp, random
from ..core import dtypes
from ..eager.functions import eager_jit


def _turned(radius: Any, key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Complex numbers of that absolute value and of a random angle."""
    angle = 2 * math.pi * random.uniform(key, shape, dtypes.real_part(dtype)).astype(dtype)
    return radius * jnp.exp(1j * angle)


@eager_jit(static="shape dtype")
def in_disc(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Complex numbers uniform in the disc of radius sqrt(2), so that their variance is 1."""
    for_radius, for_angle = random.split(key)
    radius = jnp.sqrt(2 * random.uniform(for_radius, shape, dtypes.real_part(dtype))).astype(dtype)
    return _turned(radius, for_angle, shape, dtype)


@eager_jit(static="shape dtype")
def normal_in_disc(key: Any, upper: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Complex normal numbers of variance 1 before they are cut at the radius `upper`."""
    for_radius, for_angle = random.split(key)
    part = random.uniform(for_radius, shape, dtypes.real_part(dtype))
    share = 1 - jnp.exp(-jnp.square(jnp.asarray(upper, part.dtype)))
    # Among real numbers: XLA may take minutes over the root of a logarithm of complex ones.
    return _turned(jnp.sqrt(-jnp.log(1 - share * part)).astype(dtype), for_angle, shape, dtype)
