"""What XLA's passes made of a program: its kernels, why they are not one, and the programs before and after."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile

from .. import words
from ..conversions import conversions
from ..documents.annotations import Boundary, DiffRow, FusionDocument, Kernel, Position
from ..escapes import clean
from ..kernel_groups import grouped, share_of
from ..looks import MOVES
from ..sentences import say
from ..view import inline
from ..view.parts import (
    Action,
    Beside,
    Choice,
    Code,
    CodeLine,
    Column,
    Content,
    Diff,
    Graph,
    Inline,
    Instrument,
    Part,
    Place,
    Ref,
    Row,
    Run,
    Section,
    Sentence,
    Table,
    View,
)
from ..words import kernel_name, no_line, plural


NAME = "Fusion"
_SIGNS = {"fusion": "▣", "library": "⬡", "loop": "↻", "copy": "◇", "other": "□"}
_TEXT = 4000
"""Characters of a kernel's HLO that are shown."""
_NEIGHBOURS = 20
"""Neighbours of one kernel of which something is said beside it."""
_PLACES = 6
"""Lines that are named one by one; more are told in runs."""
_AROUND = 2
"""Unchanged lines that are shown before and after a change."""
_COUNTER = re.compile(r"(pred|[su]\d+)\[\]")


def view(document: FusionDocument) -> Iterator[Part]:
    """The parts of a fusion document."""
    summary = document["summary"]
    yield Sentence(clean(summary["sentence"]), "headline")
    if summary.get("again"):
        yield Action("Compile it once more", "compiling …")
    if document["kernels"] and not summary["fusions"]:
        yield Sentence("Nothing was fused: every kernel is one operation or a library call.", "note")
    if document["kernels"] or not summary["kernels"]:
        yield from _attempt("the list of kernels", lambda: _kernels(document))
    yield from _attempt("what is converted and copied", lambda: conversions(document))
    if programs := tuple(_programs(document)):
        parts = programs[0][1] if len(programs) == 1 else (Choice("Show before and after as", programs, "program"),)
        yield Section("Before and after", parts)


def _attempt(what: str, make: Callable[[], Iterable[Part]]) -> View:
    """Some parts, or the sentence that says why there are none: the others stand."""
    try:
        return tuple(make())
    except Exception as error:
        return (Sentence(words.failure(what, error)),)


def _kernels(document: FusionDocument) -> Iterator[Part]:
    kernels = document["kernels"]
    if said := order_words(kernels):
        yield Sentence(said, "note")
    named = dict(zip((kernel["name"] for kernel in kernels), words.kernel_names(kernels)))
    between = [_boundary(one, named) for one in document.get("boundaries", ())]
    here = document.get("here") or words.only_home(place for kernel in kernels for place in kernel["positions"])
    table = kernel_table(kernels, here, _by_kernel(between))
    yield grouped(document, table, dict(zip((kernel["name"] for _, kernel in _listed(kernels)), table.rows)), here)
    if between:
        seen = Table("Kernels of which one reads what the other gives", _BETWEEN, tuple(between), first=12)
        left = document.get("boundaries_left_out", 0)
        count = (
            (f"the first {len(between):,} of " if left else "") + plural(len(between) + left, "pair") + " of kernels"
        )
        told = _SEEN if "gpu" not in document else f"{_SEEN} {_REASONS_OF_GPU}"
        without = Section("What the program shows", (Sentence(told, "note"), seen), opened=False, note=count)
        yield Section("Why kernels are separate", (Instrument("reasons", (without,)),))


# --- kernels --------------------------------------------------------------------------------------------------------------


def kernel_table(
    kernels: Sequence[Kernel], here: str, boundaries: dict[str, list[Row]] | None = None, most: int | None = None
) -> Table:
    """The first `most` kernels: those that took most time first; where none was timed, those that compute before those that only fill,
    move or count, each in the order in which they run; a part of them in that order alone. Lines are in `here` where nothing else is said; `boundaries` are the rows of
    neighbours, by kernel."""
    timed, noted = any(map(share_of, kernels)), set[str]()
    own = boundaries or {}
    listed = _listed(kernels)[:most]
    if most is not None and not timed:
        listed = [pair for pair in zip(words.kernel_names(kernels), kernels, strict=True) if pair in listed]
    rows = tuple(_kernel(name, one, here, timed, noted, own.get(one["name"], [])) for name, one in listed)
    columns = (
        Column("kernel"),
        Column("is", "short", "a fusion of so many operations, or the operation"),
        Column("gives"),
        *((Column("time", "number", "share of the measured time of all kernels"),) if timed else ()),
        Column("from", "text", "the lines in which what it computes was written"),
    )
    empty = "This program needs no kernel: nothing is computed for its results."
    return Table("Kernels", columns, rows, first=12, empty=empty, told=len(rows), quiet=True)


def rest_words(kernels: Sequence[Kernel], most: int) -> str:
    """What a table of the first `most` kernels leaves out: `and 9 more kernels that only fill, move or count`; "" if nothing."""
    rest = [kernel for _, kernel in _listed(kernels)[most:]]
    loops = sum(kernel["kind"] == "loop" for kernel in rest)
    counts = [plural(n, noun) for n, noun in ((len(rest) - loops, "more kernel"), (loops, "more loop")) if n]
    moves = " that only fill, move or count" if all(map(_only_moves, rest)) else ""
    return f"and {' and '.join(counts)}{moves}" if rest else ""


def order_words(kernels: Sequence[Kernel]) -> str:
    """What is said above a list that is not in the order in which kernels run; else ""."""
    if [kernel for _, kernel in _listed(kernels)] == list(kernels):
        return ""
    first = (
        "took most of the measured time first"
        if any(map(share_of, kernels))
        else "compute first, then those that only fill, move or count"
    )
    return f"Those that {first}; numbers say in which order they run."


def _listed(kernels: Sequence[Kernel]) -> list[tuple[str, Kernel]]:
    named = list(zip(words.kernel_names(kernels), kernels, strict=True))
    timed = any(map(share_of, kernels))
    return sorted(named, key=lambda one: -share_of(one[1]) if timed else _only_moves(one[1]))


def _only_moves(kernel: Kernel) -> bool:
    if kernel["kind"] == "loop" or not kernel["members"]:
        return False
    return all(member["opcode"] in MOVES or _COUNTER.match(member["type"]) for member in kernel["members"])


def _kernel(called: str, kernel: Kernel, here: str, timed: bool, noted: set[str], neighbours: list[Row]) -> Row:
    note = clean(kernel["note"])
    below = [_members(kernel)] if len(kernel["members"]) > 1 else []
    below += [note] if note and note not in noted else []
    noted.add(note)
    name = inline.code(clean(kernel["name"]))
    share = kernel.get("share")
    types = words.type_words(kernel["type"])
    cells: tuple[Content, ...] = (
        (inline.strong(f"{_SIGNS.get(kernel['kind'], '□')} {called}"), " ", name),
        kernel_name(kernel, len(kernel["members"])),
        inline.code(types, "" if types == kernel["type"] else clean(kernel["type"])),
        *((inline.percent(share) if isinstance(share, int | float) and math.isfinite(share) else "",) if timed else ()),
        tuple(_origin(kernel, here)),
    )
    parts = tuple(_closer(called, kernel, note if note not in below else "", neighbours))
    return Row(cells, Ref(kernels=(kernel["name"],)), note="\n".join(below), parts=parts)


def _members(kernel: Kernel) -> str:
    """`add, compare, multiply ×3`, in the order in which they come."""
    counts = Counter(clean(member["opcode"]) for member in kernel["members"])
    return ", ".join(f"{opcode} ×{count}" if count > 1 else opcode for opcode, count in counts.items())


def _origin(kernel: Kernel, here: str) -> Iterator[Inline]:
    """The lines that a kernel stems from: `lines 2, 4; In [2] line 7`."""
    positions = kernel["positions"]
    if not positions:
        yield no_line(kernel)
    elif len({(place["file"], place["line"]) for place in positions}) > _PLACES:
        yield words.lines(positions, here)
    else:
        yield from _places(positions, here)


def _places(positions: Sequence[Position], here: str) -> Iterator[Inline]:
    found: dict[str, dict[int, Position]] = {}
    for place in positions:
        found.setdefault(words.home(place), {}).setdefault(place["line"], place)
    for at, (home, own) in enumerate(found.items()):
        yield f"{'; ' if at else ''}{'' if home == here else f'{home} '}line{'s' * (len(own) > 1)} "
        for number, line in enumerate(sorted(own)):
            if number:
                yield ", "
            yield Place(str(line), own[line], hue=True)


def _closer(called: str, kernel: Kernel, note: str, neighbours: list[Row]) -> Iterator[Part]:
    """A closer look at a kernel: its text and operations, what stands between it and its neighbours."""
    if note:
        yield Sentence(note)
    members, text = kernel["members"], clean(kernel["text"])
    if text or members:
        inside = members if len(members) > 1 or not text else []
        ref = Ref(tuple(members[0]["paths"])) if members and not inside else Ref(kernels=(kernel["name"],))
        line = CodeLine(text if len(text) <= _TEXT else f"{text[:_TEXT]} …", ref=ref)
        yield Code(f"HLO of {called}", (line,) if text else (), "hlo", operations=inside)
    if neighbours:
        more = f"and {len(neighbours) - _NEIGHBOURS:,} more" if len(neighbours) > _NEIGHBOURS else ""
        name = f"Not fused with {plural(len(neighbours), 'neighbour')}"
        yield Table(name, _BETWEEN, tuple(neighbours[:_NEIGHBOURS]), first=5, left_out=more)


# --- between kernels ------------------------------------------------------------------------------------------------------


_SEEN = (
    "What can be seen between them, first and second in the order of the data; none of it is proved to be the cause."
)
_REASONS_OF_GPU = "XLA's compiler for GPUs writes its own reasons down: %fusion --target h100 f(x) shows them, with the name of your chip (jx.targets())."
_BETWEEN = (
    Column("the first gives", "short", named=True),
    Column("the second reads", "short", named=True),
    Column("seen between them", "text", _SEEN),
)


def _by_kernel(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of pairs of which a kernel is one."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        for name in dict.fromkeys(row.ref.kernels):
            found.setdefault(name, []).append(row)
    return found


def _boundary(boundary: Boundary, named: dict[str, str]) -> Row:
    seen = "; ".join(clean(one["text"]) for one in boundary["observed"]) or say("nothing seen")
    ends = (boundary["from"], boundary["to"])
    giver, reader = (named.get(end) or clean(end) for end in ends)
    return Row((giver, reader, seen), Ref(kernels=ends))


# --- the two programs -----------------------------------------------------------------------------------------------------


def _programs(document: FusionDocument) -> Iterator[tuple[str, View]]:
    summary = document["summary"]
    if document["rows"]:
        yield "program", (difference("Program before and after fusion", document["rows"]),)
    counts = {"before": plural(summary["before"], "operation"), "after": plural(summary["kernels"], "kernel")}
    graphs = tuple(
        Section(side, (Graph(f"The graph {side} fusion", graph, 480, selects=True, kernels=True),), note=counts[side])
        for side, graph in (("before", document["before"]), ("after", document["after"]))
        if graph["nodes"]
    )
    if graphs:
        yield "graphs", (Beside(graphs),)


def difference(name: str, rows: Sequence[DiffRow]) -> Diff:
    """The rows of a difference in groups: what became one kernel together, long stretches of unchanged lines folded."""
    runs: list[Run] = []
    groups = list(_groups(rows))
    for at, group in enumerate(groups):
        kind, caption = group[0]["kind"], clean(group[0]["caption"])
        before, after = _AROUND * (at > 0), _AROUND * (at + 1 < len(groups))
        inside = len(group) - before - after
        if kind == "same" and len(group) > 2 * _AROUND + 2:
            found = (Run("same", before), Run("folded", inside), Run("same", after))
            runs += [run for run in found if run.count]
        else:
            runs.append(Run(kind, len(group), caption))
    marks = tuple(map(_marks, rows))
    return Diff(name, ("before", "after"), rows, tuple(runs), tuple(mark for mark in marks if mark), "hlo")


def _groups(rows: Iterable[DiffRow]) -> Iterator[list[DiffRow]]:
    """Neighbouring rows of one kind and caption; fused ones as long as they lead to the same kernel."""
    group: list[DiffRow] = []
    for row in rows:
        if group and not _goes_on(group, row):
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def _goes_on(group: Sequence[DiffRow], row: DiffRow) -> bool:
    kind, caption = group[0]["kind"], group[0]["caption"]
    if kind == "fused":
        starts_anew = row["right"] is not None and any(earlier["right"] for earlier in group)
        return row["kind"] == "fused" and row["caption"] in ("", caption) and not starts_anew
    return kind == row["kind"] and caption == row["caption"]


_TOKEN = re.compile(r"[\w.%-]+|\s+|.", re.DOTALL)


def _marks(row: DiffRow) -> tuple[int, int, int, int] | None:
    """The columns between the equal ends of two lines, in whole words; None for a row that did not change."""
    left, right = row["left"], row["right"]
    if row["kind"] != "changed" or left is None or right is None:
        return None
    sides = [_TOKEN.findall(line["text"]) for line in (left, right)]
    start = _alike(*sides)
    ends = [side[start:][::-1] for side in sides]
    end = _alike(*ends)
    first = len("".join(sides[0][:start]))
    last = len("".join(ends[0][:end]))
    return first, len(left["text"]) - last, first, len(right["text"]) - last


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many entries at the beginning are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other)))
