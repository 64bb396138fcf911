"""Programs on several targets side by side: the same lines, different kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .. import words
from ..documents.annotations import Position, TargetsDocument, TargetsKernel, TargetsLine, TargetsPair, TargetsSide
from ..escapes import clean
from ..quantities import amount, show
from ..view import inline
from ..view.parts import Column, Content, Inline, Part, Place, Ref, Row, Sentence, Table
from ..words import plural


NAME = "Targets"
_MOST = 4
"""Kernels of a line that are named."""


def view(document: TargetsDocument) -> Iterator[Part]:
    """The parts of a comparison of targets."""
    yield Sentence(headline(document), "headline")
    yield Sentence(clean(document["sentence"]), "note")
    for said in dict.fromkeys((side["told"], remark) for side in document["sides"] for remark in side["remarks"]):
        yield Sentence(f"{clean(said[0])}: {clean(said[1])}", "note")
    yield _figures(document)
    yield _lines(document)
    for at, (side, count) in enumerate(zip(document["sides"], document["nameless"])):
        if count:
            told = f"{clean(side['title'])}: {plural(count, 'kernel')} of no known line"
            yield Sentence(f"{told}{_of_no_line(document, at)}.", "note")
    yield _pairs(document)


def _of_no_line(document: TargetsDocument, at: int) -> str:
    """`: 3 × copy, 1 × library call`, of a side's kernels that no line has."""
    known = {place for line in document["lines"] for place in line["kernels"][at]}
    kinds = Counter(one["what"] for place, one in enumerate(document["sides"][at]["kernels"]) if place not in known)
    if kinds.total() != document["nameless"][at]:
        return ""
    return ": " + ", ".join(f"{count} × {clean(what)}" for what, count in kinds.items())


def headline(document: TargetsDocument) -> str:
    """`2 kernels in block on the CPU, 4 kernels in block on H100 (≈ 19.4 µs by the roofline of its data sheet).`"""
    return f"{', '.join(map(_counted, document['sides']))}."


def _counted(side: TargetsSide) -> str:
    time = "" if amount(side["seconds"]) is None else f" ({show(side['seconds'])} by the roofline of its data sheet)"
    return f"{plural(len(side['kernels']), 'kernel')} in {clean(side['title'])}{time}"


def _figures(document: TargetsDocument) -> Table:
    sides = document["sides"]
    columns = (Column("", "short"), *(Column(clean(side["title"]), "number") for side in sides))
    rows = [
        ("kernels", [inline.count(len(side["kernels"])) for side in sides]),
        ("time by the roofline", [inline.quantity(side["seconds"]) for side in sides]),
        ("memory of each device", [inline.quantity(side["memory"]) for side in sides]),
        ("memory of the chip", [_room(side) for side in sides]),
        ("compiling", [inline.quantity(side["compile"]) for side in sides]),
    ]
    return Table("On each target", columns, tuple(Row((name, *cells)) for name, cells in rows))


def _room(side: TargetsSide) -> Content:
    room = inline.quantity(side["room"])
    return (room, inline.Text(" (does not fit)", "bad")) if side["fits"] is False else room


def _lines(document: TargetsDocument) -> Table:
    sides, here = document["sides"], _here(document)
    columns = (Column("line"), Column("", "code"), *(Column(clean(side["title"]), named=True) for side in sides))
    rows = [_line(line, document, here) for line in document["lines"]]
    return Table("Kernels of each line", columns, tuple(rows), empty="No kernel stems from a known line.")


def _line(line: TargetsLine, document: TargetsDocument, here: str) -> Row:
    cells: list[Content] = [_place(line, here), clean(line["text"])]
    names: list[str] = []
    for n, side in enumerate(document["sides"]):
        own = line["kernels"][n]
        cells.append(tuple(_kernels([side["kernels"][at] for at in own])) or inline.muted(_none(line["positions"][n])))
        names += [side["kernels"][at]["name"] for at in own]
    position = next((one for one in line["positions"] if one), None)
    return Row(tuple(cells), Ref(kernels=tuple(dict.fromkeys(names)), position=position))


def _none(position: Position | None) -> str:
    return "no such line, or no kernel" if position is None else "no kernel"


def _kernels(kernels: Sequence[TargetsKernel]) -> Iterator[Inline]:
    for n, one in enumerate(kernels[:_MOST]):
        if n:
            yield ", "
        yield inline.code(clean(one["name"]))
        yield inline.muted(f" {clean(one['what'])}")
    if len(kernels) > _MOST:
        yield f", {len(kernels) - _MOST:,} more"


def _here(document: TargetsDocument) -> str:
    return words.only_home([one for line in document["lines"] for one in line["positions"] if one])


def _place(line: TargetsLine, here: str) -> Content:
    """Where a line stands; in two versions of a function, in both."""
    found = {words.lines([one], here): one for one in reversed(line["positions"]) if one}
    pieces: list[Inline] = []
    for text, position in reversed(found.items()):
        pieces += ["; "] if pieces else []
        pieces.append(Place(text, position))
    return tuple(pieces)


def _pairs(document: TargetsDocument) -> Part:
    if not document["pairs"]:
        return Sentence("No two lines are in one kernel on one of these and apart on another.")
    columns = (
        Column("lines"),
        Column("one kernel on", named=True),
        Column("apart on", named=True),
        Column("why they are apart"),
    )
    here = _here(document)
    rows = [_pair(one, document, here) for one in document["pairs"]]
    left = f"{document['pairs_left_out']:,} more pairs are not kept." if document["pairs_left_out"] else ""
    return Table("Lines that are one kernel on some, and apart on others", columns, tuple(rows), left_out=left)


def _pair(one: TargetsPair, document: TargetsDocument, here: str) -> Row:
    lines = [document["lines"][at] for at in one["lines"]]
    sides = document["sides"]
    places = (*inline.each(_place(lines[0], here)), " and ", *inline.each(_place(lines[1], here)))
    reasons = dict.fromkeys(map(clean, one["reasons"]))
    why = (
        next(iter(reasons))
        if len(reasons) == 1
        else "; ".join(f"{clean(sides[n]['told'])}: {clean(reason)}" for n, reason in zip(one["apart"], one["reasons"]))
    )
    cells = (
        places,
        ", ".join(clean(sides[n]["title"]) for n in one["together"]),
        ", ".join(clean(sides[n]["title"]) for n in one["apart"]),
        why,
    )
    position = next((found for line in lines for found in line["positions"] if found), None)
    return Row(cells, Ref(position=position))
