"""Which programs were tuned, and how: known to this process, and on disk to later ones.

A program is looked up whenever it is compiled. What is kept says how it was measured, so that whoever looks is told.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import Any

from ..named_tuple import NamedTuple
from ..xla.choice import RECOMPUTED, Choice
from ..xla.cpu_tuning import SWITCHES
from .disk import tuning_records as on_disk
from .disk.in_use import store
from .disk.key import DiskQuery, Refusal
from .disk.source import PACKAGE


class TuningRecord(NamedTuple):
    """What a program was tuned to: the choice, in words, and the time with it as a part of that without, with the ends of its interval."""

    choice: Choice
    words: str
    ratio: float
    low: float
    high: float

    @property
    def sentence(self) -> str:
        """For people: what it is compiled with, and what that gave when it was measured."""
        share = f"{self.ratio:.2f} of the time when it was tuned, {self.low:.2f} to {self.high:.2f}"
        return f"with tuned options ({self.words}: {share})"

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "choice": self.choice.as_json(),
            "words": self.words,
            "ratio": self.ratio,
            "low": self.low,
            "high": self.high,
        }

    @classmethod
    def of_json(cls, found: Any) -> TuningRecord:
        """What `as_json` gave. Raises ValueError for anything else."""
        try:
            numbers = [float(found[name]) for name in ("ratio", "low", "high")]
            choice, words = Choice.of_json(found["choice"]), str(found["words"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"it is no record: {error}") from None
        if not all(map(math.isfinite, numbers)):
            raise ValueError("its numbers are none")
        return cls(choice, words, *numbers)


Where = tuple[bytes, Any, Any, Any]
"""What tells a program from others in this process: its digest, the options of its call, the device, the arguments it may overwrite."""

_here: dict[Where, TuningRecord] = {}
_lock = threading.Lock()


def kept_for(where: Where, place: DiskQuery | Refusal | None) -> TuningRecord | None:
    """What the program was tuned to, in this process or in an earlier one; None where it was not."""
    if where in _here:
        return _here[where]
    here = store()
    if here is None or not isinstance(place, DiskQuery):
        return None
    records: Mapping[str, Any] = on_disk.read(here, place.program)
    if not records or (key := place.key()) is None or (found := records.get(key.environment.hex())) is None:
        return None
    try:
        kept = TuningRecord.of_json(found)
    except ValueError:
        return None
    return kept if all(name in SWITCHES or name == RECOMPUTED for name, _ in kept.choice.rules) else None


def keep(where: Where, place: DiskQuery | Refusal | None, kept: TuningRecord) -> str:
    """Compile the program so from now on; gives "" where later sessions do so, too, else why they do not."""
    with _lock:
        _here[where] = kept
    here = store()
    if here is None:
        return "programs are not kept on disk (the option compilation_cache)"
    if not isinstance(place, DiskQuery):
        return place.why if place is not None else "programs are not kept on disk"
    if (key := place.key()) is None:
        return f"{PACKAGE}'s own source cannot be read, or was changed since it was loaded"
    if not here.writes:
        return f"{here.root} cannot be written to"
    try:
        on_disk.write(here, place.program, key.environment, kept.as_json())
    except OSError as error:
        return f"{here.root} cannot be written to: {error.strerror or error}"
    return ""


def forget(where: Where, place: DiskQuery | Refusal | None) -> bool:
    """Compile the program as the rules say again, in this session and in later ones; whether it was tuned. Raises OSError."""
    with _lock:
        known = _here.pop(where, None) is not None
    here = store()
    if here is None or not isinstance(place, DiskQuery) or not on_disk.read(here, place.program):
        return known
    key = place.key()
    return (key is not None and on_disk.remove(here, place.program, key.environment)) or known
