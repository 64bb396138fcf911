"""Norms of vectors and matrices, and what is read off singular values."""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Axes
from ..core.avals import aval_of
from ..core.dtypes import real_part
from ..eager.functions import eager_jit
from ..ops import linalg as ops
from ..ops.linear import convert, mul_p, reshape
from .arithmetic import absolute, power
from .factoring import arrays_of_floats, matrices, precision_of, svd, svdvals
from .operands import listed, one_axis, operand
from .reductions import any as any_of, max as largest, min as smallest, sum as sum_over
from .rounding import real
from .selecting import where
from .structure import array_operand, expand_dims, moveaxis
from .transcendental import sqrt


__all__ = ["cond", "matrix_norm", "matrix_rank", "norm", "vector_norm"]


INF = float("inf")


def _length(x: Any, axis: Any, keepdims: bool) -> Any:
    """The square root of the sum of squares."""
    return sqrt(sum_over(real(mul_p(x, ops.conjugate(x))), axis=axis, keepdims=keepdims))


@eager_jit(static="axis keepdims ord", nested=True)
def vector_norm(x: ArrayLike, /, *, axis: Axes = None, keepdims: bool = False, ord: float | str | None = 2) -> Array:
    """The norm of vectors along `axis` (an int, a tuple, or None: of all elements): (sum |x|^ord)^(1/ord), the largest
    (smallest) |x| for ord inf (-inf), the number of nonzero elements for ord 0. Raises ValueError for text as ord."""
    if isinstance(ord, str):
        raise ValueError(f"vector_norm: ord is a number, not {ord!r}")
    if ord in (1, INF, -INF):
        # Sums and choices of integers are integers.
        size = absolute(array_operand("vector_norm", x))
        if ord == 1:
            return sum_over(size, axis=axis, keepdims=keepdims)
        if ord == INF:
            return largest(size, axis=axis, keepdims=keepdims, initial=0)
        return smallest(size, axis=axis, keepdims=keepdims)
    x = arrays_of_floats("vector_norm", x)
    if ord is None or ord == 2:
        return _length(x, axis, keepdims)
    size = absolute(x)
    if ord == 0:
        return sum_over(convert(x != 0, real_part(aval_of(x).dtype)), axis=axis, keepdims=keepdims)
    return power(sum_over(power(size, ord), axis=axis, keepdims=keepdims), 1 / ord)


@eager_jit(static="keepdims ord", nested=True)
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Array:
    """The norms of matrices [..., m, n], floats [...] ([..., 1, 1] with `keepdims`); `ord` as in `norm`. Raises
    ValueError for arrays of fewer axes and other ords."""
    x = arrays_of_floats("matrix_norm", x)
    if aval_of(x).ndim < 2:
        raise ValueError(f"matrix_norm needs two axes or more; the array has shape {aval_of(x).shape}")
    return norm(x, ord=ord, keepdims=keepdims, axis=(-2, -1))


@eager_jit(static="ord axis keepdims", nested=True)
def norm(x: ArrayLike, ord: float | str | None = None, axis: Axes = None, keepdims: bool = False) -> Array:
    """The norm of vectors along one axis, of matrices along two, or (axis None) of the vector or matrix that x is; with
    ord None also, of all elements as one vector.

    Of vectors: see `vector_norm`; ord None is 2. Of matrices: "fro" (or None; the root of the sum of squares), "nuc"
    (the sum of singular values), 2 and -2 (the largest and the smallest), 1 and -1 (the largest and smallest sum of a
    column's absolute values), inf and -inf (of a row's). Raises ValueError for other ords and numbers of axes.
    """
    x = arrays_of_floats("norm", x)
    rank = aval_of(x).ndim
    if axis is None and ord is None:
        return _length(x, None, keepdims)
    axes = tuple(range(rank)) if axis is None else tuple(listed(axis))
    axes = tuple(one_axis("norm", a, rank) for a in axes)
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"norm is of vectors (one axis) or matrices (two); it got axes {axes}")
    found = _of_matrices(x, "fro" if ord is None else ord, axes)
    if not keepdims:
        return found
    return reshape(found, tuple(1 if a in axes else n for a, n in enumerate(aval_of(x).shape)))


def _of_matrices(x: Any, ord: Any, axes: tuple[int, ...]) -> Any:
    if ord in ("fro", "f"):
        return _length(x, axes, False)
    if ord in ("nuc", 2, -2):
        s = svd(moveaxis(x, axes, (-2, -1)), compute_uv=False)
        if ord == "nuc":
            return sum_over(s, axis=-1)
        return largest(s, axis=-1, initial=0) if ord == 2 else smallest(s, axis=-1)
    if ord not in (1, -1, INF, -INF):
        raise ValueError(f"norm: ord of matrices is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, not {ord!r}")
    summed, other = axes if abs(ord) == 1 else axes[::-1]
    sums = sum_over(absolute(x), axis=summed)
    other -= other > summed
    return largest(sums, axis=other, initial=0) if ord > 0 else smallest(sums, axis=other)


@eager_jit(static="p", nested=True)
def cond(x: ArrayLike, p: float | str | None = None) -> Array:
    """The condition numbers of matrices [..., m, n]: the norm `p` of each times that of its inverse; for p None or 2
    (-2) the quotient of its largest and smallest (smallest and largest) singular values. Infinite for singular ones.

    Raises ValueError for empty matrices, and for other p of matrices that are not square.
    """
    x = matrices("cond", x, square=False)
    shape = aval_of(x).shape
    if not shape[-1] or not shape[-2]:
        raise ValueError(f"cond of empty matrices, shape {shape}, is not defined")
    if p in (None, 2, -2):
        s = svdvals(x)
        ends = s[..., 0], s[..., -1]
        found = ends[0] / ends[1] if p != -2 else ends[1] / ends[0]
        if p != -2:
            return found
    else:
        if shape[-1] != shape[-2]:
            raise ValueError(f"cond with p={p!r} needs square matrices; it got shape {shape}")
        inverse = ops.solved(x, ops.identity(aval_of(x)))
        found = norm(x, ord=p, axis=(-2, -1)) * norm(inverse, ord=p, axis=(-2, -1))
    unknown = any_of(x != x, axis=(-2, -1))
    return where((found != found) & ~unknown, INF, found)


def matrix_rank(
    M: ArrayLike, rtol: ArrayLike | None = None, *, hermitian: bool = False, tol: ArrayLike | None = None
) -> Array:
    """The number of singular values of matrices [..., m, n] above a bound, an integer array [...]; of a vector or
    number, 1 unless all elements are 0.

    The bound is `rtol` (a number, or one for each matrix; `tol` is its other name), by default the largest singular
    value times max(m, n) eps. `hermitian`: `M` is, which is quicker. Raises ValueError if both `rtol` and `tol` are
    given.
    """
    if tol is not None:
        if rtol is not None:
            raise ValueError("matrix_rank: rtol and tol are two names for one thing; give one of them")
        rtol = tol
    return _rank(M, rtol, hermitian)


@eager_jit(static="hermitian", nested=True)
def _rank(M: Any, bound: Any, hermitian: bool) -> Any:
    x = arrays_of_floats("matrix_rank", M)
    if aval_of(x).ndim < 2:
        return convert(any_of(x != 0), dtypes.int32)
    s = svd(x, full_matrices=False, compute_uv=False, hermitian=hermitian)
    if bound is None:
        least = precision_of(x) * max(aval_of(x).shape[-2:])
        bound = largest(s, axis=-1, initial=0) * aval_of(s).dtype.type(least)
    bound = expand_dims(operand("matrix_rank", bound), -1)
    return sum_over(s > bound, axis=-1)
