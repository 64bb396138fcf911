"""A run of a cell that notes the values at the start and the end of its regions, and how long each took."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType, ModuleType

import numpy as np


KEPT_BYTES = 1 << 28
"""More than this of arrays at the start of a region is not copied, and the region not tried."""


SOME = 200
"""After so many passages it is asked whether they are short."""
SHORT = 20e-6
"""Seconds: a passage that takes less is not worth its notes, nor a call of compiled code."""


@dataclass
class Visit:
    """One passage through a region: copies of the values before and after it, and the objects themselves while they are compared."""

    values: dict[str, object]
    live: dict[str, object]
    after: dict[str, object] = field(default_factory=dict)
    ends: dict[str, object] = field(default_factory=dict)

    changed: frozenset[str] = frozenset()
    """Names of the arrays whose content was another one at the end than before."""

    def compare(self) -> None:
        """Notes which arrays have another content than before."""
        arrays = {n for n, v in self.live.items() if isinstance(v, np.ndarray)}
        self.changed = frozenset(n for n in arrays if not _equal(self.values[n], self.live[n]))


def _equal(a: object, b: object) -> bool:
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype == b.dtype and a.tobytes() == b.tobytes()


@dataclass
class Seen:
    """What was noted of one region."""

    names: frozenset[str]
    binds: frozenset[str]
    count: int = 0
    seconds: float = 0.0
    own: float = 0.0
    began: float = 0.0
    visit: Visit | None = None
    busy: bool = False
    too_large: bool = False
    released: bool = False
    """Whether the notes were taken out, because each passage takes less than they do."""


class Recorder:
    """Stands in a watched cell under one name; regions call `enter` and `leave`."""

    def __init__(self) -> None:
        self.seen: dict[int, Seen] = {}
        self.lost = 0.0
        """Seconds that the notes themselves took."""
        self.release: Callable[[int], bool] = lambda key: False
        """Takes the notes of a place out while the cell runs, where that can be done."""

    def enter(self, key: int, names: Mapping[str, object], outer: Mapping[str, object]) -> None:
        """A region begins."""
        seen = self.seen[key]
        if seen.busy:
            return
        seen.busy = True
        if seen.count == 0 and seen.visit is None:
            start = time.perf_counter()
            found = {n: names[n] if n in names else outer[n] for n in seen.names if n in names or n in outer}
            if _bytes(found) > KEPT_BYTES:
                seen.too_large = True
            else:
                seen.visit = Visit(snapshot(found), found)
            self.lost += time.perf_counter() - start
        seen.own, seen.began = self.lost, time.perf_counter()

    def leave(self, key: int, names: Mapping[str, object]) -> None:
        """The region ends as it should."""
        seen = self.seen[key]
        now = time.perf_counter()
        seen.seconds += now - seen.began - (self.lost - seen.own)
        seen.busy = False
        seen.count += 1
        if seen.count == SOME and seen.seconds < SOME * SHORT:
            seen.released = self.release(key)
        if seen.count == 1 and seen.visit is not None:
            seen.visit.ends = {n: names[n] for n in seen.binds if n in names}
            seen.visit.after = snapshot(seen.visit.ends)
            seen.visit.compare()
            self.lost += time.perf_counter() - now


def snapshot(values: Mapping[str, object]) -> dict[str, object]:
    """Copies of arrays and containers, which share nothing with the originals but share among each other what those share; functions,
    modules and objects stay themselves."""
    memo: dict[int, object] = {}
    return {n: _copied(v, memo) for n, v in values.items()}


def _copied(value: object, memo: dict[int, object]) -> object:
    if isinstance(value, (ModuleType, FunctionType, type)) or callable(value):
        return value
    if isinstance(value, (np.ndarray, list, dict, tuple)):
        try:
            return copy.deepcopy(value, memo)
        except Exception:
            return value
    return value


def _bytes(values: Mapping[str, object]) -> int:
    return sum(v.nbytes for v in values.values() if isinstance(v, np.ndarray))
