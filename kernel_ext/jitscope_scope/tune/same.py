"""How far the results of two forms of one program are apart, and whether rounding may explain it.

Two forms may add in another order. A number passes if it is off by at most half of its dtype's digits (the root of its eps: 3.5e-4 for
float32, 1.5e-8 for float64), relative to itself or to the root mean square of its array, whichever is larger. NaN and infinities have to
stand in the same places, whole numbers and truth values have to be equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from ml_dtypes import finfo


class Same(NamedTuple):
    """How far apart: the largest absolute and relative difference of two numbers and that in units of the last place, whether all bits are
    equal, why it is too much ("" where it is not), and the largest difference as a share of the number or of its array's root mean
    square, whichever is larger: what the bound is of."""

    max_abs: float = 0.0
    max_rel: float = 0.0
    bits: bool = True
    ulp: float = 0.0
    why: str = ""
    share: float = 0.0

    def joined(self, other: Same) -> Same:
        """The bound over both."""
        return Same(
            max(self.max_abs, other.max_abs),
            max(self.max_rel, other.max_rel),
            self.bits and other.bits,
            max(self.ulp, other.ulp),
            self.why or other.why,
            max(self.share, other.share),
        )


def allowed(dtype: Any) -> float:
    """The relative difference that passes in a dtype of floats."""
    return math.sqrt(float(finfo(dtype).eps))


def same(plain: Sequence[np.ndarray], other: Sequence[np.ndarray], tolerance: float | None = None) -> Same:
    """How far `other` is from `plain`, result by result. `tolerance` stands in place of `allowed` (0: all bits equal but for signs of
    zeros)."""
    found = Same()
    for number, (a, b) in enumerate(zip(plain, other, strict=True)):
        found = found.joined(_of_array(a, b, tolerance, f"result {number}" if len(plain) > 1 else "the result"))
    return found


def _of_array(a: np.ndarray, b: np.ndarray, tolerance: float | None, name: str) -> Same:
    if a.shape != b.shape or a.dtype != b.dtype:
        return Same(bits=False, why=f"{name} has another shape or dtype")
    if a.tobytes() == b.tobytes():
        return Same()
    try:
        info: Any = finfo(a.dtype)
    except ValueError:  # no floats
        wrong = int(np.count_nonzero(a != b))
        return Same(bits=False, why=f"{name} has {wrong:,} other whole numbers or truth values") if wrong else Same()
    tolerance = allowed(a.dtype) if tolerance is None else tolerance
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        return _of_floats(a.astype(wide), b.astype(wide), info, tolerance, name)


def _of_floats(a: np.ndarray, b: np.ndarray, info: Any, tolerance: float, name: str) -> Same:
    good = np.isfinite(a)
    if not np.array_equal(good, np.isfinite(b)) or not np.array_equal(a[~good], b[~good], equal_nan=True):
        return Same(bits=False, why=f"{name} has NaN or infinities in other places")
    a, b = a[good], b[good]
    gaps, sizes = np.abs(a - b), np.abs(a)
    if not gaps.any():
        return Same(bits=False)
    largest = float(sizes.max())
    mean = largest * math.sqrt(float(np.mean((sizes / largest) ** 2))) if largest else 0.0
    last = np.ldexp(float(info.eps), np.frexp(np.maximum(sizes, float(info.tiny)))[1] - 1)
    relative = np.where(gaps > 0, gaps / np.maximum(sizes, np.finfo(np.float64).tiny), 0.0)
    share = float((gaps / np.maximum(np.maximum(sizes, mean), np.finfo(np.float64).tiny)).max())
    why = f"{name} differs by {share:.1e} of its size, more than {tolerance:.1e}" if share > tolerance else ""
    return Same(float(gaps.max()), float(relative.max()), False, float((gaps / last).max()), why, share)
