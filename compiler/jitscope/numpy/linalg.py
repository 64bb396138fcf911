"""`jitscope.numpy.linalg`: matrices along the last two axes; leading axes are batches.

Integers become the default float; float16 and bfloat16 are refused, since LAPACK has neither. A matrix for which LAPACK
fails gives NaN instead of an error: a compiled program cannot raise.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, PrecisionLike, Sharding
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.linear import mul_p
from . import linear
from .factoring import *
from .norms import *
from .operands import one_axis, promoted
from .solving import *
from .structure import array_operand, matrix_transpose
from .triangles import diagonal as diagonal_over


__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult", "cholesky", "cond", "cross", "det",
           "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul", "matrix_norm", "matrix_power",
           "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd",
           "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm"]  # fmt: skip


def matmul(
    x1: ArrayLike, x2: ArrayLike, /, *, precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None
) -> Array:
    """The matrix product of [..., m, k] and [..., k, n]; see `jitscope.numpy.matmul`."""
    return linear.matmul(x1, x2, precision=precision, preferred_element_type=preferred_element_type)


def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: int = -1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The sums of conj(x1) * x2 along one axis: [..., n] and [..., n] to [...]."""
    return linear.vecdot(x1, x2, axis=axis, precision=precision, preferred_element_type=preferred_element_type)


def tensordot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axes: int | Sequence[int] | Sequence[Sequence[int]] = 2,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """The sum of products over pairs of axes: the last `axes` of x1 with the first of x2, or (axes of x1, axes of x2).
    The result has the other axes of x1, then those of x2. `out_sharding`: how it is to lie over several devices."""
    options = {"precision": precision, "preferred_element_type": preferred_element_type, "out_sharding": out_sharding}
    return linear.tensordot(x1, x2, axes, **options)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """The sums of the diagonals number `offset` of matrices [..., m, n], shape [...]."""
    return linear.trace(x, offset=offset, axis1=-2, axis2=-1, dtype=dtype)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """The diagonals number `offset` (above the main one if positive) of matrices [..., m, n]."""
    return diagonal_over(x, offset, -2, -1)


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements along `axis`; the other axes broadcast. Raises ValueError for
    vectors of another length."""
    for x in (x1, x2):
        shape = aval_of(array_operand("cross", x)).shape
        if shape[one_axis("cross", axis, len(shape))] != 3:
            raise ValueError(f"cross is of vectors of 3 elements; axis {axis} of shape {shape} does not have them")
    return linear.cross(x1, x2, axis=axis)


@eager_jit()
def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """All products of an element of the vector x1 [m] with one of the vector x2 [n]: [m, n]. Raises ValueError for
    other ranks."""
    (x, y), _, _, _ = promoted("outer", (x1, x2))
    x, y = (array_operand("outer", v) for v in (x, y))
    shapes = aval_of(x).shape, aval_of(y).shape
    if any(len(s) != 1 for s in shapes):
        raise ValueError(f"outer is of two vectors; it got shapes {shapes[0]} and {shapes[1]}")
    n, m = shapes[0][0], shapes[1][0]
    wide = linear.broadcast_in_dim_p
    return mul_p(*[wide(v, shape=(n, m), broadcast_dimensions=(i,)) for i, v in enumerate((x, y))])
