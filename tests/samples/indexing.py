"""Gather, scatter and dynamic slices."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitscope.core.dtypes import int32, kind, uint32
from jitscope.ops import indexing as ix

from .registry import EVERYTHING, Sample, samples


CLIP = ix.GatherScatterMode.CLIP
FILL = ix.GatherScatterMode.FILL_OR_DROP
PROMISE = ix.GatherScatterMode.PROMISE_IN_BOUNDS


IOTAS = (("rank 1", (3,), 0), ("empty", (2, 0), 1), ("rank 3", (2, 3, 4), 1), ("ones", (1, 3, 1), 0))


@samples(ix.iota_p, "iufc")
def _(draw, dtype):
    for label, shape, axis in IOTAS:
        numbers = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
        yield Sample(label, [], lambda n=numbers, s=shape: np.broadcast_to(n, s), result=dtype,
                     params={"dtype": dtype, "shape": shape, "dimension": axis})  # fmt: skip


GATHERS = {
    # label: operand, indices, slice sizes, numbers
    "rows": ((5, 3), (4, 1), (1, 3), ix.GatherDimensionNumbers((1,), (0,), (0,))),
    "elements": ((4, 5), (6, 2), (1, 1), ix.GatherDimensionNumbers((), (0, 1), (1, 0))),
    "windows": ((5, 4), (3, 2), (2, 3), ix.GatherDimensionNumbers((0, 2), (), (0, 1))),
    "rank 3": ((3, 4, 2), (2, 3, 1), (2, 1, 2), ix.GatherDimensionNumbers((1, 3), (1,), (1,))),
    "together": ((2, 4, 3), (2, 5, 1), (1, 1, 3), ix.GatherDimensionNumbers((2,), (1,), (1,), (0,), (0,))),
    "together, turned": ((3, 4, 2), (5, 2, 1), (3, 1, 1), ix.GatherDimensionNumbers((0,), (1,), (1,), (2,), (1,))),
    "one": ((4, 3), (1,), (1, 3), ix.GatherDimensionNumbers((0,), (0,), (0,))),
    "ones": ((1, 3, 1), (2, 1), (1, 3, 1), ix.GatherDimensionNumbers((1, 2), (0,), (0,))),
    "empty": ((4, 0), (3, 1), (1, 0), ix.GatherDimensionNumbers((1,), (0,), (0,))),
    "no indices": ((4, 3), (0, 1), (1, 3), ix.GatherDimensionNumbers((1,), (0,), (0,))),
    "scalar": ((), (3, 0), (), ix.GatherDimensionNumbers((), (), ())),
}


def _places(operand, indices, sizes, window, missing, indexed, shared, indices_shared, clip):
    """For each element of a gather's result, or a scatter's updates: its place there, and in the operand (None: out of
    bounds)."""
    rank = len(window) + indices.ndim - 1
    outer = [a for a in range(rank) if a not in window]
    kept = [a for a in range(len(operand)) if a not in missing and a not in shared]
    shape = [0] * rank
    for a, n in zip(outer, indices.shape[:-1]):
        shape[a] = n
    for a, k in zip(window, kept):
        shape[a] = sizes[k]
    # One index after the other, as scatter goes through them.
    for place in sorted(np.ndindex(*shape), key=lambda place: [place[a] for a in outer]):
        at = tuple(place[a] for a in outer)
        start = [0] * len(operand)
        for a, i in zip(shared, indices_shared):
            start[a] = at[i]
        inside = True
        for a, i in zip(indexed, indices[at]):
            limit = operand[a] - sizes[a]
            inside &= 0 <= i <= limit
            start[a] = min(max(int(i), 0), limit) if clip else int(i)
        for a, k in zip(window, kept):
            start[k] += place[a]
        yield place, tuple(start) if inside or clip else None, tuple(shape)


def _gather(x, indices, numbers, sizes, mode, fill_value, dtype):
    found, shape = {}, None
    for place, source, whole in _places(x.shape, indices, sizes, *numbers, clip=mode is not FILL):
        found[place], shape = (x[source] if source is not None else fill_value), whole
    if shape is None:
        shape = _gather_shape(x, indices, numbers, sizes)
    out = np.zeros(shape, x.dtype)
    for place, value in found.items():
        out[place] = value
    return out


def _gather_shape(x, indices, numbers, sizes):
    window, missing, _, shared, _ = numbers
    rank = len(window) + indices.ndim - 1
    kept = iter(sizes[a] for a in range(x.ndim) if a not in missing and a not in shared)
    outer = iter(indices.shape[:-1])
    return tuple(next(kept if a in window else outer) for a in range(rank))


def _indices(draw, shape, operand, sizes, indexed, mode, dtype=int32):
    """Index vectors; out of bounds ones too, where the mode says what they mean."""
    low, high = (0, 0) if mode is PROMISE else (-2, 2)
    columns = [draw(shape[:-1], max(low, 0) if np.dtype(dtype).kind == "u" else low, max(operand[a] - sizes[a], 0) + high, dtype)
               for a in indexed]  # fmt: skip
    return np.stack(columns, -1) if columns else np.zeros(shape, dtype)


@samples(ix.gather_p, EVERYTHING)
def _(draw, dtype):
    fills = {"f": (0, -1.5), "c": (2,), "i": (-7,), "u": (9,), "b": (True,)}[kind(dtype)]
    for label, (shape, indices, sizes, numbers) in GATHERS.items():
        for mode, fill in ((CLIP, None), (PROMISE, None), *[(FILL, f) for f in fills[: 1 + (label == "rows")]]):
            if mode is PROMISE and label not in ("rows", "empty"):
                continue
            at = _indices(draw, indices, shape, sizes, numbers.start_index_map, mode)
            params = {"dimension_numbers": numbers, "slice_sizes": sizes, "indices_are_sorted": False,
                      "unique_indices": False, "mode": mode, "fill_value": fill}  # fmt: skip
            oracle = lambda x, i, n=numbers, s=sizes, m=mode, f=fill: _gather(x, i, n, s, m, f, dtype)
            linear = [[0]] if not (mode is FILL and fill) else []
            text = f"{label} {mode.name.lower()} {fill}"
            yield Sample(text, [draw(shape), at], oracle, params, linear=linear, result=dtype)
    yield from _narrow_gathers(draw, dtype)


def _narrow_gathers(draw, dtype):
    numbers = ix.GatherDimensionNumbers((), (0,), (0,))
    for index in (np.dtype(np.int8), np.dtype(np.uint8), uint32):
        for mode in (CLIP, FILL):
            at = draw((5, 1), -100, 120, index)
            params = {"dimension_numbers": numbers, "slice_sizes": (1,), "indices_are_sorted": False, "unique_indices": False,
                      "mode": mode, "fill_value": 1}  # fmt: skip
            oracle = lambda x, i, m=mode: _gather(x, i, numbers, (1,), m, 1, dtype)
            yield Sample(f"{index.name} indices {mode.name.lower()}", [draw((300,)), at], oracle, params, result=dtype,
                         rules=["abstract", "lower"])  # fmt: skip


def scattered(combine):
    """The oracle of a scatter that combines two elements so."""

    def oracle(x, indices, updates, numbers, sizes, mode):
        out = x.copy()
        with np.errstate(over="ignore"):
            for place, target, _ in _places(x.shape, indices, sizes, *numbers, clip=mode is CLIP):
                if target is not None:
                    out[target] = combine(out[target], updates[place])
        return out

    return oracle


def scatter(primitive: Any, combine: Callable[[Any, Any], Any], kinds: str, linear: Sequence[Sequence[int]], unique: bool = False,
            distinct: bool = False, labels: Sequence[str] = ("rows", "rank 3", "one", "empty", "scalar")) -> None:  # fmt: skip
    """Register a scatter; `unique`: its derivative in the updates needs indices that differ."""

    @samples(primitive, kinds)
    def _(draw, dtype):
        for label in labels:
            shape, indices, sizes, numbers = GATHERS[label]
            axes = ix.scatter_numbers(numbers)
            for mode in (CLIP, FILL, PROMISE):
                if mode is PROMISE and label not in ("rows", "empty"):
                    continue
                at = _indices(draw, indices, shape, sizes, numbers.start_index_map, mode)
                size = _gather_shape(np.empty(shape), at, numbers, sizes)
                x, updates = draw(shape), draw(size)
                if distinct and kind(dtype) in "fc":
                    both = draw.distinct((x.size + updates.size,))
                    x, updates = both[: x.size].reshape(shape), both[x.size :].reshape(size)
                params = {"dimension_numbers": axes, "indices_are_sorted": False, "unique_indices": False, "mode": mode}
                oracle = lambda x, i, u, a=axes, s=sizes, m=mode: scattered(combine)(x, i, u, a, s, m)
                yield Sample(f"{label} {mode.name.lower()}", [x, at, updates], oracle, params, result=dtype,
                             linear=[s for s in linear if not (unique and 2 in s)], smooth=[0] if unique else None, least=1)  # fmt: skip
        if unique and kind(dtype) in "fc":
            yield from _unique_scatters(draw, dtype, combine, linear)


def _unique_scatters(draw, dtype, combine, linear):
    numbers = ix.ScatterDimensionNumbers((1,), (0,), (0,))
    for mode in (CLIP, FILL):
        at = np.array([[3], [0], [4], [7 if mode is FILL else 2]], np.int32)
        params = {"dimension_numbers": numbers, "indices_are_sorted": False, "unique_indices": True, "mode": mode}
        oracle = lambda x, i, u, m=mode: scattered(combine)(x, i, u, numbers, (1, 3), m)
        yield Sample(f"unique {mode.name.lower()}", [draw((5, 3)), at, draw((4, 3))], oracle, params, linear=linear)
    single = {"dimension_numbers": ix.ScatterDimensionNumbers((0,), (0,), (0,)), "indices_are_sorted": False,
              "unique_indices": False, "mode": CLIP}  # fmt: skip
    oracle = lambda x, i, u: scattered(combine)(x, i, u, single["dimension_numbers"], (1, 3), CLIP)
    yield Sample("single index", [draw((5, 3)), np.array([2], np.int32), draw((3,))], oracle, single, linear=linear)


scatter(ix.scatter_p, lambda old, new: new, EVERYTHING, [[0], [2], [0, 2]], labels=list(GATHERS))
scatter(ix.scatter_add_p, lambda old, new: old + new, "biufc", [[0], [2], [0, 2]], labels=list(GATHERS))
scatter(ix.scatter_sub_p, lambda old, new: old - new, "iufc", [[0], [2], [0, 2]])
scatter(ix.scatter_mul_p, lambda old, new: old * new, "biufc", [[0], [2]], unique=True)
scatter(ix.scatter_min_p, np.minimum, "biufc", [], distinct=True)
scatter(ix.scatter_max_p, np.maximum, "biufc", [], distinct=True)


DYNAMIC = (("scalar", (), ()), ("rank 1", (5,), (2,)), ("rank 3", (4, 3, 2), (2, 3, 1)), ("ones", (1, 3, 1), (1, 2, 1)),
           ("empty", (2, 0, 3), (1, 0, 2)), ("nothing", (3, 2), (0, 2)))  # fmt: skip


def _starts(draw, shape, label):
    types = itertools.cycle([int32] if label != "rank 3" else [int32, np.dtype(np.int8), uint32])
    return [draw((), -2, n + 1, next(types)) for n in shape]


def _window(shape, sizes, starts):
    first = [min(max(int(s), 0), n - k) for s, n, k in zip(starts, shape, sizes)]
    return tuple(slice(a, a + k) for a, k in zip(first, sizes))


@samples(ix.dynamic_slice_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, sizes in DYNAMIC:
        oracle = lambda x, *starts, sizes=sizes: x[_window(x.shape, sizes, starts)]
        yield Sample(label, [draw(shape), *_starts(draw, shape, label)], oracle, {"slice_sizes": sizes}, linear=[[0]],
                     result=dtype)  # fmt: skip


@samples(ix.dynamic_update_slice_p, EVERYTHING)
def _(draw, dtype):
    def oracle(x, update, *starts):
        out = x.copy()
        out[_window(x.shape, update.shape, starts)] = update
        return out

    for label, shape, sizes in DYNAMIC:
        yield Sample(label, [draw(shape), draw(sizes), *_starts(draw, shape, label)], oracle, linear=[[0], [1], [0, 1]],
                     result=dtype)  # fmt: skip
