"""Which of several forms of a program is faster: what is decided from the times of pairs of runs. Nothing is run here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..observe.comparing.pairing import interval_of


CLEARLY = 0.98
"""The high end of a winner's interval has to be below this."""
LEAST = 10
"""Pairs from which an interval is told."""
_HOPELESS = 1.3


class Ratio(NamedTuple):
    """The time of a form as a part of that of the plain one, with the ends of its 99 % interval."""

    low: float
    centre: float
    high: float


def ratio_of(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """The Hodges-Lehmann estimate of some pairs of times (plain, form) and its interval (see `pairing`)."""
    times = np.maximum(np.asarray(pairs, dtype=np.float64), 1e-9)
    return Ratio(*map(float, np.exp(interval_of(np.log(times[:, 1] / times[:, 0])))))


def is_hopeless(pairs: Sequence[tuple[float, float]]) -> bool:
    """Whether a form was much slower in each of its first pairs."""
    return bool(pairs) and all(other > _HOPELESS * plain for plain, other in pairs)


def is_clear(ratio: Ratio, pairs: int) -> bool:
    """Whether a form is faster beyond doubt."""
    return pairs >= LEAST and ratio.high < CLEARLY


def halved(ratios: dict[str, Ratio]) -> tuple[list[str], list[str]]:
    """The names of those that go on, best first, and of those that are out: what is slower beyond doubt, and the slower half of the others
    (but none that may be as fast as the best)."""
    order = sorted(ratios, key=lambda name: ratios[name].centre)
    going = [name for name in order if ratios[name].low < 1]
    if not going:
        return [], order
    best, kept = ratios[going[0]], going[: (len(going) + 1) // 2]
    close = [name for name in going[len(kept) :] if ratios[name].centre < best.centre * 1.02]
    kept += close
    return kept, [name for name in order if name not in kept]


def repeats_for(once: float) -> int:
    """Of so many runs of each the fastest counts: what interrupts a short run only adds."""
    return int(np.clip(np.ceil(2e-3 / max(once, 1e-7)), 1, 8))
