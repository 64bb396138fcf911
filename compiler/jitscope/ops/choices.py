"""The greatest and the least of floats along last axes by choices that keep NaN, in vectors.

XLA's library loses NaN, so that with it an array is read twice (`ops.nan_of_max`); XLA's own loops keep it, but run along a row one number after
the other. Here a row is a table: with k rows of L numbers, n = m k L, the greatest of each column of k is found first, side by side for
the L columns, and then the greatest of the m L that are left, likewise. XLA writes a reduction of at most 32 numbers out and combines L, a
multiple of 8, in vectors.

Over other axes with many elements behind them, an eighth of the rows is chosen from eight, element by element, until few are left. Over those of few
elements, as those of a pooling (`x.reshape(n, h, 2, w, 2, c).max((2, 4))`), it is that of slices, element by element: XLA's maximum of two keeps NaN."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ..core.avals import aval_of
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import MAX_BY_CHOICES
from .elementwise import max_p, min_p
from .linear import reshape, slice_in_dim, slice_p
from .marks import in_memory


_LANES = (32, 24, 16, 8)
_ROWS, _LONG_ROW = 8, 64
"""Between how many rows is chosen at a time, and how many elements they have at least."""
_PIECES = (8, 7, 6, 5, 4, 3, 2)
_FOR_A_CUT = 40_000
"""Elements of an array for each time that its rows are cut: that is a kernel more."""


def is_by_choices(ctx: Any, axes: Sequence[int]) -> bool:
    """Whether the greatest (or least) of the context's operand over `axes` is found so: in programs for one device."""
    x = ctx.avals_in[0]
    if not _holds(ctx) or sorted(axes) != list(range(x.ndim - len(axes), x.ndim)):
        return False
    return x.dtype.name == "float32" and _tables(*_pieces(x.shape, axes)[1:]) is not None


def is_by_slices(ctx: Any, axes: Sequence[int]) -> bool:
    """Whether it is found slice by slice: over few elements of other axes than the last, in programs for one device."""
    x = ctx.avals_in[0]
    if not _holds(ctx):
        return False
    few = 1 < math.prod(x.shape[axis] for axis in axes) <= MAX_BY_CHOICES.value["slices"]
    return few and x.dtype.name == "float32" and x.ndim - 1 not in axes


def is_by_chosen_rows(ctx: Any, axes: Sequence[int]) -> bool:
    """Whether it is found by choosing between many rows: over axes that follow each other before long rows, in programs for one device."""
    x = ctx.avals_in[0]
    if not _holds(ctx) or x.dtype.name not in ("float32", "float64"):
        return False
    first, behind = min(axes, default=0), max(axes, default=0) + 1
    together = sorted(axes) == list(range(first, behind))
    return together and math.prod(x.shape[first:behind]) > 2 * _ROWS and math.prod(x.shape[behind:]) >= _LONG_ROW


def by_chosen_rows(x: Any, axes: Sequence[int], choose: Callable[[Any, Any], Any]) -> Any:
    """What `choose` finds of the rows of `x` along `axes`."""
    shape, first = aval_of(x).shape, min(axes)
    kept = tuple(size for axis, size in enumerate(shape) if axis not in axes)
    batch, row = math.prod(shape[:first]), math.prod(shape[max(axes) + 1 :])
    count = math.prod(shape) // (batch * row)
    x, rest = reshape(x, (batch, count, row)), []

    def rows(start: int, many: int) -> Any:
        return slice_in_dim(x, start, start + many, axis=1)

    while count > 2 * _ROWS:
        each = count // _ROWS
        rest += [rows(at, 1) for at in range(_ROWS * each, count)]
        x = in_memory(_chosen([rows(i * each, each) for i in range(_ROWS)], choose))
        count = each
    return reshape(_chosen([*rest, *(rows(at, 1) for at in range(count))], choose), kept)


def _chosen(found: list[Any], choose: Callable[[Any, Any], Any]) -> Any:
    while len(found) > 1:
        found = [*map(choose, found[::2], found[1::2]), *(found[-1:] if len(found) % 2 else ())]
    return found[0]


def _holds(ctx: Any) -> bool:
    return (
        MAX_BY_CHOICES.holds(ctx.module.platform)
        and ctx.module.meshes.group is None
        and is_static(ctx.avals_in[0].shape)
    )


def by_slices(x: Any, axes: Sequence[int], choose: Callable[[Any, Any], Any]) -> Any:
    """What `choose` finds of the slices of `x` that the places along `axes` are."""
    shape = aval_of(x).shape
    kept = tuple(size for axis, size in enumerate(shape) if axis not in axes)
    found = []
    for places in itertools.product(*(range(shape[axis]) for axis in axes)):
        at = dict(zip(axes, places))
        starts = tuple(at.get(axis, 0) for axis in range(len(shape)))
        ends = tuple(at[axis] + 1 if axis in at else size for axis, size in enumerate(shape))
        found.append(reshape(slice_p(x, start_indices=starts, limit_indices=ends, strides=None), kept))
    return _chosen(found, choose)


def by_choices(ctx: Any, x: Any, identity: Any, direction: str, axes: Sequence[int]) -> Any:
    """The greatest ("GT") or least ("LT") element of the context's operand `x`, an MLIR value, over its last `axes`; `identity` is the
    least or greatest number there is."""
    (aval,), (out,) = ctx.avals_in, ctx.avals_out

    def choose(a: Any, b: Any) -> Any:
        return ctx.hlo.select(ctx.hlo.or_(ctx.compare(a, b, direction), ctx.compare(a, a, "NE")), a, b)

    def reduced(x: Any, shape: tuple[int, ...], axes: Sequence[int]) -> Any:
        left = tuple(size for axis, size in enumerate(shape) if axis not in axes)
        ctx.avals_in, ctx.avals_out = [aval.update(shape=shape)], [aval.update(shape=left)]
        return ctx.reduce(ctx.reshape(x, ctx.avals_in[0]), identity, choose, axes)

    pieces, shape, axes = _pieces(aval.shape, axes)
    if pieces:
        x = ctx.inline(lambda x: _of_pieces(x, pieces, shape, direction == "GT"), x)
    rows, size = shape[:-1], math.prod(shape)
    tables = _tables(shape, axes) or []
    for lanes, steps in tables:
        each = lanes * steps
        x = reduced(x, (*rows, size // (math.prod(rows) * each), steps, lanes), (len(rows) + 1,))
        (x,) = ctx.hlo.OptimizationBarrierOp([x]).results  # else XLA makes one reduction of them all
        rows, size = out.shape, size // steps
    return reduced(x, (*rows, size // out.size), (len(rows),)) if tables else reduced(x, shape, axes)


def _pieces(shape: tuple[int, ...], axes: Sequence[int]) -> tuple[list[int], tuple[int, ...], Sequence[int]]:
    """Into how many pieces the last `axes` of a row are cut, again and again, which are chosen between first; the shape of the rest, and its axes."""
    length, pieces = math.prod(shape[axis] for axis in axes), []
    if length < _ROWS * _LONG_ROW:
        return [], shape, axes
    while length > MAX_BY_CHOICES.value["steps"]:
        least = _LANES[-1] if pieces else _LONG_ROW
        count = next((k for k in _PIECES if length % k == 0 and length // k >= least), None)
        if count is None:
            break
        pieces.append(count)
        length //= count
    left = (*shape[: len(shape) - len(axes)], length)
    too_few = math.prod(shape) < _FOR_A_CUT * len(pieces)
    if not pieces or too_few or _tables(left, (len(left) - 1,)) is None:
        return [], shape, axes
    return pieces, left, (len(left) - 1,)


def _of_pieces(x: Any, counts: Sequence[int], shape: tuple[int, ...], greatest: bool) -> Any:
    """What is chosen of the pieces of rows, an array of `shape`."""
    batch, choose = math.prod(shape[:-1]), max_p if greatest else min_p
    length = shape[-1] * math.prod(counts)
    for count in counts:
        x, length = reshape(x, (batch, length)), length // count
        pieces = [slice_in_dim(x, i * length, (i + 1) * length, axis=1) for i in range(count)]
        x = in_memory(_chosen(pieces, choose))
    return reshape(x, shape)


def _tables(shape: Sequence[int], axes: Sequence[int]) -> list[tuple[int, int]] | None:
    """The columns and rows of the tables that the last `axes` are one after the other; None if they are no such. The first ones lie along the
    last axis alone: what is read keeps its axes."""
    most, found = MAX_BY_CHOICES.value["steps"], []
    length, left = shape[-1], math.prod(shape[axis] for axis in axes)
    while left > most:
        table = (1, length) if 1 < length <= most else _table(length)
        if table is None:
            return None
        found.append(table)
        length = left = left // table[1]
    return found


def _table(length: int) -> tuple[int, int] | None:
    """How many columns a row of this length has as a table, or as several, and how many rows: 8 or more if there are such."""
    most = MAX_BY_CHOICES.value["steps"]
    for least in (8, 4, 3):
        for lanes in _LANES:
            if length % lanes == 0:
                for steps in range(most, least - 1, -1):
                    if length // lanes % steps == 0:
                        return lanes, steps
    return None
