"""What users write of operations that a compiler is only told about: as parameters, which are compared and hashed."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..core import dtypes
from ..xla import mlir


@dataclasses.dataclass(frozen=True)
class FrozenArray:
    """A NumPy array, or one of NumPy's numbers (`scalar`)."""

    dtype: np.dtype
    shape: tuple[int, ...]
    data: bytes
    scalar: bool

    @property
    def thawed(self) -> Any:
        """The array, or number."""
        array = np.frombuffer(self.data, self.dtype).reshape(self.shape)
        return array[()] if self.scalar else array

    def __repr__(self) -> str:
        return repr(self.thawed.tolist())


@dataclasses.dataclass(frozen=True)
class FrozenDict:
    """A dict with names as keys."""

    items: tuple[tuple[str, Any], ...]

    @property
    def thawed(self) -> dict[str, Any]:
        """The dict."""
        return {key: thawed(value) for key, value in self.items}

    def __repr__(self) -> str:
        return repr(dict(self.items))


def frozen(what: str, value: Any) -> Any:
    """A value as what can be compared. Raises TypeError for what no attribute can be; `what` it is stands first."""
    if isinstance(value, (np.ndarray, np.generic)) or (hasattr(value, "__array__") and not isinstance(value, type)):
        array = np.asarray(value)
        if array.dtype == dtypes.float0:
            array = array.astype(bool)
        if not dtypes.is_extended(array.dtype) and dtypes.is_supported(array.dtype):
            return FrozenArray(array.dtype, array.shape, array.tobytes(), isinstance(value, np.generic))
    elif isinstance(value, (*mlir.PLAIN_VALUES, np.dtype)):
        return value
    elif isinstance(value, (list, tuple)):
        return tuple(frozen(what, v) for v in value)
    elif isinstance(value, dict):
        return FrozenDict(tuple((str(k), frozen(what, v)) for k, v in value.items()))
    raise TypeError(
        f"{what} is a number, a text, a dtype, an array, or a sequence or dict of those, not a {type(value).__name__}: {value!r}"
    )


def thawed(value: Any) -> Any:
    """The value that was frozen; tuples stay tuples."""
    return value.thawed if isinstance(value, (FrozenArray, FrozenDict)) else value
