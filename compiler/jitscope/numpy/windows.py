"""Windows: weights for a stretch of samples, as NumPy defines them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Window
from ..core.avals import from_protocol
from ..core.trace import Tracer
from ..eager.functions import eager_jit
from ..ops.linear import convert
from ._ufunc import describe
from .creation import asarray
from .dtypes import array_of
from .operands import integer, operand_and_aval
from .ranges import linspace
from .special import i0
from .transcendental import sqrt


def _points(name: str, M: Any) -> int:
    """A number of points, cut off to an int. Raises TypeError for negative ones."""
    M = integer(name, M, "M") if isinstance(M, Tracer) else int(from_protocol(M))
    if M < 0:
        raise TypeError(f"{name}: the number of points must not be negative, it is {M}")
    return M


def _window(name: str, doc: str) -> Window:
    def fun(M: int) -> Any:
        values = getattr(np, name)(_points(name, M))
        return array_of(values.astype(dtypes.default_float()))

    return describe(
        fun,
        name,
        f"The {doc} window of M points, in the default float. A float M is cut off; raises TypeError for a negative one.",
    )


bartlett, blackman = _window("bartlett", "Bartlett (triangular)"), _window("blackman", "Blackman")
hamming, hanning = _window("hamming", "Hamming"), _window("hanning", "Hann")


def kaiser(M: int, beta: ArrayLike) -> Array:
    """The Kaiser window of M points, in the default float: I₀(β √(1 - t²)) / I₀(β) for t from -1 to 1. `beta`, a number,
    may be traced. A float M is cut off. Raises TypeError for a negative one, ValueError for complex `beta`."""
    return _kaiser(beta, _points("kaiser", M))


@eager_jit(static="M")
def _kaiser(beta: Any, M: int) -> Any:
    _, aval = operand_and_aval("kaiser", beta)
    if dtypes.is_complex(aval.dtype):
        raise ValueError(f"kaiser: beta is a real number, not {aval.short()}")
    dtype = dtypes.default_float()
    if M == 1:
        return asarray(np.ones(1, dtype))
    width = convert(asarray(beta), dtype)
    places = linspace(-1, 1, M, dtype=dtype)
    return i0(width * sqrt(1 - places * places)) / i0(width)
