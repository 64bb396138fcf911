"""What the views of a program's memory say."""

from __future__ import annotations

from collections.abc import Sequence

from . import words
from .plain import clean
from .quantities import show, size
from .sentences import TABLES, say
from .words import Document, plural


KINDS: dict[str, str] = TABLES["memory"]
"""In the order in which they are stacked, from the bottom."""


def headline(document: Document) -> str:
    """The most bytes in use, at which step, and what XLA reserves: steps count from 1 for people."""
    peak = document["peak"]
    return say(
        "peak",
        peak=size(peak["bytes"]),
        step=f"{peak['position'] + 1:,}",
        steps=f"{document['length']:,}",
        what=clean(peak["instruction"]),
        reserved=size(_amount(document, "total")),
    )


def reserved(document: Document) -> str:
    """`reserved: arguments 604 kB, results 605 kB, temporaries 308 kB`"""
    parts = [f"{word} {size(amount)}" for kind, word in KINDS.items() if (amount := _amount(document, kind))]
    aliased = _amount(document, "aliased")
    return say(
        "reserved", parts=", ".join(parts) or "nothing", aliased=say("aliased", bytes=size(aliased)) if aliased else ""
    )


def _amount(document: Document, kind: str) -> float:
    return document["reserved"][kind]["value"] or 0


def at_peak(document: Document) -> Sequence[Document]:
    """The buffers alive at the peak, largest first."""
    buffers = dict(enumerate(document["buffers"]))
    return [buffers[number] for number in document["peak"]["buffers"] if number in buffers]


def more_at_peak(document: Document, shown: int) -> str:
    """`and 297 more`, "" if all are shown."""
    more = document["peak"]["count"] - shown
    return f"and {more:,} more" if more > 0 else ""


def place(document: Document, buffer: Document, here: str) -> str:
    """`line 35: return x + …`, or what it is that has no line."""
    position = document["positions"].get(buffer["path"])
    if position is None:
        return say("given") if buffer["kind"] == "argument" else ""
    return f"{words.lines([position], here)}: {clean(position['text']).strip()}"


def steps(buffer: Document) -> str:
    """`steps 513-993`"""
    return steps_words(buffer["born"], buffer["dies"])


def steps_words(first: int, last: int) -> str:
    """Some steps, which count from 1 for people."""
    return f"step {first + 1:,}" if first == last else f"steps {first + 1:,}-{last + 1:,}"


def heights(document: Document, columns: int) -> list[int]:
    """The most bytes in use in each of so many equal stretches of the schedule."""
    curve, length = document["curve"], max(document["length"], 1)
    totals = [sum(bytes) for bytes in zip(*(curve[kind] for kind in KINDS))]
    ends = [*curve["positions"][1:], length]
    found = [0] * columns
    for start, end, total in zip(curve["positions"], ends, totals):
        first, last = start * columns // length, max(start * columns // length, (end * columns - 1) // length)
        for column in range(max(first, 0), min(last, columns - 1) + 1):
            found[column] = max(found[column], total)
    return found


def tried(change: Document, document: Document) -> str:
    """What a change did, as measured by compiling it; "" where it was not tried."""
    found = change["tried"]
    if found is None:
        return ""
    before = (document["peak"]["bytes"], _amount(document, "total"))
    parts = [
        say("instead of", what=word, new=size(new), old=size(old), by=_percent(new, old))
        for word, new, old in zip(("in use at most", "reserved"), (found["peak"], found["reserved"]), before)
    ]
    flops, flops_before = found["flops"]["value"], found["flops_before"]["value"]
    if flops is not None and flops_before is not None:
        new, old = show(found["flops"]), show(found["flops_before"])
        parts.append(say("instead of", what="arithmetic", new=new, old=old, by=_percent(flops, flops_before)))
    note = f"; {clean(found['note'])}" if found["note"] else ""
    figures, took, before = ", ".join(parts), show(found["seconds"]), show(document["cost"])
    return say("tried", figures=figures, note=note, time=took, before=before)


def _percent(new: float, old: float) -> str:
    if new == old or not old:
        return "the same"
    return f"{100 * (new - old) / old:+.1f} %".replace("-", "−")


def left_out(document: Document) -> str:
    """How many small buffers are not in the document; "" if all are."""
    left = document["left_out"]
    count = left["buffers"]
    return say("smaller buffers", buffers=plural(count, "smaller buffer"), bytes=size(left["bytes"])) if count else ""
