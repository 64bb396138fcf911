"""Why kernels of which one reads what the other gives are two: XLA's own reasons, and what can be seen.

XLA's fusion pass decides about operations; these are found in the kernels of the program as it ended. A decision is told of a pair of kernels
only where it is about an operation of the one that gives the value and the one that reads it, and where all such decisions have one reason.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from jitscope.core.errors import Unavailable
from jitscope.xla import hlo_module, progress
from jitscope.xla.dumps import Source
from jitscope.xla.errors import XlaError
from jitscope.xla.fusion_log import fusion_log

from ..annotations import KernelPair, PairEnd, Position, ReasonsDocument
from .boundaries import Boundaries, Boundary
from .fusion_decisions import Decision, End, decisions_of
from .hlo import bytes_of, positions_of
from .hlo_flow import FREE, Op
from .hlo_origins import flow_of_program
from .ledger import Row


MOST = 400
"""Pairs that a document holds: those of which XLA says something first, and those between which most bytes go."""


def instrument(row: Row, given: object = None) -> ReasonsDocument:
    """The reasons document of a row's program, which is compiled once more in a process of its own; nothing is run. Raises Unavailable where
    the program is no longer there, calls Python, or is not compiled by that process."""
    start = time.perf_counter()
    entry = row.needed("entry")
    if entry.executable.calls_python:
        raise Unavailable(f"{row.function} calls Python, which the process that XLA is asked in does not have")
    after = hlo_module.computations(hlo_module.optimized(entry.executable))
    flow = flow_of_program(entry, after)
    try:
        progress.step("compiling it once more, in a process of its own")
        with fusion_log(Source.of(entry)) as log:
            decided = decisions_of(_told(log))
    except XlaError as error:
        raise Unavailable(f"XLA did not compile {row.function} in a process of its own: {error}") from None
    boundaries = Boundaries(flow)
    known = _Decisions(decided)
    positions = row.positions()
    pairs = [
        _pair(boundaries, known, between, lambda paths: positions_of(paths, positions))
        for between in boundaries.pairs().values()
    ]
    pairs.sort(key=lambda pair: (not pair["reason"], -pair["bytes"]))
    return {
        "kind": "reasons",
        "version": 1,
        "title": row.title,
        "pairs": pairs[:MOST],
        "left_out": max(0, len(pairs) - MOST),
        "told": sum(bool(pair["reason"]) for pair in pairs),
        "decisions": len(decided),
        "fused": sum(not one.reason for one in decided),
        "cost": {
            "value": time.perf_counter() - start,
            "unit": "s",
            "origin": "measured",
            "note": "compiled once more in a process of its own, and read",
        },
    }


def _told(log: Iterable[str]) -> Iterator[str]:
    """The lines, of whose number somebody who waits is told."""
    for number, line in enumerate(log):
        if not number % _LINES:
            progress.step(f"reading what XLA says, line {number:,}") if number else progress.tick()
        yield line


_LINES = 5000


class _Decisions:
    """Decisions by what they are about."""

    def __init__(self, decided: Iterable[Decision]):
        self._by_reader: dict[object, list[Decision]] = defaultdict(list)
        for one in decided:
            for key in _keys(one.consumer):
                self._by_reader[key].append(one)

    def reason(self, boundaries: Boundaries, between: list[Boundary]) -> str:
        """XLA's reason for keeping two kernels apart; "" where it says none, or several."""
        reasons = {one.reason for boundary in between for one in self._about(boundaries, boundary)}
        return reasons.pop() if len(reasons) == 1 else ""

    def _about(self, boundaries: Boundaries, boundary: Boundary) -> list[Decision]:
        found: dict[int, Decision] = {}
        reader = boundaries.ops[boundary.target]
        for key in _ends(boundary.target, None if reader.is_group else boundary.reader):
            for one in self._by_reader.get(key, ()):
                if one.reason and not _ends(boundary.source, boundary.giver).isdisjoint(_keys(one.producer)):
                    found[id(one)] = one
        return list(found.values())


def _keys(end: End) -> set[object]:
    return {end.name, (end.opcode, end.paths)} if end.paths else {end.name}


def _ends(kernel: str, op: Op | None) -> set[object]:
    """How a kernel, or the one operation in it, may be called in the log."""
    return {kernel, (op.opcode, op.paths)} if op is not None and op.paths else {kernel}


def _pair(
    boundaries: Boundaries, known: _Decisions, between: list[Boundary], places: Callable[[list[str]], list[Position]]
) -> KernelPair:
    first = between[0]
    givers = {one.giver.id: one.giver for one in between}

    def end(kernel: str, ops: list[Op]) -> PairEnd:
        paths = list(dict.fromkeys(path for op in ops for path in op.paths))
        opcode = next((op.opcode for op in ops if op.opcode not in FREE), boundaries.ops[kernel].opcode)
        return {"kernel": kernel, "opcode": opcode, "paths": paths, "positions": places(paths)}

    return {
        "giver": end(first.source, list(givers.values())),
        "reader": end(first.target, [one.reader for one in between]),
        "bytes": sum(bytes_of(op.does.type) for op in givers.values()),
        "reason": known.reason(boundaries, between),
        "observed": boundaries.observed(between),
    }
