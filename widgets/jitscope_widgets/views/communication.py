"""What the devices of a program exchange: its collectives, and how arguments and results lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import words
from ..documents.annotations import Collective, CollectiveTotal, CommunicationDocument, LaidValue, Position
from ..escapes import clean
from ..quantities import seconds, size
from ..view import inline
from ..view.parts import Column, Content, Part, Place, Ref, Row, Sentence, Table
from ..words import NO_LINE, plural


NAME = "Communication"
MEANING = {
    "all-reduce": "adds (or takes the largest of) what devices have; each gets the result",
    "all-gather": "each device gets the parts of all",
    "reduce-scatter": "adds what devices have; each gets one part of the result",
    "all-to-all": "each device sends a different part to every other",
    "collective-permute": "each device sends what it has to one other",
    "collective-broadcast": "one device sends what it has to all",
    "ragged-all-to-all": "each device sends parts of different sizes to the others",
}
_COLLECTIVES = (
    Column("collective"),
    Column("runs", "number"),
    Column("a device gives → gets", "number"),
    Column("devices"),
    Column("of", "code"),
    Column("written in"),
)
_LAYOUTS = (
    Column("argument or result"),
    Column("sharding"),
    Column("on each device", "number"),
    Column("as", "code", "the type of the part that each device has", named=True),
)


def view(document: CommunicationDocument) -> Iterator[Part]:
    """The parts of a document of communication."""
    yield Sentence(headline(document), "headline")
    if document["collectives"]:
        here = words.only_home(document["positions"].values())
        rows = tuple(_collective(document, one, here) for one in document["collectives"])
        yield Table("Collectives", _COLLECTIVES, rows, first=40)
        yield Sentence(note(document), "note")
    if document["values"]:
        yield Table("Shardings of arguments and results", _LAYOUTS, tuple(map(_value, document["values"])), first=40)
    if rest := left_out(document):
        yield Sentence(rest, "note")


def headline(document: CommunicationDocument) -> str:
    """`8 devices (data 4 × model 2). In one run: 1 × all-reduce, 8.2 kB from each device.`"""
    axes = " × ".join(f"{clean(axis['name'])} {axis['size']}" for axis in document["mesh"])
    devices = plural(document["devices"], "device")
    over = f"{devices} ({axes})" if axes else devices
    if not document["totals"]:
        return f"{over}. The devices exchange nothing."
    return f"{over}. In one run: {'; '.join(map(_total, document['totals']))}."


def _total(one: CollectiveTotal) -> str:
    if one["runs"] is None or one["gives"] is None:
        return f"{one['count']:,} × {one['what']} in the program, how often they run is not known"
    return f"{one['runs']:,} × {one['what']}, {size(one['gives'])} from each device"


def note(document: CommunicationDocument) -> str:
    """What bytes and times are of."""
    bytes = "Bytes are those that one device gives and gets in one run of the collective, by the types in the optimised program"
    measured = document.get("measured")
    if not measured:
        return f"{bytes}; times were not measured (%communication --measure)."
    return (
        f"{bytes}. Times are what a device spends in all runs of it in one run of the program, waiting for others included: "
        f"the median of {measured['runs']} measured runs on {clean(measured['on'])}."
    )


def left_out(document: CommunicationDocument) -> str:
    """What the document does not hold, "" if it holds all."""
    left = document["left_out"]
    values = "1 more argument or result" if left["values"] == 1 else f"{left['values']:,} more arguments and results"
    parts = [plural(left["collectives"], "more collective")] if left["collectives"] else []
    parts += [values] if left["values"] else []
    return f"Not kept in this document: {' and '.join(parts)}." if parts else ""


# --- collectives ------------------------------------------------------------------------------------------------------


def _collective(document: CommunicationDocument, one: Collective, here: str) -> Row:
    positions = _positions(document, one)
    cells: tuple[Content, ...] = (
        inline.strong(one["what"], MEANING[one["what"]]),
        inline.Text(runs(one), title=spread(one), order=one["runs"]),
        inline.Text(f"{size(one['gives'])} → {size(one['gets'])}", order=one["gives"]),
        among(one),
        types(one),
        _place(document, one, here),
    )
    ref = Ref(tuple(one["paths"][:1]), position=positions[0] if positions else None)
    told = f"{one['what']}: {MEANING[one['what']]}; of {', '.join(map(clean, one['types']))}; instruction {clean(one['name'])}"
    return Row(cells, ref, title=told)


def runs(one: Collective) -> str:
    """`×5`: how often it runs; where it was measured, how long a device spends in it."""
    count = "× unknown" if one["runs"] is None else f"×{one['runs']:,}"
    took = one.get("seconds")
    return f"{count}, {seconds(took['median'])}" if took else count


def spread(one: Collective) -> str:
    """`10th to 90th percentile 20 µs to 90 µs; 12 µs on the device that waits least`, "" where it was not measured."""
    took = one.get("seconds")
    if not took:
        return ""
    low, high, least = (seconds(took[which]) for which in ("low", "high", "least"))
    return f"10th to 90th percentile {low} to {high}; {least} on the device that waits least"


def among(one: Collective) -> str:
    """`along data`, or the groups of devices."""
    if one["axes"]:
        return f"along {', '.join(map(clean, one['axes']))}"
    groups, arrow = one["groups"], "→" if one["what"] == "collective-permute" else ","
    if groups is None:
        return "between devices that are not known"
    shown = " ".join(f"{{{arrow.join(map(str, group))}}}" for group in groups[:4])
    return f"between {shown}{' …' if len(groups) > 4 else ''}"


def types(one: Collective) -> str:
    """`f32[32,64], f32[]`"""
    shown = ", ".join(map(clean, one["types"][:3]))
    return f"{shown} and {len(one['types']) - 3} more" if len(one["types"]) > 3 else shown


def _place(document: CommunicationDocument, one: Collective, here: str) -> str | Place:
    positions = _positions(document, one)
    lines = _of_passes(words.lines(positions, here), one["paths"], document["backward"])
    texts = {clean(position["text"]).strip() for position in positions}
    return Place(lines, positions[0], texts.pop() if len(texts) == 1 else "") if positions else NO_LINE


def _positions(document: CommunicationDocument, one: Collective) -> list[Position]:
    return [found for path in one["paths"] if (found := document["positions"].get(path)) is not None]


def _of_passes(lines: str, paths: Sequence[str], backward: Sequence[str]) -> str:
    """The lines, and whether what is written there made the equations at these paths for the backward pass."""
    mine = [path in backward for path in paths]
    if not lines or not any(mine):
        return lines
    return f"{lines} ({'backward pass' if all(mine) else 'partly backward pass'})"


# --- arguments and results --------------------------------------------------------------------------------------------


def _value(value: LaidValue) -> Row:
    name: Content = (clean(value["name"]), " ", inline.code(clean(value["type"])))
    how = lies(value)
    return Row(
        (name, inline.strong(how) if value["differs"] else how, inline.size(value["bytes"]), clean(value["part"]))
    )


def lies(value: LaidValue) -> str:
    """How a value lies, and whether that is what was asked."""
    found = "unknown" if value["lies"] is None else clean(value["lies"])
    if value["asked"] is None:
        chosen = value["role"] == "result" and value.get("asked_known", True)
        return f"{found}, the compiler's choice" if chosen else found
    if value["differs"]:
        return f"{found}, though {clean(value['asked'])} was asked"
    return f"{found}, as {'asked' if value['role'] == 'result' else 'given'}"
