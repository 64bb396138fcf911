"""How far results are from those of the compiled program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np


_ROUNDING = 0.05
"""The largest difference, as a share of the result's largest number, that is put down to the order and rounding of the operations."""


class _Apart(NamedTuple):
    share: float
    """Of the largest number; infinite where not the same elements are finite."""
    gap: float
    largest: float


def said(names: Sequence[str], pairs: Mapping[int, tuple[np.ndarray, np.ndarray]]) -> str:
    """Of results that differ in bits, the one that is farthest off; `pairs` are the compiled program's and the ones to compare, by
    number of the result."""
    at, worst = max(((at, _apart(a, b)) for at, (a, b) in pairs.items()), key=lambda one: one[1].share)
    if not worst.share:
        return "The results are those of the compiled program, but for the sign of zeros and the bits of NaN."
    if worst.share == np.inf:
        return "Where the results are NaN or infinite differs from the compiled program: XLA computes in another order or precision where it fuses operations."
    which = "The result differs from the compiled program's"
    if len(names) > 1:
        which = f"Farthest from the compiled program's is {names[at]}"
    return f"{which} by {worst.gap:.2g}, where its largest number is {worst.largest:.2g}: {_why(worst.share)}."


def _why(share: float) -> str:
    if share < _ROUNDING:
        return "XLA computes in another order or precision where it fuses operations"
    return "more than rounding the last digits makes by itself, unless numbers cancel each other, or the program divides by small ones, takes signs or compares"


def _apart(a: np.ndarray, b: np.ndarray) -> _Apart:
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(b[finite]).all():
        return _Apart(float("inf"), float("inf"), float("inf"))
    if not finite.any():
        return _Apart(0.0, 0.0, 0.0)
    gap = float(np.abs(a[finite].astype(wide) - b[finite]).max())
    largest = float(np.abs(a[finite].astype(wide)).max())
    share = gap / (largest or 1.0)
    if a.dtype.kind not in "fc":
        share = 0.0 if np.array_equal(a, b) else max(share, _ROUNDING)
    return _Apart(share, gap, largest)
