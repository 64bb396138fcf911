"""What each instruction of a program took in several recorded calls."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np

from jitscope.xla.hlo_module import Computation, Instruction
from jitscope.xla.profiler import Run

from .ends import ended


@dataclass(frozen=True, slots=True)
class Span:
    """One instruction that was recorded.

    seconds: of each of its runs; totals: of all its runs in a call, by call; holds: it is a loop, a branch or a call in which
    something was recorded, so its time is that of what is in it.
    """

    name: str
    opcode: str
    seconds: np.ndarray
    totals: np.ndarray
    holds: bool

    @property
    def runs(self) -> float:
        """How often it ran in one call."""
        return len(self.seconds) / len(self.totals)

    @property
    def total(self) -> float:
        """Seconds of all its runs in a call: the median of the calls, so that one that was disturbed counts for little."""
        return float(np.median(self.totals))


@dataclass(frozen=True, slots=True)
class Recording:
    """The instructions of a program, and by call: what was recorded, its seconds, and those in which at least one of them ran."""

    runs: tuple[Run, ...]
    spans: tuple[Span, ...]
    calls: np.ndarray
    busy: np.ndarray

    @property
    def alone(self) -> tuple[Span, ...]:
        """Those that hold no others."""
        return tuple(span for span in self.spans if not span.holds)

    def shares(self) -> dict[str, float]:
        """The share of each in the time of all, those that hold others left out."""
        whole = sum(span.total for span in self.alone)
        return {span.name: span.total / whole for span in self.alone} if whole else {}


def recording_of(runs: Sequence[Run], computations: Sequence[Computation]) -> Recording:
    """What was recorded of a program; events of other programs, that ran meanwhile, are left out."""
    opcodes = {i.name: i.opcode for c in computations for i in c.instructions}
    runs = ended(runs, computations)
    seconds: dict[str, list[float]] = {}
    totals: dict[str, np.ndarray] = {}
    for number, run in enumerate(runs):
        for event in run.events:
            if event.instruction in opcodes:
                seconds.setdefault(event.instruction, []).append(event.seconds)
                totals.setdefault(event.instruction, np.zeros(len(runs)))[number] += event.seconds
    holding = _holding(computations, seconds)
    spans = [
        Span(name, opcodes[name], np.asarray(each), totals[name], name in holding) for name, each in seconds.items()
    ]
    alone = {span.name for span in spans if not span.holds}
    busy = [_covered([(e.start, e.start + e.seconds) for e in run.events if e.instruction in alone]) for run in runs]
    return Recording(tuple(runs), tuple(spans), np.asarray([run.seconds for run in runs]), np.asarray(busy))


def _covered(spans: Sequence[tuple[float, float]]) -> float:
    """The length of what intervals cover together."""
    length, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        length += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return length


_HOLDS = ("while", "conditional", "call")


def _holding(computations: Sequence[Computation], recorded: Container[str]) -> set[str]:
    """The loops, branches and calls in which something was recorded."""
    inside: dict[str, bool] = {}
    by_name, found = {c.name: c for c in computations}, set()

    def holds(name: str) -> bool:
        if name not in inside:
            inside[name] = False
            each = [of(i) or i.name in recorded for i in by_name[name].instructions]
            inside[name] = any(each)
        return inside[name]

    def of(i: Instruction) -> bool:
        if i.opcode not in _HOLDS or not any(holds(name) for name in i.calls):
            return False
        found.add(i.name)
        return True

    for computation in computations:
        holds(computation.name)
    return found
