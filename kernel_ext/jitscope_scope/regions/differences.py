"""Differences between plain and compiled results, and the bound that is stated for values like those that were tried.

What was seen on a few sets of values is no bound for the next ones. Two orders of the same operations differ by roundings, which the
program then enlarges as it does a change of its inputs. So the bound is the larger one of two: some times what was seen, and some
roundings of the largest value, or of what the program makes of a rounding of its inputs."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .answers import Sameness
from .homes import attributes_of, data_of, is_array, is_users_object
from .parts import ALLOWED


TIMES_SEEN = 16
"""The bound is at least so many times the largest difference seen."""
ROUNDINGS = 64
"""The bound is at least so many roundings."""


@dataclass(frozen=True)
class Differences:
    """The largest differences seen: absolute, relative and in units of the last place; with nothing said, that of equal bits."""

    max_abs: float = 0.0
    max_rel: float = 0.0
    bits: bool = True
    ulp: float = 0.0
    rounding: float = 0.0
    """One rounding of the largest floating value, or what the program makes of it; 0 where no floating numbers are compared."""
    smallest: float = math.inf
    """The smallest magnitude, but for zero, of floating numbers that differed."""

    def bound(self) -> Sameness:
        """What may be said of other values of the same kind."""
        most = max(TIMES_SEEN * self.max_abs, ROUNDINGS * self.rounding)
        share = max(TIMES_SEEN * self.max_rel, most / self.smallest)
        return Sameness(most, min(share, sys.float_info.max), self.bits, self.ulp, self.max_abs)


def joined(parts: Iterable[Differences]) -> Differences:
    """The largest of several comparisons."""
    all_of = list(parts)
    return Differences(
        max((p.max_abs for p in all_of), default=0.0),
        max((p.max_rel for p in all_of), default=0.0),
        all(p.bits for p in all_of),
        max((p.ulp for p in all_of if not math.isnan(p.ulp)), default=0.0),
        max((p.rounding for p in all_of), default=0.0),
        min((p.smallest for p in all_of), default=math.inf),
    )


def rounding_of(x: np.ndarray, floor: float, allowed: float) -> float:
    """One rounding of the largest value of a floating array, or of `floor` where that is larger. `allowed` is the relative difference
    that is blamed on rounding: more than `ALLOWED` where numbers of 64 bits are made of those of 32."""
    eps = float(np.finfo(x.dtype).eps) if allowed <= ALLOWED else max(float(np.finfo(x.dtype).eps), 2.0**-23)
    sizes = np.abs(x)
    return eps * max(floor, float(np.max(sizes, where=np.isfinite(sizes), initial=0.0)))


def sensitivity(
    plain: Mapping[str, object], nearby: Iterable[Mapping[str, object]], moved: float, allowed: float
) -> float:
    """What the program makes of one rounding of its inputs: how far results are apart whose inputs differ by a share `moved`, for each
    rounding that such a share is."""
    first, found = dict(arrays_in(plain)), 0.0
    for other in nearby:
        for text, y in arrays_in(other):
            x = first.get(text)
            if x is None or x.shape != y.shape or x.dtype != y.dtype:
                continue
            with np.errstate(all="ignore"):
                gaps = np.abs(x - y)
            gap = float(np.max(gaps, where=np.isfinite(gaps), initial=0.0))
            found = max(found, rounding_of(np.full(1, gap, np.finfo(x.dtype).dtype), 0.0, allowed) / moved)
    return found


def arrays_in(values: Mapping[str, object], where: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """The floating arrays and numbers among values, and inside of containers and objects."""
    for name, v in values.items():
        text = f"{where}.{name}"
        if isinstance(v, (np.ndarray, float, complex, np.inexact)) or is_array(v):
            x = np.asarray(data_of(v))
            if x.dtype.kind in "fc" and x.size:
                yield text, x
        elif isinstance(v, (list, tuple)):
            yield from arrays_in({str(k): p for k, p in enumerate(v)}, text)
        elif isinstance(v, dict):
            yield from arrays_in({str(k): p for k, p in v.items()}, text)
        elif is_users_object(v):
            yield from arrays_in(attributes_of(v), text)
