"""Products of vectors and matrices.

`precision` is None, "default", "high" or "highest" (or a pair); `preferred_element_type` is the dtype of sums and result.
All raise ShapeError (a TypeError and a ValueError), naming both shapes, where they do not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..backend.placement import laid
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, PrecisionLike, Sharding
from ..core.avals import aval_of
from ..core.errors import ShapeError
from ..core.trace import Tracer
from ..eager.functions import eager_jit
from ..ops.dot import dot_general
from ..ops.elementwise import eq_p
from ..ops.linear import (
    broadcast_in_dim_p,
    convert,
    convert_element_type_p,
    mul_p,
    reshape,
    scalar_zero,
    squeeze_p,
    sub_p,
    transpose as permute,
    where,
)
from ._ufunc import kind_of
from .dtypes import requested
from .joining import stack, unstack
from .operands import (
    broadcast_shape,
    cast,
    check_ranks,
    integer,
    one_axis,
    operand_and_aval,
    operands,
    promoted,
    same_shape,
    unsupported,
)
from .reductions import sum as sum_over
from .rounding import conjugate
from .structure import array_operand, moveaxis
from .triangles import diagonal, triangle


__all__ = ["cross", "dot", "inner", "kron", "matmul", "matvec", "outer", "tensordot", "trace", "vdot", "vecdot",
           "vecmat"]  # fmt: skip


_STATIC = "precision preferred_element_type"


def factors(name: str, xs: Sequence[Any], preferred: Any) -> list[Array]:
    """Operands of a product in one dtype. Where the result's is asked for, any will do that holds them."""
    if preferred is None:
        return promoted(name, xs)[0]
    pairs = [operand_and_aval(name, x, i) for i, x in enumerate(xs)]
    dtype, _ = dtypes.join(*[(a.dtype, a.weak_type) for _, a in pairs])
    return [cast(x, a, dtype) for x, a in pairs]


def _pair(name: str, a: Any, b: Any, preferred: Any = None) -> tuple[Any, Any]:
    """Two arrays of one dtype."""
    x, y = (array_operand(name, v) for v in factors(name, (a, b), preferred))
    return x, y


def product(
    x: Any, y: Any, contracting: Any, batch: Any = ((), ()), precision: Any = None, preferred: Any = None
) -> Any:
    """dot_general of two arrays of one dtype, its result in that dtype unless another is preferred. Of complex numbers with
    a real dtype preferred, the real part of the product; of floats with one of integers, the product cut towards zero."""
    preferred = None if preferred is None else requested(preferred, "preferred_element_type")
    if preferred is not None and (
        (kind_of(x) == "c" and not dtypes.is_complex(preferred))
        or (kind_of(x) == "f" and not dtypes.is_inexact(preferred))
    ):
        return convert(product(x, y, contracting, batch, precision), preferred)
    if preferred is None:
        return dot_general(x, y, (contracting, batch), precision, aval_of(x).dtype)
    out = dot_general(x, y, (contracting, batch), precision, preferred)
    return convert_element_type_p(out, new_dtype=preferred, weak_type=False) if aval_of(out).weak_type else out


def _mismatch(name: str, x: Any, y: Any, what: str) -> ShapeError:
    return ShapeError(f"{name} of shapes {aval_of(x).shape} and {aval_of(y).shape}: {what}")


@eager_jit(static=_STATIC + " out_sharding")
def matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """The matrix product: [..., m, k] and [..., k, n] to [..., m, n]. Leading axes broadcast; a vector [k] counts as a
    row on the left, as a column on the right. Raises ValueError for scalars, ShapeError for sizes that differ."""
    if out_sharding is not None:
        return laid(out_sharding, matmul, a, b, precision=precision, preferred_element_type=preferred_element_type)
    x, y = _pair("matmul", a, b, preferred_element_type)
    (left, right) = aval_of(x).shape, aval_of(y).shape
    if not left or not right:
        raise ValueError(f"matmul needs vectors or matrices; it got shapes {left} and {right} (use * for scalars)")
    inner = len(right) - 2 if len(right) > 1 else 0
    if left[-1] != right[inner]:
        raise _mismatch(
            "matmul",
            x,
            y,
            f"the last axis of the first has size {left[-1]}, the axis of the second that it "
            f"meets has {right[inner]}; they must be equal",
        )
    if len(left) <= 2 and len(right) <= 2:
        return product(x, y, ((len(left) - 1,), (inner,)), precision=precision, preferred=preferred_element_type)
    return _batched_matmul(x, y, precision, preferred_element_type)


def _batched_matmul(x: Any, y: Any, precision: Any, preferred: Any) -> Any:
    left, right = aval_of(x).shape, aval_of(y).shape
    row, column = len(left) > 1, len(right) > 1
    outer_x, outer_y = left[:-2], right[:-2]
    outer = broadcast_shape(outer_x, outer_y)
    # An axis of size 1 that meets a longer one is left out: the longer one then is free, not batch.
    places_x, places_y, thin_x, thin_y = {}, {}, [], []
    for place in range(len(outer)):
        i, j = place - len(outer) + len(outer_x), place - len(outer) + len(outer_y)
        for k, sizes, places, thin in ((i, outer_x, places_x, thin_x), (j, outer_y, places_y, thin_y)):
            if k >= 0 and sizes[k] == 1 and outer[place] != 1:
                thin.append(k)
            elif k >= 0:
                places[place] = k
    x = squeeze_p(x, dimensions=tuple(thin_x)) if thin_x else x
    y = squeeze_p(y, dimensions=tuple(thin_y)) if thin_y else y
    places_x = {p: k - sum(t < k for t in thin_x) for p, k in places_x.items()}
    places_y = {p: k - sum(t < k for t in thin_y) for p, k in places_y.items()}
    batch = [p for p in places_x if p in places_y]
    rank_x, rank_y = aval_of(x).ndim, aval_of(y).ndim
    out = product(
        x,
        y,
        ((rank_x - 1,), (rank_y - 2 if column else 0,)),
        ([places_x[p] for p in batch], [places_y[p] for p in batch]),
        precision,
        preferred,
    )
    # The result has: batch axes, other axes of x, its row, other axes of y, its column.
    order = [*batch, *[p for p in sorted(places_x) if p not in batch]]
    order += [len(outer)] if row else []
    order += [p for p in sorted(places_y) if p not in batch]
    order += [len(outer) + row] if column else []
    return permute(out, tuple(order.index(p) for p in range(len(order))))


@eager_jit(static=_STATIC + " out_sharding")
def dot(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """The sum of products over the last axis of `a` and the second last (of a vector: the only) axis of `b`: [..., k]
    and [*, k, n] to [..., *, n]. A scalar multiplies. Raises ShapeError for sizes that differ."""
    if out_sharding is not None:
        return laid(out_sharding, dot, a, b, precision=precision, preferred_element_type=preferred_element_type)
    x, y = _pair("dot", a, b, preferred_element_type)
    left, right = aval_of(x).shape, aval_of(y).shape
    if not left or not right:
        return product(x, y, ((), ()), precision=precision, preferred=preferred_element_type)
    inner = len(right) - 2 if len(right) > 1 else 0
    if left[-1] != right[inner]:
        raise _mismatch("dot", x, y, f"sizes {left[-1]} and {right[inner]} of the contracting axes must be equal")
    return product(x, y, ((len(left) - 1,), (inner,)), precision=precision, preferred=preferred_element_type)


@eager_jit(static=_STATIC)
def vdot(
    a: ArrayLike, b: ArrayLike, *, precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None
) -> Array:
    """The sum [] of conj(a) * b over all elements of both, raveled."""
    x, y = _pair("vdot", conjugate(a), b, preferred_element_type)
    x, y = (reshape(v, (aval_of(v).size,)) for v in (x, y))
    return dot(x, y, precision=precision, preferred_element_type=preferred_element_type)


@eager_jit(static="axis " + _STATIC)
def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: int = -1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The sums of conj(x1) * x2 along one axis: [..., n] and [..., n] to [...]; the other axes broadcast. Raises
    ShapeError for sizes that differ."""
    x, y = _pair("vecdot", conjugate(x1), x2, preferred_element_type)
    x, y = (moveaxis(v, axis, -1) for v in (x, y))
    check_ranks("vecdot", [aval_of(x).shape, aval_of(y).shape])
    if aval_of(x).shape[-1] != aval_of(y).shape[-1]:
        raise _mismatch("vecdot", x, y, f"their axes {axis} must have one size")
    if 1 in (aval_of(x).ndim, aval_of(y).ndim):
        return product(
            x, y, ((aval_of(x).ndim - 1,), (aval_of(y).ndim - 1,)), ((), ()), precision, preferred_element_type
        )
    x, y = same_shape("vecdot", (x, y), (aval_of(x), aval_of(y)))
    last = aval_of(x).ndim - 1
    return product(x, y, ((last,), (last,)), (range(last), range(last)), precision, preferred_element_type)


@eager_jit()
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The products of matrices [..., m, n] with vectors [..., n]: [..., m]. Raises ShapeError for arrays of fewer axes
    and sizes that differ."""
    x, y = _pair("matvec", x1, x2)
    if aval_of(x).ndim < 2 or not aval_of(y).ndim:
        raise _mismatch("matvec", x, y, "the first must be matrices, the second vectors")
    check_ranks("matvec", [aval_of(x).shape, aval_of(y).shape], (2, 1))
    if aval_of(y).ndim == 1:
        return matmul(x, y)
    if aval_of(x).ndim == 2:
        return (
            product(y, x, ((aval_of(y).ndim - 1,), (1,)))
            if aval_of(y).shape[-1] == aval_of(x).shape[1]
            else matmul(x, y)
        )
    y = reshape(y, (*aval_of(y).shape, 1))
    out = matmul(x, y)
    return squeeze_p(out, dimensions=(aval_of(out).ndim - 1,))


@eager_jit()
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The products of conjugated vectors [..., m] with matrices [..., m, n]: [..., n]. Raises ShapeError for arrays of
    fewer axes and sizes that differ."""
    x, y = _pair("vecmat", conjugate(x1), x2)
    shape = aval_of(x).shape
    if not shape or aval_of(y).ndim < 2:
        raise _mismatch("vecmat", x, y, "the first must be vectors, the second matrices")
    check_ranks("vecmat", [shape, aval_of(y).shape], (1, 2))
    if len(shape) == 1 or aval_of(y).ndim == 2:
        return matmul(x, y)
    out = matmul(reshape(x, (*shape[:-1], 1, shape[-1])), y)
    return squeeze_p(out, dimensions=(aval_of(out).ndim - 2,))


@eager_jit(static=_STATIC)
def inner(
    a: ArrayLike, b: ArrayLike, *, precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None
) -> Array:
    """The sums of products over the last axes of both: [..., k] and [*, k] to [..., *]. A scalar multiplies. Raises
    ShapeError for sizes that differ."""
    x, y = _pair("inner", a, b, preferred_element_type)
    left, right = aval_of(x).shape, aval_of(y).shape
    if not left or not right:
        return product(x, y, ((), ()), precision=precision, preferred=preferred_element_type)
    if left[-1] != right[-1]:
        raise _mismatch("inner", x, y, "the last axes must have one size")
    return product(x, y, ((len(left) - 1,), (len(right) - 1,)), precision=precision, preferred=preferred_element_type)


@eager_jit(static="out")
def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """All products of an element of `a` with one of `b`, both raveled, [m] and [n]: a matrix [m, n]."""
    unsupported("outer", out=out)
    x, y = _pair("outer", a, b)
    n, m = aval_of(x).size, aval_of(y).size
    x = broadcast_in_dim_p(reshape(x, (n,)), shape=(n, m), broadcast_dimensions=(0,))
    y = broadcast_in_dim_p(reshape(y, (m,)), shape=(n, m), broadcast_dimensions=(1,))
    return mul_p(x, y)


@eager_jit(static="axes out_sharding " + _STATIC)
def tensordot(
    a: ArrayLike,
    b: ArrayLike,
    axes: int | Sequence[Any] = 2,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """The sum of products over pairs of axes: the last `axes` of `a` with the first of `b`, or (axes of a, axes of b).
    The result has the other axes of `a`, then those of `b`. Raises TypeError for `axes` that are neither, ShapeError
    for sizes that differ."""
    if out_sharding is not None:
        options = {"precision": precision, "preferred_element_type": preferred_element_type}
        return laid(out_sharding, tensordot, a, b, axes, **options)
    x, y = _pair("tensordot", a, b, preferred_element_type)
    rank_x, rank_y = aval_of(x).ndim, aval_of(y).ndim
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise TypeError(f"tensordot: axes is an int or a pair, not {axes!r}")
        pair = [list(v) if isinstance(v, (tuple, list)) else [v] for v in axes]
        if len(pair[0]) != len(pair[1]):
            raise TypeError(f"tensordot: each axis of the first needs one of the second, not {axes[0]} and {axes[1]}")
        left = [one_axis("tensordot", i, rank_x) for i in pair[0]]
        right = [one_axis("tensordot", i, rank_y) for i in pair[1]]
    else:
        count = integer("tensordot", axes, "axes")
        if not 0 <= count <= min(rank_x, rank_y):
            raise _mismatch("tensordot", x, y, f"they do not have {count} axes each")
        left, right = list(range(rank_x - count, rank_x)), list(range(count))
    if len(left) != len(right) or any(aval_of(x).shape[i] != aval_of(y).shape[j] for i, j in zip(left, right)):
        raise _mismatch(
            "tensordot",
            x,
            y,
            f"axes {tuple(left)} of the first and {tuple(right)} of the second must pair up with equal sizes",
        )
    return product(x, y, (left, right), precision=precision, preferred=preferred_element_type)


@eager_jit(static="offset axis1 axis2 dtype out")
def trace(
    a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: None = None
) -> Array:
    """The sums of the `offset`-th diagonals over two axes: [..., m, n] to [...]. Small integers and booleans are summed
    in the default integer."""
    unsupported("trace", out=out)
    if not isinstance(offset, Tracer):
        return sum_over(diagonal(a, integer("trace", offset, "offset"), axis1, axis2), -1, dtype)
    x = moveaxis(array_operand("trace", a), (axis1, axis2), (-2, -1))
    there = triangle("trace", aval_of(x).shape, offset, eq_p, dtypes.bool_)
    return sum_over(where(there, x, scalar_zero(aval_of(x).dtype)), (-2, -1), dtype)


@eager_jit()
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker product, every element of `a` times all of `b`: [m, n] and [p, q] to [m p, n q], likewise for other
    ranks."""
    x, y = _pair("kron", a, b)
    rank = max(aval_of(x).ndim, aval_of(y).ndim)
    left, right = ((1,) * (rank - aval_of(v).ndim) + aval_of(v).shape for v in (x, y))
    wide = tuple(n for pair in zip(left, right) for n in pair)
    x = broadcast_in_dim_p(reshape(x, left), shape=wide, broadcast_dimensions=tuple(range(0, 2 * rank, 2)))
    y = broadcast_in_dim_p(reshape(y, right), shape=wide, broadcast_dimensions=tuple(range(1, 2 * rank, 2)))
    return reshape(mul_p(x, y), tuple(n * m for n, m in zip(left, right)))


@eager_jit(static="axisa axisb axisc axis")
def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """The cross product of vectors of 3 elements along an axis, [..., 3] and [..., 3] to [..., 3]. Raises
    ShapeError for vectors of other sizes."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _pair("cross", a, b)
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    if aval_of(x).shape[-1] != 3 or aval_of(y).shape[-1] != 3:
        raise _mismatch("cross", x, y, "the vectors must have 3 elements")
    u, v = list(unstack(x, axis=-1)), list(unstack(y, axis=-1))

    def minor(i: int, j: int) -> Any:
        return sub_p(*(mul_p(*operands("cross", u[p], v[q])) for p, q in ((i, j), (j, i))))

    return moveaxis(stack([minor(1, 2), minor(2, 0), minor(0, 1)]), 0, axisc)
