"""Reductions over windows, and what derivatives of maxima need."""

from __future__ import annotations

import itertools

import numpy as np

from jitscope.ops import windows as w
from jitscope.xla.cpu_tuning import WINDOWS_BY_SLICES

from .registry import Sample, samples


def _window(rank, sizes, strides=None, pads=None, base=None, apart=None):
    ones = (1,) * rank
    return {
        "window_dimensions": sizes, "window_strides": strides or ones, "padding": pads or ((0, 0),) * rank,
        "base_dilation": base or ones, "window_dilation": apart or ones,
    }  # fmt: skip


CASES = (
    ("vector", (5,), _window(1, (2,))),
    ("rank 3", (2, 5, 4), _window(3, (1, 3, 2), (1, 2, 1))),
    ("padded", (3, 4), _window(2, (2, 2), (1, 2), ((1, 0), (0, 2)))),
    ("cut", (4, 5), _window(2, (2, 2), None, ((-1, 0), (1, -1)))),
    ("apart", (3, 4), _window(2, (2, 2), None, ((1, 1), (0, 0)), (2, 1), (1, 2))),
    ("strides alone", (5, 2), _window(2, (1, 1), (2, 1))),
    ("too large", (2, 2), _window(2, (3, 1))),
    ("empty", (0, 3), _window(2, (1, 2))),
    ("scalar", (), _window(0, ())),
)
LONG = ("long", (WINDOWS_BY_SLICES.value + 9,), _window(1, (WINDOWS_BY_SLICES.value + 5,), (2,), ((1, 2),)))
LONG_APART = (
    "long, apart",
    (WINDOWS_BY_SLICES.value + 9,),
    _window(1, (WINDOWS_BY_SLICES.value + 5,), None, ((0, 0),), (2,)),
)


def held_by(shape, window):
    """For each window, the indices of the elements it holds, in order."""
    sizes, strides, pads, base, apart = window.values()
    axes = []
    for n, k, s, (low, high), b, d in zip(shape, sizes, strides, pads, base, apart):
        length = ((n - 1) * b + 1 if n else 0) + low + high
        count = max(0, (length - (k - 1) * d - 1) // s + 1)
        seen = [[i * s + j * d - low for j in range(k)] for i in range(count)]
        axes.append([[p // b for p in row if p % b == 0 and 0 <= p // b < n] for row in seen])
    counts = tuple(map(len, axes))
    return counts, {at: list(itertools.product(*[a[i] for a, i in zip(axes, at)])) for at in np.ndindex(*counts)}


def _reduced(x, window, function, nothing):
    counts, places = held_by(x.shape, window)
    out = np.full(counts, nothing, x.dtype)
    for at, held in places.items():
        if held:
            out[at] = function(np.array([x[p] for p in held]))
    return out


for _primitive, _function, _kinds in (
    (w.reduce_window_sum_p, lambda v: v.sum(), "iufc"), (w.reduce_window_max_p, np.max, "biuf"),
    (w.reduce_window_min_p, np.min, "biuf"),
):  # fmt: skip

    @samples(_primitive, _kinds)
    def _(draw, dtype, function=_function, primitive=_primitive):
        adds = primitive is w.reduce_window_sum_p
        for label, shape, window in (*CASES, LONG, LONG_APART):
            x = draw(shape) if adds or dtype.kind == "b" else draw.distinct(shape)
            oracle = lambda x, window=window: _reduced(x, window, function, primitive.identity(dtype))
            if not adds and any(not held for held in held_by(shape, window)[1].values()):
                continue  # the identity stands where there is nothing; infinities have no differences
            yield Sample(label, [x], oracle, window, linear=[[0]] if adds else [], least=1, loose=4)


def _taken(x, key, window, best):
    counts, places = held_by(key.shape, window)
    out = np.zeros(counts, x.dtype)
    for at, held in places.items():
        if held:
            out[at] = x[held[best([key[p] for p in held])]]
    return out


def _spread(x, key, window, best):
    out = np.zeros(key.shape, x.dtype)
    for at, held in held_by(key.shape, window)[1].items():
        if held:
            out[held[best([key[p] for p in held])]] += x[at]
    return out


for _greatest in (True, False):
    _best = np.argmax if _greatest else np.argmin

    @samples(w.select_and_gather_add_p, "f")
    def _(draw, dtype, greatest=_greatest, best=_best):
        for label, shape, window in (*CASES, LONG):
            oracle = lambda x, key, window=window: _taken(x, key, window, best)
            yield Sample(f"{label} {greatest}", [draw(shape), draw.distinct(shape)], oracle, {"greatest": greatest, **window},
                         linear=[[0]], flat=[1], least=1)  # fmt: skip

    @samples(w.select_and_scatter_add_p, "f")
    def _(draw, dtype, greatest=_greatest, best=_best):
        for label, shape, window in (*CASES, LONG, LONG_APART):
            x = draw(w.windows_of(shape, **window))
            oracle = lambda x, key, window=window: _spread(x, key, window, best)
            yield Sample(f"{label} {greatest}", [x, draw.distinct(shape)], oracle, {"greatest": greatest, **window},
                         linear=[[0]], flat=[1], least=1)  # fmt: skip
