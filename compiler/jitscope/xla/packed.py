"""Reading buffers of dtypes that take less than a byte on the device (int4, …).

They have neither a buffer protocol nor a DLPack type, and jaxlib's own way of reading them looks for jax; so a program
of one operation widens them. It is compiled once per dtype and shape.
"""

from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from .program import Executable


_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_WIDER = {
    "int2": ("i2", "i8", np.dtype("int8")),
    "int4": ("i4", "i8", np.dtype("int8")),
    "uint2": ("ui2", "ui8", np.dtype("uint8")),
    "uint4": ("ui4", "ui8", np.dtype("uint8")),
    "float4_e2m1fn": ("f4E2M1FN", "bf16", _BFLOAT16),
}


def widened(buf: Any, dtype: np.dtype) -> Any:
    """A buffer with the contents of a ready one of that dtype, each in a byte or more."""
    (wide,) = _widening(dtype.name, buf.aval.shape, buf._sharding._device).run([buf])
    return wide


@lru_cache(maxsize=256)
def _widening(name: str, shape: tuple[int, ...], device: Any) -> Executable:
    narrow, wide, dtype = _WIDER[name]
    before, after = (f"tensor<{''.join(f'{n}x' for n in shape)}{element}>" for element in (narrow, wide))
    source = (
        f"module @read {{ func.func public @main(%x: {before}) -> {after} {{ "
        f"%0 = stablehlo.convert %x : ({before}) -> {after} return %0 : {after} }} }}"
    )
    return Executable.compile(source, [(shape, dtype)], device)
