"""What the views of a program's communication say."""

from __future__ import annotations

from . import words
from .plain import clean
from .quantities import seconds, size
from .words import Document, plural


MEANING = {
    "all-reduce": "adds (or takes the largest of) what devices have; each gets the result",
    "all-gather": "each device gets the parts of all",
    "reduce-scatter": "adds what devices have; each gets one part of the result",
    "all-to-all": "each device sends another part to each other one",
    "collective-permute": "each device sends what it has to one other",
    "collective-broadcast": "one device sends what it has to all",
    "ragged-all-to-all": "each device sends parts of different sizes to the others",
}
_BYTES = (
    "Bytes are those that one device gives and gets in one run of the collective, by the types in the optimised program"
)


def headline(document: Document) -> str:
    """`8 devices (data 4 × model 2). In one run: 1 all-reduce, 8.2 kB from each device.`"""
    axes = " × ".join(f"{clean(axis['name'])} {axis['size']}" for axis in document["mesh"])
    over = f"{plural(document['devices'], 'device')}{f' ({axes})' if axes else ''}"
    if not document["totals"]:
        return f"{over}. The devices exchange nothing."
    return f"{over}. In one run: {'; '.join(map(total, document['totals']))}."


def total(one: Document) -> str:
    """`1 all-reduce, 8.2 kB from each device`"""
    if one["runs"] is None:
        return f"{one['count']:,} × {one['what']} in the program, how often they run is not known"
    return f"{one['runs']:,} × {one['what']}, {size(one['gives'])} from each device"


def among(one: Document) -> str:
    """`along data`, or the groups of devices."""
    if one["axes"]:
        return f"along {', '.join(map(clean, one['axes']))}"
    groups, arrow = one["groups"], "→" if one["what"] == "collective-permute" else ","
    if groups is None:
        return "between devices that are not known"
    shown = " ".join(f"{{{arrow.join(map(str, group))}}}" for group in groups[:4])
    return f"between {shown}{' …' if len(groups) > 4 else ''}"


def runs(one: Document) -> str:
    """`×5`: how often it runs; where it was measured, how long a device spends in it."""
    count = "× unknown" if one["runs"] is None else f"×{one['runs']:,}"
    took = one.get("seconds")
    return f"{count}, {seconds(took['median'])}" if took else count


def note(document: Document) -> str:
    """What bytes and times are of."""
    measured = document.get("measured")
    if not measured:
        return f"{_BYTES}; times were not measured (%communication --measure)."
    return (
        f"{_BYTES}. Times are what a device spends in all runs of it in one run of the program, waiting for others included: the median of "
        f"{measured['runs']} measured runs on {clean(measured['on'])}."
    )


def spread(one: Document) -> str:
    """`10th to 90th percentile 20 µs to 90 µs; 12 µs on the device that waits least`, "" where it was not measured."""
    took = one.get("seconds")
    if not took:
        return ""
    return f"10th to 90th percentile {seconds(took['low'])} to {seconds(took['high'])}; {seconds(took['least'])} on the device that waits least"


def types(one: Document) -> str:
    """`f32[32,64], f32[]`"""
    shown = ", ".join(map(clean, one["types"][:3]))
    return f"{shown} and {len(one['types']) - 3} more" if len(one["types"]) > 3 else shown


def exchanged(one: Document) -> str:
    """`256 B → 512 B`"""
    return f"{size(one['gives'])} → {size(one['gets'])}"


def place(document: Document, one: Document, here: str) -> str:
    """`line 12: loss = …`, of the lines that a collective stems from."""
    positions = [p for path in one["paths"] if (p := document["positions"].get(path)) is not None]
    told = words.lines(positions, here)
    texts = {clean(p["text"]).strip() for p in positions}
    return f"{told}: {texts.pop()}" if len(texts) == 1 else told or "line unknown"


def lies(value: Document) -> str:
    """How a value lies, and whether that is what was asked."""
    found = "unknown" if value["lies"] is None else clean(value["lies"])
    if value["asked"] is None:
        return f"{found}, not asked of jit" if value["role"] == "result" else found
    if value["differs"]:
        return f"{found}, though {clean(value['asked'])} was asked"
    return f"{found}, as {'asked' if value['role'] == 'result' else 'given'}"


def here_of(document: Document) -> str:
    """The cell or file that most of the collectives were written in."""
    homes = [words.home(position) for position in document["positions"].values()]
    return max(homes, key=homes.count) if homes else ""


def left_out(document: Document) -> str:
    """What the document does not hold, "" if it holds all."""
    left = document["left_out"]
    parts = [f"{count:,} more {name}" for name, count in (("collectives", left["collectives"]), ("arguments and results", left["values"])) if count]  # fmt: skip
    return f"{' and '.join(parts)} are not kept in this document." if parts else ""
