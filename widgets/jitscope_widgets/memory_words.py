"""What the views of a program's memory say."""

from __future__ import annotations

from collections.abc import Sequence

from . import words
from .plain import clean
from .quantities import show, size
from .sentences import TABLES
from .words import Document, plural


KINDS: dict[str, str] = TABLES["memory"]
"""In the order in which they are stacked, from the bottom."""


def headline(document: Document) -> str:
    """`At most 1.34 MB in use, at step 953 of 993 (…)`: steps count from 1 for people."""
    peak = document["peak"]
    what = clean(peak["instruction"])
    reserved = show(document["reserved"]["total"]).removeprefix("≈ ")
    return (
        f"At most {size(peak['bytes'])} in use, at step {peak['position'] + 1:,} of {document['length']:,} ({what}); "
        f"XLA reserves {reserved} for a run"
    )


def reserved(document: Document) -> str:
    """`reserved: arguments 604 kB, results 605 kB, temporaries 308 kB`"""
    parts = [f"{word} {size(amount)}" for kind, word in KINDS.items() if (amount := _amount(document, kind))]
    aliased = _amount(document, "aliased")
    ending = f"; results take {size(aliased)} of the arguments' memory" if aliased else ""
    return f"Reserved: {', '.join(parts) or 'nothing'}{ending}."


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
        return "given by the caller" if buffer["kind"] == "argument" else ""
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
        f"{word} {size(new)} instead of {size(old)} ({_percent(new, old)})"
        for word, new, old in zip(("in use at most", "reserved"), (found["peak"], found["reserved"]), before)
    ]
    flops, flops_before = found["flops"]["value"], found["flops_before"]["value"]
    if flops is not None and flops_before is not None:
        parts.append(
            f"{show(found['flops'])} instead of {show(found['flops_before'])} ({_percent(flops, flops_before)})"
        )
    note = f"; {clean(found['note'])}" if found["note"] else ""
    return f"{', '.join(parts)}{note}; compiling it took {show(found['seconds'])} instead of {show(document['cost'])}"


def _percent(new: float, old: float) -> str:
    if new == old or not old:
        return "the same"
    return f"{100 * (new - old) / old:+.1f} %".replace("-", "−")


def left_out(document: Document) -> str:
    """`743 smaller buffers are not in this document.`"""
    count = document["left_out"]["buffers"]
    return (
        f"{plural(count, 'smaller buffer')} of the program {'is' if count == 1 else 'are'} not kept here."
        if count
        else ""
    )
