"""Where a NaN comes from: the answer first, then the numbers, the fix, and the way to the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import words
from ..documents.annotations import HuntStep, NanHuntDocument, Numbers, Position, Transform
from ..escapes import clean
from ..quantities import show
from ..view import inline
from ..view.parts import (
    Code,
    CodeLine,
    Column,
    Content,
    Edit,
    Graph,
    Part,
    Place,
    Ref,
    Row,
    Section,
    Sentence,
    Table,
)
from ..words import plural


NAME = "NaN hunt"
_TALLEST = 360  # pixels of the graph
_MADE: dict[Transform, str] = {"jvp": "derivative", "transpose": "backward pass", "vmap": "vmap"}


def view(hunt: NanHuntDocument) -> Iterator[Part]:
    """The parts of a hunt."""
    sign = "▲" if hunt["found"] or hunt["operation"] else "✓"
    yield Sentence(f"{sign} {hunt['sentence']}", "headline")
    if hunt["cause"]:
        yield Sentence(f"{hunt['cause'][:1].upper()}{hunt['cause'][1:]}.")
    if hunt["where"]:
        yield Section("The where that does not take it", (_line(hunt["where"]),), note=words.where(hunt["where"]))
    if hunt["operation"]:
        kind = "NaN" if hunt["what"] == "NaN" else "infinity"
        yield _operation(f"The first {kind}", hunt["operation"], hunt["values"])
    if hunt["infinity"]:
        yield _operation("The infinity before it", hunt["infinity"]["step"], hunt["infinity"]["values"])
    if hunt["given"]:
        yield Section("It was there already", (_table("Arguments and captured values", hunt["given"]),))
    yield from map(Edit, hunt["fixes"])
    if graph := hunt.get("graph"):
        yield Section("The way from there to the result", (Graph("the graph of the hunt", graph, _TALLEST),))
    if hunt["route"]:
        yield _route(hunt)
    if hunt["differs"]:
        yield Sentence(hunt["differs"], "warning")
    yield Sentence(f"The hunt took {show(hunt['seconds'])}.", "note")


def _operation(heading: str, step: HuntStep, arrays: Sequence[Numbers]) -> Section:
    inside: list[Part] = []
    if step["position"]:
        inside.append(Sentence(Place(words.where(step["position"]), step["position"]), "note"))
        inside.append(_line(step["position"]))
    inside += map(Sentence, _iterations(step))
    inside.append(_table("What went in and what came out", arrays))
    return Section(heading, tuple(inside), note=_named(step))


def _named(step: HuntStep) -> str:
    """`div, equation e4, backward pass`"""
    made = [_MADE[one] for one in step["transforms"]]
    return ", ".join([step["primitive"], f"equation {step['path']}", *made])


def _iterations(step: HuntStep) -> list[str]:
    """Which iterations of the loops around a step, outer ones first."""
    told = []
    for one in step["iterations"]:
        of = f" of {one['count']:,}" if one["count"] is not None else ""
        place = f" of the loop at {words.where(one['position'])}" if one["position"] else " of a loop"
        told.append(f"In iteration {one['number']:,}{of} (from 0){place}.")
    return told


def _line(position: Position) -> Code:
    text = position["text"].rstrip()
    end = position["end_column"] if position["end_line"] == position["line"] else len(text)
    line = CodeLine(text, str(position["line"]), stretch=(position["column"], end), ref=Ref(position=position))
    return Code("The line", (line,), "python")


def _table(name: str, arrays: Sequence[Numbers]) -> Table:
    rows = tuple(
        Row((clean(one["name"]), inline.code(clean(one["type"])), _value(one)), tone="bad" if _is_bad(one) else "plain")
        for one in arrays
    )
    return Table(name, (Column(""), Column("type"), Column("value")), rows, first=40)


def _is_bad(array: Numbers) -> bool:
    return array["nans"] > 0 or array["infinities"] > 0


def _value(array: Numbers) -> Content:
    said = facts(array)
    return (inline.code(clean(array["text"])), *((" ", inline.muted(said)) if said else ()))


def facts(array: Numbers) -> str:
    """What there is to say of an array beside its elements."""
    said = []
    smallest, largest = array["smallest"], array["largest"]
    if smallest is not None and largest is not None and array["size"] > 1:
        said.append(f"finite from {smallest:.6g} to {largest:.6g}")
    said += [f"{array['nans']:,} of {array['size']:,} NaN"] if array["nans"] else []
    said += [f"{array['infinities']:,} of {array['size']:,} infinite"] if array["infinities"] else []
    if array["index"]:
        said.append(f"element {list(array['index'])} is {array['element']}")
    return ", ".join(said)


def _route(hunt: NanHuntDocument) -> Section:
    half = len(hunt["route"]) // 2
    rows = [_step(one) for one in hunt["route"]]
    if hunt["left_out"]:
        rows.insert(half, Row((inline.muted(f"… {hunt['left_out']:,} more …"), "", "")))
    count = plural(len(hunt["route"]) + hunt["left_out"], "equation")
    columns = (Column("operation"), Column("equation"), Column("line"))
    table = Table("Equations on the way, in their order", columns, tuple(rows), first=len(rows))
    return Section(f"From there to the result: {count}", (table,), opened=False)


def _step(one: HuntStep) -> Row:
    place: Content = Place(words.where(one["position"]), one["position"]) if one["position"] else ""
    made = [_MADE[mark] for mark in one["transforms"]]
    return Row((inline.code(one["primitive"]), ", ".join([one["path"], *made]), place), Ref(position=one["position"]))
