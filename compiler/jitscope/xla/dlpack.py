"""Reading DLPack tensors in host memory, also of dtypes that numpy's reader refuses (bfloat16, float8, …).

jaxlib has a reader too; it looks for jax at every call.
"""

import ctypes
import math
from typing import Any

import ml_dtypes
import numpy as np


_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)

_HOST = (1, 3, 11)  # kDLCPU, kDLCUDAHost, kDLROCMHost
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_EXTENDED = {
    4: "bfloat16", 7: "float8_e3m4", 8: "float8_e4m3", 9: "float8_e4m3b11fnuz", 10: "float8_e4m3fn",
    11: "float8_e4m3fnuz", 12: "float8_e5m2", 13: "float8_e5m2fnuz", 14: "float8_e8m0fnu",
}  # fmt: skip


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def read(x: Any) -> np.ndarray:
    """What `x` holds as an ndarray, shared where numpy can and copied otherwise.

    Raises ValueError when the memory is not the host's, TypeError for an object without `__dlpack__` or a dtype that
    numpy and ml_dtypes do not have.
    """
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"{type(x).__name__} has no __dlpack__ method")
    if isinstance(x, np.ma.MaskedArray):
        raise ValueError("the mask of a masked array would be lost: fill it first")
    kind = int(x.__dlpack_device__()[0]) if hasattr(x, "__dlpack_device__") else 1
    if kind not in _HOST:
        raise ValueError(f"the array is not in host memory (DLPack device type {kind}); copy it to the host first")
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return _read_capsule(x.__dlpack__())


def address(capsule: Any) -> int:
    """Where the data of an unconsumed capsule begins."""
    tensor = _tensor(capsule)
    return (tensor.data or 0) + tensor.byte_offset


def _tensor(capsule: Any) -> _Tensor:
    return _Tensor.from_address(_get_pointer(capsule, b"dltensor"))


def _read_capsule(capsule: Any) -> np.ndarray:
    """A copy; the capsule stays unconsumed, so that dropping it releases the producer's memory."""
    tensor = _tensor(capsule)
    dtype = _dtype(tensor.code, tensor.bits, tensor.lanes)
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if 0 in shape:
        return np.empty(shape, dtype)
    strides = [tensor.strides[i] for i in range(tensor.ndim)] if tensor.strides else _row_major(shape)
    return _copy(tensor.data + tensor.byte_offset, shape, [s * dtype.itemsize for s in strides], dtype)


def _dtype(code: int, bits: int, lanes: int) -> np.dtype:
    if lanes == 1 and code in _EXTENDED:
        return np.dtype(getattr(ml_dtypes, _EXTENDED[code]))
    if lanes == 1 and code in _KINDS and bits % 8 == 0:
        return np.dtype(f"{_KINDS[code]}{bits // 8}")
    raise TypeError(f"DLPack dtype with code {code}, {bits} bits and {lanes} lanes has no numpy counterpart")


def _row_major(shape: tuple[int, ...]) -> list[int]:
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


class _Strided:
    def __init__(self, data: int, shape: tuple[int, ...], strides: list[int], itemsize: int):
        self.__array_interface__ = {
            "version": 3, "typestr": f"|V{itemsize}", "shape": shape, "strides": tuple(strides), "data": (data, True),
        }  # fmt: skip


def _copy(data: int, shape: tuple[int, ...], strides: list[int], dtype: np.dtype) -> np.ndarray:
    raw = np.asarray(_Strided(data, shape, strides, dtype.itemsize))
    return raw.copy(order="C").view(dtype)
