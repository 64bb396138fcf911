"""Which numpy dtypes XLA's buffers hold, and how."""

import ml_dtypes
import numpy as np


_PLAIN = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128"
_WHOLE_BYTES = (
    "bfloat16 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
    "float8_e8m0fnu"
)
_PACKED = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4}


def _known(names) -> list[np.dtype]:
    return [np.dtype(getattr(ml_dtypes, name)) for name in names if hasattr(ml_dtypes, name)]


PLAIN = frozenset(np.dtype(name) for name in _PLAIN.split())
"""Those with a buffer protocol: readable without a copy through memoryview."""

WHOLE_BYTES = frozenset(_known(_WHOLE_BYTES.split()))
"""Those of ml_dtypes that take whole bytes on the device."""

PACKED = {np.dtype(getattr(ml_dtypes, name)): bits for name, bits in _PACKED.items() if hasattr(ml_dtypes, name)}
"""Those of ml_dtypes that take less than a byte on the device (several in one byte, first in the low bits) → bits."""

SUPPORTED = PLAIN | WHOLE_BYTES | frozenset(PACKED)


def in_bytes(dtype: np.dtype) -> np.dtype:
    """For a packed dtype one of whole bytes that holds all its values; others are their own."""
    if dtype not in PACKED:
        return dtype
    name = dtype.name
    return np.dtype(np.int8 if name.startswith("int") else np.uint8 if name.startswith("uint") else np.float32)


def acceptable(x) -> np.ndarray:
    """`x` as an ndarray of a supported dtype in this machine's byte order.

    Raises TypeError for dtypes without an XLA counterpart (object, str, structured, datetime64, longdouble, …).
    """
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("a masked array cannot be put on a device: fill it first")
    x = np.asarray(x)
    if x.dtype.isbuiltin == 0 and x.dtype.newbyteorder("=") in PLAIN:
        x = x.astype(x.dtype.newbyteorder("="))
    if x.dtype not in SUPPORTED:
        raise TypeError(f"arrays of dtype {_shown(x.dtype)} cannot be put on a device{_advice(x.dtype)}")
    return x


def _shown(dtype: np.dtype) -> str:
    return "object" if dtype.kind == "O" else str(dtype)


def _advice(dtype: np.dtype) -> str:
    if dtype.names:
        return "; pass its fields as separate arrays"
    if dtype.kind == "O":
        return "; it holds Python objects (a ragged list?): convert it to numbers first"
    return "; convert it with astype first"
