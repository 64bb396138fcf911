"""Means, variances, medians and their kin, and reductions that leave NaN out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Axes, DTypeLike, Extreme, NanSum, Place
from ..core.avals import aval_of
from ..core.dtypes import to_inexact
from ..eager.functions import eager_jit
from ..ops.elementwise import abs_p, and_p, div_p, gt_p, ne_p, not_p, sqrt_p, square_p
from ..ops.families import scalar_like
from ..ops.linear import (
    broadcast_in_dim_p,
    convert,
    full,
    mul_p,
    number_of,
    sub_p,
    transpose as permute,
    where as choose,
)
from . import reductions
from ._ufunc import describe, kind_of
from .dtypes import requested
from .operands import (
    axes_of,
    broadcast,
    cast,
    lenient,
    listed,
    one_axis,
    operand,
    operand_and_aval,
    operands,
    unsupported,
)
from .reductions import masked
from .structure import array_operand


__all__ = ["average", "mean", "nanargmax", "nanargmin", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum",
           "nanvar", "std", "var"]  # fmt: skip


def _float_operand(name: str, a: Any, dtype: Any) -> tuple[Any, Any, Any]:
    """The operand in the dtype of the computation, the dtype of the result, and that of the computation: half-precision
    floats are averaged in float32."""
    x = operand(name, a, inexact=dtype is None)
    result = requested(dtype, name) if dtype is not None else aval_of(x).dtype
    if result == dtypes.bool_:
        raise TypeError(f"{name}: truths cannot be divided; give a dtype of numbers, not bool")
    work = dtypes.float32 if dtypes.is_float(result) and result.itemsize < 4 else to_inexact(result)
    return cast(x, aval_of(x), work), result, work


def _count(name: str, shape: tuple[int, ...], axes: tuple[int, ...], where: Any, keepdims: bool, dtype: Any) -> Any:
    """How many elements are averaged: a number, or an array where a mask picks them."""
    if where is None:
        return number_of(math.prod(shape[i] for i in axes), dtype)
    mask = broadcast(where, aval_of(where).shape, shape) if aval_of(where).shape != shape else where
    return reductions.sum(mask, axes, dtype=dtype, keepdims=keepdims)


@eager_jit(static="axis dtype out keepdims")
def mean(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
) -> Array:
    """The mean over `axis` (None: of all, an int or a tuple), in floats; axes stay with size 1 if `keepdims`, `where`
    picks elements. NaN where there are none."""
    unsupported("mean", out=out)
    x, result, work = _float_operand("mean", a, dtype)
    shape = aval_of(x).shape
    axes = axes_of("mean", axis, len(shape))
    count = _count("mean", shape, axes, where, keepdims, work)
    total = reductions.sum(masked("mean", x, where, scalar_like(x, 0)), axes, keepdims=keepdims)
    return convert(div_p(*operands("mean", total, count)), result)


def _mean(x: Any, axes: tuple[int, ...], where: Any, keepdims: bool) -> Any:
    return mean(x, axes, keepdims=keepdims, where=where)


def _variance(
    name: str, a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: bool, where: Any, mean: Any, correction: Any
) -> Any:
    if correction is not None:
        if ddof != 0:
            raise ValueError(f"{name}: ddof and correction mean the same; give one")
        ddof = correction
    if (
        dtype is not None
        and kind_of(operand_and_aval(name, a)[0]) == "c"
        and not dtypes.is_complex(requested(dtype, name))
    ):
        raise ValueError(
            f"{name}: complex numbers do not fit the dtype {requested(dtype, name).name}; give a complex one"
        )
    x, result, work = _float_operand(name, a, dtype)
    if dtypes.is_integer(result):  # integers throughout, as in JAX
        x, work = convert(x, result), result
    real = dtypes.real_part(work)
    shape = aval_of(x).shape
    axes = axes_of(name, axis, len(shape))
    whole = len(axes) == len(shape)
    centre = (
        convert(_mean(x, axes, where, not whole), work) if mean is None else cast(*operand_and_aval(name, mean), work)
    )
    x = sub_p(*operands(name, x, centre))
    squares = _squared_size(x)
    squares = masked(name, squares, where, scalar_like(squares, 0))
    count, ddof = _count(name, shape, axes, where, keepdims, real), cast(*operand_and_aval(name, ddof), real)
    total = reductions.sum(squares, axes, keepdims=keepdims, promote_integers=False)
    if isinstance(count, np.generic) and isinstance(ddof, np.generic):
        rest = np.subtract(count, ddof).astype(real)
        value = _inexact(div_p(total, rest)) if rest > 0 else full(aval_of(total).shape, np.nan, to_inexact(real))
    else:
        rest = sub_p(count, ddof)
        enough = gt_p(rest, scalar_like(rest, 0))
        value = _inexact(div_p(*operands(name, total, choose(enough, rest, scalar_like(rest, 1)))))
        value = choose(enough, *operands(name, value, scalar_like(value, np.nan)))
    if dtypes.is_integer(result):
        return convert(value, dtypes.default_float(), weak_type=True)
    return convert(value, dtypes.real_part(result) if dtype is None else result)


def _inexact(x: Any) -> Any:
    return convert(x, to_inexact(aval_of(x).dtype))


def _squared_size(x: Any) -> Any:
    return square_p(abs_p(x)) if kind_of(x) == "c" else square_p(x)


@eager_jit(static="axis dtype out ddof keepdims correction")
def var(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: ArrayLike = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: ArrayLike | None = None,
) -> Array:
    """The mean squared distance from the mean over `axis`: real floats, or what `dtype` says. `keepdims` and `where` as in `mean`.

    The sum of squares is divided by the count minus `ddof` (or `correction`); NaN where that is not positive. `mean`,
    if given, is taken as the mean. Raises ValueError for both `ddof` and `correction`, and for a real `dtype` of
    complex numbers.
    """
    unsupported("var", out=out)
    return _variance("var", a, axis, dtype, ddof, keepdims, where, mean, correction)


@eager_jit(static="axis dtype out ddof keepdims correction")
def std(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: ArrayLike = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: ArrayLike | None = None,
) -> Array:
    """The square root of the variance over `axis`; arguments and errors as in `var`. Raises ValueError for a `dtype` of integers."""
    unsupported("std", out=out)
    if dtype is not None and not dtypes.is_inexact(requested(dtype, "std")):
        raise ValueError(f"std: dtype is one of floats or complex numbers, not {requested(dtype, 'std').name}")
    return sqrt_p(_variance("std", a, axis, dtype, ddof, keepdims, where, mean, correction))


@eager_jit(static="axis returned keepdims")
def average(
    a: ArrayLike, axis: Axes = None, weights: ArrayLike | None = None, returned: bool = False, keepdims: bool = False
) -> Array | tuple[Array, Array]:
    """The mean over `axis`, each element with its weight. With `returned`, (mean, sum of weights).

    Weights have the array's shape, or that of its axes in `axis`, in that order. Raises ValueError for other shapes.
    """
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        if not returned:
            return result
        shape = operand_and_aval("average", a)[1].shape
        count = _count("average", shape, axes_of("average", axis, len(shape)), None, keepdims, aval_of(result).dtype)
        return result, broadcast(count, (), aval_of(result).shape)
    x, w = operand("average", a), operand("average", weights)
    shape, own = aval_of(x).shape, aval_of(w).shape
    if own != shape:
        places = [] if axis is None else [one_axis("average", i, len(shape)) for i in listed(axis)]
        if own != tuple(shape[i] for i in places) or not places:
            raise ValueError(
                f"average: weights of shape {own} for axis {axis} of an array of shape {shape}: give the shape of the array, "
                "or that of the axes"
            )
        w = permute(array_operand("average", w), tuple(sorted(range(len(places)), key=places.__getitem__)))
        w = broadcast_in_dim_p(w, shape=shape, broadcast_dimensions=tuple(sorted(places)))
    x, w = operands("average", x, w, inexact=True)
    total = reductions.sum(w, axis, keepdims=keepdims)
    result = div_p(reductions.sum(mul_p(x, w), axis, keepdims=keepdims), total)
    return (result, total) if returned else result


# Without NaN ---------------------------------------------------------------------------------------------------------


def _without_nan(name: str, a: Any, filler: Any) -> tuple[Any, Any]:
    """The operand with NaN replaced, and where NaN was (None if the dtype has none)."""
    x = operand(name, a)
    if kind_of(x) not in "fc":
        return x, None
    missing = ne_p(x, x)
    return choose(missing, scalar_like(x, filler), x), missing


def _nan_reduction(name: str, reduce: Callable[..., Any], filler: float, empty_is_nan: bool, doc: str) -> Any:
    def with_dtype(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        x, _ = _without_nan(name, a, filler)
        return reduce(x, axis, dtype, out, keepdims, initial, where)

    def without_dtype(
        a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Any:
        x, missing = _without_nan(name, a, filler)
        result = reduce(x, axis, out, keepdims, initial, where)
        if missing is None or initial is not None:
            return result
        gone = reductions.all(missing, axis, keepdims=keepdims, where=where)
        return choose(gone, scalar_like(result, np.nan), result)

    fun = without_dtype if empty_is_nan else with_dtype
    return eager_jit(static="axis out keepdims" + ("" if empty_is_nan else " dtype"))(describe(fun, name, doc))


nansum: NanSum = _nan_reduction("nansum", reductions.sum, 0.0, False, "The sum over `axis`, NaN counted as 0.")
nanprod: NanSum = _nan_reduction("nanprod", reductions.prod, 1.0, False, "The product over `axis`, NaN counted as 1.")
nanmax: Extreme = _nan_reduction(
    "nanmax", reductions.max, -np.inf, True, "The greatest element that is not NaN; NaN if all are."
)
nanmin: Extreme = _nan_reduction(
    "nanmin", reductions.min, np.inf, True, "The least element that is not NaN; NaN if all are."
)


@lenient
@eager_jit(static="axis dtype out keepdims")
def nanmean(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    where: ArrayLike | None = None,
) -> Array:
    """The mean over `axis` of what is not NaN; NaN if all are."""
    x = operand("nanmean", a)
    if kind_of(x) not in "fc":
        return mean(x, axis, dtype, out, keepdims, where=where)
    return mean(x, axis, dtype, out, keepdims, where=_present(x, where))


def _present(x: Any, where: Any) -> Any:
    present = not_p(ne_p(x, x))
    return present if where is None else and_p(*operands("where", present, where))


@lenient
@eager_jit(static="axis dtype out ddof keepdims")
def nanvar(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: ArrayLike = 0,
    keepdims: bool = False,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array:
    """The variance over `axis` of what is not NaN, see `var`."""
    x = operand("nanvar", a)
    present = _present(x, where) if kind_of(x) in "fc" else where
    found = var(
        choose(present, x, scalar_like(x, 0)) if kind_of(x) in "fc" else x,
        axis,
        dtype,
        out,
        ddof,
        keepdims,
        where=present,
        mean=mean,
    )
    return found if dtype is None else convert(found, requested(dtype, "nanvar"))


@lenient
@eager_jit(static="axis dtype out ddof keepdims")
def nanstd(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: ArrayLike = 0,
    keepdims: bool = False,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array:
    """The standard deviation over `axis` of what is not NaN, see `var`."""
    return sqrt_p(nanvar(a, axis, dtype, out, ddof, keepdims, where, mean))


def _nan_finding(name: str, find: Callable[..., Any], filler: float, doc: str) -> Place:
    def fun(a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Any:
        x, missing = _without_nan(name, a, filler)
        found = find(x, axis, out, keepdims)
        if missing is None:
            return found
        gone = reductions.all(missing, axis, keepdims=bool(keepdims))
        return choose(gone, scalar_like(found, -1), found)

    return eager_jit(static="axis out keepdims")(describe(fun, name, doc))


nanargmax = _nan_finding(
    "nanargmax", reductions.argmax, -np.inf, "The index of the greatest element that is not NaN; -1 if all are."
)
nanargmin = _nan_finding(
    "nanargmin", reductions.argmin, np.inf, "The index of the least element that is not NaN; -1 if all are."
)
