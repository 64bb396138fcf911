"""Products of groups of rows, each group with a matrix of its own; the groups' sizes are data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from ..backend.placement import laid
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..core.avals import ShapedArray, aval_of
from ..eager.functions import eager_jit
from ..ops import dot as dots
from ..ops.elementwise import and_p, ge_p, lt_p
from ..ops.indexing import iota
from ..ops.linear import broadcast_in_dim, full, reduce_sum_p, sub_p, transpose, where
from ..ops.precision import as_precision
from ..ops.reduce import cumsum_p, reduce_or_p
from .products import DotDimensionNumbers, PrecisionLike, in_wider


@dataclasses.dataclass(frozen=True)
class RaggedDotDimensionNumbers:
    """Which axes of a ragged product do what: `dot_dimension_numbers` as in `dot`; the one axis of lhs that is divided
    into groups; and the one of rhs, if any, that has a matrix for each group."""

    dot_dimension_numbers: DotDimensionNumbers
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]

    def __post_init__(self) -> None:
        (x_contracting, y_contracting), (x_batch, y_batch) = self.dot_dimension_numbers
        numbers = (tuple(x_contracting), tuple(y_contracting)), (tuple(x_batch), tuple(y_batch))
        object.__setattr__(self, "dot_dimension_numbers", numbers)
        object.__setattr__(self, "lhs_ragged_dimensions", tuple(self.lhs_ragged_dimensions))
        object.__setattr__(self, "rhs_group_dimensions", tuple(self.rhs_group_dimensions))


_ROWS = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


def ragged_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    group_offset: ArrayLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """The rows of lhs [m, k] in groups one after another, each group times its matrix of rhs [g, k, n]: [m, n].

    group_sizes: integers [g]; rows behind the last group give zeros. Options as in `dot`. Raises TypeError for axes, sizes
    and dtypes that do not fit, NotImplementedError for a `group_offset`.
    """
    return ragged_dot_general(
        lhs, rhs, group_sizes, _ROWS, precision, preferred_element_type, group_offset, out_sharding
    )


def ragged_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    group_offset: ArrayLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """A product like `dot` in which one axis of lhs is divided into g groups.

    If that axis is free, each group has its own factor, along the group axis of rhs. If it is a contracting axis, each group is
    contracted by itself: the result has a new first axis of size g. If it is a batch axis, the groups change nothing. group_sizes:
    integers [g], or [..., g] with sizes of their own for the batch axes of lhs and those of the ragged one's kind before
    it. What lies behind the last group counts as zero. Differentiable in every case. Raises TypeError for axes, sizes and
    dtypes that do not fit, NotImplementedError for a `group_offset`.
    """
    if out_sharding is not None:
        rest = (ragged_dot_dimension_numbers, precision, preferred_element_type, group_offset)
        return laid(out_sharding, lambda x, y, sizes: ragged_dot_general(x, y, sizes, *rest), lhs, rhs, group_sizes)
    if group_offset is not None:
        raise NotImplementedError(
            "ragged_dot_general: a group_offset is not supported; cut group_sizes and rhs instead"
        )
    numbers = ragged_dot_dimension_numbers
    lhs, rhs, result = in_wider("ragged_dot_general", lhs, rhs)
    _check(aval_of(lhs), aval_of(rhs), aval_of(group_sizes), numbers)
    preferred = result if preferred_element_type is None else dtypes.explicit(preferred_element_type)
    return _product(lhs, rhs, group_sizes, numbers=numbers, precision=as_precision(precision), preferred=preferred)


@eager_jit(static="numbers precision preferred", nested=True)
def _product(
    lhs: Any, rhs: Any, group_sizes: Any, *, numbers: RaggedDotDimensionNumbers, precision: Any, preferred: Any
) -> Any:
    (x_contracting, y_contracting), (x_batch, y_batch) = numbers.dot_dimension_numbers
    x_rank, y_rank = aval_of(lhs).ndim, aval_of(rhs).ndim
    kind, ragged = _kind(x_rank, numbers), numbers.lhs_ragged_dimensions[0]
    plain = numbers.dot_dimension_numbers
    own_matrix = (*numbers.rhs_group_dimensions, *y_contracting, *y_batch)
    width = math.prod(n for a, n in enumerate(aval_of(rhs).shape) if a not in own_matrix)
    by_rows = kind == "free" and width > math.prod(aval_of(lhs).shape[a] for a in x_contracting)
    if by_rows:  # the rows are fewer numbers than the results
        lhs = _by_group(lhs, ragged, group_sizes, _before(x_rank, kind, ragged, x_batch, x_contracting))
        plain = ((*_up(x_contracting), 0), (*y_contracting, *numbers.rhs_group_dimensions)), (_up(x_batch), y_batch)
    if kind == "contracting":
        y_ragged = y_contracting[x_contracting.index(ragged)]
        lhs = _by_group(lhs, ragged, group_sizes, _before(x_rank, kind, ragged, x_batch, x_contracting))
        rhs = _by_group(rhs, y_ragged, group_sizes, _before(y_rank, kind, y_ragged, y_batch, y_contracting))
        plain = ((_up(x_contracting), _up(y_contracting)), ((0, *_up(x_batch)), (0, *_up(y_batch))))
    out = dots.dot_general_p(lhs, rhs, dimension_numbers=plain, precision=precision, preferred_element_type=preferred)
    if kind != "free" or by_rows:
        return out
    # Every row times every matrix; of these the row's own is taken. (So the ways back are single products, too.)
    x_free, y_free = dots.free_axes(x_rank, x_contracting, x_batch), dots.free_axes(y_rank, y_contracting, y_batch)
    at = {a: i for i, a in enumerate((*x_batch, *x_free))}
    group = len(at) + y_free.index(numbers.rhs_group_dimensions[0])
    before = _before(x_rank, kind, ragged, x_batch, x_contracting)
    mask = _inside(group_sizes, aval_of(out).shape, [at[a] for a in before], group, at[ragged])
    dtype = aval_of(out).dtype
    own = where(mask, out, full(aval_of(out).shape, 0, dtype))
    return reduce_or_p(own, axes=(group,)) if dtype == dtypes.bool_ else reduce_sum_p(own, axes=(group,))


def _up(axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(a + 1 for a in axes)


def _kind(rank: int, numbers: RaggedDotDimensionNumbers) -> str:
    """What the ragged axis is in the product."""
    (x_contracting, _), (x_batch, _) = numbers.dot_dimension_numbers
    ragged = numbers.lhs_ragged_dimensions[0]
    return "contracting" if ragged in x_contracting else "batch" if ragged in x_batch else "free"


def _before(rank: int, kind: str, ragged: int, batch: Sequence[int], contracting: Sequence[int]) -> tuple[int, ...]:
    """The axes for which the groups may have sizes of their own."""
    if kind == "batch":
        return tuple(batch[: list(batch).index(ragged)])
    own = list(contracting) if kind == "contracting" else list(dots.free_axes(rank, contracting, batch))
    return (*batch, *own[: own.index(ragged)])


def _by_group(x: Any, ragged: int, group_sizes: Any, before: tuple[int, ...]) -> Any:
    """`x` once for each group, along a new first axis, with zeros outside of the group."""
    aval, groups = aval_of(x), aval_of(group_sizes).shape[-1]
    shape = (groups, *aval.shape)
    mask = _inside(group_sizes, shape, _up(before), 0, ragged + 1)
    copies = broadcast_in_dim(x, shape, tuple(range(1, aval.ndim + 1)))
    return where(mask, copies, full(shape, 0, aval.dtype))


def _inside(group_sizes: Any, shape: Sequence[int], before: Sequence[int], group: int, ragged: int) -> Any:
    """Whether the place along axis `ragged` of an array of `shape` is in the group along axis `group`; the sizes' other
    axes are at `before`."""
    sizes = aval_of(group_sizes)
    lead, n = sizes.ndim - 1, shape[ragged]
    ends = cumsum_p(group_sizes, axis=lead, reverse=False)
    starts = sub_p(ends, group_sizes)
    small = (*sizes.shape, n)
    places = iota(sizes.dtype, small, lead + 1)
    ends, starts = (broadcast_in_dim(v, small, tuple(range(lead + 1))) for v in (ends, starts))
    inside = and_p(ge_p(places, starts), lt_p(places, ends))
    axes = (*before[:lead], group, ragged)
    order = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    return broadcast_in_dim(transpose(inside, order), tuple(shape), tuple(sorted(axes)))


def _check(x: ShapedArray, y: ShapedArray, sizes: ShapedArray, numbers: RaggedDotDimensionNumbers) -> None:
    said = f"ragged_dot_general of {x.short()} and {y.short()} with group sizes {sizes.short()}"
    (x_contracting, y_contracting), (x_batch, y_batch) = numbers.dot_dimension_numbers
    if dtypes.kind(sizes.dtype) not in "iu" or not sizes.ndim:
        raise TypeError(f"{said}: the sizes are an array of integers, of one axis or more")
    if len(numbers.lhs_ragged_dimensions) != 1 or not 0 <= numbers.lhs_ragged_dimensions[0] < x.ndim:
        raise TypeError(f"{said}: lhs_ragged_dimensions={numbers.lhs_ragged_dimensions} is not one axis of lhs")
    if any(
        not 0 <= a < n.ndim
        for axes, n in (((*x_contracting, *x_batch), x), ((*y_contracting, *y_batch), y))
        for a in axes
    ):
        raise TypeError(f"{said}: dot_dimension_numbers={numbers.dot_dimension_numbers} name axes that do not exist")
    kind, ragged = _kind(x.ndim, numbers), numbers.lhs_ragged_dimensions[0]
    expected = tuple(x.shape[a] for a in _before(x.ndim, kind, ragged, x_batch, x_contracting))
    if sizes.ndim > 1 and sizes.shape[:-1] != expected:
        raise TypeError(f"{said}: the sizes should have shape {(*expected, sizes.shape[-1])}, or one axis")
    own = numbers.rhs_group_dimensions
    if kind != "free" and own:
        raise TypeError(
            f"{said}: rhs has a group axis only where the ragged axis of lhs is neither a contracting nor a batch axis"
        )
    if kind == "free":
        if len(own) != 1 or not 0 <= own[0] < y.ndim or own[0] in (*y_contracting, *y_batch):
            raise TypeError(f"{said}: rhs_group_dimensions={own} is not one free axis of rhs")
        if y.shape[own[0]] != sizes.shape[-1]:
            raise TypeError(f"{said}: rhs has {y.shape[own[0]]} groups, there are {sizes.shape[-1]} sizes")
