"""`jitscope.dlpack`: arrays of other libraries in the same process."""

from __future__ import annotations

import numpy as np

from . import numpy as jnp
from .core.annotations import Array, Device, DTypeLike, Sharding, SupportsDLPack


_SUPPORTED = frozenset(
    np.dtype(name)
    for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
) | {np.dtype(jnp.bfloat16)}


def is_supported_dtype(dtype: DTypeLike) -> bool:
    """Whether arrays of that dtype can be handed over in both directions. Raises TypeError for None and what is not a dtype."""
    if dtype is None:
        raise TypeError("is_supported_dtype: dtype is a dtype or its name, not None")
    return np.dtype(dtype) in _SUPPORTED


def from_dlpack(
    external_array: SupportsDLPack, device: Device | Sharding | None = None, copy: bool | None = None
) -> Array:
    """An array with the values of `external_array`, an object with `__dlpack__` and `__dlpack_device__`; see
    `numpy.from_dlpack`. Writing to the other one afterwards never shows here."""
    return jnp.from_dlpack(external_array, device=device, copy=copy)
