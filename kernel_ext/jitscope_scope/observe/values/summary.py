"""What is said of an array without keeping it: statistics, a histogram, a small picture."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


BINS = 32
SIDE = 32
FIRST = 6
LEVELS = "0123456789abcdef"


@dataclasses.dataclass
class Summary:
    """Statistics of all elements seen: of an array, or of the arrays that one equation gave in all iterations.

    `size` counts elements; `nan` and `inf` those that are not finite (of complex numbers, in either part), which the rest leaves out;
    of complex numbers the absolute values count. `squares` is the sum of squared distances from the mean (Chan, Golub and LeVeque's way
    of joining sums).
    """

    size: int = 0
    nan: int = 0
    inf: int = 0
    zeros: int = 0
    finite: int = 0
    low: float = math.inf
    high: float = -math.inf
    mean: float = 0.0
    squares: float = 0.0

    def add(self, x: np.ndarray) -> None:
        """Take in the elements of one more array."""
        self.size += x.size
        if not x.size:
            return
        nan, inf, good = _parted(x)
        self.nan, self.inf = self.nan + nan, self.inf + inf
        if not good.size:
            return
        self.zeros += int(good.size - np.count_nonzero(good))
        self.low, self.high = min(self.low, float(good.min())), max(self.high, float(good.max()))
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(good.mean(dtype=np.float64))
            squares = float(np.square(good.astype(np.float64) - mean).sum())
            count, more = self.finite, good.size
            self.finite = count + more
            apart = mean - self.mean
            self.mean += apart * more / self.finite
            self.squares += squares + apart * apart * count * more / self.finite

    @property
    def std(self) -> float:
        return math.sqrt(self.squares / self.finite) if self.finite else math.nan


def _parted(x: np.ndarray) -> tuple[int, int, np.ndarray]:
    """How many elements are NaN, how many infinite, and the rest, flat: as real numbers."""
    flat = x.reshape(-1)
    if flat.dtype.kind in "biu":
        return 0, 0, flat if flat.dtype.kind != "b" else flat.view(np.uint8)
    bad = np.isnan(flat)
    nan = int(np.count_nonzero(bad))
    wrong = ~np.isfinite(flat)
    inf = int(np.count_nonzero(wrong)) - nan
    good = flat[~wrong] if nan or inf else flat
    return nan, inf, np.abs(good) if good.dtype.kind == "c" else good


def numbers(x: Any) -> np.ndarray | None:
    """An array's values on the host, floats of few bits as float32; None for one that has no numbers (keys)."""
    try:
        found = np.asarray(x)
    except TypeError:
        return None
    if found.dtype.kind in "biufc":
        return found
    try:
        return found.astype(np.float32)
    except (TypeError, ValueError):
        return None


def places_of(x: Any) -> Sequence[str]:
    """Where in their mesh the devices are whose parts a value is; none for an array."""
    return getattr(x, "places", ())


class Histogram(NamedTuple):
    """Counts of finite elements in equal bins from `low` to `high`; with `log`, bins of equal ratio of the absolute values of those that
    are not 0 (`zeros` counts the others)."""

    low: float
    high: float
    log: bool
    zeros: int
    counts: list[int]


def histogram(x: np.ndarray) -> Histogram | None:
    """The histogram of an array; logarithmic where its numbers, all of one sign, span three decades and more. None without a finite one."""
    good = _parted(x)[2]
    if not good.size:
        return None
    good = good.astype(np.float64)
    low, high = float(good.min()), float(good.max())
    rest = good[good != 0]
    magnitude = np.abs(rest)
    if rest.size and (low >= 0 or high <= 0) and float(magnitude.max()) >= 1e3 * float(magnitude.min()):
        least, most = float(magnitude.min()), float(magnitude.max())
        counts, _ = np.histogram(np.log10(magnitude), BINS, (math.log10(least), math.log10(most)))
        return Histogram(least, most, True, int(good.size - rest.size), counts.tolist())
    zeros = int(good.size - rest.size)
    if low == high:
        return Histogram(low, high, False, zeros, [int(good.size)])
    if not math.isfinite(high - low):
        return None
    if x.dtype.kind in "biu":
        bins = min(BINS, int(high - low) + 1)
    else:  # as many as have edges that can be told apart
        bins = int(np.clip((high - low) / (2 * np.spacing(max(-low, high))), 1, BINS))
    counts, _ = np.histogram(good, bins, (low, high))
    return Histogram(low, high, False, zeros, counts.tolist())


class Picture(NamedTuple):
    """An array as a small grid, row by row: a hexadecimal digit for each cell, from the lowest ("0") to the highest mean ("f") of the
    elements it stands for; "n" where one is NaN, "i" where one is infinite. `folded` says in words what the axes are."""

    rows: int
    columns: int
    cells: str
    low: float
    high: float
    folded: str


def picture(x: np.ndarray, devices: bool = False) -> Picture | None:
    """The picture of an array of at least two elements: the last axis from left to right, all others together from top to bottom.
    `devices`: its first axis is that of the devices whose parts it is made of."""
    if x.size < 2:
        return None
    x = np.abs(x) if x.dtype.kind == "c" else x
    grid = x.reshape(-1, x.shape[-1]).astype(np.float64)
    folded = _words(x.shape, devices)
    if x.ndim > 1 and x.shape[-1] == 1:
        grid, folded = grid.reshape(1, -1), f"all {x.size:,} elements from left to right"
    rows, columns = min(grid.shape[0], SIDE), min(grid.shape[1], SIDE)
    if grid.shape[0] > rows or grid.shape[1] > columns:
        folded += (
            f"; each cell is the mean of about {_rounded(grid.shape[0] / rows * grid.shape[1] / columns)} elements"
        )
    nan, inf = np.isnan(grid), np.isinf(grid)
    known = np.where(nan | inf, 0.0, grid)
    count = _summed((~(nan | inf)).astype(np.float64), rows, columns)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        means = _summed(known, rows, columns) / count
    good = means[np.isfinite(means)]
    low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 0.0)
    span = high - low
    with np.errstate(invalid="ignore"):
        levels = np.zeros(means.shape) if not span else np.clip((means - low) / span * 15.999, 0, 15)
    bad, endless = _summed(nan, rows, columns) > 0, _summed(inf, rows, columns) > 0
    cells = "".join(
        "n" if bad[i, j] else "i" if endless[i, j] or not np.isfinite(means[i, j]) else LEVELS[int(levels[i, j])]
        for i in range(rows)
        for j in range(columns)
    )
    return Picture(rows, columns, cells, low, high, folded)


def _words(shape: tuple[int, ...], devices: bool) -> str:
    first = "the devices" if devices else "axis 0"
    if len(shape) == 1:
        return f"{first} ({shape[0]:,}) from left to right"
    if len(shape) == 2:
        return (
            f"{first} ({shape[0]:,}) from top to bottom, axis {0 if devices else 1} ({shape[1]:,}) from left to right"
        )
    together = " × ".join(f"{n:,}" for n in shape[:-1])
    several = "the devices and all axes but the last" if devices else f"axes 0 to {len(shape) - 2}"
    return f"{several} together ({together}) from top to bottom, the last axis ({shape[-1]:,}) from left to right"


def _rounded(count: float) -> str:
    return f"{float(f'{count:.2g}'):,g}"


def _summed(grid: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The sums of blocks, as equal in size as can be."""
    tops = np.arange(rows) * grid.shape[0] // rows
    lefts = np.arange(columns) * grid.shape[1] // columns
    return np.add.reduceat(np.add.reduceat(grid, tops, axis=0, dtype=np.float64), lefts, axis=1)


def first_values(x: np.ndarray) -> list[str]:
    """The first few elements, as text."""
    return [f"{value:.6g}" if x.dtype.kind in "fc" else str(value) for value in x.reshape(-1)[:FIRST].tolist()]
