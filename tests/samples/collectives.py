"""Collectives: arguments and results of all examples along axis 0."""

from __future__ import annotations

import numpy as np

from jitscope.core.dtypes import int32
from jitscope.ops import collective as col

from .registry import EVERYTHING, Sample, samples


N = 3


def _stacked(function):
    """The oracle of a reduction: every example gets the result."""
    return lambda x: np.broadcast_to(function(x), x.shape)


def _collective(primitive, kinds, cases, **options):
    @samples(primitive, kinds)
    def _(draw, dtype):
        for label, shape, params, oracle in cases:
            x = draw.distinct((N, *shape)) if options.get("distinct") else draw((N, *shape))
            more = {k: v for k, v in options.items() if k != "distinct"}
            yield Sample(label, [x], oracle, params, axis="i", result=dtype, **more)


_ALL = {"axes": ("i",)}
PLAIN_SHAPES = (("scalar", ()), ("empty", (2, 0)), ("rank 3", (2, 3, 2)), ("ones", (1, 3, 1)))


def _reduced(function):
    return [(name, shape, _ALL, _stacked(function)) for name, shape in PLAIN_SHAPES]


_collective(col.psum_p, "iufc", _reduced(lambda x: x.sum(0, dtype=x.dtype)), linear=[[0]])
_collective(col.pmax_p, "biufc", _reduced(lambda x: x.max(0)), distinct=True)
_collective(col.pmin_p, "biufc", _reduced(lambda x: x.min(0)), distinct=True)


def _gathered(at, tiled):
    def oracle(x):
        whole = np.concatenate(list(x), at) if tiled else np.stack(list(x), at)
        return np.stack([whole] * N)

    return oracle


def _scattered(at, tiled):
    def oracle(x):
        total = x.sum(0, dtype=x.dtype)
        return np.stack(np.split(total, N, at) if tiled else list(np.moveaxis(total, at, 0)))

    return oracle


def _exchanged(split, concat, tiled):
    def oracle(x):
        parts = [np.split(v, N, split) if tiled else list(np.moveaxis(v, split, 0)) for v in x]
        join = np.concatenate if tiled else np.stack
        return np.stack([join([parts[j][i] for j in range(N)], concat) for i in range(N)])

    return oracle


def _permuted(perm):
    def oracle(x):
        out = np.zeros_like(x)
        for a, b in perm:
            out[b] = x[a]
        return out

    return oracle


_AXIS = {"axis_name": "i"}
_GATHERED = [
    (f"{shape} at {at}{' tiled' * tiled}", shape, {"all_gather_dimension": at, "axis_size": N, "tiled": tiled, **_AXIS}, _gathered(at, tiled))
    for shape, at, tiled in (((), 0, False), ((2, 3), 0, False), ((2, 3), 2, False), ((2, 3), 1, True), ((0, 2), 1, True), ((1, 3), 0, True))
]  # fmt: skip
_collective(col.all_gather_p, EVERYTHING, _GATHERED, linear=[[0]])
# What flows back counts once, and not for each device: derivatives are tried in shard_map (tests/many_devices).
_collective(col.all_gather_invariant_p, EVERYTHING, _GATHERED, smooth=())
_collective(col.all_gather_reduced_p, EVERYTHING, _GATHERED, smooth=())
_SCATTERED = [
    (f"{shape} at {at}{' tiled' * tiled}", shape, {"scatter_dimension": at, "axis_size": N, "tiled": tiled, **_AXIS}, _scattered(at, tiled))
    for shape, at, tiled in (((3,), 0, False), ((2, 3), 1, False), ((2, 6), 1, True), ((3, 0), 0, True), ((3, 1), 0, False))
]  # fmt: skip
_collective(col.reduce_scatter_p, "iufc", _SCATTERED, linear=[[0]])
_collective(col.unreduced_reduce_scatter_p, "iufc", _SCATTERED, smooth=())
_collective(col.all_to_all_p, EVERYTHING, [
    (f"{shape} {a} to {b}{' tiled' * tiled}", shape, {"split_axis": a, "concat_axis": b, "tiled": tiled, **_AXIS}, _exchanged(a, b, tiled))
    for shape, a, b, tiled in (((3,), 0, 0, False), ((3, 2), 0, 1, False), ((2, 3, 4), 1, 0, False), ((2, 6), 1, 0, True),
                               ((3, 0), 0, 1, True), ((1, 3), 1, 1, True))
], linear=[[0]])  # fmt: skip
_collective(col.ppermute_p, EVERYTHING, [
    (f"{shape} {perm}", shape, {"perm": perm, **_AXIS}, _permuted(perm))
    for shape, perm in (((), ((0, 1), (1, 2), (2, 0))), ((2, 3), ((0, 2), (2, 1))), ((0,), ()), ((1, 2), ((1, 1),)))
], linear=[[0]])  # fmt: skip


@samples(col.axis_index_p, "i")
def _(draw, dtype):
    # It has no operand: one that it does not read says how many examples there are.
    yield Sample("scalar", [draw((N,))], lambda x: np.arange(N, dtype=int32), axis="i", result=int32,
                 fun=lambda x: col.axis_index_p(axis_name="i"))  # fmt: skip
