"""Two HLO programs side by side, operation by operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ..annotations import DiffLine, DiffRow, RowKind
from .hlo import text_of
from .hlo_flow import FREE, Flow, Op
from .hlo_lineage import Lineage


def rows_of(before: Flow, after: Flow, lineage: Lineage) -> list[DiffRow]:
    """The rows of a fusion document.

    Operations are aligned by what became of them, inputs by number, loops and branches by their equation. The right
    side keeps its order, the operations of one kernel stand where the kernel is, and a left line without counterpart
    stands before the left line that followed it.
    """
    return _Rows(before, after, lineage).rows()


class _Rows:
    def __init__(self, before: Flow, after: Flow, lineage: Lineage):
        self.left = before.ops
        self.left_numbers = {op.id: number for number, op in enumerate(before.ops, 1)}
        self.right = _lines(after)
        self.partners = _partners(before, self.right, lineage)
        self.spread = lineage.spread
        self.emitted: list[DiffRow] = []

    def rows(self) -> list[DiffRow]:
        waiting = self._without_partner()
        for number, op in enumerate(self.right, 1):
            lefts = self.partners.get(op.id, [])
            while waiting and lefts and self.left_numbers[waiting[0].id] < self.left_numbers[lefts[0].id]:
                self._removed(waiting.pop(0))
            self._unit(lefts, op, _line(op, number))
        for op in waiting:
            self._removed(op)
        return self.emitted

    def _without_partner(self) -> list[Op]:
        found = {op.id for ops in self.partners.values() for op in ops}
        return [op for op in self.left if op.id not in found]

    def _unit(self, lefts: Sequence[Op], op: Op, right: DiffLine) -> None:
        if not lefts:
            self._row("added", None, right, _why_added(op))
        elif len(lefts) == 1 or op.opcode in FREE:
            for index, left in enumerate(lefts):
                kind, caption = _comparison(left, op)
                self._row(kind, left, right if index == 0 else None, caption)
        else:
            self._fused(lefts, op, right)

    def _fused(self, lefts: Sequence[Op], op: Op, right: DiffLine) -> None:
        alone = sum(left.is_operation for left in lefts) == 1
        caption = f"{'with what it reads ' if alone else ''}became one {'library call' if op.is_library else 'kernel'}"
        for index, left in enumerate(lefts):
            self._row("fused", left, right if index == 0 else None, caption)

    def _removed(self, op: Op) -> None:
        if op.id in self.spread:
            self._row("changed", op, None, f"became {self.spread[op.id]} kernels")
        else:
            self._row("removed", op, None, "the call was inlined" if op.opcode == "call" else "")

    def _row(self, kind: RowKind, left: Op | None, right: DiffLine | None, caption: str) -> None:
        line = None if left is None else _line(left, self.left_numbers[left.id])
        self.emitted.append({"kind": kind, "left": line, "right": right, "caption": caption})


def _why_added(op: Op) -> str:
    if op.opcode == "copy":
        return "XLA added this copy"
    return "XLA set the loop apart" if op.opcode == "call" else ""


def _line(op: Op, number: int) -> DiffLine:
    return {
        "number": number,
        "text": "  " * op.depth + text_of(op.instruction),
        "name": op.id,
        "paths": list(op.paths),
    }


def _lines(after: Flow) -> list[Op]:
    """What is shown of the optimised program: not what is inside of kernels."""
    return [op for op in after.ops if op.group in (None, op.id)]


def _comparison(left: Op, right: Op) -> tuple[RowKind, str]:
    if right.is_library and right.is_operation and not left.is_library:
        return "changed", "a library call"
    if right.does is not right.instruction:
        return "changed", "a kernel of its own"
    if right.opcode in FREE:
        return "changed", "costs nothing: the same bytes in another shape"
    if right.is_group:
        return "changed", "in one kernel with others"
    alike = left.does.type == right.does.type and left.opcode == right.opcode
    return ("same" if alike and (right.is_scope or left.does.attributes == right.does.attributes) else "changed"), ""


def _partners(before: Flow, right: Sequence[Op], lineage: Lineage) -> dict[str, list[Op]]:
    """Right line → the left lines that became it."""
    partners: dict[str, list[Op]] = defaultdict(list)
    others = _Others(right)
    for op in before.ops:
        target = lineage.kernel.get(op.id) or lineage.successor.get(op.id) or others.partner(op)
        if target is not None:
            partners[target].append(op)
    return partners


class _Others:
    """The right lines that compute nothing, each to be given away once."""

    def __init__(self, right: Sequence[Op]):
        self._free: dict[Any, list[str]] = defaultdict(list)
        for op in right:
            if not op.is_operation:
                self._free[self._key(op)].append(op.id)

    def partner(self, op: Op) -> str | None:
        free = None if op.is_operation else self._free.get(self._key(op))
        return free.pop(0) if free else None

    def _key(self, op: Op) -> tuple[Any, ...]:
        if op.is_scope:
            return op.opcode, op.paths
        return op.opcode, op.instruction.type, op.instruction.literal
