"""Reductions and cumulative operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from jitscope.core.dtypes import int32, kind
from jitscope.ops import linear as li, reduce as re

from .registry import Sample, samples


REDUCED = (("scalar", (), ()), ("empty", (2, 0, 3), (0,)), ("rank 3", (2, 3, 4), (0, 2)), ("ones", (1, 3, 1), (0, 1)),
           ("all", (2, 3), (0, 1)), ("nothing", (2, 3), ()))  # fmt: skip
OF_NOTHING = ("of nothing", (2, 0, 3), (1,))


def reduction(primitive: Any, oracle: Callable[..., Any], distinct: bool = False, **options: Any) -> None:
    @samples(primitive, primitive.accepts)
    def _(draw, dtype):
        for label, shape, axes in (*REDUCED, OF_NOTHING):
            x = draw.distinct(shape) if distinct else draw(shape)
            rules = ["abstract", "lower", "batch"] if label == "of nothing" else None
            yield Sample(
                label, [x], lambda x, axes=axes: oracle(x, axes, dtype), {"axes": axes}, rules=rules, **options
            )


def _sum(x, axes, dtype):
    return np.sum(x, axes).astype(x.dtype)


def _least(dtype):
    if kind(dtype) in "fc":
        return complex(-np.inf, -np.inf) if kind(dtype) == "c" else -np.inf
    return False if kind(dtype) == "b" else ml_dtypes.iinfo(dtype).min


def _greatest(dtype):
    if kind(dtype) in "fc":
        return complex(np.inf, np.inf) if kind(dtype) == "c" else np.inf
    return True if kind(dtype) == "b" else ml_dtypes.iinfo(dtype).max


reduction(li.reduce_sum_p, _sum, linear=[[0]], least=1)
reduction(re.reduce_max_p, lambda x, axes, dtype: np.max(x, axes, initial=_least(dtype)), distinct=True)
reduction(re.reduce_level_p, lambda x, axes, dtype: np.max(x, axes, initial=_least(dtype)), distinct=True)
reduction(re.reduce_min_p, lambda x, axes, dtype: np.min(x, axes, initial=_greatest(dtype)), distinct=True)
reduction(re.reduce_prod_p, lambda x, axes, dtype: np.prod(x, axes).astype(x.dtype), loose=4)
reduction(re.reduce_and_p, lambda x, axes, dtype: np.bitwise_and.reduce(x, axes) if axes else x)
reduction(re.reduce_or_p, lambda x, axes, dtype: np.bitwise_or.reduce(x, axes) if axes else x)
reduction(re.reduce_xor_p, lambda x, axes, dtype: np.bitwise_xor.reduce(x, axes) if axes else x)


@samples(re.reduce_prod_p, "f")
def _(draw, dtype):
    for zeros in (1, 2):
        x = draw((2, 4), 0.5, 2)
        x[0, :zeros] = 0
        yield Sample(f"{zeros} zeros", [x], lambda x: np.prod(x, 1), {"axes": (1,)}, loose=4)


CHOSEN = (("rank 1", (4,), 0), ("empty", (2, 0, 3), 0), ("rank 3", (2, 5, 3), 1), ("ones", (1, 3, 1), 2))

for _primitive, _oracle in ((re.argmax_p, np.argmax), (re.argmin_p, np.argmin)):

    @samples(_primitive, "biuf")
    def _(draw, dtype, oracle=_oracle):
        for label, shape, axis in CHOSEN:
            for index in (int32, np.dtype(np.int8)):
                yield Sample(f"{label} {index.name}", [draw(shape)], lambda x, axis=axis: oracle(x, axis),
                             {"axes": (axis,), "index_dtype": index}, result=index)  # fmt: skip
        if kind(dtype) == "f":
            x = draw((3, 5))
            x[0, 2], x[0, 4], x[1, 0] = np.nan, np.nan, np.inf
            yield Sample("NaN", [x], lambda x: oracle(x, 1), {"axes": (1,), "index_dtype": int32}, result=int32)


def cumulative(primitive: Any, ufunc: Any, **options: Any) -> None:
    @samples(primitive, primitive.accepts)
    def _(draw, dtype):
        for label, shape, axis in (("rank 1", (5,), 0), ("empty", (2, 0, 3), 1), ("empty beside", (2, 0, 3), 0),
                                   ("rank 3", (2, 5, 3), 1), ("ones", (1, 3, 1), 2)):  # fmt: skip
            for reverse in (False, True):
                x = draw.distinct(shape) if ufunc in (np.maximum, np.minimum) else draw(shape)
                oracle = lambda x, axis=axis, reverse=reverse: _accumulated(ufunc, x, axis, reverse)
                yield Sample(label + " reverse" * reverse, [x], oracle, {"axis": axis, "reverse": reverse}, **options)


def _accumulated(ufunc, x, axis, reverse):
    if not x.size:
        return x
    turned = np.flip(x, axis) if reverse else x
    out = ufunc.accumulate(turned, axis).astype(x.dtype)
    return np.flip(out, axis) if reverse else out


cumulative(re.cumsum_p, np.add, linear=[[0]], least=1)
cumulative(re.cumprod_p, np.multiply, loose=4)
cumulative(re.cummax_p, np.maximum)
cumulative(re.cummin_p, np.minimum)
cumulative(re.cumlogsumexp_p, np.frompyfunc(lambda x, y: np.log(np.exp(x) + np.exp(y)), 2, 1), loose=8)
