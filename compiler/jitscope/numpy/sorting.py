"""Sorting and searching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..control.fori_loop import fori_loop
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.elementwise import and_p, eq_p, imag_p, le_p, lt_p, ne_p, not_p, or_p, real_p, shift_right_logical_p
from ..ops.families import scalar_like
from ..ops.indexing import GatherDimensionNumbers, GatherScatterMode, gather, iota
from ..ops.linear import add_p, convert, full, neg_p, reduce_sum_p, reshape, sub_p, where as choose
from ..ops.sort import sort_p, take_along, top_k_p
from ..symbolic.dimension import is_static
from ._ufunc import kind_of
from .dtypes import requested
from .indexing import getitem
from .joining import unstack
from .logic import greater_equal
from .operands import broadcast, integer, one_axis, operand_and_aval, promoted, scalar_of
from .structure import array_operand, flipped


__all__ = [
    "argpartition",
    "argsort",
    "digitize",
    "lexsort",
    "partition",
    "searchsorted",
    "sort",
    "sort_complex",
    "top_k",
]


def _checked(name: str, a: Any, axis: int | None, kind: Any, order: Any) -> tuple[Any, int]:
    if kind is not None or order is not None:
        raise TypeError(f"{name}: kind and order are not supported; stable=True or False chooses the algorithm")
    x = array_operand(name, a)
    if axis is None:
        return reshape(x, (aval_of(x).size,)), 0
    if not aval_of(x).ndim:
        raise ValueError(f"{name}: a scalar has no axis {axis}; sort x.ravel()")
    return x, one_axis(name, axis, aval_of(x).ndim)


@eager_jit(static="axis kind order stable descending")
def sort(
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """The elements in ascending order along `axis` (None: of the raveled array), NaN last. Complex numbers go by their
    real, then their imaginary part. Raises ValueError for scalars, TypeError for `kind` and `order`."""
    x, axis = _checked("sort", a, axis, kind, order)
    (result,) = sort_p(x, dimension=axis, is_stable=stable, num_keys=1)
    return flipped(result, [axis]) if descending else result


@eager_jit(static="axis kind order stable descending dtype")
def argsort(
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
    dtype: DTypeLike | None = None,
) -> Array:
    """The indices that sort along `axis` (None: the raveled array), see `sort`. Equal elements keep their order."""
    x, axis = _checked("argsort", a, axis, kind, order)
    # Read backwards, sorted, and turned round, equal elements keep their order in descending order, too.
    turned = flipped(x, [axis]) if descending and stable else x
    shape = aval_of(x).shape
    index = iota(dtypes.default_int(), shape, axis)
    _, places = sort_p(turned, index, dimension=axis, is_stable=stable, num_keys=1)
    if descending:
        places = flipped(places, [axis])
        if stable:
            places = sub_p(scalar_like(places, shape[axis] - 1), places)
    return places if dtype is None else convert(places, requested(dtype, "argsort"))


@eager_jit()
def sort_complex(a: ArrayLike) -> Array:
    """The elements [..., n] along the last axis in ascending order, as complex numbers."""
    result = sort(a)
    dtype = aval_of(result).dtype
    wide = dtypes.is_integer(dtype) and dtype.itemsize == 8
    return convert(result, dtypes.complex128 if wide else dtypes.complex_of(dtype))


@eager_jit(static="axis batch_size")
def lexsort(keys: ArrayLike | Sequence[ArrayLike], axis: int = -1, *, batch_size: int = 16) -> Array:
    """The indices, in the shape of a key, that sort along `axis` by several keys of one shape, the last one first.
    By so many keys as `batch_size` says it is sorted at once; more are sorted by one after another. Raises TypeError without keys,
    ValueError for keys of different shapes and a `batch_size` below 1."""
    if integer("lexsort", batch_size, "batch_size") < 1:
        raise ValueError(f"lexsort: batch_size is 1 or more, not {batch_size}")
    if not isinstance(keys, (list, tuple)):
        keys = [reshape(k, aval_of(keys).shape[1:]) for k in _rows(array_operand("lexsort", keys))]
    xs = [array_operand("lexsort", k) for k in keys]
    if not xs:
        raise TypeError("lexsort needs at least one key")
    if len({aval_of(x).shape for x in xs}) > 1:
        raise ValueError(f"lexsort: the keys have shapes {', '.join(str(aval_of(x).shape) for x in xs)}")
    if not aval_of(xs[0]).ndim:
        integer("lexsort", axis, "axis")
        return full((), 0, dtypes.default_int())
    axis = one_axis("lexsort", axis, aval_of(xs[0]).ndim)
    index = iota(dtypes.default_int(), aval_of(xs[0]).shape, axis)
    for start in range(0, len(xs), batch_size):
        batch = xs[start : start + batch_size]
        batch = [take_along(x, index, axis) for x in batch] if start else batch
        index = sort_p(*batch[::-1], index, dimension=axis, is_stable=True, num_keys=len(batch))[-1]
    return index


def _rows(x: Any) -> list[Any]:
    return list(unstack(x))


@eager_jit(static="k axis mode sorted")
def top_k(a: ArrayLike, k: int, /, *, axis: int = -1, mode: str = "largest", sorted: bool = True) -> list[Array]:
    """[the `k` greatest elements along an axis, or with `mode` "smallest" the least, the best one first, and their indices]: `a`
    [..., n] to [..., k], both; of equal elements the first comes first. `sorted=False` leaves the order open, and changes nothing. Raises
    ValueError for complex numbers, another mode and a k that is negative or greater than the axis."""
    x = array_operand("top_k", a)
    if dtypes.is_complex(aval_of(x).dtype):
        raise ValueError(f"top_k: complex numbers have no order; it got {aval_of(x).short()}")
    if mode not in ("largest", "smallest"):
        raise ValueError(f"top_k: mode is 'largest' or 'smallest', not {mode!r}")
    axis, k = one_axis("top_k", axis, aval_of(x).ndim), integer("top_k", k, "k")
    turned = x if mode == "largest" else _turned(x)
    values, places = top_k_p(turned, k=k, axis=axis, is_stable=True)
    return [values if mode == "largest" else _turned(values), places]


def _turned(x: Any) -> Any:
    """In the opposite order: the same function turns it back."""
    return neg_p(x) if dtypes.is_float(aval_of(x).dtype) else not_p(x)


def _kth(name: str, a: Any, kth: Any, axis: int) -> int:
    """The axis. Raises TypeError for a `kth` that is not an int, ValueError (as NumPy) for one out of bounds."""
    _, aval = operand_and_aval(name, a)
    if dtypes.is_complex(aval.dtype):
        raise NotImplementedError(f"{name} does not take complex numbers: use sort")
    axis = one_axis(name, axis, aval.ndim)
    kth, size = integer(name, kth, "kth", ValueError), aval.shape[axis]
    if not -size <= kth < size:
        raise ValueError(f"{name}: kth, {kth}, is out of bounds for axis {axis} of shape {aval.shape}")
    return axis


def partition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """The elements along `axis` so that the kth is where it would be sorted, lesser ones before it: sorted, here. Raises
    ValueError for a kth out of bounds, NotImplementedError for complex numbers."""
    return sort(a, _kth("partition", a, kth, axis))


@eager_jit(static="kth axis")
def argpartition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """The indices (32 bits) that `partition` along `axis`: those that sort, here."""
    return argsort(a, _kth("argpartition", a, kth, axis), dtype=_INDEX)


# Searching -----------------------------------------------------------------------------------------------------------

_INDEX = np.dtype(np.int32)
"""Of places in one vector; argsort, as JAX has it, gives the default integer."""


def search(ordered: Any, values: Any, side: str, index: Any, unrolled: bool = False) -> Any:
    """Where `values` go into a sorted vector, by halving: as many steps as the size has bits."""
    size = aval_of(ordered).size
    shape = aval_of(values).shape
    low, high = full(shape, 0, index), full(shape, size, index)
    one = scalar_of(1, index, False)

    def step(_: Any, bounds: tuple[Any, Any]) -> tuple[Any, Any]:
        low, high = bounds
        middle = shift_right_logical_p(add_p(low, high), one)
        element = _pick(ordered, middle)
        before = _sorts_before(element, values) if side == "left" else not_after(element, values)
        searching = lt_p(low, high)
        return (
            choose(and_p(searching, before), add_p(middle, one), low),
            choose(searching, choose(before, high, middle), high),
        )

    steps = size.bit_length() if is_static((size,)) else 32
    if not unrolled:
        return fori_loop(0, steps, step, (low, high))[0]
    for i in range(steps):
        low, high = step(i, (low, high))
    return low


def _pick(vector: Any, places: Any) -> Any:
    numbers = GatherDimensionNumbers((), (0,), (0,))
    return gather(vector, reshape(places, (*aval_of(places).shape, 1)), numbers, (1,), mode=GatherScatterMode.CLIP)


def _sorts_before(x: Any, y: Any) -> Any:
    """x < y where NaN is greater than all else; complex numbers go by their real, then their imaginary parts."""
    if kind_of(x) == "c":
        (a, c), (b, d) = ((real_p(v), imag_p(v)) for v in (x, y))
        return or_p(_sorts_before(a, b), and_p(not_p(_sorts_before(b, a)), _sorts_before(c, d)))
    if kind_of(x) != "f":
        return lt_p(x, y)
    return or_p(lt_p(x, y), and_p(eq_p(x, x), ne_p(y, y)))


def not_after(x: Any, y: Any) -> Any:
    """x <= y where NaN is greater than all else."""
    if kind_of(x) == "c":
        return not_p(_sorts_before(y, x))
    if kind_of(x) != "f":
        return le_p(x, y)
    return or_p(le_p(x, y), ne_p(y, y))


@eager_jit(static="side method")
def searchsorted(
    a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None, *, method: str = "scan"
) -> Array:
    """Where the values `v` [...] go into the sorted vector `a` [n] to keep it sorted: before equal elements (`side`
    "left") or after them ("right"), as 32-bit integers [...].

    `sorter` [n] are the indices that sort `a`. `method` "compare_all" compares with every element, "sort" and "scan"
    search by halving. Raises ValueError for other sides and methods and where `a` is not a vector.
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    if method not in ("scan", "scan_unrolled", "sort", "compare_all"):
        raise ValueError(f"searchsorted: method {method!r} is none of 'scan', 'scan_unrolled', 'sort', 'compare_all'")
    x, y = (array_operand("searchsorted", w) for w in operands_apart("searchsorted", a, v))
    if aval_of(x).ndim != 1:
        raise ValueError(f"searchsorted: the sorted array must be a vector; it has shape {aval_of(x).shape}")
    if sorter is not None:
        x = _pick(x, array_operand("searchsorted", sorter))
    index = _INDEX
    if not aval_of(x).size:
        return full(aval_of(y).shape, 0, index)
    if method == "compare_all":
        size, shape = aval_of(x).size, aval_of(y).shape
        rows = broadcast(reshape(x, (size, *[1] * len(shape))), (size, *[1] * len(shape)), (size, *shape))
        columns = broadcast(y, shape, (size, *shape))
        before = _sorts_before(rows, columns) if side == "left" else not_after(rows, columns)
        return reduce_sum_p(convert(before, index), axes=(0,))
    return search(x, y, side, index, method == "scan_unrolled")


def operands_apart(name: str, *xs: Any) -> list[Array]:
    """Operands of one dtype, each of its own shape."""
    return promoted(name, xs)[0]


@eager_jit(static="right method")
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False, *, method: str | None = None) -> Array:
    """The number (32 bits) of the bin each element [...] lies in: bins are given by ascending or descending edges [n].
    With `right`, bins contain their upper edge, else the lower one. `method`: see `searchsorted`. Raises ValueError for
    edges that are not a vector."""
    x, edges = array_operand("digitize", x), array_operand("digitize", bins)
    if aval_of(edges).ndim != 1:
        raise ValueError(f"digitize: bins must be a vector; they have shape {aval_of(edges).shape}")
    size = aval_of(edges).size
    if size == 0:
        return full(aval_of(x).shape, 0, _INDEX)
    ascending = greater_equal(getitem(edges, -1), getitem(edges, 0))
    edges = choose(ascending, edges, flipped(edges, [0]))
    found = searchsorted(edges, x, "left" if right else "right", method="scan" if method is None else method)
    return choose(ascending, found, sub_p(scalar_like(found, size), found))
