"""The document of a program's memory: its buffers over the schedule, the peak, and what XLA reserves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, cast

from jitscope.core.words import size
from jitscope.xla.hlo_module import Computation, Instruction

from ...annotations import (
    BufferKind,
    KindBytes,
    MemoryBuffer,
    MemoryChange,
    MemoryCurve,
    MemoryDocument,
    MemoryScope,
    Position,
    Quantity,
    ReservedMemory,
)
from ..cost import trips
from ..hlo import shortened, types_in
from ..hlo_flow import FREE, Flow, Op, unique
from ..hlo_lineage import RESHAPING
from ..timing import quantity
from .by_line import by_line, kept_for_backward
from .lifetimes import KINDS, Buffer, buffers_of, curve_of
from .plan import Plan


BUFFERS = 250
"""Buffers that a document holds, the largest ones and those of the peak first; how many more there are stands beside them."""
AT_PEAK = 100
"""Buffers that are listed at the peak."""
PATHS = 16
"""Equations of one buffer that a document holds, that of its own value first."""
POINTS = 2_000
"""Points of the curve that a document holds; of a longer one the highest of each stretch."""


class Names(NamedTuple):
    """What a program's arguments and results are called, by number of its own: (number in the call or None, name)."""

    arguments: Sequence[tuple[int | None, str]]
    results: Sequence[str]


def memory_document(
    plan: Plan,
    computations: Sequence[Computation],
    flow: Flow,
    positions: Mapping[str, Position],
    title: str,
    names: Names,
    stats: Mapping[str, int],
    seconds: float,
    changes: Sequence[MemoryChange] = (),
    backward: Collection[str] = (),
) -> MemoryDocument:
    """The memory document of a program, from the plan in XLA's dumps, the optimised program that runs, its flow (with origins), and
    what the executable says of its memory (`stats`, bytes). `backward` are the equations that a backward pass is made of."""
    made = _Descriptions(plan, computations, flow, names, backward)
    buffers = buffers_of(plan)
    curve = curve_of(plan, buffers)
    highest = curve.peak()
    peak, total = curve.positions[highest], curve.at(highest)
    alive = sorted((b for b in buffers if b.born <= peak <= b.dies), key=_rank)
    ranked = sorted(buffers, key=lambda b: (not b.born <= peak <= b.dies, -b.size))
    ranked = [*ranked[: BUFFERS // 2], *sorted(ranked[BUFFERS // 2 :], key=lambda b: -b.size)]
    kept = sorted(ranked[:BUFFERS], key=_rank)
    numbers = {id(b): n for n, b in enumerate(kept)}
    descriptions = {id(b): made.buffer(b) for b in buffers}

    def describe(buffer: Buffer) -> MemoryBuffer:
        return descriptions[id(buffer)]

    told = list(map(describe, kept))
    lines, waiting = by_line(alive, describe, positions), kept_for_backward(plan, buffers, describe, positions)
    shares = [*lines, *(waiting["lines"] if waiting else ())]
    paths = unique(one["path"] for one in (*told, *shares) if one["path"] is not None)
    document: MemoryDocument = {
        "kind": "memory",
        "version": 1,
        "title": title,
        "sentence": _sentence(total, peak, plan, describe(alive[0]) if alive else None, _as_large(alive)),
        "length": plan.positions,
        "peak": {
            "position": peak,
            "bytes": total,
            "instruction": plan.schedule[peak],
            "kernel": made.kernel(plan.schedule[peak]),
            "paths": list(made.paths(plan.schedule[peak]))[:PATHS],
            "kinds": cast("KindBytes", {kind: curve.bytes[kind][highest] for kind in KINDS}),
            "buffers": [numbers[id(b)] for b in alive if id(b) in numbers][:AT_PEAK],
            "count": len(alive),
            "lines": lines,
        },
        "reserved": _reserved(plan, stats["alias"]),
        "curve": _thinned(curve.positions, {kind: curve.bytes[kind] for kind in KINDS}, plan.schedule),
        "scopes": made.scopes(),
        "buffers": told,
        "left_out": {
            "buffers": len(buffers) - len(kept),
            "bytes": sum(b.size for b in buffers) - sum(b.size for b in kept),
        },
        "changes": list(changes),
        "positions": {path: positions[path] for path in paths if path in positions},
        "cost": quantity(seconds, "s", note="compiled once more, for what XLA writes down about buffers; not run"),
    }
    if waiting is not None:
        document["kept"] = waiting
    return document


def _reserved(plan: Plan, aliased: int) -> ReservedMemory:
    def planned(size: int, note: str) -> Quantity:
        return quantity(size, "B", "modelled", note)

    return {
        "argument": planned(plan.total("argument"), "given to the program"),
        "constant": planned(plan.total("constant"), "in the program itself"),
        "result": planned(plan.total("result"), "besides those in the memory of arguments"),
        "temporary": planned(plan.total("temporary"), "one piece, for the whole run"),
        "aliased": planned(aliased, "arguments whose memory results take"),
        "total": planned(sum(map(plan.total, KINDS)), "what a run needs, as XLA planned it"),
    }


def _rank(buffer: Buffer) -> tuple[int, int, int]:
    """Large ones first; of equal ones, those that the program makes before those it is given."""
    return -buffer.size, -KINDS.index(buffer.kind), buffer.born


def _as_large(alive: Sequence[Buffer]) -> int:
    """How many others are as large as the first, the largest."""
    return sum(buffer.size == alive[0].size for buffer in alive[1:])


def _sentence(total: int, peak: int, plan: Plan, largest: MemoryBuffer | None, others: int) -> str:
    head = f"At most {size(total)} are in use, at step {peak + 1:,} of {plan.positions:,}"
    reserved = f"XLA reserves {size(sum(map(plan.total, KINDS)))} for a run"
    if largest is None:
        return f"{head}; {reserved}."
    alike = f" ({others:,} other{'s' * (others > 1)} as large)" if others else ""
    return f"{head}; {reserved}. The largest buffer then: {largest['label']}, {size(largest['bytes'])}{alike}."


def _thinned(positions: list[int], bytes: dict[Any, list[int]], schedule: Sequence[str]) -> MemoryCurve:
    """The curve with at most `POINTS` points: of each stretch the highest one."""
    count = len(positions)
    kept = list(range(count))
    if count > POINTS:
        stretch = -(-count // POINTS)
        total = [sum(of[n] for of in bytes.values()) for n in range(count)]
        kept = [max(range(n, min(n + stretch, count)), key=total.__getitem__) for n in range(0, count, stretch)]
    curve = {
        "positions": [positions[n] for n in kept],
        "instructions": [schedule[positions[n]] for n in kept],
        **{kind: [of[n] for n in kept] for kind, of in bytes.items()},
    }
    return cast("MemoryCurve", curve)


class _Descriptions:
    """What is said of buffers and instructions: names, kernels, equations."""

    def __init__(
        self, plan: Plan, computations: Sequence[Computation], flow: Flow, names: Names, backward: Collection[str]
    ):
        self.plan, self.names, self.backward = plan, names, backward
        self.ops = flow.by_id
        self.roots: dict[str, Op] = {}
        for op in flow.ops:
            if op.scope is not None and op.instruction.is_root:
                self.roots[op.scope] = op
        self.instructions = {i.name: i for c in computations for i in c.instructions}
        self.computation = {i.name: c.name for c in computations for i in c.instructions}
        self.results = self._results(next(c for c in computations if c.is_entry))

    def _results(self, entry: Computation) -> dict[tuple[str, str], int]:
        """Which result of the program a value is."""
        root = entry.root
        parts = root.operands if root.opcode == "tuple" else (root.name,)
        return {self._origin(name): number for number, name in enumerate(parts)}

    def _origin(self, name: str) -> tuple[str, str]:
        i = self.instructions[name]
        if i.opcode == "bitcast":
            return self._origin(i.operands[0])
        if i.opcode == "get-tuple-element":
            return i.operands[0], i.attributes.split("index=")[1].split(",")[0]
        return name, ""

    def kernel(self, instruction: str) -> str | None:
        op = self.ops.get(instruction)
        return None if op is None else op.id if op.opcode == "while" else op.kernel

    def paths(self, instruction: str) -> tuple[str, ...]:
        op = self.ops.get(instruction)
        return op.paths if op is not None else ()

    def buffer(self, buffer: Buffer) -> MemoryBuffer:
        main = buffer.main
        op = self.ops.get(main.instruction)
        paths = unique(p for v in buffer.values if not v.merges for p in self.paths(v.instruction))
        paths = paths or unique(p for v in buffer.values for p in self.paths(v.instruction))
        number = self._parameter(buffer)
        last = self._last(op)
        own = None if number is not None else last.paths[-1] if last is not None and last.paths else None
        own = paths[-1] if own is None and paths else own
        return {
            "label": self._label(buffer, number),
            "kind": cast("BufferKind", buffer.kind),  # what threads have is in no buffer
            "bytes": buffer.size,
            "offset": buffer.offset,
            "allocation": buffer.allocation.number,
            "born": buffer.born,
            "dies": min(buffer.dies, self.plan.positions - 1),
            "type": shortened(_plain(main.type)),
            "instruction": main.instruction,
            "values": len(buffer.values),
            "argument": None if number is None else self.names.arguments[number][0],
            "kernel": None if number is not None else self.kernel(main.instruction),
            "path": own,
            "paths": list(unique([own, *paths] if own is not None else paths))[:PATHS],
            "saved": number is None and self._is_saved(paths, buffer.dies),
        }

    def _is_saved(self, paths: Sequence[str], dies: int) -> bool:
        """Whether what equations of the forward pass made is last read in the backward pass: by a kernel that computes some of it. Part
        of such a kernel is what the forward pass could have computed, as the slope that a cotangent is multiplied by."""
        last = self.paths(self.plan.schedule[min(dies, self.plan.positions - 1)])
        return bool(paths) and not any(map(self._is_backward, paths)) and any(map(self._is_backward, last))

    def _is_backward(self, path: str) -> bool:
        segments = path.split("/")
        return any("/".join(segments[:count]) in self.backward for count in range(1, len(segments) + 1))

    def _parameter(self, buffer: Buffer) -> int | None:
        """The number of the program's argument that a buffer holds."""
        i = self.instructions.get(buffer.values[0].instruction)
        holds = i is not None and i.opcode == "parameter" and buffer.allocation.parameter is not None
        return buffer.allocation.parameter if holds else None

    def _last(self, op: Op | None) -> Op | None:
        """The operation whose value a kernel gives; where it puts a part into a larger array, the one that computed the part."""
        last = self.roots.get(op.id, op) if op is not None else None
        if last is None or last.opcode != "dynamic-update-slice":
            return last
        part = next((self._computed(name) for name, type in last.sources if type != last.does.type), None)
        return part if part is not None and len(part.paths[-1:]) and _inside(part.paths[-1], last.paths) else last

    def _computed(self, name: str) -> Op:
        """The operation that computed a value, seen through changes of its shape."""
        op = self.ops[name]
        while op.opcode in (*RESHAPING, *FREE, "copy") and len(op.sources) == 1:
            op = self.ops[op.sources[0][0]]
        return self.roots.get(op.id, op)

    def _label(self, buffer: Buffer, number: int | None) -> str:
        if number is not None:
            return self.names.arguments[number][1]
        main = buffer.main
        result = next((n for v in buffer.values if (n := self.results.get((v.instruction, v.index))) is not None), None)
        if result is not None:
            taken = buffer.allocation.parameter
            where = f", in the memory of {self.names.arguments[taken][1]}" if taken is not None else ""
            name = self.names.results[result] if result < len(self.names.results) else f"result {result}"
            return f"{name}{where}"
        if main.type.startswith("("):
            return "a table of addresses"
        if buffer.kind == "constant":
            return f"constant {main.instruction}"
        op, last = self.ops.get(main.instruction), self._last(self.ops.get(main.instruction))
        if last is None or op is None:
            return self.instructions[main.instruction].opcode if main.instruction in self.instructions else "value"
        stored = self.roots.get(op.id, op)
        if stored.opcode == "dynamic-update-slice" and any(value.merges for value in buffer.values):
            return "what each iteration stores" if last is stored else f"{last.opcode} of each iteration, stored"
        return last.opcode

    def scopes(self) -> list[MemoryScope]:
        """The stretches of the schedule that belong to loops, branches and calls."""
        spans: dict[str, tuple[int, int]] = {}
        for at, name in enumerate(self.plan.schedule):
            low, _ = spans.get(self.computation.get(name, ""), (at, at))
            spans[self.computation.get(name, "")] = low, at
        found = []
        for i in self.instructions.values():
            for role, called in i.called:
                if called in spans and i.opcode in _SCOPES:
                    found.append(self._scope(i, role, *spans[called]))
        return sorted(found, key=lambda scope: (scope["start"], -scope["end"]))

    def _scope(self, i: Instruction, role: str, start: int, end: int) -> MemoryScope:
        times = trips(i) if i.opcode == "while" else None
        text = _SCOPES[i.opcode]
        if i.opcode == "while":
            text = "condition of the loop" if role == "condition" else "body of the loop"
            text += f", {times:,} iterations" if times is not None and role != "condition" else ""
        return {
            "instruction": i.name,
            "text": text,
            "iterations": times,
            "start": start,
            "end": end,
            "paths": list(self.paths(i.name)),
        }


_SCOPES = {"while": "loop", "conditional": "a branch", "call": "a call"}


def _plain(type: str) -> str:
    """A type without layouts: `f32[16,64]`."""
    parts = types_in(type)
    return f"({', '.join(parts)})" if type.startswith("(") else "".join(parts) or type


def _inside(path: str, outer: Sequence[str]) -> bool:
    return any(path.startswith(f"{one}/") for one in outer)
