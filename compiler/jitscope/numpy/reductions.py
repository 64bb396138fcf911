"""Reductions.

`axis` is None (all), an int or a tuple; `keepdims` leaves axes of size 1; `where` picks elements, `initial` starts. All raise
ValueError for axes that do not exist, and TypeError for what is not an array. `out` must be None.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Axes, Decision, Extreme, Place, Sum
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.elementwise import and_p, eq_p, max_p, min_p, or_p
from ..ops.families import scalar_like
from ..ops.linear import (
    add_p,
    broadcast_in_dim_p,
    convert,
    mul_p,
    reduce_sum_p,
    reshape,
    sub_p,
)
from ..ops.reduce import (
    argmax_p,
    argmin_p,
    highest,
    lowest,
    reduce_and_p,
    reduce_level_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
)
from ._ufunc import describe, kind_of
from .dtypes import requested
from .logic import chosen, truth
from .operands import axes_of, cast, one_axis, operand, operand_and_aval, operands, unsupported


__all__ = ["all", "any", "argmax", "argmin", "count_nonzero", "max", "min", "minmax", "prod", "ptp", "sum"]


_STATIC = "axis dtype out keepdims promote_integers"


def keep(x: Any, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> Any:
    """A result of a reduction over `axes` of an array of `shape`, with those axes of size 1 if `keepdims`."""
    if not keepdims or not axes:
        return x
    wide = tuple(1 if i in axes else n for i, n in enumerate(shape))
    return broadcast_in_dim_p(x, shape=wide, broadcast_dimensions=tuple(i for i in range(len(shape)) if i not in axes))


def masked(name: str, x: Any, where: Any, filler: Any) -> Any:
    """`x` with `filler` where the mask does not hold; the mask broadcasts to `x`, and `x` to it."""
    if where is None:
        return x
    mask, aval = operand_and_aval(name, where)
    if aval.dtype != dtypes.bool_:
        raise ValueError(f"{name}: where must be a boolean array, not {aval.short()}")
    return chosen(name, mask, x, filler)


def strong(x: Any) -> Any:
    """A reduction's result is not a number the user wrote: it does not give way in promotion."""
    aval = aval_of(x)
    return convert(x, aval.dtype) if aval.weak_type or type(x) is bool else x


def summed_dtype(x: Any, dtype: Any, name: str, promote_integers: bool) -> Any:
    """What is summed: small integers and booleans in the default width, as NumPy does."""
    if dtype is not None:
        return requested(dtype, name)
    own = aval_of(x).dtype
    kind = dtypes.kind(own)
    if not promote_integers or kind not in "biu":
        return dtypes.int32 if kind == "b" else own
    default = dtypes.default_int() if kind in "bi" else dtypes.canonicalize(np.uint64)
    return default if kind == "b" or own.itemsize < default.itemsize else own


def _accumulate(name: str, x: Any, primitive: Any, axes: tuple[int, ...]) -> Any:
    """Half-precision floats are summed and multiplied in float32 and rounded once."""
    dtype = aval_of(x).dtype
    if dtypes.is_float(dtype) and dtype.itemsize < 4:
        wide = convert(x, dtypes.float32)
        return convert(primitive.bind(wide, axes=axes), dtype)
    return primitive.bind(x, axes=axes)


def _start(name: str, initial: Any, dtype: Any) -> Any:
    """What a reduction starts with. Raises ValueError for an array of axes."""
    value, aval = operand_and_aval(name, initial)
    if aval.shape:
        raise ValueError(f"{name}: initial must be a scalar; it has shape {aval.shape}")
    return cast(value, aval, dtype)


def _summing(name: str, primitive: Any, combine: Any, identity: int, doc: str) -> Sum:
    def fun(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
        promote_integers: bool = True,
    ) -> Any:
        unsupported(name, out=out)
        x = operand(name, a)
        x = cast(x, aval_of(x), summed_dtype(x, dtype, name, promote_integers))
        axes = axes_of(name, axis, aval_of(x).ndim)
        x = masked(name, x, where, scalar_like(x, identity))
        shape = aval_of(x).shape
        reduced, joined = (primitive, combine) if kind_of(x) != "b" else _OF_TRUTHS[primitive]
        result = strong(_accumulate(name, x, reduced, axes) if axes else x)
        if initial is not None:
            result = joined(*operands(name, _start(name, initial, aval_of(x).dtype), result))
        return keep(result, shape, axes, keepdims)

    return eager_jit(static=_STATIC)(describe(fun, name, doc))


_OF_TRUTHS = {reduce_sum_p: (reduce_or_p, or_p), reduce_prod_p: (reduce_and_p, and_p)}
"""What sums and multiplies truths where the dtype asked for is bool."""

sum = _summing(
    "sum",
    reduce_sum_p,
    add_p,
    0,
    "The sum over `axis`. Booleans and small integers are summed in the default integer type.",
)
prod = _summing(
    "prod",
    reduce_prod_p,
    mul_p,
    1,
    "The product over `axis`. Booleans and small integers are multiplied in the default integer type.",
)


def _choosing(name: str, primitive: Any, combine: Any, identity: Any, doc: str) -> Extreme:
    def fun(
        a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Any:
        unsupported(name, out=out)
        x = operand(name, a)
        shape = aval_of(x).shape
        axes = axes_of(name, axis, len(shape))
        if where is not None and initial is None:
            raise ValueError(f"{name}: with where= the result of an empty choice must be given as initial=")
        if initial is None and 0 in [shape[i] for i in axes]:
            raise ValueError(f"{name} of {aval_of(x).short()} over axes {axes}: there are no elements; give initial=")
        x = masked(name, x, where, identity(aval_of(x).dtype))
        shape = aval_of(x).shape
        result = strong(primitive.bind(x, axes=axes) if axes else x)
        if initial is not None:
            result = combine(*operands(name, _start(name, initial, aval_of(x).dtype), result))
        return keep(result, shape, axes, keepdims)

    return eager_jit(static=_STATIC.replace(" dtype", "").replace(" promote_integers", ""))(describe(fun, name, doc))


_EMPTY = "Raises ValueError where there is no element and no `initial`."
max = _choosing("max", reduce_max_p, max_p, lowest, f"The greatest element over `axis`; NaN if one is. {_EMPTY}")
level = _choosing("max", reduce_level_p, max_p, lowest, "The greatest element over `axis`; where one is NaN, anything.")
min = _choosing("min", reduce_min_p, min_p, highest, f"The least element over `axis`; NaN if one is. {_EMPTY}")


def minmax(
    a: ArrayLike,
    axis: Axes = None,
    out: None = None,
    keepdims: bool = False,
    initial: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    where: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """(the least element over `axis`, the greatest one); NaN if one is. `initial` is one for both, or a pair. Raises as `min` and `max`."""
    unsupported("minmax", out=out)
    low, high = initial if isinstance(initial, tuple) else (initial, initial)
    return _both(a, low, high, where, axis, keepdims)


@eager_jit(static="axis keepdims")
def _both(a: Any, low: Any, high: Any, where: Any, axis: Any, keepdims: bool) -> tuple[Any, Any]:
    return min(a, axis, None, keepdims, low, where), max(a, axis, None, keepdims, high, where)


def _deciding(name: str, primitive: Any, identity: bool, doc: str) -> Decision:
    def fun(a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None) -> Any:
        unsupported(name, out=out)
        x = truth(name, a)
        axes = axes_of(name, axis, aval_of(x).ndim)
        x = masked(name, x, where, np.bool_(identity))
        shape = aval_of(x).shape
        return keep(strong(primitive.bind(x, axes=axes) if axes else x), shape, axes, keepdims)

    return eager_jit(static="axis out keepdims")(describe(fun, name, doc))


all = _deciding("all", reduce_and_p, True, "Whether all elements over `axis` hold (are not zero).")
any = _deciding("any", reduce_or_p, False, "Whether some element over `axis` holds (is not zero).")


def _finding(name: str, primitive: Any, doc: str) -> Place:
    def fun(a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Any:
        unsupported(name, out=out)
        x = operand(name, a)
        shape = aval_of(x).shape
        index = dtypes.default_int()
        if kind_of(x) == "c":
            best = (max if name == "argmax" else min)(x, axis, keepdims=True)
            return argmax(eq_p(*operands(name, x, best)), axis, keepdims=keepdims)
        axis = None if axis is None else one_axis(name, axis, len(shape))
        if axis is None:
            found = strong(primitive.bind(reshape(x, (aval_of(x).size,)), axes=(0,), index_dtype=index))
            return reshape(found, (1,) * len(shape)) if keepdims else found
        found = primitive.bind(x, axes=(axis,), index_dtype=index)
        return keep(found, shape, (axis,), bool(keepdims))

    return eager_jit(static="axis out keepdims")(describe(fun, name, doc))


argmax = _finding(
    "argmax",
    argmax_p,
    "The index of the first greatest element along `axis` (None: of the raveled array); "
    "a NaN counts as greatest. Raises ValueError where there are no elements, TypeError for complex.",
)
argmin = _finding(
    "argmin",
    argmin_p,
    "The index of the first least element along `axis` (None: of the raveled array); "
    "a NaN counts as least. Raises ValueError where there are no elements, TypeError for complex.",
)


@eager_jit(static="axis keepdims")
def count_nonzero(a: ArrayLike, axis: Axes = None, keepdims: bool = False) -> Array:
    """How many elements over `axis` are not zero, in the default integer; `axis` and `keepdims` as above."""
    return sum(convert(truth("count_nonzero", a), dtypes.default_int()), axis, keepdims=keepdims)


@eager_jit(static="axis out keepdims")
def ptp(a: ArrayLike, axis: Axes = None, out: None = None, keepdims: bool = False) -> Array:
    """The greatest element minus the least, over `axis`."""
    unsupported("ptp", out=out)
    return sub_p(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))
