"""What each instruction of a program took in several recorded calls."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from jitscope.xla.hlo_module import Computation, Instruction
from jitscope.xla.profiler import Event, Run

from .ends import with_ends


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
    """The instructions of a program, and by call: what was recorded, its seconds, and those in which at least one of them ran. `foreign`: the
    median seconds of kernels on a GPU of which it is not known whose they are."""

    runs: tuple[Run, ...]
    spans: tuple[Span, ...]
    calls: np.ndarray
    busy: np.ndarray
    foreign: float = 0.0

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
    entry = {i.name for c in computations if c.is_entry for i in c.instructions}
    runs = with_ends([in_graphs(run, opcodes) for run in runs], computations)
    seconds: dict[str, list[float]] = {}
    totals: dict[str, np.ndarray] = {}
    for number, run in enumerate(runs):
        for event in single_runs(run.events, entry):
            if event.instruction in opcodes:
                seconds.setdefault(event.instruction, []).append(event.seconds)
                totals.setdefault(event.instruction, np.zeros(len(runs)))[number] += event.seconds
    holding = _holding(computations, seconds)
    spans = [
        Span(name, opcodes[name], np.asarray(each), totals[name], name in holding) for name, each in seconds.items()
    ]
    alone = {span.name for span in spans if not span.holds}
    foreign = [sum(e.seconds for e in run.events if e.kernel and e.instruction not in opcodes) for run in runs]
    busy = [_covered([(e.start, e.start + e.seconds) for e in run.events if e.instruction in alone]) for run in runs]
    calls = np.asarray([run.seconds for run in runs])
    return Recording(tuple(runs), tuple(spans), calls, np.asarray(busy), float(np.median(foreign)))


def in_graphs(run: Run, known: Collection[str]) -> Run:
    """The run, where kernels of a CUDA graph, of which only the graph is told, are those of the instructions that they are named after.
    A library's kernels in a graph stay what they are: of no instruction."""
    names = {re.sub(r"\W", "_", name): name for name in known}

    def named(event: Event) -> Event:
        own = event.instruction if event.instruction in known or not event.kernel else names.get(event.kernel)
        return event if own is None else event._replace(instruction=own)

    return run._replace(events=tuple(map(named, run.events)))


def single_runs(events: Sequence[Event], entry: Collection[str]) -> Iterator[Event]:
    """The events, where the kernels of one run of an instruction on a GPU are one: a library's product may clear memory first. An instruction
    of the `entry` runs once in a call; another one's next run begins with the kernel that its last one began with."""
    found: dict[str, Event] = {}
    for event in events:
        last = found.get(event.instruction) if event.kernel else None
        if last is None or (event.kernel == last.kernel and event.instruction not in entry):
            if last is not None:
                yield last
            if event.kernel:
                found[event.instruction] = event
            else:
                yield event
        else:
            found[event.instruction] = last._replace(seconds=last.seconds + event.seconds)
    yield from found.values()


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
