"""How XLA planned the memory of a program: what it says in the dumps of its buffer assignment and of its live ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from jitscope.core.errors import Unavailable
from jitscope.xla.dumps import CompilationDump


Kind = Literal["argument", "result", "temporary", "constant", "thread"]
"""Whose memory it is: "thread" is what a single call of a small function (of a reduction, say) has for itself."""


class Value(NamedTuple):
    """A value: the instruction that gives it and which part of its result (`index`), where it lies in its allocation, and from which
    to which position of the schedule it is alive, both included (None: XLA gives it no place in the schedule). `merges`: it stands
    for one of several values, such as the carry of a loop before and after an iteration."""

    instruction: str
    index: str
    merges: bool
    size: int
    offset: int
    type: str
    born: int | None
    dies: int | None


class Allocation(NamedTuple):
    """A piece of memory of `size` bytes, and the values that lie in it. `parameter`: the number of the argument that it is;
    `aliased`: a result takes the memory of this argument."""

    number: int
    size: int
    kind: Kind
    parameter: int | None
    aliased: bool
    values: tuple[Value, ...]


class Plan(NamedTuple):
    """The allocations; the instructions in the order in which they run, each loop's body once, where the loop is; how many positions
    there are; and where XLA sees most bytes alive, by its own count (position, bytes)."""

    allocations: tuple[Allocation, ...]
    schedule: tuple[str, ...]
    positions: int
    peak: tuple[int, int]

    def total(self, kind: Kind) -> int:
        """The bytes of the allocations of a kind."""
        return sum(a.size for a in self.allocations if a.kind == kind)


def plan_of(told: CompilationDump) -> Plan:
    """The plan in what XLA wrote down. Raises Unavailable where it wrote none, or one that cannot be read."""
    assigned = text_of(told, "buffer-assignment.txt")
    schedule, alive, positions, peak = _live(_ranges(told, assigned))
    allocations = tuple(_allocations(assigned, alive))
    if not allocations:
        raise Unavailable(f"XLA's buffer assignment of {told.module} has no allocation")
    return Plan(allocations, schedule, positions, peak)


def _ranges(told: CompilationDump, assigned: str) -> str:
    """XLA's live ranges. Before 0.10 they stand at the end of the buffer assignment, not in a file of their own."""
    _, mark, ranges = assigned.partition("\nHloLiveRange ")
    return mark + ranges if mark else text_of(told, "live-range.txt")


def text_of(told: CompilationDump, ending: str) -> str:
    """What XLA wrote to the file whose name ends so. Raises Unavailable where there is none."""
    for file in told.files:
        if file.name.endswith(ending):
            return file.text
    raise Unavailable(f"XLA wrote down no {ending.removesuffix('.txt')} of {told.module}")


_POSITION = re.compile(r"    (\d+):(\S+)")
_RANGE = re.compile(r"    (\S+)\{([\d,]*)\}:(\d+)-(\d+)")
_PEAK = re.compile(r"  Live ranges at (\d+) \(peak\):")
_COUNTED = re.compile(r"    .*: \d+ bytes \(cumulative: (\d+) bytes\)")
Alive = dict[tuple[str, str], tuple[int, int]]


def _live(text: str) -> tuple[tuple[str, ...], Alive, int, tuple[int, int]]:
    schedule: list[str] = []
    alive: Alive = {}
    at = total = 0
    for line in text.splitlines():
        if found := _RANGE.fullmatch(line):
            alive[found[1], found[2]] = int(found[3]), int(found[4])
        elif found := _POSITION.fullmatch(line):
            schedule.append(found[2])
        elif found := _PEAK.fullmatch(line):
            at = int(found[1])
        elif found := _COUNTED.fullmatch(line):
            total = int(found[1])
        elif line.startswith("  Stack trace"):
            break
    if not schedule:
        raise Unavailable("XLA's live ranges name no instruction")
    return tuple(schedule), alive, len(schedule), (at, total)


_ALLOCATION = re.compile(r"allocation (\d+): size (\d+)(.*):")
_VALUE = re.compile(r" value: <\d+ (\S+?)(?:\{([\d,]*)\})?( \(phi\))? @\d+> \(size=(\d+),offset=(\d+)\): (.*)")


def _allocations(text: str, alive: Alive) -> Iterator[Allocation]:
    header: re.Match[str] | None = None
    values: list[Value] = []
    for line in text.splitlines():
        if found := _ALLOCATION.fullmatch(line):
            if header is not None:
                yield _allocation(header, values)
            header, values = found, []
        elif found := _VALUE.fullmatch(line):
            name, index = found[1], found[2] or ""
            born, dies = alive.get((name, index), (None, None))
            values.append(Value(name, index, bool(found[3]), int(found[4]), int(found[5]), found[6], born, dies))
    if header is not None:
        yield _allocation(header, values)


_SHAPE = re.compile(r"\|.*\|")
_PARAMETER = re.compile(r", parameter (\d+)")


def _allocation(header: re.Match[str], values: list[Value]) -> Allocation:
    said = _SHAPE.sub("", header[3])
    parameter = _PARAMETER.search(said)
    number = int(parameter[1]) if parameter else None
    leaves = "maybe-live-out" in said
    return Allocation(
        int(header[1]), int(header[2]), _kind(said, number), number, number is not None and leaves, tuple(values)
    )


def _kind(said: str, parameter: int | None) -> Kind:
    if parameter is not None:
        return "argument"
    for mark, kind in _MARKS.items():
        if mark in said:
            return kind
    return "temporary"


_MARKS: dict[str, Kind] = {
    "maybe-live-out": "result",
    "output shape": "result",
    "constant": "constant",
    "thread-local": "thread",
}
