"""Cutting an array along an axis."""

from __future__ import annotations

import numpy as np

from jitscope.core.dtypes import kind
from jitscope.ops import split

from .registry import EVERYTHING, Sample, samples


@samples(split.split_p, EVERYTHING)
def _(draw, dtype):
    cases = (("rank 3", (2, 5, 3), (2, 0, 3), 1), ("vector", (4,), (1, 3), 0), ("whole", (2, 3), (3,), 1),
             ("empty", (0, 2), (0, 0), 0), ("nothing of it", (0, 2), (), 0), ("last", (2, 4), (1, 1, 1, 1), 1))  # fmt: skip
    for label, shape, sizes, axis in cases:
        cuts = np.cumsum(sizes)[:-1]
        yield Sample(label, [draw(shape)], lambda x, c=cuts, a=axis, s=sizes: np.split(x, c, a)[: len(s)],
                     {"sizes": sizes, "axis": axis}, result=[dtype] * len(sizes),
                     linear=[[0]] if sizes and kind(dtype) in "fc" else [], least=1)  # fmt: skip
