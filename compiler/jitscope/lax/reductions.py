"""Reductions, running reductions, products, sorting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import dtypes
from ..core.avals import aval_of
from ..core.primitive import Primitive
from ..ops import dot as dots, linear, reduce, sort as sorting
from ._operands import axes_tuple


def _reduction(primitive: Primitive, what: str) -> Callable[..., Any]:
    def function(operand: Any, axes: int | Sequence[int]) -> Any:
        return primitive(operand, axes=axes_tuple(axes))

    function.__name__ = function.__qualname__ = primitive.name
    function.__doc__ = f"{what} over the given axes, which go. Raises ValueError for axes that do not exist."
    return function


reduce_sum = _reduction(linear.reduce_sum_p, "The sum")
reduce_prod = _reduction(reduce.reduce_prod_p, "The product")
reduce_max = _reduction(reduce.reduce_max_p, "The greatest element")
reduce_min = _reduction(reduce.reduce_min_p, "The least element")
reduce_and = _reduction(reduce.reduce_and_p, "And of booleans or bits")
reduce_or = _reduction(reduce.reduce_or_p, "Or of booleans or bits")
reduce_xor = _reduction(reduce.reduce_xor_p, "Exclusive or of booleans or bits")


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The index of the first greatest element along an axis; a NaN counts as the greatest."""
    return reduce.argmax_p(operand, axes=(int(axis),), index_dtype=dtypes.canonicalize(index_dtype))


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The index of the first least element along an axis; a NaN counts as the least."""
    return reduce.argmin_p(operand, axes=(int(axis),), index_dtype=dtypes.canonicalize(index_dtype))


def _running(primitive: Primitive, what: str) -> Callable[..., Any]:
    def function(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        return primitive(operand, axis=int(axis) % max(aval_of(operand).ndim, 1), reverse=bool(reverse))

    function.__name__ = function.__qualname__ = primitive.name
    function.__doc__ = f"The running {what} along an axis, from the end if `reverse`."
    return function


cumsum = _running(reduce.cumsum_p, "sum")
cumprod = _running(reduce.cumprod_p, "product")
cummax = _running(reduce.cummax_p, "maximum")
cummin = _running(reduce.cummin_p, "minimum")

Precision = dots.Precision
dot_general = dots.dot_general


def dot(lhs: Any, rhs: Any, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The product of vectors and matrices. Raises TypeError for other ranks or where the inner sizes differ."""
    x, y = aval_of(lhs), aval_of(rhs)
    if not (1 <= x.ndim <= 2 and 1 <= y.ndim <= 2):
        raise TypeError(f"lax.dot multiplies vectors and matrices, not {x.short()} and {y.short()}: see dot_general")
    numbers = (((x.ndim - 1,), (0,)), ((), ()))
    return dots.dot_general(lhs, rhs, numbers, precision, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """Products of matrices in the last two axes, pair by pair along the others."""
    rank = aval_of(lhs).ndim
    shared = tuple(range(rank - 2))
    return dots.dot_general(lhs, rhs, (((rank - 1,), (rank - 2,)), (shared, shared)), precision)


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sorted along an axis; of a sequence of arrays, all by the first `num_keys` of them. NaN comes last."""
    several = isinstance(operand, Sequence)
    arrays = list(operand) if several else [operand]
    dimension = dimension % aval_of(arrays[0]).ndim
    out = sorting.sort_p(*arrays, dimension=dimension, is_stable=bool(is_stable), num_keys=num_keys)
    return tuple(out) if several else out[0]


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """keys sorted along an axis, and values in the same order."""
    return sort((keys, values), dimension, is_stable)


def top_k(operand: Any, k: int) -> tuple[Any, Any]:
    """The k greatest elements along the last axis, descending, and their indices (int32)."""
    values, indices = sorting.top_k_p(operand, k=int(k), axis=aval_of(operand).ndim - 1)
    return values, indices
