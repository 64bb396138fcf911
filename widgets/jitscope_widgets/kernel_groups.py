"""The kernels of a fusion document in several orders: by block of the program, those alike together, by line, one by one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from .documents.annotations import FusionDocument, Kernel
from .kernel_blocks import Block, Blocks
from .view import inline
from .view.parts import Content, Grouped, Ref, Row, Table, Text
from .words import lines as lines_of, no_line, plural


_OPENED = 0.25
"""A block with this part of all kernels is open at first."""
FEW = 12
"""Kernels up to which a program's are listed one by one."""


def grouped(document: FusionDocument, one_by_one: Table, rows: Mapping[str, Row], here: str) -> Table | Grouped:
    """The table of the kernels, or several of them where there are many; `rows` are the kernels' own, by name, in their order."""
    if len(document["kernels"]) <= FEW:
        return one_by_one
    ways = tuple(_Groups(document, one_by_one, rows, here).ways())
    return Grouped("Kernels", (*ways, ("one by one", one_by_one))) if ways else one_by_one


def share_of(kernel: Kernel) -> float:
    """Of the measured time; 0 where it was not measured."""
    share = kernel.get("share")
    return share if isinstance(share, int | float) and math.isfinite(share) else 0.0


class _Groups:
    def __init__(self, document: FusionDocument, table: Table, rows: Mapping[str, Row], here: str):
        self.table, self.rows, self.here = table, rows, here
        by_name = {kernel["name"]: kernel for kernel in document["kernels"]}
        self.kernels = [by_name[name] for name in rows]
        self.timed = any(map(share_of, self.kernels))
        self.folded: dict[tuple[str, ...], Row] = {}
        # Of a small loop that runs in one piece the time is known, of the kernels in it not.
        self.counted = [kernel for kernel in self.kernels if kernel["kind"] != "loop" or share_of(kernel)]
        self.tree = Blocks(cast("list[Any]", document.get("blocks", [])), cast("list[Any]", self.counted)).tree()

    def ways(self) -> Iterator[tuple[str, Table]]:
        if self.tree.inner:
            yield "by block", self._table("by the part of the program that they stem from", self._by_block(self.tree))
        alike = self._together(self.kernels, _alike)
        if len(alike) < len(self.kernels):
            yield "alike together", self._table("those that do the same together", map(self._fold, alike))
        lines = self._together(self.counted, self._lines)
        if 1 < len(lines) < len(self.kernels):
            yield "by line", self._table("by the lines that they stem from", (self._line(own) for own in lines))

    def _table(self, how: str, rows: Iterable[Row]) -> Table:
        return Table(f"Kernels, {how}", self.table.columns, tuple(rows), first=self.table.first, quiet=True)

    def _together(self, kernels: Iterable[Kernel], key: Callable[[Kernel], Hashable]) -> list[list[Kernel]]:
        """Kernels with the same key: in the order of their time, else of the first ones."""
        found: dict[Hashable, list[Kernel]] = {}
        for kernel in kernels:
            found.setdefault(key(kernel), []).append(kernel)
        return sorted(found.values(), key=lambda own: -sum(map(share_of, own)))

    def _lines(self, kernel: Kernel) -> str:
        return lines_of(kernel["positions"], self.here) or no_line(kernel)

    def _fold(self, kernels: Sequence[Kernel]) -> Row:
        """Kernels that do the same as one row, which opens."""
        names = tuple(kernel["name"] for kernel in kernels)
        if len(kernels) == 1:
            return self.rows[names[0]]
        if names not in self.folded:
            cells = self.rows[names[0]].cells
            what = (*_content(cells[1]), inline.strong(f" × {len(kernels):,}"))
            self.folded[names] = self._sum(plural(len(kernels), "kernel"), what, kernels, cells[2], cells[-1])
        return self.folded[names]

    def _sum(
        self,
        called: Content,
        what: Content,
        kernels: Sequence[Kernel],
        gives: Content = "",
        stems: Content = "",
        rows: Iterable[Row] | None = None,
    ) -> Row:
        names = tuple(kernel["name"] for kernel in kernels)
        time = (inline.percent(sum(map(share_of, kernels))),) if self.timed else ()
        inside = tuple(self.rows[name] for name in names) if rows is None else tuple(rows)
        return Row((called, what, gives, *time, stems), Ref(kernels=names), inside)

    def _line(self, kernels: Sequence[Kernel]) -> Row:
        stems = self.rows[kernels[0]["name"]].cells[-1]
        inside = map(self._fold, self._together(kernels, _alike))
        return self._sum(inline.strong(plural(len(kernels), "kernel")), _kinds(kernels), kernels, "", stems, inside)

    def _by_block(self, block: Block) -> Iterator[Row]:
        """What is in a block: blocks, and kernels that do the same together; by their time, else in the order of the program."""
        rows = [(cast("list[Kernel]", one.kernels), self._block(one)) for one in block.inner]
        own = self._together(cast("list[Kernel]", block.own), _alike)
        if block is self.tree and len(own) > 1:
            kernels = [kernel for group in own for kernel in group]
            name = Text("in several or none of these", order=0.0)
            rows.append((kernels, self._sum(name, _counted(kernels), kernels, rows=map(self._fold, own))))
        else:
            rows += [(group, self._fold(group)) for group in own]
        place = {name: at for at, name in enumerate(self.rows)}

        def order(found: tuple[list[Kernel], Row]) -> tuple[float, int]:
            kernels, _ = found
            return -sum(map(share_of, kernels)), min(place[kernel["name"]] for kernel in kernels)

        yield from (row for _, row in sorted(rows, key=order))

    def _block(self, block: Block) -> Row:
        kernels = cast("list[Kernel]", block.kernels)
        called = lines_of(block.positions, self.here)
        row = self._sum(inline.strong(block.label), _counted(kernels), kernels, "", called, self._by_block(block))
        return replace(row, opened=len(kernels) >= _OPENED * len(self.kernels))


def _alike(kernel: Kernel) -> Hashable:
    """What is the same of kernels that do the same in the same lines of one block."""
    members = frozenset(Counter(member["opcode"] for member in kernel["members"]).items())
    lines = frozenset((place["file"], place["line"]) for place in kernel["positions"])
    return kernel["kind"], kernel.get("label") or kernel["opcode"], members, kernel["type"], lines, kernel.get("block")


def _counted(kernels: Sequence[Kernel]) -> str:
    return f"{plural(len(kernels), 'kernel')}: {_kinds(kernels)}"


_KINDS = {"fusion": "fusion", "library": "library call", "copy": "copy", "other": "single operation", "loop": "loop"}


def _kinds(kernels: Sequence[Kernel]) -> str:
    """`12 fusions, 3 library calls`"""
    counts = Counter(kernel["kind"] for kernel in kernels)
    return ", ".join(plural(counts[kind], noun) for kind, noun in _KINDS.items() if counts[kind])


def _content(cell: Content) -> tuple[Any, ...]:
    return tuple(cell) if isinstance(cell, tuple | list) else (cell,)
