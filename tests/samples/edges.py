"""Values at the edges: evaluation alone, with known results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jitscope.core.dtypes import bool_, int32, kind
from jitscope.ops import elementwise as ew, linear as li, reduce as re, sort as so

from .registry import Sample, samples


def floats(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


def ints(*values: int) -> np.ndarray:
    return np.asarray(values, np.int32)


def edge(primitive: Any, args: Sequence[np.ndarray], result: Any, **params: Any) -> None:
    """Register one evaluation: arguments and result to the last bits."""
    results = result if isinstance(result, list) else [result]

    @samples(primitive, kind(args[0].dtype))
    def _(draw, dtype):
        if dtype == args[0].dtype:
            text = ", ".join(map(str, args))
            yield Sample(f"edge {text}", list(args), lambda *_: results, params, result=[r.dtype for r in results],
                         rules=["lower"], smooth=[], least=0)  # fmt: skip


NAN, INF = np.nan, np.inf
edge(ew.max_p, [floats(NAN, 1, -INF), floats(1, NAN, -INF)], floats(NAN, NAN, -INF))
edge(ew.min_p, [floats(NAN, 1, INF), floats(1, NAN, INF)], floats(NAN, NAN, INF))
edge(re.reduce_max_p, [floats(1, NAN, 2)], np.float32(NAN), axes=(0,))
edge(re.reduce_level_p, [floats(1, INF, -INF)], np.float32(INF), axes=(0,))
edge(re.reduce_min_p, [floats(1, NAN, 2)], np.float32(NAN), axes=(0,))
edge(li.reduce_sum_p, [floats(1, INF, 2)], np.float32(INF), axes=(0,))
edge(ew.rem_p, [floats(5.5, -5.5, 5.5, -5.5), floats(2, 2, -2, -2)], floats(1.5, -1.5, 1.5, -1.5))
edge(ew.rem_p, [ints(5, -5, 5, -5), ints(3, 3, -3, -3)], ints(2, -2, 2, -2))
edge(ew.div_p, [ints(5, -5, 5, -5), ints(3, 3, -3, -3)], ints(1, -1, -1, 1))
edge(ew.div_p, [floats(1, -1, 0), floats(0, 0, 0)], floats(INF, -INF, NAN))
edge(ew.sign_p, [floats(-0.0, 0.0, NAN, -INF)], floats(0, 0, NAN, -1))
edge(ew.round_p, [floats(0.5, 1.5, -0.5, 2.5)], floats(1, 2, -1, 3), rounding_method=0)
edge(ew.round_p, [floats(0.5, 1.5, -0.5, 2.5)], floats(0, 2, 0, 2), rounding_method=1)
edge(ew.integer_pow_p, [ints(2, -3)], ints(32, -243), y=5)
edge(ew.pow_p, [floats(0, 0, -2, 4), floats(0, 2, 3, 0.5)], floats(1, 0, -8, 2))
edge(ew.clz_p, [ints(0, 1, -1)], ints(32, 31, 0))
edge(ew.log2_p, [floats(8, 0, -1, INF)], floats(3, -INF, NAN, INF))
edge(ew.one_minus_square_p, [floats(1 - 2**-24, 1e-30, 1)], floats(2**-23 - 2**-48, 1, 0))
edge(ew.log1p_p, [floats(1e-7, -1)], floats(1e-7, -INF))
edge(ew.expm1_p, [floats(1e-7, -1e-7)], floats(1e-7, -1e-7))
edge(ew.logistic_p, [floats(-200, 0, 200)], floats(0, 0.5, 1))
edge(ew.tanh_p, [floats(-100, 100, 1e-6)], floats(-1, 1, 1e-6))
edge(ew.erfc_p, [floats(5)], floats(1.5374597944280347e-12))
edge(ew.atanh_p, [floats(1e-6, 1)], floats(1e-6, INF))
edge(ew.asinh_p, [floats(1e-6, 1e30)], floats(1e-6, 69.77067))
edge(ew.sqrt_p, [floats(-1, 0, INF)], floats(NAN, 0, INF))
edge(ew.nextafter_p, [floats(1, 1, NAN), floats(1, INF, 1)], floats(1, 1 + 2**-23, NAN))
edge(li.convert_element_type_p, [floats(2.7, -2.7, 3e9, -3e9, NAN)], ints(2, -2, 2**31 - 1, -(2**31), 0), new_dtype=int32,
     weak_type=False)  # fmt: skip
edge(li.convert_element_type_p, [floats(0, -0.0, 0.5, NAN)], np.array([False, False, True, True]), new_dtype=bool_,
     weak_type=False)  # fmt: skip
edge(
    li.convert_element_type_p,
    [ints(300, -1)],
    np.array([44, 255], np.uint8),
    new_dtype=np.dtype(np.uint8),
    weak_type=False,
)
edge(so.top_k_p, [floats(1, NAN, 3, INF)], [floats(NAN, INF), ints(1, 3)], k=2, axis=0)
