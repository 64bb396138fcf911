"""The methods of ufuncs that combine elements, `reduce`, `accumulate` and `outer`: by reductions where there are,
else by a loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..api import eval_shape
from ..backend.stages import ShapeDtypeStruct
from ..control.scan import scan
from ..core import dtypes
from ..core.annotations import Array
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..lax.elementwise import stop_gradient
from ..ops.families import scalar_like
from ..ops.linear import concatenate_p, reshape, slice_in_dim
from ..ops.reduce import cummax_p, cummin_p, reduce_and_p, reduce_or_p, reduce_xor_p
from . import arithmetic, logic, reductions, running, transcendental
from ._ufunc import kind_of
from .dtypes import requested
from .logic import chosen, truth
from .operands import axes_of, cast, one_axis, operand, operand_and_aval
from .reductions import keep, masked, strong
from .rounding import real
from .structure import array_operand, broadcast_to, moveaxis, squeeze


def result_dtype(of: Any, *xs: Any) -> Any:
    """The dtype that the function gives for elements of these arrays."""
    avals = map(aval_of, xs)
    return eval_shape(of, *[ShapeDtypeStruct((), aval.dtype, weak_type=aval.weak_type) for aval in avals]).dtype


def as_dtype(x: Any, dtype: Any) -> Any:
    return cast(x, aval_of(x), dtype)


# reduce --------------------------------------------------------------------------------------------------------------


def reduce(of: Any, a: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    """See `ufunc.reduce`."""
    name = f"{of.__name__}.reduce"
    if where is not None:
        mask = operand_and_aval(name, where)[1]
        if mask.dtype != dtypes.bool_:
            raise ValueError(f"{name}: where must be a boolean array, not {mask.short()}")
        if of.identity is None and initial is None:
            raise ValueError(f"{name}: with where= the result of an empty choice must be given as initial=")
    own = of._own.get("reduce")
    if own is not None:
        return own(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    return _reduce(of, a, axis, dtype, bool(keepdims), initial, where)


@eager_jit(static="of axis dtype keepdims")
def _reduce(of: Any, a: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    x = array_operand(f"{of.__name__}.reduce", a)
    to = None if dtype is None else requested(dtype, of.__name__)
    return _REDUCE.get(of._func, _folded)(of, x, axis, to, keepdims, initial, where)


def _summed(function: Any) -> Callable[..., Any]:
    def run(of: Any, x: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        return function(x, axis, dtype, None, keepdims, initial, where)

    return run


def _best(function: Any) -> Callable[..., Any]:
    def run(of: Any, x: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        return function(x if dtype is None else as_dtype(x, dtype), axis, None, keepdims, initial, where)

    return run


def _bitwise(primitive: Any, booleans: bool, identity: int) -> Callable[..., Any]:
    def run(of: Any, x: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        name = f"{of.__name__}.reduce"
        x = truth(name, x) if booleans else x
        if kind_of(x) not in "biu":
            raise ValueError(f"{name} takes integers or booleans, not {aval_of(x).short()}")
        x = strong(x if dtype is None else as_dtype(x, dtype))
        x = masked(name, x, where, np.asarray(identity).astype(aval_of(x).dtype)[()])
        shape = aval_of(x).shape
        axes = axes_of(name, axis, len(shape))
        out = primitive.bind(x, axes=axes) if axes else x
        if initial is not None:
            out = of._func(as_dtype(initial, aval_of(x).dtype), out)
        return keep(out, shape, axes, keepdims)

    return run


def _log_of_sum(of: Any, x: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    """The sum of exponentials relative to the greatest, which is not a part of the derivative."""
    x = operand(of.__name__, x, inexact=True)
    axes = axes_of(f"{of.__name__}.reduce", axis, aval_of(x).ndim)
    top = reductions.max(real(x), axes, None, True, -np.inf, where)
    top = stop_gradient(chosen(of.__name__, logic.isfinite(top), top, scalar_like(top, 0)))
    total = reductions.sum(transcendental.exp(x - top), axes, keepdims=True, where=where)
    out = strong(transcendental.log(total) + top)
    out = out if keepdims else squeeze(out, axes)
    return out if initial is None else transcendental.logaddexp(initial, out)


def _log2_of_sum(of: Any, x: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    scale = math.log(2)
    initial = None if initial is None else initial * scale
    return _log_of_sum(of, x * scale, axis, dtype, keepdims, initial, where) / scale


def _folded(of: Any, x: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    name = f"{of.__name__}.reduce"
    shape = aval_of(x).shape
    if isinstance(axis, (tuple, list)):
        raise NotImplementedError(
            f"{name} takes one axis, or None for all, not {axis}: reduce them one after the other"
        )
    dtype = result_dtype(of, x, x) if dtype is None else dtype
    axes = axes_of(name, axis, len(shape))
    mask = None if where is None else broadcast_to(where, shape)
    x, mask = (v if v is None else _in_front(v, axes) for v in (x, mask))
    size, rest = aval_of(x).shape[0], aval_of(x).shape[1:]
    initial = of.identity if initial is None else initial
    if initial is None and not size:
        raise ValueError(f"{name} of {aval_of(x).short()}: there are no elements, and no identity; give initial=")
    if initial is None:
        start, x = as_dtype(reshape(slice_in_dim(x, 0, 1), rest), dtype), slice_in_dim(x, 1, size)
    else:
        start = broadcast_to(as_dtype(initial, dtype), rest)

    def step(value: Any, row: Any) -> tuple[Any, None]:
        new = of(value, as_dtype(row[0], dtype))
        return (new if mask is None else chosen(name, row[1], new, value)), None

    out = scan(step, start, (x,) if mask is None else (x, mask))[0] if aval_of(x).shape[0] else start
    return keep(out, shape, axes, keepdims)


def _in_front(x: Any, axes: tuple[int, ...]) -> Any:
    """The array with its one reduced axis, or all of them as one, in front."""
    rank = aval_of(x).ndim
    return reshape(x, (aval_of(x).size,)) if len(axes) == rank else moveaxis(x, axes[0], 0)


_REDUCE: dict[Any, Callable[..., Any]] = {
    arithmetic.add: _summed(reductions.sum),
    arithmetic.multiply: _summed(reductions.prod),
    arithmetic.maximum: _best(reductions.max),
    arithmetic.minimum: _best(reductions.min),
    logic.bitwise_and: _bitwise(reduce_and_p, False, -1),
    logic.bitwise_or: _bitwise(reduce_or_p, False, 0),
    logic.bitwise_xor: _bitwise(reduce_xor_p, False, 0),
    logic.logical_and: _bitwise(reduce_and_p, True, 1),
    logic.logical_or: _bitwise(reduce_or_p, True, 0),
    logic.logical_xor: _bitwise(reduce_xor_p, True, 0),
    transcendental.logaddexp: _log_of_sum,
    transcendental.logaddexp2: _log2_of_sum,
}


# accumulate ----------------------------------------------------------------------------------------------------------


def accumulate(of: Any, a: Any, axis: Any, dtype: Any) -> Any:
    """See `ufunc.accumulate`."""
    own = of._own.get("accumulate") or _ACCUMULATE.get(of._func)
    if own is not None:
        return own(a, axis=axis, dtype=dtype)
    if axis is None or isinstance(axis, (tuple, list)):
        raise ValueError(f"{of.__name__}.accumulate runs along one axis, not along {axis}")
    return _accumulated(of, a, axis, dtype)


_ACCUMULATE = {arithmetic.add: running.cumsum, arithmetic.multiply: running.cumprod}
_RUNNING = {arithmetic.maximum: cummax_p, arithmetic.minimum: cummin_p}


@eager_jit(static="of axis dtype")
def _accumulated(of: Any, a: Any, axis: int, dtype: Any) -> Any:
    x = array_operand(f"{of.__name__}.accumulate", a)
    axis = one_axis(f"{of.__name__}.accumulate", axis, aval_of(x).ndim)
    x = as_dtype(x, result_dtype(of, x, x) if dtype is None else requested(dtype, of.__name__))
    size = aval_of(x).shape[axis]
    if size < 2 or not aval_of(x).size:
        return strong(x)
    if of._func in _RUNNING and kind_of(x) in "iuf":
        return _RUNNING[of._func](strong(x), axis=axis, reverse=False)

    def step(value: Any, row: Any) -> tuple[Any, Any]:
        value = of(value, row)
        return value, value

    rows = moveaxis(x, axis, 0)
    first = slice_in_dim(rows, 0, 1)
    _, later = scan(step, reshape(first, aval_of(first).shape[1:]), slice_in_dim(rows, 1, size))
    return moveaxis(concatenate_p(first, later, dimension=0), 0, axis)


# outer ---------------------------------------------------------------------------------------------------------------


@eager_jit(static="of")
def outer(of: Any, a: Any, b: Any) -> Array:
    """See `ufunc.outer`."""
    x, y = array_operand(of.__name__, a), array_operand(of.__name__, b)
    shape = (*aval_of(x).shape, *aval_of(y).shape)
    return reshape(of(reshape(x, (aval_of(x).size, 1)), reshape(y, (1, aval_of(y).size))), shape)
