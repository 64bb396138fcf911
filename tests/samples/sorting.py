"""Sorting."""

from __future__ import annotations

import math

import numpy as np

from jitscope.core.dtypes import float64, int32, kind
from jitscope.ops import approximate, sort as so
from jitscope.xla.cpu_tuning import SORTED_PACKED

from .registry import EVERYTHING, Sample, samples


def _order(keys, axis):
    parts = [part for k in keys for part in ((k.real, k.imag) if np.iscomplexobj(k) else (k,))]
    return np.lexsort(parts[::-1], axis)


def _sort(num_keys, axis):
    def oracle(*xs):
        order = _order(xs[:num_keys], axis)
        return [np.take_along_axis(x, order, axis) for x in xs]

    return oracle


SORTS = (("rank 1", (6,), 0), ("rank 3", (2, 5, 3), 1), ("empty", (2, 0, 3), 1), ("ones", (1, 4, 1), 2))


@samples(so.sort_p, EVERYTHING)
def _(draw, dtype):
    def sample(label, args, axis, num_keys, **more):
        params = {"dimension": axis, "is_stable": True, "num_keys": num_keys}
        return Sample(label, args, _sort(num_keys, axis), params, result=[np.asarray(a).dtype for a in args], **more)

    moving = [1] if kind(dtype) in "fc" else []
    for label, shape, axis in SORTS:
        yield sample(label, [draw.distinct(shape)], axis, 1)
        if kind(dtype) == "c":
            tied = draw.among(shape, [0, 1 + 1j, 1 - 1j, 1 + 2j])
        else:
            tied = draw.among(shape, [0, 1, 2])
        numbers = np.arange(math.prod(shape), dtype=int32).reshape(shape)
        yield sample(f"{label}, payload", [tied, draw(shape), numbers], axis, 1, smooth=moving)
        yield sample(f"{label}, two keys", [tied, draw.among(shape, [0, 1, 2]), numbers], axis, 2, smooth=[])
    big = (4, SORTED_PACKED.value)
    yield sample("large", [draw.among(big, range(100))], 1, 1, smooth=[], rules=["abstract", "lower"])
    args = [draw.among(big, range(100)), draw(big), np.arange(math.prod(big), dtype=int32).reshape(big)]
    yield sample("large, payload", args, 1, 1, smooth=moving, rules=["abstract", "lower", "jvp"])
    if kind(dtype) == "f":
        values = [np.nan, np.inf, -np.inf, 0, -0.0, 1, -1]
        odd = draw.among((20,), values)
        odd[3] = -np.float32(np.nan)
        yield sample("NaN and zeros", [odd, np.arange(20, dtype=int32)], 0, 1, smooth=[], rules=["lower"])
        odd = draw.among(big, values)
        yield sample("large, NaN and zeros", [odd, args[2]], 1, 1, smooth=[], rules=["lower"])
        yield sample("large, NaN alone", [odd], 1, 1, smooth=[], rules=["lower"])


def _greatest(x, k, axis):
    order = np.take(np.argsort(-x.astype(float64), axis, kind="stable"), range(k), axis)
    return [np.take_along_axis(x, order, axis), order]


@samples(approximate.approx_top_k_p, "f")
def _(draw, dtype):
    plain = {"recall_target": 0.95, "reduction_input_size_override": -1, "aggregate_to_topk": True}
    for label, shape, k, axis, most in (("rank 1", (7,), 3, 0, True), ("rank 3", (2, 5, 3), 2, -2, False),
                                        ("empty", (0, 3), 2, 1, True), ("all", (2, 4), 4, 1, False)):  # fmt: skip
        oracle = lambda x, k=k, axis=axis, most=most: _best(x, k, axis % x.ndim, most)
        params = {"k": k, "reduction_dimension": axis, "is_max_k": most, **plain}
        yield Sample(label, [draw.distinct(shape)], oracle, params, result=[dtype, int32])


def _best(x, k, axis, most):
    values, order = _greatest(x if most else -x, k, axis)
    return [values if most else -values, order]


@samples(so.top_k_p, "biuf")
def _(draw, dtype):
    for label, shape, k, axis in (("rank 1", (7,), 3, 0), ("rank 3", (2, 5, 3), 2, 1), ("empty", (0, 3), 2, 1), ("ones", (1, 3, 1), 1, 2),
                                  ("none", (3,), 0, 0), ("all", (2, 4), 4, 1)):  # fmt: skip
        oracle = lambda x, k=k, axis=axis: _greatest(x, k, axis)
        yield Sample(label, [draw.distinct(shape)], oracle, {"k": k, "axis": axis}, result=[dtype, int32])
    if kind(dtype) in "iu":
        oracle = lambda x: _greatest(x, 5, 0)
        yield Sample("large numbers", [draw.bits((30,))], oracle, {"k": 5, "axis": 0}, result=[dtype, int32])
