"""The general convolution, against loops over its result."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jitscope.core.dtypes import bfloat16, bool_, complex64, float32, int32, kind
from jitscope.ops import conv
from jitscope.ops.precision import Precision

from .registry import EVERYTHING, Sample, samples


class Case(NamedTuple):
    """Shapes, and what differs from a window that moves by one over an array without padding, batch and features first."""

    label: str
    x: tuple[int, ...]
    y: tuple[int, ...]
    more: dict[str, Any] = {}
    specs: tuple[tuple[int, ...], ...] | None = None


LAST = ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))  # NHWC, HWIO, NHWC
MIXED = ((2, 0, 1), (1, 2, 0), (1, 2, 0))
CASES = (
    Case("rank 3", (2, 3, 5), (4, 3, 2)),
    Case("no space", (2, 3), (4, 3)),
    Case("two axes, strides", (2, 2, 5, 4), (3, 2, 3, 2), {"window_strides": (2, 3), "padding": ((1, 1), (2, 0))}),
    Case("features last", (2, 5, 4, 3), (3, 2, 3, 2), {"padding": ((1, 1), (0, 1))}, LAST),
    Case("axes anywhere", (3, 4, 2), (2, 3, 3), {"window_strides": (2,), "padding": ((2, 1),)}, MIXED),
    Case("three axes", (1, 2, 3, 2, 3), (2, 2, 2, 1, 2), {"padding": ((1, 0), (0, 0), (0, 1))}),
    Case("dilated left", (2, 2, 4), (3, 2, 3), {"lhs_dilation": (2,), "padding": ((1, 2),)}),
    Case("dilated right", (2, 2, 7), (3, 2, 3), {"rhs_dilation": (2,), "window_strides": (2,)}),
    Case("dilated both", (1, 2, 5), (2, 2, 2), {"lhs_dilation": (3,), "rhs_dilation": (4,), "window_strides": (2,),
         "padding": ((3, 1),)}),
    Case("negative padding", (2, 2, 6), (3, 2, 2), {"padding": ((-1, -2),)}),
    Case("feature groups", (2, 6, 4), (4, 3, 2), {"feature_group_count": 2, "padding": ((1, 0),)}),
    Case("one group each", (2, 3, 4), (6, 1, 2), {"feature_group_count": 3, "window_strides": (2,)}),
    Case("feature groups, last", (1, 4, 3, 4), (2, 2, 2, 6), {"feature_group_count": 2}, LAST),
    Case("batch groups", (4, 2, 4), (6, 2, 2), {"batch_group_count": 2, "padding": ((0, 1),)}),
    Case("batch groups, axes anywhere", (3, 4, 4), (2, 4, 3), {"batch_group_count": 2}, MIXED),
    Case("all batch groups", (3, 2, 4), (3, 2, 2), {"batch_group_count": 3, "window_strides": (3,)}),
    Case("ones", (1, 1, 1), (1, 1, 1)),
    Case("window longer than all", (2, 2, 2), (3, 2, 4)),
    Case("empty batch", (0, 2, 3), (3, 2, 2)),
    Case("no features", (2, 0, 3), (3, 0, 2)),
    Case("empty window", (2, 2, 3), (3, 2, 0)),
    Case("no output features", (2, 2, 3), (0, 2, 2)),
)  # fmt: skip


def parameters(case: Case, preferred: Any = None, precision: Any = None) -> dict[str, Any]:
    """The parameters of the primitive."""
    n = len(case.x) - 2
    axes = tuple(range(n + 2))
    plain = {"window_strides": (1,) * n, "padding": ((0, 0),) * n, "lhs_dilation": (1,) * n, "rhs_dilation": (1,) * n,
             "feature_group_count": 1, "batch_group_count": 1}  # fmt: skip
    specs = conv.ConvDimensionNumbers(*(case.specs or (axes,) * 3))
    return plain | case.more | {"dimension_numbers": specs, "precision": precision, "preferred_element_type": preferred}


def spread(x: np.ndarray, axis: int, dilation: int, pads: tuple[int, int] = (0, 0)) -> np.ndarray:
    """Elements of an axis apart, with zeros around them; negative pads cut."""
    n = x.shape[axis]
    wide = np.zeros((*x.shape[:axis], (n - 1) * dilation + 1 if n else 0, *x.shape[axis + 1 :]), x.dtype)
    wide[(slice(None),) * axis + (slice(None, None, dilation),)] = x
    grown = [(max(p, 0) if i == axis else 0, max(q, 0) if i == axis else 0)
             for i, (p, q) in enumerate([pads] * x.ndim)]  # fmt: skip
    wide = np.pad(wide, grown)
    return np.take(wide, range(max(-pads[0], 0), wide.shape[axis] + min(pads[1], 0)), axis)


def convolution(x: np.ndarray, y: np.ndarray, p: dict[str, Any]) -> np.ndarray:
    """Place by place, group by group."""
    x_spec, y_spec, out_spec = p["dimension_numbers"]
    x, y = np.transpose(x, x_spec), np.transpose(y, y_spec)
    for i, (low_high, a, b) in enumerate(zip(p["padding"], p["lhs_dilation"], p["rhs_dilation"])):
        x, y = spread(x, i + 2, a, low_high), spread(y, i + 2, b)
    fg, bg = p["feature_group_count"], p["batch_group_count"]
    sizes = [max(0, (n - k) // s + 1) for n, k, s in zip(x.shape[2:], y.shape[2:], p["window_strides"])]
    out = np.zeros((x.shape[0] // bg, y.shape[0], *sizes), np.result_type(x, y))
    batch, inner, part = x.shape[0] // bg, y.shape[1], y.shape[0] // max(fg, bg)
    for g in range(max(fg, bg)):
        mine = x[g * batch : (g + 1) * batch] if bg > 1 else x[:, g * inner : (g + 1) * inner]
        features = slice(g * part, (g + 1) * part)
        for place in np.ndindex(*sizes):
            window = tuple(slice(i * s, i * s + k) for i, s, k in zip(place, p["window_strides"], y.shape[2:]))
            seen = mine[(slice(None), slice(None), *window)]
            out[(slice(None), features, *place)] = np.tensordot(seen, y[features], (range(1, x.ndim),) * 2)
    return np.transpose(out, np.argsort(out_spec))


def _oracle(x, y, params, result):
    if kind(result) == "b":
        return convolution(x.astype(int), y.astype(int), params) > 0
    return (
        convolution(x.astype(result), y.astype(result), params) if kind(result) in "iu" else convolution(x, y, params)
    )


@samples(conv.conv_general_dilated_p, EVERYTHING)
def _(draw, dtype):
    preferred = {bfloat16: (None, float32), float32: (None, complex64), int32: (None, float32), bool_: (None, int32)}
    for case in CASES:
        some = case.label in ("rank 3", "features last", "feature groups")
        for wanted in preferred.get(dtype, (None,)) if some else (None,):
            precision = (Precision.HIGHEST, Precision.DEFAULT) if case.label == "rank 3" else None
            params = parameters(case, wanted, precision)
            text = "" if wanted is None else f" in {wanted.name}"
            yield Sample(case.label + text, [draw(case.x, -3, 3), draw(case.y, -3, 3)],
                         lambda x, y, p=params, d=wanted or dtype: _oracle(x, y, p, d), params, result=wanted or dtype,
                         linear=[[0], [1]], least=1, holomorphic=kind(dtype) == "c")  # fmt: skip
