"""When kernels ended that work with several threads."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence

from jitscope.xla.hlo_module import Computation
from jitscope.xla.profiler import Event, Run


def with_ends(runs: Sequence[Run], computations: Sequence[Computation]) -> list[Run]:
    """The runs, with no kernel longer than until the first one starts that reads its result, and none beyond its call. On several
    devices, where it is not known which of them an event is of, only the latter.

    XLA records the end of such a kernel where it says so to whoever waits: in the thread that has just gone on with the next
    kernels, often long after the result was there.
    """
    recorded = {event.instruction for run in runs for event in run.events}
    readers = _readers(computations, recorded)
    entry = {i.name for computation in computations if computation.is_entry for i in computation.instructions}
    return [
        Run(run.start, run.seconds, tuple(_cut(run, {} if _on_several_devices(run, entry) else readers)))
        for run in runs
    ]


def _on_several_devices(run: Run, entry: Collection[str]) -> bool:
    """Whether something ran twice that is in no loop."""
    found = [event.instruction for event in run.events if event.instruction in entry]
    return len(set(found)) < len(found)


def _cut(run: Run, readers: Mapping[str, Collection[str]]) -> Sequence[Event]:
    starts: dict[str, list[float]] = {}
    for event in run.events:
        starts.setdefault(event.instruction, []).append(event.start)
    for each in starts.values():
        each.sort()

    def end(event: Event) -> float:
        found = [event.start + event.seconds, run.start + run.seconds]
        for reader in readers.get(event.instruction, ()):
            later = starts.get(reader, [])
            at = bisect_right(later, event.start)
            found += later[at : at + 1]
        return min(found)

    return [event._replace(seconds=max(0.0, end(event) - event.start)) for event in run.events]


def _readers(computations: Sequence[Computation], recorded: Collection[str]) -> dict[str, set[str]]:
    """By instruction those recorded ones that need its result, what was not recorded (a tuple, a bitcast) passed over."""
    found: dict[str, set[str]] = {}
    for computation in computations:
        users: dict[str, set[str]] = {}
        for i in reversed(computation.instructions):  # users after their operands
            needs = {i.name} if i.name in recorded else users.get(i.name, set())
            for operand in i.operands:
                users.setdefault(operand, set()).update(needs)
        found |= {name: each for name, each in users.items() if name in recorded}
    return found
