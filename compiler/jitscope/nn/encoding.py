"""Classes as vectors."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np

from .. import numpy as jnp
from ..backend.placement import laying
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..eager.functions import eager_jit
from ..numpy.dtypes import requested
from ..numpy.operands import integer, lenient, one_axis
from ..ops.exchanges import axis_index, axis_size
from ..ops.indexing import iota
from ..ops.linear import broadcast_in_dim
from ..symbolic.dimension import is_symbolic_dim


__all__ = ["one_hot"]


@lenient
@laying
def one_hot(
    x: ArrayLike,
    num_classes: int,
    *,
    dtype: DTypeLike | None = None,
    axis: int | Hashable = -1,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """1 at the class that x names and 0 elsewhere: [...] to [..., num_classes], with the new axis at `axis` of the
    result.

    x: integers; what is outside [0, num_classes) gives zeros only. `dtype`: the default float if None. `axis` may be
    the name of a mapped axis of size `num_classes`: each example then gets the element of its own index, and no axis is
    added. Raises TypeError for a `num_classes` that is not an int, ValueError for an axis that does not exist. Floats are
    compared as they are, with a DeprecationWarning.
    """
    count = integer("one_hot", num_classes, "num_classes")
    x = jnp.asarray(x)
    if not dtypes.is_integer(x.dtype):
        warnings.warn(f"one_hot takes integers; it got {x.dtype.name}", DeprecationWarning, stacklevel=2)
    to = dtypes.default_float() if dtype is None else requested(dtype, "one_hot")
    if isinstance(axis, (int, np.integer)):
        return _one_hot(x, count, to, one_axis("one_hot", axis, x.ndim + 1))
    if isinstance(axis, tuple) and any(isinstance(a, (int, np.integer)) for a in axis):
        raise ValueError(f"one_hot: axis is an int, or the name of a mapped axis; it is {axis}")
    if axis_size(axis) != count:
        raise ValueError(
            f"one_hot: axis {axis!r} has the size {axis_size(axis)}, num_classes is {count}; they must be equal"
        )
    return jnp.equal(x, axis_index(axis)).astype(to)


@eager_jit(static="count dtype axis")
def _one_hot(x: Any, count: int, dtype: Any, axis: int) -> Any:
    number = x.dtype
    if not (
        dtypes.is_float(number)
        or (dtypes.is_integer(number) and not is_symbolic_dim(count) and count <= int(jnp.iinfo(number).max))
    ):
        number = dtypes.int32  # the class numbers do not fit those of x
    shape = (*x.shape[:axis], count, *x.shape[axis:])
    classes = broadcast_in_dim(x, shape, tuple(i for i in range(len(shape)) if i != axis))
    return jnp.equal(classes, iota(number, shape, axis)).astype(dtype)
