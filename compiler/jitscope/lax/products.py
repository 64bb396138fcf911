"""Products: of matrices, over any axes, of scaled small floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes

from ..backend.placement import laid
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..core.avals import aval_of
from ..ops import dot as dots
from ..ops.linear import broadcast_in_dim, convert, mul_p, reshape
from ..ops.precision import *


__all__ = ["DotAlgorithm", "DotAlgorithmPreset", "DotDimensionNumbers", "Precision", "PrecisionLike", "batch_matmul",
           "dot", "dot_general", "scaled_dot"]  # fmt: skip


DotDimensionNumbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]
"""((axes of lhs, axes of rhs that are contracted in pairs), (batch axes of lhs, of rhs))."""

PrecisionLike = (
    None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset
)
"""How to say how exactly products are computed."""


def dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    dimension_numbers: DotDimensionNumbers | None = None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Sums of products over any axes, with any others side by side: batch axes first, then the other axes of lhs, then
    those of rhs. Without `dimension_numbers`, the product of vectors and matrices.

    Operands of two dtypes are promoted. The result has their dtype, or `preferred_element_type`, which must hold it.
    `precision`: a Precision, its name, one for each operand, a DotAlgorithm, or a DotAlgorithmPreset or its name. Raises
    TypeError for axes, sizes and dtypes that do not fit, ValueError for other ranks than those of vectors and matrices,
    an unknown precision, and an algorithm that the device does not have.
    """
    if out_sharding is not None:
        options = {"precision": precision, "preferred_element_type": preferred_element_type}
        return laid(out_sharding, lambda x, y: dot(x, y, dimension_numbers=dimension_numbers, **options), lhs, rhs)
    x, y = aval_of(lhs), aval_of(rhs)
    if dimension_numbers is None:
        if not (1 <= x.ndim <= 2 and 1 <= y.ndim <= 2 and x.shape[-1] == y.shape[0]):
            raise ValueError(
                f"lax.dot multiplies vectors and matrices whose inner sizes are equal, not {x.short()} and {y.short()}: "
                "give dimension_numbers"
            )
        dimension_numbers = ((x.ndim - 1,), (0,)), ((), ())
    lhs, rhs, result = in_wider("dot", lhs, rhs)
    (x_contracting, y_contracting), (x_batch, y_batch) = dimension_numbers
    numbers = (_axes(x_contracting), _axes(y_contracting)), (_axes(x_batch), _axes(y_batch))
    return dots.dot_general(
        lhs, rhs, numbers, precision, result if preferred_element_type is None else preferred_element_type
    )


def in_wider(name: str, lhs: Any, rhs: Any) -> tuple[Any, Any, Any]:
    """The factors of a product in one dtype, and that of the result where it is another. It is that of one of them: complex before real,
    floats before integers and booleans, then the one of greater range, more exact, wider, signed; so are the factors, but for
    floats neither of which holds the other's numbers: these become float32. Raises TypeError where that says nothing."""
    x, y = aval_of(lhs).dtype, aval_of(rhs).dtype
    if x == y:
        return lhs, rhs, None
    if _width(x) == _width(y):
        raise TypeError(f"lax.{name}: {x} and {y} are equally wide; convert one of the factors with .astype(...)")
    wider, other = sorted((x, y), key=_width, reverse=True)
    if dtypes.is_float(wider) and dtypes.is_float(other) and not _holds(wider, other):
        return convert(lhs, dtypes.float32), convert(rhs, dtypes.float32), wider
    return convert(lhs, wider), convert(rhs, wider), None


def _holds(wider: Any, other: Any) -> bool:
    """Whether a float dtype has all numbers of another, which has no greater range."""
    one, two = ml_dtypes.finfo(wider), ml_dtypes.finfo(other)
    return one.nmant >= two.nmant and one.minexp <= two.minexp


def _width(dtype: Any) -> tuple[Any, ...]:
    dtypes.check_number(dtype)
    real = dtypes.real_part(dtype)
    bits = dtypes.width(real)
    if not dtypes.is_float(real):
        return False, -1, -1, 1 if dtype == dtypes.bool_ else bits, dtypes.kind(dtype) != "u"
    info = ml_dtypes.finfo(real)
    return dtypes.is_complex(dtype), info.maxexp, info.nmant, bits, True


def _axes(axes: int | Sequence[int]) -> tuple[int, ...]:
    return (axes,) if isinstance(axes, int) else tuple(axes)


def dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """`dot` with its options by position: batch axes first, then the other axes of lhs, then those of rhs."""
    return dot(
        lhs,
        rhs,
        dimension_numbers=dimension_numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
        out_sharding=out_sharding,
    )


def batch_matmul(lhs: ArrayLike, rhs: ArrayLike, precision: PrecisionLike = None) -> Array:
    """Products of matrices, pair by pair along the leading axes: [..., m, k] and [..., k, n] to [..., m, n]. Raises
    ValueError for fewer than two axes, or another number of them on the other side, TypeError for sizes that do not
    fit."""
    x, y = aval_of(lhs), aval_of(rhs)
    if x.ndim < 2 or x.ndim != y.ndim:
        raise ValueError(
            f"batch_matmul multiplies arrays of one rank, two or more, matrix by matrix: not {x.short()} and {y.short()}"
        )
    batch = tuple(range(x.ndim - 2))
    return dots.dot_general(lhs, rhs, (((x.ndim - 1,), (x.ndim - 2,)), (batch, batch)), precision)


def scaled_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    lhs_scale: ArrayLike | None = None,
    rhs_scale: ArrayLike | None = None,
    dimension_numbers: DotDimensionNumbers | None = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """`dot` of lhs · lhs_scale and rhs · rhs_scale, where one number scales a block of each operand.

    A scale has its operand's axes, the contracting ones so many times shorter as a block is long; None: 1. Without
    `dimension_numbers`, matrices in the last two axes, pair by pair along the others. Both sides are made bfloat16; the
    result is `preferred_element_type` (None: bfloat16). Raises TypeError for axes and sizes that do not fit. The algorithm is the
    published one of block scaling: scale, then multiply (Open Compute's MX formats).
    """
    x = aval_of(lhs)
    if dimension_numbers is None:
        if x.ndim < 2:
            raise TypeError(f"scaled_dot multiplies matrices; it got {x.short()}")
        batch = tuple(range(x.ndim - 2))
        dimension_numbers = ((x.ndim - 1,), (x.ndim - 2,)), (batch, batch)
    (x_contracting, y_contracting), _ = dimension_numbers
    result = dtypes.bfloat16 if preferred_element_type is None else dtypes.explicit(preferred_element_type)
    return dots.dot_general(
        _scaled("lhs", lhs, lhs_scale, _axes(x_contracting)), _scaled("rhs", rhs, rhs_scale, _axes(y_contracting)), dimension_numbers,
        preferred_element_type=result,
    )  # fmt: skip


def _scaled(name: str, x: Any, scale: Any, contracting: tuple[int, ...]) -> Any:
    """An operand of `scaled_dot` times its scale."""
    aval, small = aval_of(x), convert(x, dtypes.bfloat16)
    if scale is None:
        return small
    blocks = aval_of(scale).shape
    fits = len(blocks) == aval.ndim and all(
        k > 0 and n % k == 0 and n // k > 1 if i in contracting else n == k
        for i, (n, k) in enumerate(zip(aval.shape, blocks))
    )
    if not fits:
        raise TypeError(
            f"scaled_dot: {name} {aval.short()} cannot be scaled by {aval_of(scale).short()}: their sizes are equal but for "
            f"axes {contracting}, where the scale is shorter by a whole factor, 2 or more"
        )
    spread = tuple(
        m for i, (n, k) in enumerate(zip(aval.shape, blocks)) for m in ((k, n // k) if i in contracting else (n,))
    )
    places, at = [], 0
    for i in range(aval.ndim):
        places.append(at)
        at += 2 if i in contracting else 1
    factors = broadcast_in_dim(convert(scale, dtypes.bfloat16), spread, tuple(places))
    return mul_p(small, reshape(factors, aval.shape))
