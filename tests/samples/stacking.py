"""Arrays side by side along a new axis, an axis taken apart, and copies."""

from __future__ import annotations

import numpy as np

from jitscope.core.dtypes import kind
from jitscope.ops import stacking

from .registry import EVERYTHING, SHAPES, Sample, samples


@samples(stacking.stack_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, count, axis in (
        ("scalars", (), 3, 0), ("first", (2, 3), 2, 0), ("inner", (2, 3), 3, 1), ("last", (2, 3), 2, 2), ("one", (2,), 1, 1),
        ("empty", (0, 2), 2, 1),
    ):  # fmt: skip
        yield Sample(
            label, [draw(shape) for _ in range(count)], lambda *xs, a=axis: np.stack(xs, a), {"axis": axis},
            linear=[list(range(count))],
        )  # fmt: skip


@samples(stacking.unstack_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, axis in (
        ("vector", (3,), 0), ("first", (2, 3), 0), ("inner", (2, 3, 2), 1), ("last", (2, 3), 1), ("empty", (2, 0), 0),
        ("nothing", (0, 2), 0),
    ):  # fmt: skip
        n = shape[axis]
        yield Sample(
            label, [draw(shape)], lambda x, a=axis: list(np.moveaxis(x, a, 0)), {"axis": axis}, result=[dtype] * n,
            linear=[[0]] if n and kind(dtype) in "fc" else [],
        )  # fmt: skip


@samples(stacking.tile_p, EVERYTHING)
def _(draw, dtype):
    for label, shape in SHAPES.items():
        for reps in {(2,) * len(shape), (1, 3, 2)[: len(shape)], (0, 1, 1)[: len(shape)]}:
            yield Sample(
                f"{label} by {reps}", [draw(shape)], lambda x, r=reps: np.tile(x, r) if x.ndim else x, {"reps": reps},
                linear=[[0]], least=1,
            )  # fmt: skip
