"""What XLA's passes made of a program: its kernels, and before and after side by side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import chain

from jitscope.core.words import counted
from jitscope.xla.hlo_module import Computation

from ..annotations import (
    FusionDocument,
    FusionSummary,
    GraphDocument,
    Kernel,
    KernelKind,
    Member,
    Position,
    UnknownOrigins,
)
from .boundaries import boundaries_of
from .cost import bytes_written, trips
from .groups.kernels import Origins
from .hlo import Ends, graph_of, positions_of, routine_of, text_of
from .hlo_flow import Flow, Op, flow_of, scopes_around, unique
from .hlo_lineage import Lineage
from .hlo_origins import with_origins
from .hlo_rows import rows_of
from .kernel_blocks import Blocks


Written = Callable[[str], int | None]
"""The bytes that a kernel writes in one call, by its name; None where that is unknown."""


def fusion_document(
    before: Sequence[Computation],
    after: Sequence[Computation],
    positions: Mapping[str, Position],
    title: str,
    results: Sequence[str] = (),
    origins: Origins | None = None,
    shares: Mapping[str, float] | None = None,
    blocks: Blocks | None = None,
    arguments: Sequence[str] = (),
) -> FusionDocument:
    """The fusion document of a program, from its parsed HLO before and after optimisation.

    `before` may be empty when it is not known (a program that came from a cache); `positions` gives the source
    position of each equation's path, `results` and `arguments` name the program's own, `origins` the groups its equations are in, `shares` the
    measured share of each kernel in the time of all, `blocks` the blocks of the program that kernels stem from. Members of a kernel are the operations of the computation it calls: neither
    parameters nor constants, but broadcasts and the like. Two kernels may hold the same operation (XLA computes cheap
    ones twice); such an operation counts for the first. Positions stand at the kernels and in the graph before; what is
    in the graph after has the same paths.
    """
    old = flow_of(before, optimized=False)
    new = with_origins(old, flow_of(after, optimized=True))
    lineage = Lineage(old, new)
    made = Kernels(new, positions, shares or {}, origins)
    kernels = made.all()
    in_blocks(kernels, blocks, made)
    ends = Ends(arguments, results)
    document: FusionDocument = {
        "kind": "fusion",
        "version": 1,
        "title": title,
        "before": graph_of(old, before, f"{title}, before optimisation", positions, lineage.kernel, ends, origins),
        "after": graph_of(new, after, f"{title}, after optimisation", {}, {}, ends, origins),
        "kernels": kernels,
        "rows": rows_of(old, new, lineage),
        "blocks": blocks.documents if blocks else [],
        "summary": _summary(old, new, kernels, lineage, bytes_written(after, made.runs)),
    }
    return _with_boundaries(document, new)


def _with_boundaries(document: FusionDocument, flow: Flow) -> FusionDocument:
    document["boundaries"], left_out = boundaries_of(flow)
    if left_out:
        document["boundaries_left_out"] = left_out
    return document


def kernels_document(
    after: Sequence[Computation],
    positions: Mapping[str, Position],
    title: str,
    shares: Mapping[str, float] | None = None,
) -> FusionDocument:
    """The fusion document of a very large program, without the programs: its kernels and what is said of them."""
    old, new = Flow([], []), flow_of(after, optimized=True)
    made = Kernels(new, positions, shares or {})
    kernels = made.all()
    document: FusionDocument = {
        "kind": "fusion",
        "version": 1,
        "title": title,
        "before": _left_out(f"{title}, before optimisation"),
        "after": _left_out(f"{title}, after optimisation"),
        "kernels": kernels,
        "rows": [],
        "summary": _summary(old, new, kernels, Lineage(old, Flow([], [])), bytes_written(after, made.runs)),
    }
    return _with_boundaries(document, new)


def in_blocks(kernels: Sequence[Kernel], blocks: Blocks | None, flow: Kernels) -> None:
    """Write into kernels which block each stems from."""
    if blocks is None:
        return
    by_name = {kernel["name"]: kernel for kernel in kernels}
    for kernel in kernels:
        block = blocks.of(kernel, by_name.get(flow.loop_of(kernel["name"]) or ""))
        if block is not None:
            kernel["block"] = block


def _left_out(title: str) -> GraphDocument:
    title = f"{title} (left out of the saved output to keep it small)"
    return {"kind": "graph", "version": 1, "level": "hlo", "title": title, "nodes": [], "edges": []}


class Kernels:
    """The kernels of an optimised program in the order they run, each loop before the kernels that it repeats."""

    def __init__(
        self,
        flow: Flow,
        positions: Mapping[str, Position],
        shares: Mapping[str, float],
        origins: Origins | None = None,
    ):
        self.shares = shares
        self.origins = origins or Origins()
        self.flow = flow
        self.ops = flow.by_id
        self.positions = positions
        self.members: dict[str, list[Op]] = {}
        for op in flow.ops:
            if op.is_operation and (kernel := op.kernel) is not None:
                self.members.setdefault(kernel, []).append(op)

    def all(self) -> list[Kernel]:
        return [self._kernel(op) for op in self.flow.ops if op.id in self.members or self._is_loop(op)]

    def _is_loop(self, op: Op) -> bool:
        return op.opcode == "while" and op.group is None

    def _kernel(self, op: Op) -> Kernel:
        members = self.members[op.id] if op.id in self.members else self._repeated(op)
        paths = unique(chain(op.paths, *[member.paths for member in members]))
        kernel: Kernel = {
            "name": op.id,
            "kind": _kind(op),
            "opcode": op.opcode,
            "type": op.instruction.type,
            "members": [_member(member) for member in members],
            "paths": list(paths),
            "positions": positions_of(paths, self.positions),
            "text": text_of(op.instruction),
            "note": self._note(op, members),
            "share": self._share(op),
        }
        label = self.origins.loop(op.opcode, op.paths) if op.opcode != "custom-call" else routine_of(op.does)
        if label is not None:
            kernel["label"] = label
        return kernel

    def _repeated(self, loop: Op) -> list[Op]:
        return [op for name in self.members if loop in self._around(op := self.ops[name])]

    def _around(self, op: Op) -> list[Op]:
        return scopes_around(op, self.ops)

    def _share(self, op: Op) -> float | None:
        return self.shares.get(self.recorded_as(op.id, self.shares))

    def recorded_as(self, name: str, recorded: Container[str]) -> str:
        """The name under which the profiler records a kernel: a small loop is run in one piece, as the call that holds it."""
        op = self.ops[name]
        call = self.ops.get(op.scope or "")
        whole = op.opcode == "while" and call is not None and call.opcode == "call" and name not in recorded
        return call.id if call is not None and whole else name

    def loop_of(self, name: str) -> str | None:
        """The innermost loop that repeats a kernel."""
        return next((outer.id for outer in self._around(self.ops[name]) if outer.opcode == "while"), None)

    def runs(self, name: str) -> int | None:
        """How often a kernel runs if all branches are taken; None in loops of unknown length."""
        times = [trips(op.instruction) for op in self._around(self.ops[name]) if op.opcode == "while"]
        return None if None in times else math.prod(n for n in times if n is not None)

    def _note(self, op: Op, members: Sequence[Op]) -> str:
        around = [outer.opcode for outer in self._around(op)]
        notes = [
            _library_note(op, members),
            _call_note(op),
            _copy_note(op),
            _loop_note(op, len(members)),
            _around_note(around),
        ]
        return " ".join(note for note in notes if note)


def _member(op: Op) -> Member:
    return {"name": op.id, "opcode": op.opcode, "type": op.does.type, "paths": list(op.paths)}


def _kind(op: Op) -> KernelKind:
    if op.opcode == "while":
        return "loop"
    if op.is_library:
        return "library"
    if op.is_group:
        return "fusion"
    return "copy" if op.opcode.startswith("copy") else "other"


def _library_note(op: Op, members: Sequence[Op]) -> str:
    if not op.is_library:
        return ""
    if op.opcode == "custom-call":
        return _custom_call_note(op.does.custom_call_target or "")
    return f"{_subject(members)} a call into a library, not code that XLA generates; nothing else is fused with it."


def _subject(members: Sequence[Op]) -> str:
    if len(members) > 1:
        return f"These {len(members)} operations together are"
    named = {"dot": "matrix product", "convolution": "convolution", "fft": "Fourier transform", "reduce": "reduction"}
    return f"This {named.get(members[0].opcode, 'operation')} is"


def _custom_call_note(target: str) -> str:
    if "python" in target and "callback" in target:
        return "A call back into Python."
    if target.startswith("lapack_"):
        return f"A call of LAPACK's {target.removeprefix('lapack_').removesuffix('_ffi')}."
    return f"A call of the routine {target}, which XLA does not look into."


def _call_note(op: Op) -> str:
    return "One function that XLA generates, loops included." if op.opcode == "call" and op.is_group else ""


def _copy_note(op: Op) -> str:
    if _kind(op) != "copy" or (op.paths and not op.is_nameless):
        return ""
    return "XLA added this copy" + (" of what the operation reads." if op.paths else "; it stems from no operation.")


def _loop_note(op: Op, count: int) -> str:
    if op.opcode != "while":
        return ""
    n = trips(op.instruction)
    often = (
        "; how often is not known before it runs" if n is None else f" {counted(n, 'time')}, its condition once more"
    )
    return f"Repeats the {counted(count, 'kernel')} in it{often}."


def _around_note(around: Sequence[str]) -> str:
    """What is to be known of a kernel that does not run just once; `around`: the opcodes of what it is in, the innermost first."""
    held = [opcode for opcode in around if opcode in ("while", "conditional")]
    if not held:
        return ""
    if held[0] == "while":
        return "Runs again in each iteration of its loop."
    return "Runs in the iterations that take its branch." if "while" in held else "Runs when its branch is taken."


def _summary(before: Flow, after: Flow, kernels: Sequence[Kernel], lineage: Lineage, written: Written) -> FusionSummary:
    run = [k for k in kernels if k["kind"] != "loop"]
    kinds = Counter(k["kind"] for k in run)
    count = sum(op.is_operation for op in before.ops)
    unknown = _unknown(run, written)
    return {
        "before": count,
        "after": sum(op.is_operation for op in after.ops),
        "kernels": len(run),
        "fusions": kinds["fusion"],
        "library": kinds["library"],
        "sentence": "; ".join(filter(None, [_sentence(count, run, before, lineage), _unknown_in_words(unknown)])),
        "unknown": unknown,
    }


def _unknown(run: Sequence[Kernel], written: Written) -> UnknownOrigins:
    """How much is done by kernels of which no origin is known: their number, their share of the bytes that kernels write (in loops
    in all iterations, where their number is known) and of the time of all, where that was measured."""
    lost = [k for k in run if not k["paths"] and k["kind"] != "copy"]  # copies are XLA's own
    everything, all_lost = _sum(map(written, (k["name"] for k in run))), _sum(map(written, (k["name"] for k in lost)))
    timed = any(k.get("share") is not None for k in run)
    return {
        "kernels": len(lost),
        "bytes": 0.0 if not lost else None if everything is None or all_lost is None else all_lost / max(everything, 1),
        "time": min(1.0, sum(k.get("share") or 0.0 for k in lost)) if timed else None,
    }


def _sum(each: Iterable[int | None]) -> int | None:
    known = list(each)
    return None if None in known else sum(one for one in known if one is not None)


def _unknown_in_words(unknown: UnknownOrigins) -> str:
    count = unknown["kernels"]
    if not count:
        return ""
    parts = [f"{_percent(unknown['bytes'])} of the bytes written"] if unknown["bytes"] is not None else []
    parts += [f"{_percent(unknown['time'])} of the time"] if unknown["time"] is not None else []
    share = f" ({', '.join(parts)})" if parts else ""
    return f"the origin of {counted(count, 'kernel')} is unknown{share}"


def _percent(share: float) -> str:
    if 0 < share < 0.0005:
        return "less than 0.1 %"
    return f"{100 * share:.{0 if share >= 0.0995 or not share else 1}f} %"


def _sentence(count: int, run: Sequence[Kernel], before: Flow, lineage: Lineage) -> str:
    what = counted(len(run), "kernel") if run else "no kernel"
    parts = _parts(run)
    head = f"{counted(count, 'operation')} → {what}" if before.ops else what
    head = f"{head}: {_listed(parts)}" if parts else head
    endings = [_ending(len(lineage.simplified_away()), "simplified away"), *_expanded(lineage)]
    return "; ".join([head, *filter(None, endings)])


def _ending(count: int, what: str) -> str:
    return f"{counted(count, 'operation')} {what}" if count else ""


def _expanded(lineage: Lineage) -> list[str]:
    if len(lineage.spread) == 1:
        return [f"1 operation became {next(iter(lineage.spread.values()))} kernels"]
    return [_ending(len(lineage.spread), "became several kernels each")]


def _parts(run: Sequence[Kernel]) -> list[str]:
    sizes = [len(k["members"]) for k in run if k["kind"] == "fusion"]
    fused = [f"{counted(len(sizes), 'fusion')} of {_sizes(sizes)}"] if sizes else []
    return fused + unfused(run)


def unfused(kernels: Sequence[Kernel]) -> list[str]:
    """How many kernels of each kind are no fusions, and no loops, in words."""
    kinds = Counter(k["kind"] for k in kernels)
    nouns: dict[KernelKind, str] = {"library": "library call", "other": "single operation", "copy": "copy"}
    return [counted(kinds[kind], noun) for kind, noun in nouns.items() if kinds[kind]]


def _sizes(sizes: Sequence[int]) -> str:
    least, most = min(sizes), max(sizes)
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
