"""The general dot product."""

from __future__ import annotations

import numpy as np

from jitscope.core.dtypes import bfloat16, bool_, complex64, float32, int32, kind
from jitscope.ops import dot, linear as li
from jitscope.ops.precision import Precision

from .registry import EVERYTHING, Sample, samples


DOTS = (
    ("scalar", (), (), (((), ()), ((), ()))),
    ("vectors", (3,), (3,), (((0,), (0,)), ((), ()))),
    ("matrix × vector", (2, 3), (3,), (((1,), (0,)), ((), ()))),
    ("vector × matrix", (2,), (2, 3), (((0,), (0,)), ((), ()))),
    ("outer", (2,), (3,), (((), ()), ((), ()))),
    ("matrices", (2, 3), (3, 4), (((1,), (0,)), ((), ()))),
    ("turned matrices", (3, 2), (4, 3), (((0,), (1,)), ((), ()))),
    ("rank 3", (2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
    ("shared inside", (3, 2, 4), (4, 5, 2), (((2,), (0,)), ((1,), (2,)))),
    ("two sums crossed", (2, 3, 4), (4, 2, 5), (((2, 0), (0, 1)), ((), ()))),
    ("two shared", (2, 3, 4), (3, 2, 5), (((), ()), ((0, 1), (1, 0)))),
    ("ones", (1, 3), (3, 1), (((1,), (0,)), ((), ()))),
    ("empty", (2, 3), (3, 0), (((1,), (0,)), ((), ()))),
    ("sum of nothing", (2, 0), (0, 3), (((1,), (0,)), ((), ()))),
)  # fmt: skip


def _dot(x, y, numbers, result):
    (x_sum, y_sum), (x_shared, y_shared) = numbers
    names = iter("abcdefghij")
    x_names = [next(names) for _ in x.shape]
    y_names = [next(names) for _ in y.shape]
    for a, b in zip((*x_sum, *x_shared), (*y_sum, *y_shared)):
        y_names[b] = x_names[a]
    out = [x_names[a] for a in x_shared]
    out += [n for i, n in enumerate(x_names) if i not in x_sum and i not in x_shared]
    out += [n for i, n in enumerate(y_names) if i not in y_sum and i not in y_shared]
    text = f"{''.join(x_names)},{''.join(y_names)}->{''.join(out)}"
    if kind(result) == "b":
        return np.einsum(text, x.astype(int), y.astype(int)) > 0
    if kind(result) in "iu":
        x, y = x.astype(result), y.astype(result)
    return np.einsum(text, x, y)


@samples(dot.dot_general_p, EVERYTHING)
def _(draw, dtype):
    preferred = {bfloat16: (None, float32), float32: (None, complex64), int32: (None, float32), bool_: (None, int32)}
    for label, x, y, numbers in DOTS:
        for wanted in preferred.get(dtype, (None,)):
            text = "" if wanted is None else f" in {wanted.name}"
            precision = (Precision.HIGHEST, Precision.DEFAULT) if label == "rank 3" else None
            params = {"dimension_numbers": numbers, "precision": precision, "preferred_element_type": wanted}
            yield Sample(label + text, [draw(x, -3, 3), draw(y, -3, 3)],
                         lambda x, y, n=numbers, d=wanted or dtype: _dot(x, y, n, d), params, result=wanted or dtype,
                         linear=[[0], [1]], least=1, holomorphic=kind(dtype) == "c")  # fmt: skip


@samples(dot.dot_general_p, EVERYTHING)
def _(draw, dtype):
    # Transposes of operands become part of the dot when it is lowered.
    for label, x, y, numbers in DOTS:
        orders = [tuple(range(len(shape)))[::-1] for shape in (x, y)]
        params = {"dimension_numbers": numbers, "precision": None, "preferred_element_type": None}
        yield Sample(f"{label}, turned", [draw(x[::-1], -3, 3), draw(y[::-1], -3, 3)],
                     lambda x, y, n=numbers: _dot(x.T, y.T, n, dtype), least=1, rules=["lower"],
                     fun=lambda x, y, o=orders, p=params: dot.dot_general_p(
                         li.transpose_p(x, permutation=o[0]), li.transpose_p(y, permutation=o[1]), **p))  # fmt: skip
