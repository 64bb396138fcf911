"""`jitscope.typing`: types for annotations.

`ArrayLike` is what operations take: arrays (traced ones too), NumPy arrays and scalars, Python numbers. `DTypeLike` is what
stands for a dtype. `Array` is what operations give. `PyTree` is a tree: a leaf, or containers of trees.
"""

from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from .api.arrays import Array


@runtime_checkable
class SupportsDType(Protocol):
    """Anything with a dtype."""

    @property
    def dtype(self) -> Any: ...


class SupportsShape(Protocol):
    """Anything with a shape and a dtype: an array, or what only describes one."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...


class SupportsArray(Protocol):
    """What NumPy makes an array of."""

    def __array__(self) -> np.ndarray: ...


class SupportsDLPack(Protocol):
    """What lends its memory to other libraries, as Array API 2022 says."""

    def __dlpack__(self, *, stream: None = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...


ArrayLike: TypeAlias = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex
DTypeLike: TypeAlias = str | type[Any] | np.dtype | SupportsDType
PyTree: TypeAlias = Any
"""Lists, tuples, dicts, None, registered classes, of trees again; anything else is a leaf. So any value at all is one, and no type
says less: the name says how it is read. It stands where a function takes trees, and nowhere else."""

__all__ = ["Array", "ArrayLike", "DTypeLike", "PyTree"]
