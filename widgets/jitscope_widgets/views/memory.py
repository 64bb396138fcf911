"""The memory of a program: the peak, what is kept for the backward pass, the curve, and what is in use, by line and buffer by buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from .. import words
from ..documents.annotations import MemoryBuffer, MemoryChange, MemoryDocument, MemoryShare, Position
from ..escapes import clean
from ..quantities import origin, show, size
from ..view import inline
from ..view.chart_svg import nice
from ..view.parts import (
    Action,
    Axis,
    Band,
    Bar,
    Chart,
    Column,
    Content,
    Grouped,
    Part,
    Place,
    Point,
    Ref,
    Row,
    Section,
    Sentence,
    Series,
    Stretch,
    Table,
)
from ..words import NO_LINE, plural


NAME = "Memory"
KINDS = {"argument": "arguments", "constant": "constants", "result": "results", "temporary": "temporaries"}
"""In the order in which they are stacked, from the bottom."""
CHART = "Memory in use over the schedule"
_GIVEN = "given to the program"


def view(document: MemoryDocument) -> Iterator[Part]:
    """The parts of a memory document."""
    yield Sentence(headline(document), "headline")
    if most := holds_most(document):
        yield Sentence(most)
    if saved := kept_for_backward(document):
        yield Sentence(saved)
    yield Sentence(reserved(document), "note", origin(document["reserved"]["total"]))
    yield _chart(document)
    yield _tables(document)
    if changes := [part for change in document["changes"] for part in _change(change, document)]:
        note = "each is tried by compiling the program with it; nothing is run, nothing is estimated"
        yield Section("What would change", tuple(changes), note=note)
    yield Sentence(words.cost(document["cost"]), "note", origin(document["cost"]))


# --- sentences --------------------------------------------------------------------------------------------------------


def headline(document: MemoryDocument) -> str:
    """The most bytes in use, at which step, and what XLA reserves: steps count from 1 for people."""
    peak = document["peak"]
    step = f"step {peak['position'] + 1:,} of {document['length']:,} (instruction {clean(peak['instruction'])})"
    each = f" on each of {devices:,} devices" if (devices := document.get("devices")) else ""
    reserved = size(_amount(document, "total"))
    return f"At most {size(peak['bytes'])} in use{each}, at {step}. XLA reserves {reserved} for a run."


def reserved(document: MemoryDocument) -> str:
    """`Reserved: arguments 604 kB, results 605 kB, temporaries 308 kB.`"""
    parts = [f"{word} {size(amount)}" for kind, word in KINDS.items() if (amount := _amount(document, kind))]
    aliased = _amount(document, "aliased")
    shared = f"; results take {size(aliased)} of the arguments' memory" if aliased else ""
    return f"Reserved: {', '.join(parts) or 'nothing'}{shared}."


def holds_most(document: MemoryDocument) -> str:
    """`Of all lines, line 31 holds the most at the peak: 1.57 MB in 28 buffers; what the program is given takes 2.62 MB.`, both where two hold as much; ""
    where no line is known to hold any, one alone does, or more than two hold as much."""
    groups = _by_line(_shares(document), (), document)
    placed = [group for group in groups if group.place]
    if len(placed) < 2 or not placed[0].bytes:
        return ""
    made, alike = placed[0], [group for group in placed if group.bytes == placed[0].bytes]
    given = sum(group.bytes for group in groups if group.name == _GIVEN)
    name, *others = [group.place.text for group in alike if group.place]
    beside = f"; what the program is given takes {size(given)}" if given else ""
    if len(alike) == 2:
        return f"Of all lines, {name} and {others[0]} hold the most at the peak: {size(made.bytes)} each{beside}."
    if len(alike) > 2:
        return ""
    return f"Of all lines, {name} holds the most at the peak: {size(made.bytes)} in {plural(made.count, 'buffer')}{beside}."


def kept_for_backward(document: MemoryDocument) -> str:
    """`Kept for the backward pass: 214 MB in 12 buffers at step 40, of which line 12 holds 96 MB.`, and what of it is there at the peak
    where that is at another step; "" where nothing is kept."""
    kept = document.get("kept")
    if not kept:
        return ""
    lines = _by_line(kept["lines"], (), document)
    name = lines[0].place.text if lines[0].place else ""
    holds = f", of which {name} holds {size(lines[0].bytes)}" if len(lines) > 1 else f", all of {name}"
    when = f"in {plural(kept['buffers'], 'buffer')} at step {kept['position'] + 1:,}"
    told = f"Kept for the backward pass: {size(kept['bytes'])} {when}{holds if name else ''}."
    if kept["position"] == document["peak"]["position"]:
        return told
    return f"{told} At the peak, step {document['peak']['position'] + 1:,}, it is {size(sum(share['saved'] for share in _shares(document)))}."


def _amount(document: MemoryDocument, kind: str) -> float:
    return document["reserved"][kind]["value"] or 0


# --- the curve --------------------------------------------------------------------------------------------------------


def _chart(document: MemoryDocument) -> Chart:
    curve, peak, length = document["curve"], document["peak"], max(document["length"], 1)
    steps = tuple(map(float, curve["positions"]))
    series = tuple(
        Series(word, "area", steps, tuple(map(float, curve[kind])), kind, title=f"{word} {size(peak['kinds'][kind])}")
        for kind, word in KINDS.items()
        if any(curve[kind])
    )
    return Chart(
        CHART,
        f"{headline(document)} Sizes beside the colours are those at the peak.",
        Axis("schedule", 0, length),
        Axis("in use", 0, nice(peak["bytes"] or 1), "B"),
        series,
        (Point(peak["position"] + 0.5, peak["bytes"], f"peak {size(peak['bytes'])}", shape="flag"),),
        tuple(
            Band(scope["start"], scope["end"] + 1, clean(scope["text"]))
            for scope in document["scopes"]
            if scope["text"] != "condition of the loop"
        ),
        steps="step",
        at=peak["position"],
    )


# --- what is in use ---------------------------------------------------------------------------------------------------


class Group(NamedTuple):
    """What a line or a function holds at the peak, and those of its buffers that the document lists."""

    name: str
    place: Place | None
    shares: list[MemoryShare]
    buffers: list[MemoryBuffer]

    @property
    def bytes(self) -> int:
        return sum(share["bytes"] for share in self.shares)

    @property
    def count(self) -> int:
        return sum(share["buffers"] for share in self.shares)

    @property
    def saved(self) -> int:
        return sum(share["saved"] for share in self.shares)


def at_peak(document: MemoryDocument) -> Sequence[MemoryBuffer]:
    """The buffers alive at the peak, largest first."""
    buffers = dict(enumerate(document["buffers"]))
    return [buffers[number] for number in document["peak"]["buffers"] if number in buffers]


def _tables(document: MemoryDocument) -> Grouped:
    alive, shares = at_peak(document), _shares(document)
    lines = _by_line(shares, alive, document)
    scopes = _by_function(shares, alive, document)
    ways = [("buffer by buffer", _buffers(document))]
    if len(scopes) > 1:
        ways.insert(0, ("by function", _groups("by function", scopes, document)))
    if len(lines) < document["peak"]["count"]:
        ways.insert(0, ("by line", _groups("by line", lines, document)))
    return Grouped("In use at the peak", tuple(ways))


def _shares(document: MemoryDocument) -> Sequence[MemoryShare]:
    """What lines hold at the peak; of documents that do not say it, each listed buffer is a share."""
    listed: list[MemoryShare] = [
        {
            "path": buffer["path"],
            "given": buffer["kind"] == "argument",
            "buffers": 1,
            "bytes": buffer["bytes"],
            "saved": buffer["bytes"] if buffer.get("saved") else 0,
        }
        for buffer in at_peak(document)
    ]
    return document["peak"].get("lines", listed)


_Held: TypeAlias = "MemoryShare | MemoryBuffer"


def _by_line(shares: Sequence[MemoryShare], buffers: Sequence[MemoryBuffer], document: MemoryDocument) -> list[Group]:
    here = words.only_home(document["positions"].values())

    def name(held: _Held) -> tuple[str, Place | None]:
        place = _place(document, held, here)
        return (_name(place) if place else _nowhere(held)), place

    return _grouped(shares, buffers, name)


def _by_function(
    shares: Sequence[MemoryShare], buffers: Sequence[MemoryBuffer], document: MemoryDocument
) -> list[Group]:
    """By the scope that a line was written in, where it has a name, else by its function."""

    def name(held: _Held) -> tuple[str, None]:
        position = _position(document, held)
        scope = position and (position.get("named_scope") or position["function"])
        return (clean(scope) if scope else _nowhere(held)), None

    return _grouped(shares, buffers, name)


def _grouped(
    shares: Sequence[MemoryShare],
    buffers: Sequence[MemoryBuffer],
    name: Callable[[_Held], tuple[str, Place | None]],
) -> list[Group]:
    found: dict[str, Group] = {}
    for share in shares:
        called, place = name(share)
        found.setdefault(called, Group(called, place, [], [])).shares.append(share)
    for buffer in buffers:
        if group := found.get(name(buffer)[0]):
            group.buffers.append(buffer)
    return sorted(found.values(), key=lambda group: -group.bytes)


def _nowhere(held: _Held) -> str:
    given = held["given"] if "given" in held else held["kind"] == "argument"
    return _GIVEN if given else NO_LINE


def _groups(way: str, groups: Sequence[Group], document: MemoryDocument) -> Table:
    whole = document["peak"]["bytes"] or 1
    saved = any(group.saved for group in groups)
    columns = [Column("at the peak", "number"), Column("of all", "bar"), Column("buffers", "number")]
    columns += [
        Column("kept for backward", "number", "made by the forward pass, last read by the backward pass")
    ] * saved
    columns.append(Column("line" if way == "by line" else "function", "text"))
    rows = [_group(group, document, whole, saved) for group in groups]
    told = "" if "lines" in document["peak"] else _not_at_peak(document)
    return Table(f"In use at the peak, {way}", tuple(columns), tuple(rows), left_out=told)


def _group(group: Group, document: MemoryDocument, whole: int, saved: bool) -> Row:
    cells: list[Content] = [
        inline.size(group.bytes),
        Bar(group.bytes / whole),
        inline.count(group.count),
        *([inline.size(group.saved) if group.saved else ""] if saved else []),
        group.place or group.name,
    ]
    refs = [_ref(document, buffer) for buffer in group.buffers]
    shares = (share["path"] for share in group.shares if share["path"] is not None)
    paths = tuple(dict.fromkeys((*(path for ref in refs for path in ref.paths), *shares)))
    position = group.place.position if group.place else None
    inner = [_inner(buffer, document, whole, saved) for buffer in group.buffers] if group.count > 1 else []
    if inner and (more := group.count - len(inner)) > 0:
        inner.append(Row(("", "", inline.count(more), *[""] * saved, "smaller ones"), tone="muted"))
    return Row(tuple(cells), Ref(paths, position=position), tuple(inner))


def _inner(buffer: MemoryBuffer, document: MemoryDocument, whole: int, saved: bool) -> Row:
    cells: list[Content] = [
        inline.size(buffer["bytes"]),
        Bar(buffer["bytes"] / whole, tone=buffer["kind"]),
        "",
        *(["kept" if buffer.get("saved") else ""] if saved else []),
        _what(buffer),
    ]
    return Row(tuple(cells), _ref(document, buffer), title=_told(buffer, document))


def _buffers(document: MemoryDocument) -> Table:
    here = words.only_home(document["positions"].values())
    largest = max((buffer["bytes"] for buffer in document["buffers"]), default=1) or 1
    columns = (
        Column("size", "number"),
        Column("", "bar"),
        Column("what"),
        Column("line"),
        Column("in use over the steps, ┊ the peak", "stretch"),
    )
    alive = document["peak"]["buffers"]
    order = [*alive, *sorted(set(range(len(document["buffers"]))) - set(alive))]
    rows = [_buffer(document["buffers"][n], document, here, largest) for n in order if n < len(document["buffers"])]
    return Table("In use at this step, largest first", columns, tuple(rows), left_out=left_out(document), axis=CHART)


def _buffer(buffer: MemoryBuffer, document: MemoryDocument, here: str, largest: int) -> Row:
    place = _place(document, buffer, here) or (_GIVEN if buffer["kind"] == "argument" else "")
    length, mark = max(document["length"], 1), document["peak"]["position"] + 0.5
    cells = (
        inline.size(buffer["bytes"]),
        Bar(buffer["bytes"] / largest, tone=buffer["kind"]),
        _what(buffer),
        place,
        Stretch(buffer["born"], buffer["dies"] + 1, length, mark, steps(buffer), buffer["kind"]),
    )
    return Row(cells, _ref(document, buffer), title=_told(buffer, document))


def _what(buffer: MemoryBuffer) -> Content:
    kept = ", kept for the backward pass" if buffer.get("saved") else ""
    return (
        inline.strong(clean(buffer["label"])),
        " ",
        inline.code(clean(buffer["type"])),
        " ",
        inline.muted(f"{buffer['kind']}{kept}"),
    )


def _told(buffer: MemoryBuffer, document: MemoryDocument) -> str:
    where = f"{steps(buffer)} of {document['length']:,}; instruction {clean(buffer['instruction'])}"
    return f"{clean(buffer['label'])}, {clean(buffer['type'])}, {size(buffer['bytes'])}, memory of {buffer['kind']}s, in use in {where}"


def _ref(document: MemoryDocument, buffer: MemoryBuffer) -> Ref:
    position = _position(document, buffer)
    paths = (buffer["path"],) if buffer["path"] is not None else ()
    kernels = (buffer["kernel"],) if buffer["kernel"] is not None else ()
    node = f"in{buffer['argument']}" if buffer["argument"] is not None else ""
    return Ref(paths, kernels, node, position)


def _place(document: MemoryDocument, buffer: _Held, here: str) -> Place | None:
    position = _position(document, buffer)
    return position and inline.place(position, here)


def _position(document: MemoryDocument, buffer: _Held) -> Position | None:
    return None if buffer["path"] is None else document["positions"].get(buffer["path"])


def _name(place: Place) -> str:
    return f"{place.text}: {place.code}"


def steps(buffer: MemoryBuffer) -> str:
    """`steps 513-993`: they count from 1 for people."""
    first, last = buffer["born"], buffer["dies"]
    return f"step {first + 1:,}" if first == last else f"steps {first + 1:,}-{last + 1:,}"


def _not_at_peak(document: MemoryDocument) -> str:
    more = document["peak"]["count"] - len(document["peak"]["buffers"])
    return f"{plural(more, 'smaller buffer')} in use at the peak not listed." if more > 0 else ""


def left_out(document: MemoryDocument) -> str:
    """How many small buffers are not in the document; "" if all are."""
    left = document["left_out"]
    count = left["buffers"]
    if not count:
        return ""
    return (
        f"{plural(count, 'smaller buffer')} of the program, {size(left['bytes'])} together, not kept in this document."
    )


# --- what changes would do --------------------------------------------------------------------------------------------


def _change(change: MemoryChange, document: MemoryDocument) -> Iterator[Part]:
    where = (
        f" ({words.lines([change['position']], words.only_home(document['positions'].values()))})"
        if change["position"]
        else ""
    )
    name = f"{clean(change['text'])}{where}"
    if result := trial_words(change, document):
        yield Sentence((inline.strong(name), ": ", result))
    else:
        yield Action(f"Compile with this: {name}", "compiling …", {"change": change["id"]})


def trial_words(change: MemoryChange, document: MemoryDocument) -> str:
    """What a change did, as measured by compiling it; "" where it was not tried."""
    found = change["tried"]
    if found is None:
        return ""
    before = (document["peak"]["bytes"], _amount(document, "total"))
    parts = [
        f"{word} {size(new)} instead of {size(old)} ({_percent(new, old)})"
        for word, new, old in zip(("in use at most", "reserved"), (found["peak"], found["reserved"]), before)
    ]
    flops, flops_before = found["flops"]["value"], found["flops_before"]["value"]
    if flops is not None and flops_before is not None:
        new, old = show(found["flops"]), show(found["flops_before"])
        parts.append(f"arithmetic {new} instead of {old} ({_percent(flops, flops_before)})")
    note = f"; {clean(found['note'])}" if found["note"] else ""
    took = f"Compiling it took {show(found['seconds'])} instead of {show(document['cost'])}."
    return f"{', '.join(parts)}{note}. {took}"


def _percent(new: float, old: float) -> str:
    if new == old or not old:
        return "the same"
    return f"{100 * (new - old) / old:+.1f} %".replace("-", "−")
