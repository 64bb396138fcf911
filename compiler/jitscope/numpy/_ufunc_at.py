"""The methods of ufuncs that work at given places: `at` and `reduceat`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.array import Array
from ..control.scan import scan
from ..core import dtypes
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.elementwise import and_p, gt_p, lt_p
from ..ops.families import scalar_like
from ..ops.indexing import GatherScatterMode, iota
from ..ops.linear import concatenate_p, convert, full, reshape, slice_in_dim
from . import arithmetic
from ._folding import as_dtype, result_dtype
from ._index import ARRAY, INT, NEW, SCALAR, SLICE, Index, Item, parse
from ._ufunc import kind_of
from .at import At
from .dtypes import requested
from .logic import chosen, truth
from .operands import lenient, one_axis, operand_and_aval, operands
from .reading import index_vectors, read
from .reductions import strong
from .selecting import take
from .structure import array_operand, broadcast_to, moveaxis
from .updates import updated


# at ------------------------------------------------------------------------------------------------------------------


def at(of: Any, a: Any, indices: Any, b: Any) -> Any:
    """See `ufunc.at`."""
    own = of._own.get("at")
    values = () if b is None else (b,)
    if own is not None:
        return own(a, indices, *values)
    if b is not None:
        x = array_operand(f"{of.__name__}.at", a)
        if of._func in _SCATTER:
            return _scattered(_SCATTER[of._func], x, indices, b)
        dtype = result_dtype(of, x, operand_and_aval(f"{of.__name__}.at", b, 2)[0])
        if of._func in _CHOOSE and dtypes.kind(dtype) in "iuf":
            return _scattered(_CHOOSE[of._func], as_dtype(x, dtype), indices, b)
    return _changed(of, a, _plain(indices), *values)


_SCATTER = {arithmetic.add: "add", arithmetic.multiply: "multiply", arithmetic.subtract: "subtract"}
_CHOOSE = {arithmetic.maximum: "max", arithmetic.minimum: "min"}


def _scattered(how: str, x: Any, indices: Any, b: Any) -> Any:
    if kind_of(x) != "b":
        return getattr(At(x)[indices], how)(b)
    wide, b = as_dtype(x, dtypes.int32), as_dtype(truth(how, b), dtypes.int32)
    return as_dtype(getattr(At(wide)[indices], how)(b), dtypes.bool_)


def _plain(indices: Any) -> Any:
    """Index expressions without masks and lists: those are numbers before anything is traced."""
    if not isinstance(indices, tuple):
        mask = isinstance(indices, (Array, np.ndarray)) and indices.dtype == np.bool_
        return np.nonzero(np.asarray(indices)) if mask else indices
    parts: list[Any] = []
    for part in indices:
        part = np.asarray(part, None if len(part) else np.int32) if isinstance(part, list) else part
        mask = isinstance(part, (Array, np.ndarray)) and part.dtype == np.bool_ and part.ndim
        parts.extend(np.nonzero(np.asarray(part)) if mask else [part])
    return tuple(parts)


@eager_jit(static="of")
def _changed(of: Any, a: Any, indices: Any, *values: Any) -> Any:
    """The function at one place after the other, since a place may come twice."""
    x = array_operand(f"{of.__name__}.at", a)
    values = tuple(array_operand(f"{of.__name__}.at", b) for b in values)
    dtype = result_dtype(of, x, *values)
    x, values = as_dtype(x, dtype), tuple(as_dtype(b, dtype) for b in values)
    shape = aval_of(x).shape
    index = parse(tuple(indices) if isinstance(indices, list) else indices, shape)
    x = reshape(x, index.shape)
    if not any(item.kind == ARRAY for item in index.items):
        index = index._replace(added=())
        return reshape(_set(x, index, of(read(x, index), *values)), shape)
    vectors, axes, outer = index_vectors(index, GatherScatterMode.FILL_OR_DROP)
    count, picked = math.prod(outer), [item for item in index.items if item.kind in (INT, SCALAR, ARRAY)]
    vectors = reshape(vectors, (count, len(axes)))
    # What is still negative is out of bounds in front. Unsigned, it is not counted from the end once more at each step.
    sizes = np.asarray([index.shape[axis] for axis in axes], aval_of(vectors).dtype)
    vectors = chosen("at", lt_p(vectors, scalar_like(vectors, 0)), sizes, vectors)
    vectors = as_dtype(vectors, dtypes.uint64 if aval_of(vectors).dtype.itemsize == 8 else dtypes.uint32)

    def step(x: Any, row: Any) -> tuple[Any, None]:
        place, values = row
        items = [Item(SCALAR, i.axis, place[picked.index(i)]) if i in picked else i for i in index.items]
        here = Index(tuple(items), index.shape, (), 0)
        return _set(x, here, of(read(x, here), *values)), None

    rows = [_rows(b, index, outer) for b in values]
    return reshape(scan(step, x, (vectors, rows))[0] if count else x, shape)


def _set(x: Any, index: Index, values: Any) -> Any:
    return updated(x, index, values, "set", GatherScatterMode.FILL_OR_DROP, False, False)


def _rows(b: Any, index: Index, outer: tuple[int, ...]) -> Any:
    """Values broadcast to the shape of x[index], with the axes of the index arrays as one in front."""
    kept = [1 if item.kind == NEW else item.value[1] for item in index.items if item.kind in (NEW, SLICE)]
    first, rank = index.arrays_at, len(outer)
    b = broadcast_to(b, (*kept[:first], *outer, *kept[first:]))
    b = moveaxis(b, tuple(range(first, first + rank)), tuple(range(rank)))
    return reshape(b, (math.prod(outer), *kept))


# reduceat ------------------------------------------------------------------------------------------------------------


@lenient
def reduceat(of: Any, a: Any, indices: Any, axis: Any, dtype: Any) -> Any:
    """See `ufunc.reduceat`."""
    own = of._own.get("reduceat")
    if own is not None:
        return own(a, indices, axis=axis, dtype=dtype)
    if axis is None or isinstance(axis, (tuple, list)):
        raise ValueError(f"{of.__name__}.reduceat runs along one axis, not along {axis}")
    return _by_stretches(of, a, np.asarray(indices) if isinstance(indices, list) else indices, axis, dtype)


@eager_jit(static="of axis dtype")
def _by_stretches(of: Any, a: Any, indices: Any, axis: int, dtype: Any) -> Any:
    name = f"{of.__name__}.reduceat"
    x, starts = array_operand(name, a), array_operand(name, indices)
    if not aval_of(x).ndim or aval_of(starts).ndim != 1:
        raise ValueError(
            f"{name} takes an array with axes and a vector of indices, not shapes {aval_of(x).shape} and "
            f"{aval_of(starts).shape}"
        )
    axis = one_axis(name, axis, aval_of(x).ndim)
    x = strong(x if dtype is None else as_dtype(x, requested(dtype, name)))
    rows = moveaxis(x, axis, 0)
    size, count, rank = aval_of(rows).shape[0], aval_of(starts).size, aval_of(rows).ndim
    starts = convert(starts, dtypes.default_int())
    ends = (
        concatenate_p(slice_in_dim(starts, 1, count), full((1,), size, dtypes.default_int()), dimension=0)
        if count
        else starts
    )

    def step(values: Any, row: Any) -> tuple[Any, None]:
        place, element = row
        inside = reshape(
            and_p(*operands(name, gt_p(*operands(name, place, starts)), lt_p(*operands(name, place, ends)))),
            (count, *[1] * (rank - 1)),
        )
        return chosen(name, inside, of(values, element), values), None

    out = take(rows, starts, 0)
    if size and aval_of(out).size:
        out, _ = scan(step, out, (iota(dtypes.default_int(), (size,)), rows))
    return moveaxis(out, 0, axis)
