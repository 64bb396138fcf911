"""What stands between kernels of which one reads what the other gives: why they may not be one.

What is told here is what can be seen in the program: kinds of boundaries, none of them proved to be the cause. XLA's own reasons have to be asked
for (`reasons`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from jitscope.core.errors import Unavailable

from ..annotations import (
    Boundary as BoundaryDocument,
    BoundaryObservation,
    CompilationDocument,
    FusionDocument,
    GraphDocument,
    ObservedKind,
)
from .hlo_flow import Flow, Op, scopes_around


MOST = 1000
"""Boundaries that a document holds; of larger programs, the first."""


class Boundary(NamedTuple):
    """A value that one kernel gives and another reads: the operations at its ends, and the kernels."""

    giver: Op
    reader: Op
    source: str
    target: str


def boundaries_of(flow: Flow) -> tuple[list[BoundaryDocument], int]:
    """The boundaries between the kernels of an optimised program, in the order of the readers, each pair of kernels once: the first `MOST`,
    and how many more there are."""
    boundaries = Boundaries(flow)
    pairs = boundaries.pairs()
    found = [boundaries.document(*one) for one in islice(pairs.items(), MOST)]
    return found, len(pairs) - len(found)


class Boundaries:
    """All boundaries of an optimised program."""

    def __init__(self, flow: Flow):
        self.flow, self.ops = flow, flow.by_id
        self.results = {giver.id for result in flow.results for name, _ in result for giver in self._givers(name)}
        self.found = list(self._all())
        self.readers: dict[str, dict[str, None]] = defaultdict(dict)
        for one in self.found:
            self.readers[one.giver.id][one.target] = None

    def _givers(self, name: str) -> Iterator[Op]:
        """The operations that compute a value, seen through what only gives its bytes another shape."""
        op = self.ops[name]
        if op.is_free and op.kernel is None:
            for source, _ in op.sources:
                yield from self._givers(source)
        else:
            yield op

    def _all(self) -> Iterator[Boundary]:
        for reader in self.flow.ops:
            target = reader.kernel
            for name, _ in reader.sources if target is not None else ():
                if self.ops[name].kernel == target:
                    continue
                for giver in self._givers(name):
                    source = giver.kernel
                    if source is not None and target is not None and source != target:
                        yield Boundary(giver, reader, source, target)

    def pairs(self) -> dict[tuple[str, str], list[Boundary]]:
        """The boundaries of each pair of kernels, in the order of the readers."""
        pairs: dict[tuple[str, str], list[Boundary]] = {}
        for one in self.found:
            pairs.setdefault((one.source, one.target), []).append(one)
        return pairs

    def document(self, kernels: tuple[str, str], between: list[Boundary]) -> BoundaryDocument:
        """What can be seen between a pair."""
        return {"from": kernels[0], "to": kernels[1], "observed": self.observed(between)}

    def observed(self, between: list[Boundary]) -> list[BoundaryObservation]:
        """What can be seen between two kernels, each kind once."""
        seen: dict[ObservedKind, str] = {kind: text for one in between for kind, text in self._observed(one)}
        return [{"kind": kind, "text": text} for kind, text in seen.items()]

    def _observed(self, one: Boundary) -> Iterator[tuple[ObservedKind, str]]:
        source, target = self.ops[one.source], self.ops[one.target]
        if (scope := self._scope(source, target)) is not None:
            yield scope
        for kernel, role in ((source, "first"), (target, "second")):
            if kernel.is_library:
                yield "library", f"the {role} is a library call, which the fusion pass leaves as it is"
            elif kernel.opcode.startswith("copy"):
                yield "copy", f"the {role} is a copy: of another layout, or of memory that is still needed"
        if one.giver.opcode in ("reduce", "reduce-window"):
            yield "reduction", "the first ends in a reduction, whose result must be whole before it is read"
        if one.reader.opcode == "broadcast":
            yield "broadcast", "the second repeats the value, and would compute it anew for each repetition"
        readers = len(self.readers[one.giver.id])
        if one.giver.id in self.results:
            yield "result", "the value is a result of the program, so it is written to memory in any case"
        if readers > 1:
            yield "several users", f"the value is read by {readers} kernels, each of which would compute it anew"
        if "concatenate" in (one.giver.opcode, one.reader.opcode):
            yield "concatenation", "a concatenation writes its parts one after the other"

    def _scope(self, source: Op, target: Op) -> tuple[ObservedKind, str] | None:
        """The loop or branch of which one is inside and the other is not."""
        ours, theirs = ({op.id: op for op in scopes_around(one, self.ops)} for one in (source, target))
        opcodes = {op.opcode for name, op in (ours | theirs).items() if (name in ours) != (name in theirs)}
        if "while" in opcodes:
            return "loop", "one is in a loop and the other is not"
        if "conditional" in opcodes:
            return "branch", "one is in a branch and the other is not"
        return ("call", "they are in different computations") if opcodes else None


def why_not_fused(compilation: CompilationDocument, first: int, second: int) -> str:
    """What stands between the kernels of two lines of the source, in some sentences: XLA's reasons, where the document has them, and what can
    be seen. Raises Unavailable for a line that no operation of the program stems from, and where the program's kernels are not known."""
    fusion = compilation["fusion"]
    if fusion is None:
        raise Unavailable("what XLA did to this program was not recorded")
    kernels = {line: _kernels_of(fusion, compilation["graph"], line) for line in (first, second)}
    for line, found in kernels.items():
        if not found:
            raise Unavailable(f"no kernel of this program stems from line {line}")
    shared = [name for name in kernels[first] if name in kernels[second]]
    sentences = [f"Lines {first} and {second} are both in the kernel {name}." for name in shared]
    asked = compilation.get("instruments", {}).get("reasons")
    reasons = (
        {(one["giver"]["kernel"], one["reader"]["kernel"]): one["reason"] for one in asked["pairs"]} if asked else {}
    )
    for one in fusion.get("boundaries", ()):
        ends = {one["from"], one["to"]}
        if ends & set(kernels[first]) and ends & set(kernels[second]) and not ends & set(shared):
            sentences.append(sentence(one, reasons.get((one["from"], one["to"]), "")))
    if not sentences:
        return f"No kernel of line {first} reads what one of line {second} gives, or the other way round: there is nothing to fuse."
    return " ".join(sentences)


def sentence(boundary: BoundaryDocument, reason: str = "") -> str:
    """What is known of two kernels, as one sentence: XLA's `reason`, else what can be seen."""
    between = f"Between {boundary['from']} and {boundary['to']}, which reads it"
    seen = "; ".join(one["text"] for one in boundary["observed"]) or "nothing that can be seen in the program"
    return (
        f"{between}, XLA says: {reason.rstrip('.')}."
        if reason
        else f"{between}, XLA says nothing; what can be seen: {seen}."
    )


def _kernels_of(fusion: FusionDocument, graph: GraphDocument, line: int) -> list[str]:
    paths = {
        path for node in graph["nodes"] for path in node["paths"] if any(p["line"] == line for p in node["positions"])
    }

    def stems(found: list[str]) -> bool:
        return any(path in paths for path in found)

    return [k["name"] for k in fusion["kernels"] if k["kind"] != "loop" and stems(k["paths"])]
