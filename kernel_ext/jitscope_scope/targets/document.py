"""The document of a program on a target."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from jitscope.core.words import counted
from jitscope.xla import hlo_module
from jitscope.xla.errors import XlaError

from ..annotations import (
    Kernel,
    Quantity,
    TargetBoundary,
    TargetChip,
    TargetCode,
    TargetCollective,
    TargetDecision,
    TargetDocument,
    TargetKernel,
    TargetMemory,
    TargetStep,
)
from ..observe.boundaries import boundaries_of
from ..observe.communication import groups_of, runs_of
from ..observe.cost import Costs, Work
from ..observe.fusion import Kernels
from ..observe.graph import jaxpr_graph
from ..observe.groups.kernels import Origins
from ..observe.hlo import Ends, bytes_of, collective_of, graph_of, types_in
from ..observe.hlo_flow import Op
from ..observe.ledger import Row
from ..observe.timing import quantity
from .asking import TargetProgram
from .chips import Chip
from .decisions import Apart, Decision
from .models import PRODUCTS, exchange, roofline, unit_of
from .schedule import steps_of


MOST_DECISIONS = 2000
MOST_NODES = 3000
LONGEST = 6_000
"""Characters of one kernel's code in a document."""
LONGEST_ALL = 200_000
_CYCLES = re.compile(r'"estimated_cycles":"?(\d+)')
_UNKNOWN = "XLA does not tell"
_HERE = (
    "Compiled once more by XLA for the {} of this machine, on which it tried tiles of products and libraries. Times are arithmetic on its "
    "data sheet; %profile measures them."
)


def document_of(row: Row, made: TargetProgram) -> TargetDocument:
    """The target document of a compiled program."""
    return _Document(row, made).document()


class _Document:
    def __init__(self, row: Row, made: TargetProgram):
        self.row, self.made, self.chip = row, made, made.target.chip
        self.positions = row.positions()
        self.origins = Origins(jaxpr_graph(row.jaxpr, made.function, self.positions) if row.jaxpr else None)
        self.kernels = Kernels(made.flow, self.positions, {}, self.origins)
        self.costs = _costs(made.hlo)

    def document(self) -> TargetDocument:
        made = self.made
        kernels = [self._kernel(one) for one in self.kernels.all()]
        told, left = _told(made.decisions)
        boundaries = self._boundaries(kernels, told)
        paths = {path for one in kernels for path in one["paths"]}
        paths.update(path for one in told for path in (*one.producer_paths, *one.consumer_paths))
        total = self._total(kernels)
        memory = _memory(made.memory, self.chip)
        small = len(made.flow.ops) <= MOST_NODES
        graph = (
            graph_of(
                made.flow,
                made.after,
                f"{made.function} on {made.target.told}",
                self.positions,
                {},
                Ends(),
                self.origins,
            )
            if small
            else None
        )
        return {
            "kind": "target",
            "version": 1,
            "title": made.function,
            "chip": self._chip(),
            "sentence": _HERE.format(made.told_device)
            if made.here
            else f"Modelled by XLA for {made.target.told}; nothing was run.",
            "remarks": [*self._remarks(), *_short_kernels(kernels, self.chip)],
            "kernels": kernels,
            "decisions": [_decision(one) for one in told],
            "decisions_left_out": left,
            "boundaries": boundaries,
            "collectives": self._collectives(),
            "memory": memory,
            "steps": self._steps(kernels),
            "schedule": [thunk.text for thunk in made.thunks],
            "code": self._code(kernels),
            "graph": graph,
            "seconds": total,
            "cost": quantity(made.seconds, "s", note="compiling" if made.here else "compiling in the helper process"),
            "positions": {path: self.positions[path] for path in sorted(paths) if path in self.positions},
        }

    def _chip(self) -> TargetChip:
        chip, target = self.chip, self.made.target
        return {
            "name": target.name,
            "title": chip.title,
            "told": target.told,
            "platform": chip.platform,
            "devices": self.made.lowered.devices,
            "memory": quantity(chip.memory, "B", "modelled", chip.source),
            "bandwidth": quantity(chip.bandwidth, "B/s", "modelled", chip.source),
            "rates": dict(chip.rates),
            "source": chip.source,
        }

    def _remarks(self) -> list[str]:
        products = any(op.opcode in PRODUCTS or op.opcode == "custom-call" for op in self.made.flow.ops)
        found = [*self.made.lowered.remarks, *self.made.remarks]
        if self.chip.platform == "cuda" and products and not self.made.here:
            found.append(
                "XLA's autotuner did not run and cuDNN was not asked, which takes the chip: tiles of products and convolutions, and whether "
                "a library computes them, can differ where it is."
            )
        target = self.made.target
        if target.devices > self.made.lowered.devices and self.chip.platform == "tpu":
            found.append(
                f"The program is for {counted(self.made.lowered.devices, 'chip')} of the topology {target.topology}."
            )
        if self.chip.platform == "tpu" and "S(1)" in self.made.hlo:
            found.append(
                "What XLA keeps in the chip's vector memory, S(1) in the HLO, counts in the roofline as if it were read from the large one."
            )
        if target.is_own:
            found.append("The chip is the one that the file describes; rates of arithmetic are not known.")
        return found

    def _kernel(self, kernel: Kernel) -> TargetKernel:
        op = self.kernels.ops[kernel["name"]]
        members = [op, *self.kernels.members.get(op.id, [])]
        work = _work(self.costs, op)
        unit = unit_of(members, self.chip)
        roof = roofline(work, self.chip, unit) if op.opcode != "while" and not is_asynchronous(op) else None
        thunk = self.made.functions.get(op.instruction.name)
        function = thunk.kernel if thunk is not None else ""
        takes = self.made.resources.get(function)
        cycles = _CYCLES.search(op.instruction.backend_config)
        shared = max(takes.shared if takes else 0, (thunk.shared or 0) if thunk else 0) if takes or thunk else None
        found: TargetKernel = {
            "name": op.id,
            "kind": kernel["kind"],
            "what": what_is(op, members),
            "members": len(kernel["members"]),
            "paths": kernel["paths"],
            "bytes": quantity(
                None if is_asynchronous(op) else work.bytes, "B", "modelled", "read and written, by XLA's count"
            ),
            "flops": quantity(work.flops, "flop", "modelled", "by XLA's count"),
            "seconds": quantity(
                roof.seconds if roof else None, "s", "modelled", roof.note if roof else _why_no_time(op)
            ),
            "bound": roof.bound if roof else "unknown",
            "cycles": quantity(
                float(cycles[1]) if cycles else None, "cycle", "modelled", "XLA's estimate" if cycles else _UNKNOWN
            ),
            "runs": self.kernels.runs(op.id),
            "blocks": _product(thunk.grid) if thunk else None,
            "threads": _product(thunk.threads) if thunk else None,
            "registers": takes.registers if takes else None,
            "shared": shared,
            "stack": takes.stack if takes else None,
            "function": function,
            "note": kernel["note"],
        }
        if "label" in kernel:
            found["label"] = kernel["label"]
        return found

    def _total(self, kernels: Sequence[TargetKernel]) -> Quantity:
        run = [one for one in kernels if one["kind"] != "loop" and not is_asynchronous(self.kernels.ops[one["name"]])]
        times = [(one["seconds"]["value"], one["runs"]) for one in run]
        note = "the sum of the kernels by the roofline of the data sheet, without starting them, exchanges or what overlaps"
        if any(value is None or count is None for value, count in times):
            return quantity(None, "s", note=f"{note}; of some the work, or how often they run, is not known")
        return quantity(sum((value or 0.0) * (count or 0) for value, count in times), "s", "modelled", note)

    def _boundaries(self, kernels: Sequence[TargetKernel], told: Sequence[Decision]) -> list[TargetBoundary]:
        paths = {one["name"]: set(one["paths"]) for one in kernels}
        apart = Apart(told, paths)
        found: list[TargetBoundary] = []
        for one in boundaries_of(self.made.flow)[0]:
            giver, reader = ((name, paths.get(name, set())) for name in (one["from"], one["to"]))
            number = apart.between(giver, reader)
            seen = "; ".join(each["text"] for each in one["observed"])
            found.append({"giver": one["from"], "reader": one["to"], "decision": number, "seen": seen})
        return found

    def _collectives(self) -> list[TargetCollective]:
        runs = runs_of(self.made.after)
        devices, ops = self.made.lowered.devices, self.kernels.ops
        found: list[TargetCollective] = []
        for computation in self.made.after:
            for i in computation.instructions if computation.name in runs else ():
                kind = collective_of(i)
                if kind is None:
                    continue
                groups = groups_of(i, devices)
                size = _exchanged(i.type, i.opcode, kind, len(groups[0]) if groups else devices)
                among = devices if kind == "collective-permute" else len(groups[0]) if groups else None
                seconds = exchange(kind, size, among, self.chip) if among else None
                op = ops.get(i.name)
                found.append(
                    {
                        "name": i.name,
                        "what": kind,
                        "bytes": quantity(float(size), "B", "modelled", "of one device"),
                        "seconds": quantity(
                            seconds, "s", "modelled", "rings at the data sheet's rate of a link, nothing else under way"
                        ),
                        "devices": among,
                        "runs": runs[computation.name],
                        "paths": list(op.paths) if op is not None else [],
                    }
                )
        return found

    def _steps(self, kernels: Sequence[TargetKernel]) -> list[TargetStep]:
        names = {self.kernels.ops[one["name"]].instruction.name: one["name"] for one in kernels}
        return steps_of(self.made.hlo, self.made.after, names)

    def _code(self, kernels: Sequence[TargetKernel]) -> list[TargetCode]:
        found: list[TargetCode] = []
        left = LONGEST_ALL
        done: set[str] = set()
        for one in kernels:
            name = one["function"]
            ptx, llvm = self.made.ptx.get(name, ""), self.made.llvm.get(name, "")
            if name in done or not (ptx or llvm) or left <= 0:
                continue
            done.add(name)
            most = min(LONGEST, left)
            left -= len(ptx[:most]) + len(llvm[:most])
            cut = max(len(ptx), len(llvm)) > most
            found.append({"kernel": one["name"], "function": name, "ptx": ptx[:most], "llvm": llvm[:most], "cut": cut})
        return found


SHORTEST = 5e-7
"""Seconds that no kernel of some 30 programs that were measured on an H200 stayed below: docs/targets.md."""


def _short_kernels(kernels: Sequence[TargetKernel], chip: Chip) -> list[str]:
    """That the roofline has nothing for starting a kernel."""
    times = [
        one["seconds"]["value"] for one in kernels if one["kind"] != "loop" and one["seconds"]["value"] is not None
    ]
    short = sum(seconds < SHORTEST for seconds in times)
    if chip.platform != "cuda" or not short:
        return []
    are = "kernel is" if short == 1 else "kernels are"
    return [f"{short:,} {are} modelled at less than 0.5 µs; no kernel that was measured on an H200 took less."]


def _costs(hlo: str) -> Costs | None:
    """The work of the program's parts; None where XLA's CPU client cannot read the other compiler's text."""
    try:
        module = hlo_module.from_text(hlo)
        return Costs(module, hlo_module.computations(module))
    except (XlaError, ValueError):
        return None


def _work(costs: Costs | None, op: Op) -> Work:
    if costs is None:
        return Work(None, None, "the work is not known: the optimised program cannot be read here")
    try:
        return costs.instruction(op.instruction)
    except (XlaError, ValueError, KeyError):
        return Work(None, None, f"the work of {op.id} is not known")


def is_asynchronous(op: Op) -> bool:
    """Whether it only starts or ends something that goes on beside other kernels."""
    return op.opcode.endswith(("-start", "-done", "-update"))


def _why_no_time(op: Op) -> str:
    if op.opcode == "while":
        return "a loop: see what it repeats"
    return "it goes on beside other kernels"


def what_is(op: Op, members: Sequence[Op]) -> str:
    """What kind of code a kernel is."""
    config, kind = op.instruction.backend_config, op.instruction.kind
    opcodes = {member.opcode for member in members}
    if op.opcode == "while":
        return "loop over kernels"
    if target := op.instruction.custom_call_target:
        library = "cuBLAS" if "cublas" in target else "cuDNN" if "cudnn" in target else ""
        return f"{library} library" if library else "library" if op.is_library else target
    if collective_of(op.instruction):
        return "exchange"
    if "__triton" in config:
        return "Triton product" if opcodes & set(PRODUCTS) else "Triton"
    if opcodes & set(PRODUCTS):
        return "product"
    if "reduce" in opcodes:
        return "reduction"
    if kind == "kInput" or "transpose" in op.instruction.name:
        return "transposed" if "transpose" in opcodes else kind or "loop"
    if op.opcode.startswith("copy") or "copy" in op.instruction.name:
        return "copy"
    return "loop" if kind == "kLoop" or op.is_group else op.opcode


def _exchanged(kind: str, opcode: str, what: str, devices: int) -> int:
    """The bytes of one device's whole value: what all-gather gives and reduce-scatter takes."""
    parts = types_in(kind)
    size = bytes_of(kind)
    if opcode.endswith("-start") and what in ("all-gather", "collective-permute") and len(parts) >= 2:
        size = bytes_of(parts[1])
    return size * devices if what == "reduce-scatter" else size


def _product(sizes: Sequence[int]) -> int | None:
    made = 1
    for size in sizes:
        made *= size
    return made if sizes else None


def _told(found: Sequence[Decision]) -> tuple[list[Decision], int]:
    """Those that a document holds, refusals before others where there are too many, and how many are left out."""
    if len(found) <= MOST_DECISIONS:
        return list(found), 0
    kept = [one for one in found if not one.fused][:MOST_DECISIONS]
    return kept, len(found) - len(kept)


def _decision(one: Decision) -> TargetDecision:
    note = "XLA's model of the chip"
    return {
        "producer": one.producer,
        "consumer": one.consumer,
        "fused": one.fused,
        "reason": one.reason,
        "producer_paths": list(one.producer_paths),
        "consumer_paths": list(one.consumer_paths),
        "fused_seconds": quantity(
            one.fused_seconds, "s", "modelled", note if one.fused_seconds is not None else _UNKNOWN
        ),
        "apart_seconds": quantity(
            one.apart_seconds, "s", "modelled", note if one.apart_seconds is not None else _UNKNOWN
        ),
    }


def _memory(told: Mapping[str, int], chip: Chip) -> TargetMemory:
    def of(name: str) -> Quantity:
        return quantity(float(told[name]) if name in told else None, "B", "modelled", "as XLA plans it, on each device")

    total = None
    if {"argument", "output", "temp", "alias"} <= told.keys():
        total = float(told["argument"] + told["output"] + told["temp"] - told["alias"])
    return {
        "argument": of("argument"),
        "result": of("output"),
        "temporary": of("temp"),
        "aliased": of("alias"),
        "code": of("code"),
        "peak": of("peak") if told.get("peak") else quantity(None, "B", note=_UNKNOWN),
        "total": quantity(
            total, "B", "modelled", "arguments, results and temporaries, less what results take of the arguments"
        ),
        "fits": None if total is None else total <= chip.memory,
    }
