"""How long each step to the first result took, how long a run takes once compiled, and what it computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import words
from ..documents.annotations import Quantity, SteadyRun, TimingDocument
from ..escapes import clean
from ..quantities import amount, origin, show
from ..view import inline
from ..view.parts import Action, Column, Content, Facts, Part, Row, Section, Sentence, Stretch, Table, Text


NAME = "Timing"
_COLUMNS = (
    Column("step", "short"),
    Column("from the first to the last", "stretch"),
    Column("time", "number"),
    Column("share", "number"),
)
_SOURCES = {
    "cell": "from the calls that the cell made itself",
    "button": "timed on request",
    "profile": "timed for the profile below",
}
_COST = (("arithmetic", "flops"), ("moved", "bytes"), ("memory", "memory"))


def view(document: TimingDocument) -> Iterator[Part]:
    """The parts of a timing document."""
    yield Sentence(headline(document), "headline")
    yield _steps(document)
    yield Section("Every call after it", tuple(_steady(document)))
    if cost := document.get("cost"):
        each = f", on each of {devices:,} devices" if (devices := document.get("devices")) else ""
        yield Section(f"Work of one call{each}", (Facts(tuple((name, _work(cost[which])) for name, which in _COST)),))
    if legend := _legend(document):
        yield Sentence(legend, "note")


def headline(document: TimingDocument) -> str:
    """`66.5 ms to the first result (compile 61 ms); 210 µs each call after it.`"""
    known = [(amount(stage["seconds"]) or 0.0, stage) for stage in document["stages"]]
    most = max(known, key=lambda one: one[0], default=None)
    told = [] if amount(document["total"]) is None else [f"{show(document['total'])} to the first result"]
    if told and most and most[0]:
        before = "" if _COMPILED & {stage["name"] for _, stage in known} else "; the program was compiled before"
        told[0] += f" ({clean(most[1]['name'])} {show(most[1]['seconds'])}{before})"
    told += [f"{show(document['steady']['median'])} each call after it"] if document["steady"] else []
    return f"{'; '.join(told)}." if told else "Nothing of this program was timed."


_COMPILED = {"compile", "load"}


def _steps(document: TimingDocument) -> Table:
    """The steps one after the other, each from where the one before it ended."""
    spent = [amount(stage["seconds"]) or 0.0 for stage in document["stages"]]
    whole = max(sum(spent), amount(document["total"]) or 0.0)
    rows = []
    for at, stage in enumerate(document["stages"]):
        name, start = clean(stage["name"]), sum(spent[:at])
        told = f"{name}: {show(stage['seconds'])}, {origin(stage['seconds'])}"
        stretch = Stretch(start, start + spent[at], whole, title=told, tone=name) if whole else ""
        share = inline.percent(spent[at] / whole) if whole and amount(stage["seconds"]) is not None else ""
        rows.append(Row((name, stretch, inline.quantity(stage["seconds"]), share)))
    rows.append(Row((inline.strong("total"), "", inline.quantity(document["total"], "strong"), "")))
    return Table("First call", _COLUMNS, tuple(rows))


def _steady(document: TimingDocument) -> Iterator[Part]:
    steady = document["steady"]
    if steady:
        yield Sentence(_run(steady))
    if document["can_measure"]:
        without = "" if steady else "Not timed by repeated calls: this needs a live kernel."
        yield Action("Measure", "running …", {"measure": True}, without=without)
    elif not steady:
        yield Sentence("Not timed by repeated calls.", "note")
    if call := document.get("call"):
        yield Sentence(clean(call))


def _run(steady: SteadyRun) -> Content:
    """`210 µs between 200 µs and 230 µs, median of 100 runs, timed on request`"""
    how = words.times_of(dict(steady))
    low, high = inline.quantity(steady["low"]), inline.quantity(steady["high"])
    source = _SOURCES.get(steady["source"], "")
    if steady["low"]["value"] == steady["high"]["value"]:
        return inline.quantity(steady["median"], "strong"), inline.muted(f" in {how}, {source}".rstrip(", "))
    told = inline.muted(f", median of {how}, {source}".rstrip(", "))
    return (
        inline.quantity(steady["median"], "strong"),
        inline.muted(" between "),
        low,
        inline.muted(" and "),
        high,
        told,
    )


def _work(quantity: Quantity) -> Text:
    if quantity["value"] is None:
        return inline.muted(f"unknown: {clean(quantity['note'])}" if quantity["note"] else "unknown")
    return inline.quantity(quantity)


def _legend(document: TimingDocument) -> str:
    """What marks numbers that were not measured; "" where all were."""
    shown: list[Any] = [*(stage["seconds"] for stage in document["stages"]), document["total"]]
    cost: dict[str, Any] = {**document.get("cost", {})}
    shown += [one for one in cost.values() if one["value"] is not None]
    origins = {one["origin"] for one in shown}
    marks = (("modelled", "≈ marks what is modelled"), ("unknown", "? what is unknown"))
    found = ", ".join(said for name, said in marks if name in origins)
    return f"{found[0].upper()}{found[1:]}; all else was measured." if found else ""
