"""Statistics of paired measurements: the median ratio, and an interval that says how sure it is."""

from typing import Any, NamedTuple

import numpy as np


RESAMPLES = 4000


class Ratio(NamedTuple):
    """Median of paired ratios with its 95 % bootstrap interval."""

    median: float
    low: float
    high: float


def _resampled(logs: np.ndarray, generator: Any) -> np.ndarray:
    """Medians of samples drawn with replacement."""
    drawn = generator.integers(0, len(logs), (RESAMPLES, len(logs)))
    return np.median(logs[drawn], axis=1)


def geometric_mean(series: list[tuple[list[float], list[float]]]) -> Ratio:
    """The ratio of series measured in turn: of each pair first, then the median over pairs; of several programs, each with
    pairs of its own, the geometric mean of their medians."""
    generator = np.random.default_rng(0)
    logs = [np.log(np.divide(a, b)) for a, b in series]
    middle = np.mean([np.median(x) for x in logs])
    spread = np.mean([_resampled(x, generator) for x in logs], axis=0)
    low, high = np.percentile(spread, [2.5, 97.5])
    return Ratio(float(np.exp(middle)), float(np.exp(low)), float(np.exp(high)))
