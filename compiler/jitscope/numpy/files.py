"""Arrays in files and in text."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy import array_repr, array_str, get_printoptions, save, savez
from numpy.exceptions import ComplexWarning

from ..core import dtypes
from ..core.annotations import Array, DTypeLike
from ._ufunc import describe
from .creation import asarray


def load(
    file: IO[bytes] | str | os.PathLike[Any], *args: object, **kwargs: object
) -> Array | np.ndarray | np.lib.npyio.NpzFile:
    """The array in a file that `save` wrote; of other files what `numpy.load` gives (see there for arguments and
    errors).

    bfloat16, which NumPy reads back as two bytes without meaning, is itself again.
    """
    found: Any = np.load(file, *args, **kwargs)  # pyright: ignore[reportArgumentType]
    if not isinstance(found, np.ndarray):
        return found
    found = found.view(dtypes.bfloat16) if found.dtype == "V2" else found
    return asarray(found) if dtypes.is_supported(found.dtype) else found


def fromstring(string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str) -> Array:
    """The numbers in a text, `sep` between them, as a vector [count] of `dtype` (`count` -1: all). Raises ValueError
    for an empty `sep`."""
    return asarray(np.fromstring(string, dtype, count, sep=sep))


def _refused(name: str) -> Callable[..., NoReturn]:
    def fun(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"{name}: reading changes what is read from, so a compiled function would not do what it says. Use "
            f"jnp.asarray(np.{name}(...)) outside of compiled functions"
        )

    return describe(fun, name, f"Not available, raises NotImplementedError: use `asarray(numpy.{name}(...))`.")


def _printing(name: str) -> Any:
    def fun(*args: Any, **kwargs: Any) -> Any:
        return getattr(np, name)(*args, **kwargs)

    return describe(fun, name, f"numpy.{name}: arrays are printed by NumPy, with its options.")


if TYPE_CHECKING:
    from numpy import printoptions as printoptions, set_printoptions as set_printoptions
else:
    set_printoptions, printoptions = _printing("set_printoptions"), _printing("printoptions")
fromfile, fromiter = _refused("fromfile"), _refused("fromiter")


__all__ = ["ComplexWarning", "array_repr", "array_str", "fromfile", "fromiter", "fromstring", "get_printoptions",
           "load", "printoptions", "save", "savez", "set_printoptions"]  # fmt: skip
