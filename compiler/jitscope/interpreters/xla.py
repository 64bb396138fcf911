"""`jitscope.interpreters.xla`: an operation outside of jit, as a program of its own, and types that are taken for arrays, under
JAX's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend.array import Array
from ..core import avals, dtypes
from ..core.annotations import ArrayLike
from ..core.avals import ShapedArray, aval_of
from ..core.primitive import Primitive
from ..core.trace import evaluation, using
from ..xla.devices import Client as Backend


def apply_primitive(prim: Primitive, *args: ArrayLike, **params: object) -> Any:
    """The result of an operation on arrays, evaluated now, whatever trace is under way."""
    with using(evaluation()):
        return prim.bind(*args, **params)


class TypeTable(dict[type, Callable[[Any], Any]]):
    """What is done with values of a type. `table[T] = f` lets operations take values of `T`, a type of a library's."""

    def __init__(self, usual: Callable[[Any], Any], told: dict[type, Callable[[Any], Any]]):
        super().__init__(dict.fromkeys((Array, np.ndarray, *dtypes.PYTHON_SCALARS), usual))
        self.told = told

    def __setitem__(self, kind: type, rule: Callable[[Any], Any]) -> None:
        super().__setitem__(kind, rule)
        self.told[kind] = rule


def _canonical(x: Any) -> Any:
    """An array of a dtype that programs have."""
    return x if isinstance(x, Array) else np.asarray(x).astype(_aval(x).dtype, copy=False)


def _aval(x: Any) -> ShapedArray:
    """The aval of an array, or of something that NumPy makes one of."""
    return aval_of(x if isinstance(x, (Array, *dtypes.PYTHON_SCALARS)) else np.asarray(x))


canonicalize_dtype_handlers = TypeTable(_canonical, avals.conversions)
pytype_aval_mappings = TypeTable(_aval, avals.avals_of_types)


__all__ = ["Backend", "apply_primitive", "canonicalize_dtype_handlers"]
