"""Writing where a mask holds, and the indices of masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.elementwise import rem_p
from ..ops.linear import convert, reshape, sub_p, where as choose
from ..ops.reduce import cumsum_p
from .creation import ones
from .logic import truth
from .operands import cast
from .selecting import nonzero, take
from .structure import array_operand, ravel


def place(arr: ArrayLike, mask: ArrayLike, vals: ArrayLike, *, inplace: bool = True) -> Array:
    """`arr` [...] with the elements at which `mask` [...] holds replaced by those of `vals`, one after the other, again
    from the start when they are used up. They are converted to the array's dtype.

    NumPy writes into `arr`; here a new array is given, which `inplace=False` confirms. Raises ValueError without it,
    where `arr` and `mask` differ in size, and for empty `vals`.
    """
    if inplace:
        raise ValueError(
            "place: arrays cannot be changed in place; y = jnp.place(x, mask, vals, inplace=False) gives a changed copy"
        )
    return _placed(arr, mask, vals)


@eager_jit()
def _placed(arr: Any, mask: Any, vals: Any) -> Any:
    x, mask, values = (array_operand("place", v) for v in (arr, mask, vals))
    size = aval_of(x).size
    if aval_of(mask).size != size:
        raise ValueError(f"place: the array has shape {aval_of(x).shape}, the mask {aval_of(mask).shape}: sizes differ")
    if not aval_of(values).size:
        raise ValueError("place: vals is empty")
    if not size:
        return x
    holds = reshape(truth("place", mask), (size,))
    values = cast(ravel(values), aval_of(values), aval_of(x).dtype)
    # The n-th place where the mask holds gets the n-th value.
    number = sub_p(cumsum_p(convert(holds, dtypes.int32), axis=0, reverse=False), np.int32(1))
    number = rem_p(number, np.int32(aval_of(values).size))
    flat = choose(holds, take(values, number, mode="clip"), ravel(x))
    return reshape(flat, aval_of(x).shape)


def mask_indices(
    n: int, mask_func: Callable[[Any, int], Any], k: int = 0, *, size: int | None = None
) -> tuple[Array, Array]:
    """The rows [k] and columns [k] of an [n, n] array at which `mask_func(ones, k)` is not zero: `mask_func` is `triu`,
    say.

    `size` as in `nonzero`: their number, needed while tracing.
    """
    i, j = nonzero(mask_func(ones((n, n)), k), size=size)
    return i, j
