"""Statistics of paired measurements: the median ratio, and an interval that says how sure it is."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


RESAMPLES = 4000
Pairs = tuple[list[float], list[float]]
"""Seconds of ours and of theirs, measured in turn."""


class Ratio(NamedTuple):
    """Median of paired ratios with its 95 % bootstrap interval."""

    median: float
    low: float
    high: float


def ratio_of(series: Sequence[Pairs]) -> Ratio:
    """Ours / theirs of each pair first, then the median over pairs; of several programs, each with pairs of its own, the
    geometric mean of their medians."""
    generator = np.random.default_rng(0)
    logs = [np.log(np.divide(ours, theirs)) for ours, theirs in series]
    middle = np.mean([np.median(x) for x in logs])
    low, high = np.percentile(np.mean([_medians(x, generator) for x in logs], axis=0), [2.5, 97.5])
    return Ratio(float(np.exp(middle)), float(np.exp(low)), float(np.exp(high)))


def _medians(values: np.ndarray, generator: Any) -> np.ndarray:
    """Medians of samples drawn with replacement."""
    drawn = generator.integers(0, len(values), (RESAMPLES, len(values)))
    return np.median(values[drawn], axis=1)
