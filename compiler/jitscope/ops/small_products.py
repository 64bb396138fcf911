"""Products of many small matrices side by side, as a sum of outer products: for each contracted index a column of the left ones times a
row of the right ones, for the whole batch at once.

The sums have the terms in the order of the contracted axis; results differ from XLA's by the rounding of a sum of k terms alone, by no
more than 2 k eps times the sum of the products' magnitudes.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from ..core.avals import ShapedArray, aval_of
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import SMALL_BATCHED_PRODUCTS
from .linear import add_p, broadcast_in_dim, mul_p, reshape, slice_in_dim


def is_small_and_batched(x: ShapedArray, y: ShapedArray, dimension_numbers: Any, platform: str) -> bool:
    """Whether a product of such operands is written out: batches of matrices, whose batch axes come first in both."""
    (x_contracting, y_contracting), (x_batch, y_batch) = dimension_numbers
    batches = len(x_batch)
    if not batches or not SMALL_BATCHED_PRODUCTS.holds(platform):
        return False
    if x.dtype.name not in ("float32", "float64") or x.dtype != y.dtype:
        return False
    if not (len(x_contracting) == 1 and x.ndim == y.ndim == batches + 2 and is_static((*x.shape, *y.shape))):
        return False
    if not list(x_batch) == list(y_batch) == list(range(batches)):
        return False
    limits, sizes = SMALL_BATCHED_PRODUCTS.value, (*x.shape[batches:], *y.shape[batches:])
    rows, columns = (
        math.prod(a.shape) // a.shape[c[0]] if a.size else 0 for a, c in ((x, x_contracting), (y, y_contracting))
    )
    made = rows * columns // max(1, math.prod(x.shape[:batches]))
    return min(sizes) >= 2 and 2 < max(sizes) <= limits["most"] and made >= limits["elements"]


def product_by_elements(x: Any, y: Any, contracting: Any, batch: Any) -> Any:
    """The batch of products [..., rows, columns]."""
    batches, left, right = len(batch[0]), contracting[0][0], contracting[1][0]
    rows, columns = (aval_of(v).shape[batches + (axis == batches)] for v, axis in ((x, left), (y, right)))
    shape = (*aval_of(x).shape[:batches], rows, columns)
    terms = []
    for k in range(aval_of(x).shape[left]):
        a, b = (_without(v, axis, k) for v, axis in ((x, left), (y, right)))
        first = broadcast_in_dim(a, shape, (*range(batches), batches))
        terms.append(mul_p(first, broadcast_in_dim(b, shape, (*range(batches), batches + 1))))
    return functools.reduce(add_p, terms)


def _without(x: Any, axis: int, k: int) -> Any:
    """`x` at one place of an axis, without that axis."""
    shape = aval_of(x).shape
    return reshape(slice_in_dim(x, k, k + 1, 1, axis), (*shape[:axis], *shape[axis + 1 :]))
