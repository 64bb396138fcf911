"""When the results of a rule are those of its oracle."""

from __future__ import annotations

import numpy as np

from jitscope.core.dtypes import kind


Arrays = list[np.ndarray]
PRECISION = {"bfloat16": 2e-2, "float32": 1e-5, "complex64": 2e-5, "float64": 1e-10, "complex128": 1e-10}


def close(got: np.ndarray, want: np.ndarray, tolerance: float, least: float = 1e-3) -> str | None:
    """What differs between two arrays of one shape and dtype, up to a tolerance relative to the size of the numbers, which
    count as no smaller than `least`."""
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, expected {want.dtype}"
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if not got.size:
        return None
    if kind(got.dtype) not in "fc":
        return None if np.array_equal(got, want) else f"{_short(got)}, expected {_short(want)}"
    wide = np.complex128 if kind(got.dtype) == "c" else np.float64
    a, b = got.astype(wide), want.astype(wide)
    finite = np.isfinite(b)
    size = np.max(np.abs(b[finite]), initial=0)
    with np.errstate(invalid="ignore"):
        wrong = np.where(
            finite,
            np.abs(a - b) > tolerance * (np.abs(b) + 0.1 * size + least),
            ~((a == b) | (np.isnan(a) & np.isnan(b))),
        )
    return f"{_short(got)}, expected {_short(want)}" if np.any(wrong | (finite & ~np.isfinite(a))) else None


def _short(x: np.ndarray) -> str:
    return np.array2string(
        x.astype(np.float64) if x.dtype.name == "bfloat16" else x, threshold=12, precision=6
    ).replace("\n", "")


def all_close(got: Arrays, want: Arrays, tolerance: float, least: float = 1e-3) -> str | None:
    if len(got) != len(want):
        return f"{len(got)} results, expected {len(want)}"
    found = [f"result {i}: {why}" for i, (g, w) in enumerate(zip(got, want)) if (why := close(g, w, tolerance, least))]
    return "; ".join(found) or None
