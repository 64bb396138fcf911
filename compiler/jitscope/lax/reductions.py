"""Reductions, running reductions, sorting."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, overload

from ..backend.placement import laying
from ..core import dtypes
from ..core.annotations import AlongAxis, ApproximateTop, Array, ArrayLike, DTypeLike, LaidOverAxes, OverAxes
from ..core.avals import aval_of
from ..core.primitive import Primitive
from ..ops import linear, reduce, sort as sorting
from ..ops.approximate import approx_top_k_p
from ..symbolic.dimension import size
from ._operands import axes_tuple, check_numbers


__all__ = ["approx_max_k", "approx_min_k", "argmax", "argmin", "cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum",
           "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum", "reduce_xor", "sort",
           "sort_key_val", "top_k"]  # fmt: skip


def _reduction(primitive: Primitive, what: str) -> OverAxes:
    def function(operand: Any, axes: Sequence[int]) -> Any:
        return primitive(operand, axes=axes_tuple(axes))

    return _described(function, primitive, what)


def _laid_reduction(primitive: Primitive, what: str) -> LaidOverAxes:
    def function(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Any:
        return primitive(operand, axes=axes_tuple(axes))

    return laying(_described(function, primitive, what))


def _described(function: Any, primitive: Primitive, what: str) -> Any:
    function.__name__ = function.__qualname__ = primitive.name
    function.__doc__ = (
        f"{what} over the given axes: [m, n, k] over (0, 2) to [n]. Raises ValueError for axes that do not exist."
    )
    return function


reduce_sum = _laid_reduction(linear.reduce_sum_p, "The sum")
reduce_prod = _reduction(reduce.reduce_prod_p, "The product")
reduce_max = _laid_reduction(reduce.reduce_max_p, "The greatest element")
reduce_min = _laid_reduction(reduce.reduce_min_p, "The least element")
reduce_and = _reduction(reduce.reduce_and_p, "And of booleans or bits")
reduce_or = _reduction(reduce.reduce_or_p, "Or of booleans or bits")
reduce_xor = _reduction(reduce.reduce_xor_p, "Exclusive or of booleans or bits")


def argmax(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """The index of the first greatest element along an axis, [..., n] to [...]; a NaN counts as the greatest. operand:
    real numbers. Raises TypeError for others, and for indices that are not integers, ValueError for axes that do not
    exist or are empty."""
    return reduce.argmax_p(operand, axes=(int(axis),), index_dtype=_index_dtype("argmax", index_dtype))


def argmin(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """The index of the first least element along an axis, [..., n] to [...]; a NaN counts as the least. Operands and
    errors as in `argmax`."""
    return reduce.argmin_p(operand, axes=(int(axis),), index_dtype=_index_dtype("argmin", index_dtype))


def _index_dtype(name: str, dtype: Any) -> Any:
    found = dtypes.explicit(dtype)
    if not dtypes.is_integer(found):
        raise TypeError(f"{name} gives indices, which are integers: index_dtype cannot be {found.name}")
    return found


def _running(primitive: Primitive, what: str) -> AlongAxis:
    def function(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        if not 0 <= axis < aval_of(operand).ndim:
            raise ValueError(f"lax.{primitive.name}: {aval_of(operand).short()} has no axis {axis}; axes count from 0")
        check_numbers(primitive.name, operand, "b")
        return primitive(operand, axis=operator.index(axis), reverse=bool(reverse))

    function.__name__ = function.__qualname__ = primitive.name
    function.__doc__ = (
        f"The running {what} along an axis, from the end if `reverse`: [..., n, ...] to the same shape. Raises ValueError for "
        "an axis that is not there, TypeError for booleans."
    )
    return function


cumsum = _running(reduce.cumsum_p, "sum")
cumprod = _running(reduce.cumprod_p, "product")
cummax = _running(reduce.cummax_p, "maximum")
cummin = _running(reduce.cummin_p, "minimum")
cumlogsumexp = _running(reduce.cumlogsumexp_p, "logarithm of the sum of exponentials")


@overload
def sort(operand: ArrayLike, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Array: ...
@overload
def sort(
    operand: Sequence[ArrayLike], dimension: int = -1, is_stable: bool = True, num_keys: int = 1
) -> tuple[Array, ...]: ...
def sort(
    operand: ArrayLike | Sequence[ArrayLike], dimension: int = -1, is_stable: bool = True, num_keys: int = 1
) -> Array | tuple[Array, ...]:
    """Sorted along an axis, in the shape of the operand [...]; of a sequence of arrays of one shape, all by the first
    `num_keys` of them. NaN comes last. Raises TypeError for an empty sequence, ValueError for an axis that is not
    there."""
    several = isinstance(operand, Sequence)
    arrays = list(operand) if several else [operand]
    if not arrays:
        raise TypeError("sort needs an array")
    rank, dimension = aval_of(arrays[0]).ndim, operator.index(dimension)
    if not -rank <= dimension < rank:
        raise ValueError(f"sort: {aval_of(arrays[0]).short()} has no axis {dimension}")
    dimension = dimension % rank
    out = sorting.sort_p(*arrays, dimension=dimension, is_stable=bool(is_stable), num_keys=num_keys)
    return tuple(out) if several else out[0]


def sort_key_val(
    keys: ArrayLike, values: ArrayLike, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """keys [...] sorted along an axis, and values [...] in the same order."""
    ordered, along = sort((keys, values), dimension, is_stable)
    return ordered, along


def top_k(operand: ArrayLike, k: int, *, axis: int = -1, is_stable: bool = True) -> list[Array]:
    """The k greatest elements along an axis, descending, and their indices (int32): [..., n] to [..., k], both. A NaN
    counts as the greatest. operand: real numbers. Of equal elements the first comes first, whatever `is_stable`
    says. Raises ValueError for others and for a k that is negative or greater than the axis."""
    rank = aval_of(operand).ndim
    if dtypes.is_complex(aval_of(operand).dtype):
        raise ValueError(f"top_k: complex numbers have no order; it got {aval_of(operand).short()}")
    if not -rank <= axis < rank:
        raise ValueError(f"top_k: {aval_of(operand).short()} has no axis {axis}")
    length = aval_of(operand).shape[axis] if rank else 0
    if isinstance(length, int) and length > 2**31 - 1:
        raise ValueError(f"top_k gives indices as int32, which do not hold those of an axis of {length} elements")
    values, indices = sorting.top_k_p(operand, k=size(k), axis=int(axis) % rank, is_stable=bool(is_stable))
    return [values, indices]


def _approximate(greatest: bool) -> ApproximateTop:
    def function(
        operand: Any,
        k: int,
        reduction_dimension: int = -1,
        recall_target: float = 0.95,
        reduction_input_size_override: int = -1,
        aggregate_to_topk: bool = True,
    ) -> list[Any]:
        return approx_top_k_p(
            operand,
            k=int(k),
            reduction_dimension=int(reduction_dimension),
            recall_target=float(recall_target),
            is_max_k=greatest,
            reduction_input_size_override=int(reduction_input_size_override),
            aggregate_to_topk=bool(aggregate_to_topk),
        )

    function.__name__ = function.__qualname__ = "approx_max_k" if greatest else "approx_min_k"
    function.__doc__ = f"""The k {"greatest" if greatest else "least"} elements along an axis, best first, and their
    indices (int32): on accelerators a quick search that finds each with the probability `recall_target`, on the CPU an
    exact one. operand: floats. Without `aggregate_to_topk` all candidates that the search keeps, k or more.
    `reduction_input_size_override`: the size of the whole search where this is a part of it. Raises ValueError for other
    dtypes and a k that is not from 1 to the size of the axis, TypeError for scalars, IndexError for an axis that does not
    exist."""
    return function


approx_max_k, approx_min_k = _approximate(True), _approximate(False)
