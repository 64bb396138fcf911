"""`jitscope.typing`: types for annotations.

`ArrayLike` is what operations take: arrays (traced ones too), NumPy arrays and scalars, Python numbers. `DTypeLike` is what
stands for a dtype. `Array` is what operations give.
"""

from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from .api.arrays import Array


@runtime_checkable
class SupportsDType(Protocol):
    """Anything with a dtype."""

    @property
    def dtype(self) -> Any: ...


ArrayLike: TypeAlias = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex
DTypeLike: TypeAlias = str | type[Any] | np.dtype | SupportsDType

__all__ = ["Array", "ArrayLike", "DTypeLike"]
