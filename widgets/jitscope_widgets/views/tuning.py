"""A program raced against itself, compiled in other ways: what each gave, and what was taken."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..documents.annotations import TunedForm, TuningDocument
from ..escapes import clean
from ..quantities import amount, number, show
from ..view import inline
from ..view.parts import Code, CodeLine, Column, Content, Part, Row, Sentence, Stretch, Table
from ..words import plural


NAME = "Tuning"
_SIGNS = {"taken": "✓ taken", "faster": "faster, not taken"}
_COLUMNS = (
    Column("compiled with"),
    Column("time", "number", "of a run, as a part of the time as it was"),
    Column("99 % interval: faster ┊ slower", "stretch", "of that part; ┊ is equal"),
    Column("99 % interval", "number"),
    Column("outcome"),
    Column(
        "differs by",
        "number",
        "the largest difference of a result, of the number's size or of its array's root mean square, whichever is larger",
    ),
    Column("compiling", "number"),
)
_RACED = ("taken", "faster", "no difference", "slower", "other results", "more memory", "failed")


def view(document: TuningDocument) -> Iterator[Part]:
    """The parts of what came of it."""
    winner = next((one for one in document["tried"] if one["outcome"] == "taken"), None)
    yield Sentence(headline(document), "headline")
    if winner is not None:
        yield Sentence(_what_now(document))
        if document["written"]:
            line = CodeLine(clean(document["written"]))
            yield Code("What to write", (line,), "python")
        yield Sentence(results(winner))
    if document["stopped"]:
        yield Sentence(f"Not everything was tried: {clean(document['stopped'])}.", "warning")
    tried = [one for one in document["tried"] if one["outcome"] in _RACED]
    others = [one for one in document["tried"] if one["outcome"] not in _RACED]
    if tried:
        reach = _reach(tried)
        yield Table("What was tried", _COLUMNS, tuple(_row(one, reach) for one in tried), first=24)
    if others:
        names = tuple(Row((clean(one["name"]), clean(one["why"]))) for one in others)
        yield Table("What was not tried", (Column("compiled with"), Column("why not")), names, first=6)
    yield Sentence(_method(document), "note")


def headline(document: Mapping[str, Any]) -> str:
    """`f takes 0.43 of the time (99 % interval 0.41 to 0.45) with XLA's library without convolutions.`"""
    name, tried = clean(document["title"]), document["tried"]
    winner = next((one for one in tried if one["outcome"] == "taken"), None)
    if winner is not None:
        said = f"99 % interval {_ratio(winner['low'])} to {_ratio(winner['high'])}, {plural(winner['pairs'], 'pair')} of runs"
        return f"{name} takes {_ratio(winner['ratio'])} of the time it took ({said}), compiled with: {clean(winner['name'])}."
    count = sum(one["outcome"] in _RACED for one in tried)
    if not tried:
        return f"Nothing helped: there is no other way to compile {name} that could matter to its operations."
    if not count:
        return f"Nothing was tried: {name} stays as it is."
    forms = plural(count, "other form")
    return (
        f"Nothing helped: {name} is compiled as before. Of {forms} none took less than 0.98 of the time beyond doubt."
    )


def _what_now(document: TuningDocument) -> str:
    if document["library"]:
        return f"{clean(document['library'])} has to be told so at each jit:"
    name = clean(document["title"])
    forgets = f"%tune --untune and the call, or jitscope.untune({name})(…), forgets it."
    if document["kept"]:
        return f"This session compiles it so from now on; later ones do not: {clean(document['kept'])}. {forgets}"
    return f"This session and later ones compile it so from now on, with this jaxlib on this processor. {forgets}"


def results(form: Mapping[str, Any]) -> str:
    """How far the results of a form are from those before."""
    found = form["same"]
    if found is None:
        return "Its results were not compared."
    if found["bits"]:
        return "Its results are equal to those before, bit for bit."
    largest = f"Its results differ from those before by at most {number(form['share'], '')}"
    return f"{largest} of a number's size or of its array's root mean square, whichever is larger."


def _row(one: TunedForm, reach: float) -> Row:
    taken = one["outcome"] == "taken"
    outcome = _SIGNS.get(one["outcome"], one["outcome"])
    name = clean(one["name"])
    cells: tuple[Content, ...] = (
        inline.strong(name) if taken else name,
        "" if one["ratio"] is None else f"× {_ratio(one['ratio'])}",
        _stretch(one, reach),
        "" if one["low"] is None or one["high"] is None else f"{_ratio(one['low'])} to {_ratio(one['high'])}",
        inline.strong(outcome) if taken else outcome,
        _difference(one),
        "" if amount(one["compile"]) is None else inline.quantity(one["compile"]),
    )
    return Row(cells, note=clean(one["why"]))


def _difference(one: TunedForm) -> str:
    found = one["same"]
    if found is None or one["share"] is None or (one["outcome"] == "other results" and not one["share"]):
        return ""
    return "nothing" if found["bits"] else number(one["share"], "")


def _reach(tried: list[TunedForm]) -> float:
    """Half of the axis of ratios, which is logarithmic with 1 in the middle."""
    ends = [abs(math.log(end)) for one in tried for end in (one["low"], one["high"]) if end is not None and end > 0]
    return min(max([*ends, 0.1]), math.log(8)) * 1.1


def _stretch(one: TunedForm, reach: float) -> Content:
    if one["low"] is None or one["high"] is None or one["ratio"] is None:
        return ""
    low, high = (max(-reach, min(reach, math.log(end))) for end in (one["low"], one["high"]))
    told = f"{_ratio(one['low'])} to {_ratio(one['high'])} of the time, {plural(one['pairs'], 'pair')} of runs"
    return Stretch(low + reach, high + reach, 2 * reach, reach, told)


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value < 0.945 or value > 1.055 else f"{value:.3f}"


def _method(document: TuningDocument) -> str:
    """What the numbers rest on, and what they cost."""
    plain, cost, limit = show(document["plain"]), show(document["cost"]), show(document["limit"])
    return (
        f"Method: {clean(document['method'])}. {clean(document['bound'])} It ran on {clean(document['on'])}; as it was, a run takes {plain}. Tuning took {cost} of at most "
        f"about {limit}, and {plural(document['compilations'], 'compilation')}."
    )
