"""What each line holds at one step of the schedule, in all of its buffers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...annotations import KeptForBackward, MemoryBuffer, MemoryShare, Position
from .lifetimes import Buffer, Cover, curve_of
from .plan import Plan


Describe = Callable[[Buffer], "MemoryBuffer"]


class _Key(NamedTuple):
    """A line in one function and scope; without a place, whether the caller gives what is held."""

    file: str = ""
    line: int = 0
    function: str = ""
    scope: str = ""
    given: bool = False


def by_line(buffers: Iterable[Buffer], describe: Describe, positions: Mapping[str, Position]) -> list[MemoryShare]:
    """What lines hold in these buffers, the largest first. Bytes that two buffers share are counted for the larger one."""
    covers: defaultdict[int, Cover] = defaultdict(Cover)
    found: dict[_Key, MemoryShare] = {}
    for buffer in sorted(buffers, key=lambda buffer: -buffer.size):
        told = describe(buffer)
        key, path = _place(told, positions)
        share = found.setdefault(key, {"path": path, "given": key.given, "buffers": 0, "bytes": 0, "saved": 0})
        bytes = covers[buffer.allocation.number].add(buffer)
        share["buffers"] += 1
        share["bytes"] += bytes
        share["saved"] += bytes if told.get("saved") else 0
    return sorted(found.values(), key=lambda share: -share["bytes"])


def _place(told: MemoryBuffer, positions: Mapping[str, Position]) -> tuple[_Key, str | None]:
    path = told["path"]
    position = None if path is None else positions.get(path)
    if position is None:
        return _Key(given=told["kind"] == "argument"), None
    scope = position.get("named_scope", "")
    return _Key(position["file"], position["line"], position["function"], scope), path


def kept_for_backward(
    plan: Plan, buffers: Sequence[Buffer], describe: Describe, positions: Mapping[str, Position]
) -> KeptForBackward | None:
    """The step at which most bytes wait for the backward pass, and whose they are; None where nothing does."""
    saved = [buffer for buffer in buffers if describe(buffer).get("saved")]
    if not saved:
        return None
    curve = curve_of(plan, saved)
    most = curve.peak()
    step = curve.positions[most]
    lines = by_line((b for b in saved if b.born <= step <= b.dies), describe, positions)
    return {"position": step, "bytes": curve.at(most), "buffers": sum(one["buffers"] for one in lines), "lines": lines}
