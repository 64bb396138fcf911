"""Products of many small matrices side by side, and of many short vectors with a small matrix, as a sum of outer products: for each contracted
index a column of the left ones times a row of the right ones, for all at once. A product of one small matrix with a vector is the sum, along an
axis of the matrix, of its elements times the vector's.

The sums have the terms in the order of the contracted axis; results differ from XLA's by the rounding of a sum of k terms alone, by no
more than 2 k eps times the sum of the products' magnitudes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ..core.avals import ShapedArray, aval_of
from ..core.dtypes import float32, float64
from ..named_tuple import NamedTuple
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import (
    PRODUCTS_WITH_SMALL_MATRICES,
    PRODUCTS_WITH_VECTORS,
    SMALL_BATCHED_PRODUCTS,
    SUMS_OF_SHORT_ROWS,
    Tuning,
)
from .linear import add_p, broadcast_in_dim, mul_p, reduce_sum_p, reshape, slice_in_dim, transpose


def product_form(
    x: ShapedArray, y: ShapedArray, dimension_numbers: Any, platform: str, in_loop: bool
) -> ProductForm | None:
    """The form in which a product of such operands is written; None where it is left to XLA."""
    if x.dtype not in (float32, float64) or x.dtype != y.dtype or not is_static((*x.shape, *y.shape)):
        return None
    forms = _IN_LOOPS if in_loop else _ALONE
    return next((f for f in forms if f.rule.holds(platform) and f.fits(x, y, dimension_numbers)), None)


def _is_small_and_batched(x: ShapedArray, y: ShapedArray, dimension_numbers: Any) -> bool:
    """Batches of matrices, whose batch axes come first in both."""
    (x_contracting, y_contracting), (x_batch, y_batch) = dimension_numbers
    batches = len(x_batch)
    if not batches or not (len(x_contracting) == 1 and x.ndim == y.ndim == batches + 2):
        return False
    if not list(x_batch) == list(y_batch) == list(range(batches)):
        return False
    limits, sizes = SMALL_BATCHED_PRODUCTS.value, (*x.shape[batches:], *y.shape[batches:])
    rows, columns = (
        math.prod(a.shape) // a.shape[c[0]] if a.size else 0 for a, c in ((x, x_contracting), (y, y_contracting))
    )
    made = rows * columns // max(1, math.prod(x.shape[:batches]))
    return min(sizes) >= 2 and 2 < max(sizes) <= limits["most"] and made >= limits["elements"]


def _has_small_matrix(x: ShapedArray, y: ShapedArray, dimension_numbers: Any) -> bool:
    """Many vectors, of which each lies in one piece, and a small matrix."""
    contracting, (batch, _) = dimension_numbers
    if batch or len(contracting[0]) != 1:
        return False
    limits, ((x_axis,), (y_axis,)) = PRODUCTS_WITH_SMALL_MATRICES.value, contracting
    large, small, axis = (x, y, x_axis) if x.size > y.size else (y, x, y_axis)
    if small.ndim != 2 or not (2 <= min(small.shape) and max(small.shape) <= limits["most"]) or axis != large.ndim - 1:
        return False
    contracted = large.shape[-1]
    return large.size // contracted * (small.size // contracted) >= limits["elements"]


def _are_short_vectors(x: ShapedArray, y: ShapedArray, dimension_numbers: Any) -> bool:
    """Pairs of short vectors, side by side in both."""
    (contracting, batch), limits = dimension_numbers, SUMS_OF_SHORT_ROWS.value
    if x.shape != y.shape or x.ndim < 2 or x.size < limits["elements"]:
        return False
    last, rows = [x.ndim - 1], list(range(x.ndim - 1))
    side_by_side = [*map(list, contracting), *map(list, batch)] == [last, last, rows, rows]
    return side_by_side and x.shape[-1] <= limits["added"]


_TINY = 3
"""Axes of matrices that XLA multiplies in a kernel written out for them."""


def _is_small(x: ShapedArray, y: ShapedArray, dimension_numbers: Any) -> bool:
    """A small matrix and a vector (or a row, or a column), or two tiny matrices."""
    contracted, fewer, more = _sizes(x, y, dimension_numbers)
    return _are_tiny(contracted, fewer, more) or (
        fewer == 1 < min(contracted, more) and contracted * more <= PRODUCTS_WITH_VECTORS.value["elements"]
    )


def _is_small_in_loop(x: ShapedArray, y: ShapedArray, dimension_numbers: Any) -> bool:
    contracted, fewer, more = _sizes(x, y, dimension_numbers)
    return _are_tiny(contracted, fewer, more) or (
        fewer == 1 < min(contracted, more) and max(contracted, more) <= PRODUCTS_WITH_VECTORS.value["length in loops"]
    )


def _are_tiny(contracted: int, fewer: int, more: int) -> bool:
    return min(contracted, fewer) > 1 and max(contracted, more) <= _TINY


def _sizes(x: ShapedArray, y: ShapedArray, dimension_numbers: Any) -> tuple[int, int, int]:
    """Of a product of vectors and matrices: the size of the contracted axis, and of the others, the lesser first. Zeros for other operands."""
    contracting, (batch, _) = dimension_numbers
    if batch or len(contracting[0]) != 1 or max(x.ndim, y.ndim) != 2 or not x.size:
        return 0, 0, 0
    contracted = x.shape[contracting[0][0]]
    fewer, more = sorted(a.size // contracted for a in (x, y))
    return contracted, fewer, more


def _by_sums(x: Any, y: Any, dimension_numbers: Any) -> Any:
    """The product [other axis of x, other axis of y] of vectors and matrices: the elements of the larger one, as they lie, times those of the other,
    summed along the contracted axis."""
    (left,), (right,) = dimension_numbers[0]
    rows, columns = (
        tuple(n for a, n in enumerate(aval_of(v).shape) if a != axis) for v, axis in ((x, left), (y, right))
    )
    made = (*rows, *columns)
    if math.prod(rows) == 1:
        x, left, y, right, columns = y, right, reshape(x, (aval_of(x).size,)), 0, ()
    y = transpose(y, (1, 0)) if right else y
    shape = (*aval_of(x).shape, *columns)
    products = mul_p(
        broadcast_in_dim(x, shape, tuple(range(aval_of(x).ndim))),
        broadcast_in_dim(y, shape, (left, len(shape) - 1)[: aval_of(y).ndim]),
    )
    return reshape(reduce_sum_p(products, axes=(left,)), made)


def _by_elements(x: Any, y: Any, dimension_numbers: Any) -> Any:
    """The product [batch..., other axes of x..., other axes of y...], of operands whose batch axes come first and that have one contracted
    axis each."""
    ((left,), (right,)), (batch, _) = dimension_numbers
    batches = len(batch)
    own, others = (
        [n for axis, n in enumerate(aval_of(v).shape) if axis >= batches and axis != taken]
        for v, taken in ((x, left), (y, right))
    )
    shape = (*aval_of(x).shape[:batches], *own, *others)
    of_x, of_y = range(batches, batches + len(own)), range(batches + len(own), len(shape))
    terms = []
    for k in range(aval_of(x).shape[left]):
        a, b = (at_place(v, axis, k) for v, axis in ((x, left), (y, right)))
        first = broadcast_in_dim(a, shape, (*range(batches), *of_x))
        terms.append(mul_p(first, broadcast_in_dim(b, shape, (*range(batches), *of_y))))
    return functools.reduce(add_p, terms)


def at_place(x: Any, axis: int, k: int) -> Any:
    """`x` at one place of an axis, without that axis."""
    shape = aval_of(x).shape
    return reshape(slice_in_dim(x, k, k + 1, 1, axis), (*shape[:axis], *shape[axis + 1 :]))


class ProductForm(NamedTuple):
    """How a product is written: by which rule, in words, for which operands and dimension numbers, and the function of these that computes it."""

    rule: Tuning
    words: str
    fits: Callable[[ShapedArray, ShapedArray, Any], bool]
    product: Callable[[Any, Any, Any], Any]


_LARGE = (
    ProductForm(
        SMALL_BATCHED_PRODUCTS,
        "written as a sum of outer products: many small matrices side by side",
        _is_small_and_batched,
        _by_elements,
    ),
    ProductForm(
        PRODUCTS_WITH_SMALL_MATRICES,
        "written as a sum of outer products: many vectors and a small matrix",
        _has_small_matrix,
        _by_elements,
    ),
    ProductForm(
        SUMS_OF_SHORT_ROWS,
        "written as the sums of products: many pairs of short vectors",
        _are_short_vectors,
        lambda x, y, _: reduce_sum_p(mul_p(x, y), axes=(aval_of(x).ndim - 1,)),
    ),
)
_SMALL = "written as sums of products: XLA compiles a kernel for each product as small as this"
_ALONE = (*_LARGE, ProductForm(PRODUCTS_WITH_VECTORS, _SMALL, _is_small, _by_sums))
_IN_LOOPS = (*_LARGE, ProductForm(PRODUCTS_WITH_VECTORS, _SMALL, _is_small_in_loop, _by_sums))
