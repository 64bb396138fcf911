"""Questions about dtypes, under the names of `jax.dtypes`."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .core import dtypes as _dtypes
from .core.annotations import ArrayLike, DTypeLike
from .core.dtypes import extended, float0, is_extended as _is_extended, prng_key
from .core.errors import TypePromotionError
from .numpy.dtypes import (
    bfloat16,
    finfo,
    iinfo,
    issubdtype as _issubdtype,
    typed as _typed,
)


__all__ = ["TypePromotionError", "bfloat16", "canonicalize_dtype", "extended", "finfo", "float0", "iinfo",
           "issubdtype", "itemsize_bits", "prng_key", "result_type", "scalar_type_of"]  # fmt: skip


def canonicalize_dtype(dtype: DTypeLike | None, allow_extended_dtype: builtins.bool = False) -> np.dtype:
    """The dtype used for `dtype`: 64-bit ones become 32-bit ones unless `enable_x64` is on; None is the default float.

    Raises TypeError for what cannot be an array, and ValueError for key dtypes unless they are allowed.
    """
    if _is_extended(dtype) and not allow_extended_dtype:
        raise ValueError(f"canonicalize_dtype: {dtype} is an extended dtype; allow_extended_dtype=True lets it through")
    return dtype if isinstance(dtype, type(float0)) and dtype == float0 else _dtypes.canonicalize(dtype)


def issubdtype(a: DTypeLike, b: DTypeLike) -> builtins.bool:
    """Whether dtype `a` lies in category `b` (`numpy.floating`, `prng_key`, …) or equals the dtype `b`."""
    return _issubdtype(a, b)


def result_type(*args: ArrayLike | DTypeLike, return_weak_type_flag: builtins.bool = False) -> Any:
    """The dtype of an operation on arrays, numbers and dtypes; with `return_weak_type_flag`, whether it is weak too.

    Raises ValueError without arguments, TypePromotionError where no dtype holds all.
    """
    if not args:
        raise ValueError("result_type needs at least one argument")
    found = _dtypes.promote(*[_typed(x) for x in args])
    return found if return_weak_type_flag else found[0]


_SCALAR_TYPES = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def scalar_type_of(x: ArrayLike | DTypeLike) -> type:
    """The Python type (bool, int, float, complex) that goes with a value or a dtype. Raises TypeError for other dtypes."""
    dtype = _typed(x)[0]
    found = _SCALAR_TYPES.get(_dtypes.kind(dtype))
    if found is None:
        raise TypeError(f"scalar_type_of: no Python number goes with {dtype}")
    return found


def itemsize_bits(dtype: DTypeLike) -> int:
    """The bits one element takes on the device: 4 for int4. Raises ValueError for key dtypes."""
    if _is_extended(dtype):
        raise ValueError(f"itemsize_bits: elements of {dtype} are arrays themselves")
    found = _dtypes.PYTHON_SCALARS.get(dtype) if isinstance(dtype, type) else None
    found = _dtypes.canonicalize(dtype) if found is None else found
    return 4 if found in _dtypes.WIDER else found.itemsize * 8
