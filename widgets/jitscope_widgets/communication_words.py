"""What the views of a program's communication say."""

from __future__ import annotations

from collections.abc import Sequence

from . import words
from .plain import clean
from .quantities import seconds, size
from .sentences import TABLES, say
from .words import Document, plural


MEANING: dict[str, str] = TABLES["collectives"]


def headline(document: Document) -> str:
    """`8 devices (data 4 × model 2). In one run: 1 all-reduce, 8.2 kB from each device.`"""
    axes = " × ".join(f"{clean(axis['name'])} {axis['size']}" for axis in document["mesh"])
    devices = plural(document["devices"], "device")
    over = say("devices", devices=devices, axes=axes) if axes else devices
    if not document["totals"]:
        return say("nothing exchanged", devices=over)
    return say("exchanged", devices=over, totals="; ".join(map(total, document["totals"])))


def total(one: Document) -> str:
    """`1 all-reduce, 8.2 kB from each device`"""
    if one["runs"] is None or one["gives"] is None:
        return say("collectives, runs unknown", count=f"{one['count']:,}", what=one["what"])
    return say("collectives", runs=f"{one['runs']:,}", what=one["what"], bytes=size(one["gives"]))


def among(one: Document) -> str:
    """`along data`, or the groups of devices."""
    if one["axes"]:
        return say("along", axes=", ".join(map(clean, one["axes"])))
    groups, arrow = one["groups"], "→" if one["what"] == "collective-permute" else ","
    if groups is None:
        return say("between unknown")
    shown = " ".join(f"{{{arrow.join(map(str, group))}}}" for group in groups[:4])
    return say("between", groups=shown + (" …" if len(groups) > 4 else ""))


def runs(one: Document) -> str:
    """`×5`: how often it runs; where it was measured, how long a device spends in it."""
    count = "× unknown" if one["runs"] is None else f"×{one['runs']:,}"
    took = one.get("seconds")
    return f"{count}, {seconds(took['median'])}" if took else count


def note(document: Document) -> str:
    """What bytes and times are of."""
    measured = document.get("measured")
    if not measured:
        return say("times not measured", bytes=say("bytes"))
    return say("times measured", bytes=say("bytes"), runs=measured["runs"], on=clean(measured["on"]))


def spread(one: Document) -> str:
    """`10th to 90th percentile 20 µs to 90 µs; 12 µs on the device that waits least`, "" where it was not measured."""
    took = one.get("seconds")
    if not took:
        return ""
    return say("spread", **{which: seconds(took[which]) for which in ("low", "high", "least")})


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
    told = _of_passes(words.lines(positions, here), one["paths"], document["backward"])
    texts = {clean(p["text"]).strip() for p in positions}
    return f"{told}: {texts.pop()}" if len(texts) == 1 else told or "line unknown"


def _of_passes(lines: str, paths: Sequence[str], backward: Sequence[str]) -> str:
    """The lines, and whether what is written there made the equations at these paths for the backward pass."""
    mine = [path in backward for path in paths]
    if not lines or not any(mine):
        return lines
    return say("backward" if all(mine) else "partly backward", lines=lines)


def lies(value: Document) -> str:
    """How a value lies, and whether that is what was asked."""
    found = "unknown" if value["lies"] is None else clean(value["lies"])
    if value["asked"] is None:
        return say("not asked", found=found) if value["role"] == "result" else found
    if value["differs"]:
        return say("differs", found=found, asked=clean(value["asked"]))
    return say("as asked" if value["role"] == "result" else "as given", found=found)


def left_out(document: Document) -> str:
    """What the document does not hold, "" if it holds all."""
    left = document["left_out"]
    parts = [f"{count:,} more {name}" for name, count in (("collectives", left["collectives"]), ("arguments and results", left["values"])) if count]  # fmt: skip
    return say("not kept", what=" and ".join(parts)) if parts else ""
