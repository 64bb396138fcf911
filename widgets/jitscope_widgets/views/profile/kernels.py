"""The kernels of a profile: those that do the same together, by kind, by loop, one by one; and what bounds them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from ...escapes import clean
from ...kernel_blocks import WITHIN, Block, Blocks, share_of
from ...quantities import percent, seconds
from ...view import inline
from ...view.parts import Bar, Column, Content, Grouped, Part, Ref, Row, Table, Text
from ...words import NO_LINE, Document, lines as lines_of, only_home, plural
from . import wording


_COLUMNS = (
    Column("kernel", "short", "as the Fusion tab numbers them"),
    Column("is", "text", "a fusion of so many operations, or the operation"),
    Column("share", "number", "of the time of all kernels"),
    Column("", "bar"),
    Column("all runs", "number", "seconds of all its runs in one call"),
    Column("one run", "number", "on average, and their number in a call"),
    Column("bytes", "number", "read and written in one run, by XLA's model"),
    Column("arithmetic", "number", "operations in one run, by XLA's model"),
    Column("bound by", "short", "and the part of its time in fast runs that this explains"),
    Column(
        "stems from",
        "text",
        "the lines in which what it computes was written, and the block of the program: a function, a module, a loop",
    ),
)
_KINDS = {
    "fusion": "fusions",
    "library": "library calls",
    "copy": "copies",
    "other": "single operations",
    "loop": "loops",
}


def kernel_tables(profile: Document) -> Grouped:
    """The kernels in several orders."""
    return Grouped("Kernels", tuple(_Kernels(profile).ways()))


def alike(kernels: Sequence[Document]) -> list[list[Document]]:
    """Kernels that do the same to values of the same types, and stem from the same lines of the same block, together; in the order of the
    first ones."""
    groups: defaultdict[object, list[Document]] = defaultdict(list)
    for kernel in kernels:
        same = ("kind", "opcode", "operations", "type", "flops", "bytes", "loop", "bound")
        stems = kernel.get("label"), kernel.get("block"), tuple(kernel["lines"])
        groups[(*(kernel[name] for name in same), *stems)].append(kernel)
    return list(groups.values())


class _Kernels:
    def __init__(self, profile: Document):
        self.profile = profile
        self.kernels = profile["kernels"]
        self.here = only_home(line["position"] for line in profile["lines"])
        # A loop of listed kernels is a block itself.
        counted = [kernel for kernel in self.kernels if kernel["share"] is not None]
        self.blocks = Blocks(profile.get("blocks") or [], counted)
        self.in_blocks = any(kernel.get("block") is not None for kernel in self.kernels)
        self.groups = alike(self.kernels)
        self.rows: dict[str, Row] = {}
        self.together: dict[tuple[str, ...], Row] = {}
        kinds: defaultdict[str, float] = defaultdict(float)
        for kernel in self.kernels:
            kinds[kernel["kind"]] += kernel["share"] or 0.0
        self.tree = self.blocks.tree()
        largest = (share_of(block.kernels) for block in self.tree.inner)
        self.top = max([*kinds.values(), *largest], default=0.0) or 1.0
        """The share that the longest bar stands for: that of a kind or of a block."""

    def ways(self) -> Iterator[tuple[str, Table]]:
        if len(self.groups) < len(self.kernels):
            yield "alike together", self._table("those that do the same together", self._folded(self.kernels))
        yield "one by one", self._table("by the time of all their runs in a call", map(self._row, self.kernels))
        if self.in_blocks:
            yield "by block", self._table("by the part of the program that they stem from", self._by_block(self.tree))
        if len({kernel["kind"] for kernel in self.kernels}) > 1:
            yield "by kind", self._table("by what they are", self._by_kind())
        if any(kernel["loop"] for kernel in self.kernels):
            yield "by loop", self._table("by the loop that repeats them", self._by_loop())

    def _table(self, how: str, rows: Iterator[Row]) -> Table:
        return Table(f"Kernels, {how}", _COLUMNS, tuple(rows))

    def _folded(self, kernels: Sequence[Document]) -> Iterator[Row]:
        groups = sorted(alike(kernels), key=lambda group: -sum(kernel["total"] for kernel in group))
        yield from map(self._together, groups)

    def _together(self, group: list[Document]) -> Row:
        return self._row(group[0]) if len(group) == 1 else self._kept(group)

    def _row(self, kernel: Document) -> Row:
        """The row of a kernel, one object in all orders."""
        name = kernel["name"]
        if name not in self.rows:
            self.rows[name] = self._made(kernel)
        return self.rows[name]

    def _made(self, kernel: Document) -> Row:
        share = kernel["share"]
        inside = f", in the loop {clean(kernel['loop'])}" if kernel["loop"] else ""
        name = Text(
            f"{'↻ ' if kernel['loop'] else ''}{clean(kernel['called'])}", title=f"{clean(kernel['name'])}{inside}"
        )
        cells: tuple[Content, ...] = (
            name,
            wording.what(kernel),
            inline.percent(share) if share is not None else Text("in its kernels", "muted", order=-1.0),
            Bar(share / self.top) if share is not None else "",
            inline.seconds(kernel["total"]),
            Text(wording.timed(kernel), title=wording.spread(kernel), order=kernel["total"] / kernel["runs"]),
            *self._work(kernel),
        )
        return Row(
            cells,
            Ref(kernels=(kernel["name"],)),
            title=f"{clean(kernel['called'])}, {wording.what(kernel)}, {clean(kernel['type'])}",
        )

    def _work(self, kernel: Document) -> tuple[Content, ...]:
        mark = f"{wording.MARKS[kernel['bound']]} " if kernel["bound"] else ""
        return (
            wording.modelled(kernel["bytes"], "B"),
            wording.modelled(kernel["flops"], "flop"),
            Text(f"{mark}{wording.bound(kernel)}", title=wording.why(kernel)),
            self._stems_from(kernel),
        )

    def _stems_from(self, kernel: Document) -> Content:
        """`line 35 · block × 12`; all blocks that it is in on hovering."""
        lines, names = wording.lines(self.profile, kernel, self.here), self.blocks.around(kernel)
        if not names:
            return lines or inline.muted(NO_LINE)
        lines = lines or lines_of(self.blocks.places(kernel), self.here)
        return (lines, inline.muted(" · ") if lines else "", Text(names[-1], "muted", WITHIN.join(names)))

    def _kept(self, group: list[Document]) -> Row:
        names = wording.names(group)
        if names not in self.together:
            self.together[names] = self._group(group)
        return self.together[names]

    def _group(self, group: list[Document]) -> Row:
        """Kernels that do the same as one row, which opens."""
        first, shares = group[0], [kernel["share"] for kernel in group if kernel["share"] is not None]
        total, runs = sum(kernel["total"] for kernel in group), sum(kernel["runs"] for kernel in group)
        one = {**first, "total": total, "runs": runs}
        cells: tuple[Content, ...] = (
            Text(f"{'↻ ' if first['loop'] else ''}{plural(len(group), 'kernel')}", order=float(len(group))),
            (wording.what(first), inline.strong(f" × {len(group):,}")),
            inline.percent(sum(shares)) if shares else Text("in its kernels", "muted", order=-1.0),
            Bar(sum(shares) / self.top) if shares else "",
            inline.seconds(total),
            Text(wording.timed(one), order=total / runs),
            *self._work(first),
        )
        title = f"{wording.what(first)} of the same types and lines, {len(group):,} times; bytes and arithmetic are of one run"
        return Row(cells, Ref(kernels=wording.names(group)), tuple(map(self._row, group)), title=title)

    def _by_block(self, block: Block) -> Iterator[Row]:
        """What is in a block, the longest first: blocks, and kernels that do the same together."""
        rows = [(share_of(one.kernels), self._block(one)) for one in block.inner]
        if block is self.tree and block.own:
            several = self._sum("in several or none of these", block.own, plural(len(block.own), "kernel"))
            rows.append((share_of(block.own), several))
        else:
            rows += [(share_of(group), self._together(group)) for group in alike(block.own)]
        yield from (row for _, row in sorted(rows, key=lambda one: -one[0]))

    def _block(self, block: Block) -> Row:
        called = lines_of(block.positions, self.here)
        return self._sum(
            block.label, block.kernels, plural(len(block.kernels), "kernel"), self._by_block(block), called
        )

    def _by_kind(self) -> Iterator[Row]:
        kinds = sorted(self.kernels, key=lambda kernel: kernel["kind"])
        found = [(kind, list(own)) for kind, own in groupby(kinds, key=lambda kernel: kernel["kind"])]
        for kind, own in sorted(found, key=lambda item: -sum(kernel["share"] or 0.0 for kernel in item[1])):
            yield self._sum(_KINDS.get(kind, clean(kind)), own, f"{len(own):,}")

    def _by_loop(self) -> Iterator[Row]:
        called = {kernel["name"]: clean(kernel["called"]) for kernel in self.kernels}
        loops: defaultdict[str, list[Document]] = defaultdict(list)
        for kernel in self.kernels:
            if kernel["kind"] != "loop" or kernel["share"] is not None:
                loops[kernel["loop"] or ""].append(kernel)
        for name, own in sorted(loops.items(), key=lambda item: -sum(kernel["share"] or 0.0 for kernel in item[1])):
            yield self._sum(called.get(name, clean(name)) if name else "in no loop", own, plural(len(own), "kernel"))

    def _sum(
        self, name: str, own: list[Document], what: str, rows: Iterator[Row] | None = None, stems: str = ""
    ) -> Row:
        share = sum(kernel["share"] or 0.0 for kernel in own)
        total = sum(kernel["total"] for kernel in own if kernel["share"] is not None)
        figures = (inline.percent(share), Bar(min(1.0, share / self.top)), inline.seconds(total))
        inside = tuple(self._folded(own) if rows is None else rows)
        return Row((inline.strong(name), what, *figures, "", "", "", "", stems), rows=inside)


def bounds_table(profile: Document) -> Iterator[Part]:
    """What bounds the kernels, by their time, and what that means."""
    sums: defaultdict[str, float] = defaultdict(float)
    for kernel in profile["kernels"]:
        if kernel["share"] is not None and kernel["bound"]:
            sums[kernel["bound"]] += kernel["share"]
    rows = [
        Row(
            (
                f"{wording.MARKS[bound]} {bound}",
                inline.percent(share),
                Bar(min(share, 1.0), tone=bound),
                Text(wording.MEANING[bound], "muted"),
            ),
            Ref(
                kernels=wording.names([k for k in profile["kernels"] if k["bound"] == bound and k["share"] is not None])
            ),
            title=f"bound by {bound}: {percent(share)} of the kernels' time, {seconds(_total(profile, bound))}",
        )
        for bound, share in sorted(sums.items(), key=lambda item: -item[1])
    ]
    if rows:
        columns = (Column("bound by", "short"), Column("share", "number"), Column("", "bar"), Column("which means"))
        yield Table("What bounds the kernels, by their time", columns, tuple(rows))


def _total(profile: Document, bound: str) -> float:
    return sum(
        kernel["total"] for kernel in profile["kernels"] if kernel["bound"] == bound and kernel["share"] is not None
    )
