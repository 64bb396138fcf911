"""Operations that move elements."""

from __future__ import annotations

import numpy as np

from jitscope.ops import linear as li

from .registry import EVERYTHING, Sample, samples


def _linear(label, args, oracle, params):
    return Sample(label, args, oracle, params, linear=[[0]])


@samples(li.broadcast_in_dim_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, new, dims in (("scalar", (), (2, 3), ()), ("empty", (0, 3), (2, 0, 3), (1, 2)),
                                    ("rank 3", (2, 3), (2, 4, 3), (0, 2)), ("ones", (1, 3, 1), (2, 3, 4), (0, 1, 2)),
                                    ("to nothing", (1, 3), (0, 3), (0, 1))):  # fmt: skip
        yield _linear(label, [draw(shape)], lambda x, new=new, dims=dims: _broadcast(x, new, dims),
                      {"shape": new, "broadcast_dimensions": dims})  # fmt: skip


def _broadcast(x, shape, dims):
    spread = np.reshape(x, [x.shape[dims.index(i)] if i in dims else 1 for i in range(len(shape))])
    return np.broadcast_to(spread, shape)


@samples(li.reshape_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, new in (("scalar", (), (1, 1)), ("empty", (2, 0, 3), (3, 0)), ("rank 3", (2, 3, 2), (4, 3)),
                              ("ones", (1, 3, 1), (3,))):  # fmt: skip
        yield _linear(label, [draw(shape)], lambda x, new=new: x.reshape(new), {"new_sizes": new})


@samples(li.squeeze_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, dims in (("scalar", (1, 1), (0, 1)), ("empty", (1, 0, 3), (0,)), ("rank 3", (2, 1, 3), (1,)),
                               ("ones", (1, 3, 1), (0, 2)), ("nothing", (2, 3), ())):  # fmt: skip
        yield _linear(label, [draw(shape)], lambda x, dims=dims: np.squeeze(x, dims), {"dimensions": dims})


@samples(li.transpose_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, order in (("scalar", (), ()), ("empty", (2, 0, 3), (2, 0, 1)), ("rank 3", (2, 3, 4), (1, 2, 0)),
                                ("ones", (1, 3, 1), (2, 1, 0)), ("rank 2", (2, 3), (1, 0))):  # fmt: skip
        yield _linear(label, [draw(shape)], lambda x, order=order: x.transpose(order), {"permutation": order})


@samples(li.slice_p, EVERYTHING)
def _(draw, dtype):
    cases = (("scalar", (), (), (), None), ("empty", (2, 0, 3), (0, 0, 1), (2, 0, 3), None),
             ("rank 3", (4, 3, 5), (1, 0, 1), (3, 3, 5), (1, 2, 3)), ("ones", (1, 3, 1), (0, 1, 0), (1, 3, 1), None),
             ("to nothing", (3, 2), (2, 0), (2, 2), (2, 1)), ("gaps at the end", (7,), (1,), (6,), (2,)))  # fmt: skip
    for label, shape, starts, stops, steps in cases:
        at = tuple(map(slice, starts, stops, steps or [1] * len(starts)))
        params = {"start_indices": starts, "limit_indices": stops, "strides": steps}
        yield _linear(label, [draw(shape)], lambda x, at=at: x[at], params)


@samples(li.pad_p, EVERYTHING)
def _(draw, dtype):
    cases = (("scalar", (), ()), ("empty", (0, 2), ((1, 2, 3), (0, 0, 0))), ("rank 3", (2, 3, 2), ((1, 0, 0), (0, 2, 1), (0, 0, 2))),
             ("ones", (1, 3, 1), ((0, 1, 2), (0, 0, 0), (1, 1, 0))), ("cut", (4, 5), ((-1, 1, 0), (2, -2, 1))),
             ("to nothing", (2, 3), ((-1, -1, 0), (0, 0, 0))))  # fmt: skip
    for label, shape, config in cases:
        yield Sample(label, [draw(shape), draw(())], lambda x, v, c=config: _pad(x, v, c), {"padding_config": config},
                     linear=[[0], [1], [0, 1]], result=dtype)  # fmt: skip


def _pad(x, value, config):
    sizes = [max(0, n + max(n - 1, 0) * i) for n, (_, _, i) in zip(x.shape, config)]
    spread = np.full(sizes, value, x.dtype)
    spread[tuple(slice(None, None, i + 1) for _, _, i in config)] = x
    for axis, (low, high, _) in enumerate(config):
        spread = spread[(slice(None),) * axis + (slice(max(0, -low), spread.shape[axis] - max(0, -high)),)]
    widths = [(max(0, low), max(0, high)) for low, high, _ in config]
    return np.pad(spread, widths, constant_values=value) if widths else spread


@samples(li.rev_p, EVERYTHING)
def _(draw, dtype):
    for label, shape, dims in (("scalar", (), ()), ("empty", (2, 0, 3), (0, 1)), ("rank 3", (2, 3, 2), (0, 2)),
                               ("ones", (1, 3, 1), (1, 2))):  # fmt: skip
        yield _linear(label, [draw(shape)], lambda x, dims=dims: np.flip(x, dims), {"dimensions": dims})


@samples(li.concatenate_p, EVERYTHING)
def _(draw, dtype):
    for label, shapes, axis in (("one", [(2,)], 0), ("empty", [(2, 0), (2, 3), (2, 0)], 1),
                                ("rank 3", [(2, 1, 2), (2, 3, 2)], 1), ("ones", [(1, 3), (2, 3), (1, 3)], 0)):  # fmt: skip
        sets = [[i] for i in range(len(shapes))] + [list(range(len(shapes)))]
        yield Sample(label, [draw(s) for s in shapes], lambda *xs, axis=axis: np.concatenate(xs, axis), {"dimension": axis},
                     linear=sets)  # fmt: skip
