"""Ranges and grids."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, overload

import numpy as np

from ..backend.placement import laid
from ..core import config, dtypes
from ..core.annotations import Array, ArrayLike, Device, DTypeLike, PartitionSpec, Sharding
from ..core.avals import aval_of, is_python_scalar
from ..core.config import settings
from ..core.dtypes import promote, to_inexact
from ..core.errors import ConcretizationTypeError, ShapeError
from ..core.trace import Tracer, evaluating
from ..eager.functions import eager_jit
from ..ops.elementwise import div_p, floor_p, log_p, pow_p, sign_p
from ..ops.indexing import iota
from ..ops.linear import (
    add_p,
    broadcast_in_dim_p,
    convert,
    mul_p,
    number_of,
    reshape,
)
from ..symbolic.dimension import Dim, is_dimension, max_dim
from .creation import asarray
from .dtypes import array_of, requested
from .operands import (
    broadcast,
    broadcast_shape,
    cast,
    integer,
    one_axis,
    operand_and_aval,
    operands,
    real_if_needed,
    scalar_of,
    shape_of,
)
from .structure import array_operand, moveaxis, with_new_axes


__all__ = ["arange", "geomspace", "indices", "linspace", "logspace", "meshgrid"]


# Ranges --------------------------------------------------------------------------------------------------------------


def _number(name: str, x: Any) -> Any:
    """A concrete number. Raises ConcretizationTypeError for tracers: the size of the result would depend on them."""
    if isinstance(x, Dim):
        return x
    if isinstance(x, Tracer):
        return x.item()
    operand_and_aval(name, x)
    return x if is_python_scalar(x) else np.asarray(x)[()]


def arange(
    start: ArrayLike,
    stop: ArrayLike | None = None,
    step: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
    *,
    device: Device | Sharding | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """start, start + step, … before stop, a vector; with one argument, from 0. Integers unless an argument is a float,
    or `dtype` says so.

    All must be concrete numbers, the size of the result depends on them. Raises ConcretizationTypeError for traced
    ones, ZeroDivisionError for step 0, ValueError for arrays with axes and complex numbers, TypeError for booleans.
    """
    if out_sharding is not None:
        return laid(out_sharding, arange, start, stop, step, dtype)
    low: Any = start
    high: Any = stop
    by: Any = step
    if high is None:
        if dtype is None and isinstance(low, (bool, np.bool_)):
            dtype = dtypes.bool_  # raises
        low, high = 0, low
    by = 1 if by is None else by
    if type(low) is type(high) is type(by) is int and dtype is None and by and _on_host():
        return array_of(_integers(low, high, by, dtypes.default_int()), device)
    typed = [operand_and_aval("arange", v)[1] for v in (low, high, by)]
    if any(a.shape for a in typed):
        raise ValueError(f"arange takes numbers, not {', '.join(a.short() for a in typed if a.shape)}")
    if any(dtypes.is_extended(a.dtype) for a in typed):
        raise TypeError("arange: keys are not numbers")
    to = promote(*[(a.dtype, a.weak_type) for a in typed])[0] if dtype is None else requested(dtype, "arange")
    low, high, by = (_number("arange", v) for v in (low, high, by))
    if by == 0:
        raise ZeroDivisionError("arange: the step is 0")
    if any(dtypes.is_complex(a.dtype) for a in typed):
        raise ValueError("arange is not defined for complex numbers")
    if to == dtypes.bool_:
        raise TypeError("arange counts in numbers, not in booleans")
    if any(isinstance(x, Dim) for x in (low, high, by)):
        return _symbolic(low, high, by, to)
    if _on_host() or not (dtypes.is_integer(to) or (by == 1 and low == 0)):
        return array_of(np.arange(low, high, by).astype(to), device)
    if not dtypes.is_integer(to):
        return iota(to, (max(0, math.ceil(high)),))
    size = max(0, -(-(int(high) - int(low)) // int(by)))
    x = iota(to, (size,))
    if by != 1:
        x = mul_p(x, scalar_of(int(by), to, False))
    return x if low == 0 else add_p(x, scalar_of(int(low), to, False))


def _on_host() -> bool:
    """Whether NumPy computes it: what is recorded is an operation, and so is what must not be moved to a device."""
    return evaluating() and not config.guarding


def _symbolic(start: Any, stop: Any, step: Any, to: Any) -> Any:
    """The range between sizes some of which are symbolic. Raises ValueError where one is not a size, ConcretizationTypeError
    for floats."""
    if not all(map(is_dimension, (start, stop, step))):
        raise ValueError(
            f"arange({start}, {stop}, {step}): where one of them is a symbolic dimension, the others are integers or such, too"
        )
    gap = step if step > 0 else -step
    distance = stop - start if step > 0 else start - stop
    x = iota(dtypes.default_int(), (max_dim(0, (distance + gap - 1) // gap),))
    x = mul_p(x, number_of(step, dtypes.default_int())) if isinstance(step, Dim) or step != 1 else x
    x = add_p(x, number_of(start, dtypes.default_int())) if isinstance(start, Dim) or start else x
    return convert(x, to)


def _integers(start: int, stop: int, step: int, to: Any) -> np.ndarray:
    """NumPy's range; short ones are kept."""
    return _short_range(start, stop, step, to) if abs(stop - start) <= 1024 else np.arange(start, stop, step, dtype=to)


@lru_cache(256)
def _short_range(start: int, stop: int, step: int, to: Any) -> np.ndarray:
    return np.arange(start, stop, step, dtype=to)


def _all_concrete(*xs: Any) -> bool:
    return all(not isinstance(x, Tracer) and np.ndim(x) == 0 for x in xs)


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: Device | Sharding | None = None,
) -> Array: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike | None = None,
    axis: int = 0,
    device: Device | Sharding | None = None,
) -> tuple[Array, Array]: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: Device | Sharding | None = None,
) -> Array | tuple[Array, Array]: ...
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: Device | Sharding | None = None,
) -> Array | tuple[Array, Array]:
    """`num` evenly spaced numbers from `start` to `stop` (without it unless `endpoint`), along a new `axis`: [num] for
    numbers, [num, ...] for arrays that broadcast to [...]. Floats unless `dtype` says otherwise.

    With `retstep`, (numbers, distance). Raises ValueError for a negative `num`.
    """
    if (
        type(start) in _NUMBERS
        and type(stop) in _NUMBERS
        and type(num) is int
        and num >= 0
        and dtype is None
        and not (axis or retstep)
    ):
        return array_of(_of_numbers(start, stop, num, bool(endpoint), settings()), device)  # pyright: ignore[reportArgumentType]
    num = integer("linspace", num, "num")
    if num < 0:
        raise ValueError(f"linspace: num must not be negative, it is {num}")
    to = None if dtype is None else requested(dtype, "linspace")
    work = _spaced_dtype("linspace", start, stop, asked=to)
    to = work if to is None else to
    parts = max_dim(num - 1 if endpoint else num, 0)
    if not isinstance(num, Dim) and _all_concrete(start, stop):
        one_axis("linspace", axis, 1)
        values, distance = _spaced(
            *[v if is_python_scalar(v) else np.asarray(v).item() for v in (start, stop)],  # pyright: ignore[reportArgumentType]
            num,
            bool(endpoint),
            work,
            to,
        )
        out = array_of(values, device)
    else:
        out, distance = _linspace(start, stop, num, parts, endpoint, work, to, axis), None
    if not retstep:
        return out
    return out, array_of(distance) if distance is not None else (asarray(stop, work) - asarray(start, work)) / parts


_NUMBERS = (int, float)


@lru_cache(256, typed=True)
def _of_numbers(start: Any, stop: Any, num: int, endpoint: bool, options: Any) -> np.ndarray:
    """What is asked for most, in the default dtype under these options."""
    work = _spaced_dtype("linspace", start, stop)
    return _spaced(start, stop, num, endpoint, work, work)[0]


@lru_cache(256)
def _spaced(start: Any, stop: Any, num: int, endpoint: bool, work: Any, to: Any) -> tuple[np.ndarray, np.ndarray]:
    wide = np.complex128 if dtypes.is_complex(work) else np.float64
    values, step = np.linspace(np.asarray(start, wide), np.asarray(stop, wide), num, endpoint, retstep=True)
    values = np.floor(values.real) if dtypes.is_integer(to) else values
    step = step if num > endpoint else np.nan
    return real_if_needed(values, to).astype(to), real_if_needed(np.asarray(step), work).astype(work)


def _spaced_dtype(name: str, start: Any, stop: Any, asked: Any = None) -> Any:
    """The dtype of the computation, in which both ends meet. Where the result's is `asked` for, any ends do."""
    pairs = [operand_and_aval(name, v)[1] for v in (start, stop)]
    return to_inexact((promote if asked is None else dtypes.join)(*[(a.dtype, a.weak_type) for a in pairs])[0])


@eager_jit(static="num parts endpoint work to axis")
def _linspace(start: Any, stop: Any, num: int, parts: int, endpoint: bool, work: Any, to: Any, axis: int) -> Any:
    start, stop = (cast(*operand_and_aval("linspace", v), work) for v in (start, stop))
    try:
        shape = broadcast_shape(aval_of(start).shape, aval_of(stop).shape)
    except ValueError as error:
        raise ShapeError(f"linspace: {error}") from None
    first, last = (broadcast(array_operand("linspace", v), aval_of(v).shape, shape) for v in (start, stop))
    axis = one_axis("linspace", axis, len(shape) + 1)
    if isinstance(num, Dim):
        fraction = _symbolic(0, num, 1, work) / number_of(max_dim(parts, 1), work)
        fraction = reshape(fraction, (num, *[1] * len(shape)))
        rest = 1 - fraction
    else:
        fraction = np.linspace(0, 1, num, endpoint).astype(work)
        fraction = np.reshape(fraction, (num, *[1] * len(shape)))
        rest = (1 - fraction).astype(work)
    spread = (num, *shape)
    first, last = (broadcast(with_new_axes(v, [0]), (1, *shape), spread) for v in (first, last))
    low, high = (broadcast(v, v.shape, spread) for v in (rest, fraction))
    # Exact at both ends.
    out = add_p(mul_p(first, low), mul_p(last, high))
    out = moveaxis(out, 0, axis)
    return convert(out if not dtypes.is_integer(to) else floor_p(out), to)


def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """`base` to the power of evenly spaced exponents [num]; arguments and errors as in `linspace`."""
    low: Any = start
    high: Any = stop
    root: Any = base
    work = _spaced_dtype("logspace", low, high)
    to = work if dtype is None else requested(dtype, "logspace")
    if _all_concrete(low, high, root) and not dtypes.is_complex(work):
        num = integer("logspace", num, "num")
        return array_of(np.logspace(float(low), float(high), num, endpoint, float(root)).astype(to))
    return convert(asarray(root, work) ** linspace(low, high, num, endpoint, axis=axis), to)


def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """`num` numbers from `start` to `stop` with one ratio between neighbours, along a new `axis`, in floats; NaN where
    there is none, as for ends of different signs and for 0. Raises ValueError for a negative `num`."""
    low: Any = start
    high: Any = stop
    to = requested(dtype, "geomspace") if dtype is not None else _spaced_dtype("geomspace", low, high)
    num, axis = integer("geomspace", num, "num"), integer("geomspace", axis, "axis")
    if num < 0:
        raise ValueError(f"geomspace: num must not be negative, it is {num}")
    if _all_concrete(low, high) and not dtypes.is_complex(to) and float(low) * float(high) > 0:
        one_axis("geomspace", axis, 1)
        return array_of(np.geomspace(float(low), float(high), num, endpoint=endpoint).astype(to))
    return _geomspace(low, high, num, bool(endpoint), to, axis)


@eager_jit(static="num endpoint to axis")
def _geomspace(start: Any, stop: Any, num: int, endpoint: bool, to: Any, axis: int) -> Any:
    work = to_inexact(to)
    first, last = (array_operand("geomspace", cast(*operand_and_aval("geomspace", v), work)) for v in (start, stop))
    try:
        broadcast_shape(aval_of(first).shape, aval_of(last).shape)
    except ValueError as error:
        raise ShapeError(f"geomspace: {error}") from None
    sign = sign_p(first)
    low, high = (_log10(div_p(*operands("geomspace", v, sign))) for v in (first, last))
    powers = pow_p(*operands("geomspace", np.asarray(10, work)[()], linspace(low, high, num, endpoint)))
    own, full = aval_of(sign).shape, aval_of(powers).shape
    values = mul_p(broadcast(sign, own, full), powers)
    values = moveaxis(values, 0, one_axis("geomspace", axis, len(full)))
    return convert(values, to)


def _log10(x: Any) -> Any:
    return div_p(log_p(x), scalar_of(np.log(10), aval_of(x).dtype, False))


# Grids ---------------------------------------------------------------------------------------------------------------


@eager_jit(static="copy sparse indexing")
def meshgrid(*xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Array, ...]:
    """Vectors spread over a grid: one array for each, all of one shape (`sparse`: of size 1 along the other axes).

    `indexing` "xy": the first vector varies along axis 1; "ij": along axis 0. Raises ValueError for others, for
    arrays that are not vectors and for `copy=False`.
    """
    if not copy:
        raise ValueError("meshgrid: copy=False is not supported, arrays share no memory")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    xs = [array_operand("meshgrid", x) for x in xi]
    if any(aval_of(x).ndim != 1 for x in xs):
        raise ValueError(f"meshgrid takes vectors; it got shapes {', '.join(str(aval_of(x).shape) for x in xs)}")
    places = list(range(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        places[:2] = [1, 0]
    shape = [1] * len(xs)
    for x, i in zip(xs, places):
        shape[i] = aval_of(x).size
    grids = []
    for x, i in zip(xs, places):
        thin = tuple(aval_of(x).size if j == i else 1 for j in range(len(xs)))
        grids.append(
            reshape(x, thin) if sparse else broadcast_in_dim_p(x, shape=tuple(shape), broadcast_dimensions=(i,))
        )
    return tuple(grids)


def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: bool = False
) -> Array | tuple[Array, ...]:
    """The index of every element along each axis of an array of shape `dimensions`: [rank, *dimensions], or with
    `sparse` a tuple of arrays of size 1 along the others. Raises TypeError for what is not a sequence of sizes."""
    if not isinstance(dimensions, Iterable) or not getattr(dimensions, "ndim", 1):
        raise TypeError(f"indices takes a sequence of sizes, not {dimensions!r}")
    shape = shape_of("indices", dimensions, ConcretizationTypeError)
    to = np.dtype(dtypes.default_int()) if dtype is None else requested(dtype, "indices")
    grids: Any = np.indices(shape, sparse=sparse)
    if sparse:
        return tuple(array_of(g.astype(to)) for g in grids)
    return array_of(grids.astype(to))
