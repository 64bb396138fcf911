"""Differences, gradients and integrals along an axis, and running totals with options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Axes
from ..core.avals import aval_of
from ..core.errors import ShapeError
from ..eager.functions import eager_jit
from ..ops.elementwise import abs_p, and_p, div_p, eq_p, gt_p, lt_p, ne_p
from ..ops.families import scalar_like
from ..ops.linear import add_p, concatenate_p, mul_p, reshape, slice_in_dim, sub_p, where as choose
from ..symbolic.dimension import is_symbolic_dim
from ._ufunc import kind_of
from .arithmetic import remainder
from .joining import concatenate
from .operands import (
    broadcast,
    cast,
    integer,
    listed,
    number_like,
    one_axis,
    operand,
    operand_and_aval,
    operands,
    promoted,
)
from .reductions import strong, sum as sum_over
from .running import cumsum
from .structure import array_operand, moveaxis


__all__ = ["diff", "ediff1d", "gradient", "trapezoid", "unwrap"]


@eager_jit(static="n axis")
def diff(
    a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None
) -> Array:
    """The differences of neighbours along `axis`, `n` times: [..., m, ...] to [..., m - n, ...]. Of booleans: whether
    they differ.

    `prepend` and `append`, arrays or numbers, are joined on before (not where n is 0). Raises ValueError for a negative
    `n`.
    """
    x = array_operand("diff", a)
    axis = one_axis("diff", axis, aval_of(x).ndim)
    if integer("diff", n, "n", ValueError) < 0:
        raise ValueError(f"diff: n must not be negative, it is {n}")
    if n == 0:
        return x
    parts = [_end("diff", prepend, x, axis), x, _end("diff", append, x, axis)]
    if prepend is not None or append is not None:
        x = concatenate([part for part in parts if part is not None], axis)
    for _ in range(n):
        size = aval_of(x).shape[axis]
        high, low = (slice_in_dim(x, *edges, axis=axis) for edges in ((min(1, size), size), (0, max(size - 1, 0))))
        x = ne_p(high, low) if aval_of(x).dtype == dtypes.bool_ else sub_p(high, low)
    return x


def _end(name: str, extra: Any, x: Any, axis: int) -> Any:
    """What is joined to `x`; a number stands for one slice."""
    if extra is None:
        return None
    extra = array_operand(name, extra)
    thin = tuple(1 if i == axis else m for i, m in enumerate(aval_of(x).shape))
    return extra if aval_of(extra).shape else broadcast(extra, (), thin)


@eager_jit()
def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Array:
    """The differences [n - 1] of neighbours of the raveled array, n elements, between `to_begin` and `to_end`. Raises
    TypeError for booleans."""
    x = array_operand("ediff1d", ary)
    size = aval_of(x).size
    x = reshape(x, (size,))
    x = sub_p(slice_in_dim(x, min(1, size), size), slice_in_dim(x, 0, max(size - 1, 0)))
    ends = [
        None if v is None else reshape(cast(*operand_and_aval("ediff1d", v), aval_of(x).dtype), (aval_of(v).size,))
        for v in (to_begin, to_end)
    ]
    out = concatenate([v for v in (ends[0], x, ends[1]) if v is not None])
    return out if ends == [None, None] else strong(out)


@eager_jit(static="axis")
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """The integral of `y` along `axis` by trapezoids, at the places `x` (a vector, or of the shape of `y`) or at
    distances `dx` (which broadcast as `y` does): [..., n] to floats [...]."""
    values, _, _, _ = promoted("trapezoid", (y,) if x is None else (y, x), inexact=True)
    y, x = array_operand("trapezoid", values[0]), None if x is None else array_operand("trapezoid", values[1])
    last = aval_of(y).ndim - 1
    y = moveaxis(y, one_axis("trapezoid", axis, last + 1), last)
    size = aval_of(y).shape[last]
    first = 1 if is_symbolic_dim(size) or size else 0
    pairs = add_p(slice_in_dim(y, first, size, axis=last), slice_in_dim(y, 0, size - first, axis=last))
    if x is None:
        width, given = operand_and_aval("trapezoid", dx)
        if given.ndim:
            width = moveaxis(_of_rank(width, last + 1), axis, -1)
    else:
        width = diff(x) if aval_of(x).ndim == 1 else moveaxis(diff(x, axis=axis), axis, -1)
        given = aval_of(width)
    if given.ndim:  # as NumPy does, whatever numpy_rank_promotion says
        pairs, width = (_of_rank(v, max(last + 1, given.ndim)) for v in (pairs, width))
    terms = mul_p(*operands("trapezoid", pairs, width))
    return mul_p(sum_over(terms, aval_of(terms).ndim - 1), scalar_like(terms, 0.5))


def _of_rank(x: Any, rank: int) -> Any:
    """`x`, with axes of one element in front."""
    shape = aval_of(x).shape
    return x if len(shape) >= rank else reshape(x, (1,) * (rank - len(shape)) + shape)


@eager_jit(static="axis edge_order")
def gradient(
    f: ArrayLike, *varargs: ArrayLike | Sequence[float], axis: Axes = None, edge_order: int | None = None
) -> Array | list[Array]:
    """The slopes of `f` along `axis` (an int or several; None: all, as a list), by central differences, one-sided at the
    ends. `varargs`: nothing, one distance for all, or for each axis a distance or the places.

    Raises ValueError for axes of fewer than two elements, NotImplementedError for any `edge_order`.
    """
    if edge_order is not None:
        raise NotImplementedError("gradient: edge_order= is not supported; the ends have the slopes of their pairs")
    (x, *varargs), _, _, _ = promoted("gradient", (f, *varargs), inexact=True)  # pyright: ignore[reportAssignmentType]
    x = array_operand("gradient", x)
    rank = aval_of(x).ndim
    axes = list(range(rank)) if axis is None else [one_axis("gradient", i, rank) for i in listed(axis)]
    steps: Sequence[Any] = varargs or (1.0,)
    steps = list(steps) * len(axes) if len(steps) == 1 else list(steps)
    if len(steps) != len(axes):
        raise ShapeError(f"gradient: {len(steps)} distances for {len(axes)} axes")
    slopes = [_slope(x, i, operand("gradient", h)) for i, h in zip(axes, steps)]
    return slopes[0] if len(slopes) == 1 else slopes


def _slope(x: Any, axis: int, h: Any) -> Any:
    size = aval_of(x).shape[axis]
    if size < 2:
        raise ValueError(f"gradient: axis {axis} of shape {aval_of(x).shape} needs two elements or more")
    if not aval_of(h).ndim:
        piece = [
            slice_in_dim(x, *edges, axis=axis)
            for edges in ((0, 1), (1, 2), (0, size - 2), (2, size), (size - 2, size - 1), (size - 1, size))
        ]
        inner = sub_p(piece[3], piece[2])
        first, last = sub_p(piece[1], piece[0]), sub_p(piece[5], piece[4])
        slopes = concatenate_p(first, mul_p(inner, number_like(inner, 0.5)), last, dimension=axis)
        return div_p(*operands("gradient", slopes, h))
    if aval_of(h).shape != (size,):
        raise ValueError(f"gradient: {aval_of(h).shape[0]} places for an axis of size {size}")
    column = tuple(-1 if i == axis else 1 for i in range(aval_of(x).ndim))
    width = reshape(diff(h), tuple(size - 1 if c == -1 else 1 for c in column))
    slope = div_p(*operands("gradient", diff(x, axis=axis), width))
    left, right = (slice_in_dim(width, a, b, axis=axis) for a, b in ((0, size - 2), (1, size - 1)))
    low, high = (slice_in_dim(slope, a, b, axis=axis) for a, b in ((0, size - 2), (1, size - 1)))
    # Each side's slope counts by the other side's width.
    total = mul_p(*operands("gradient", low, right)), mul_p(*operands("gradient", high, left))
    inner = div_p(*operands("gradient", add_p(*total), add_p(left, right)))
    return concatenate_p(
        slice_in_dim(slope, 0, 1, axis=axis), inner, slice_in_dim(slope, size - 2, size - 1, axis=axis), dimension=axis
    )


@eager_jit(static="axis")
def unwrap(
    p: ArrayLike, discont: ArrayLike | None = None, axis: int = -1, period: ArrayLike = 6.283185307179586
) -> Array:
    """Phases made continuous along `axis`: jumps of more than `discont` (default: half a period) lose whole periods.
    Raises ValueError for complex numbers."""
    if kind_of(operand("unwrap", p)) == "c":
        raise ValueError("unwrap: phases must be real")
    x = strong(array_operand("unwrap", promoted("unwrap", (p, period))[0][0]))
    axis = one_axis("unwrap", axis, aval_of(x).ndim)
    size = aval_of(x).shape[axis]
    step = diff(x, axis=axis)
    whole = cast(*operand_and_aval("unwrap", period), aval_of(x).dtype)
    half = div_p(whole, scalar_like(step, 2))
    wrapped = sub_p(remainder(add_p(step, half), whole), half)
    wrapped = choose(_edge(wrapped, step, half), half, wrapped)
    jump = sub_p(wrapped, step)
    limit = half if discont is None else cast(*operand_and_aval("unwrap", discont), aval_of(x).dtype)
    jump = choose(lt_p(abs_p(step), limit), scalar_like(jump, 0), jump)
    fixed = add_p(slice_in_dim(x, min(1, size), size, axis=axis), cumsum(jump, axis))
    return concatenate_p(slice_in_dim(x, 0, min(1, size), axis=axis), fixed, dimension=axis)


def _edge(wrapped: Any, step: Any, half: Any) -> Any:
    """Where half a period stands for minus half a one."""
    low = eq_p(wrapped, sub_p(scalar_like(step, 0), half))
    return and_p(low, gt_p(step, scalar_like(step, 0)))
