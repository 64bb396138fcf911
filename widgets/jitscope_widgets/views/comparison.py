"""Two programs against each other: which is faster and how sure that is, what both cost, what differs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from ..documents.annotations import ComparedChange, ComparedEquation, ComparedKernel, ComparisonDocument, Position
from ..escapes import clean
from ..looks import BACKWARD, is_backward
from ..quantities import amount, number, show
from ..sentences import TABLES
from ..view import inline
from ..view.parts import Beside, Code, CodeLine, Column, Graph, Part, Ref, Row, Section, Sentence, Stretch, Table
from ..words import Document, lines as lines_of, plural


NAME = "Comparison"
_MOST_OPEN = 24
"""Differences up to which a list stands open."""
_LINES = 60
_COMPARED = {
    "wall": "a call",
    "compile": "compiling",
    "memory": "memory",
    "flops": "arithmetic",
    "bytes": "moved",
}
_MARKS = {
    "removed": "− only in A",
    "added": "+ only in B",
    "changed": "≠ in both, with other types, parameters or numbers",
    "rewired": "↺ in both, reads other operands",
}


def view(document: ComparisonDocument) -> Iterator[Part]:
    """The parts of a comparison."""
    yield Sentence(verdict(document), "headline")
    yield _figures(document)
    yield Sentence(f"{ran_on(document)} {results(document)}")
    for note in filter(None, (apart(document), donations(document), compiling(document))):
        yield Sentence(note)
    yield from _graph(document)
    yield _differences(document["equations"], "equation", _equation)
    yield _differences(document["kernels"], "kernel", _kernel)
    method, took = clean(document["method"]), show(document["cost"])
    yield Sentence(f"Method: {method}. This comparison took {took}.", "note")


# --- sentences --------------------------------------------------------------------------------------------------------


def verdict(document: Document) -> str:
    """`g takes 1.2 times as long as f (99 % interval 1.18 to 1.22, from 200 pairs of runs).`"""
    one, other = clean(document["a"]["title"]), clean(document["b"]["title"])
    takes = f"takes {_ratio(document['ratio'])} times as long as {one} ({_interval(document)}"
    if document["verdict"] == "no difference found":
        return f"No difference in time was found: {other} {takes}, which includes 1)."
    return f"{other} is {document['verdict']}: it {takes})."


def _interval(document: Document) -> str:
    pairs = plural(document["pairs"], "pair")
    return f"99 % interval {_ratio(document['low'])} to {_ratio(document['high'])}, from {pairs} of runs"


def _ratio(value: float) -> str:
    return f"{value:.3g}" if abs(value - 1) >= 0.05 else f"{value:.3f}"


def _times(ratio: float) -> str:
    return "equal" if ratio == 1 else f"× {_ratio(ratio)}"


def apart(document: Document) -> str:
    """Why the times of a call point the other way than their ratio; "" where they do not."""
    a, b = (amount(document[side]["wall"]) for side in "ab")
    if document["verdict"] == "no difference found" or not a or not b or (b > a) == (document["ratio"] > 1):
        return ""
    return (
        "Each call's time is a median of all its runs, of which other programs held some up; the ratio is of runs right after each other, "
        "which shared the machine's load, and counts."
    )


def ran_on(document: Document) -> str:
    """What both ran on."""
    one, other = (clean(document[side]["on"]) for side in "ab")
    return f"Both ran on {one}." if one == other else f"A ran on {one}; B on {other}."


def compiling(document: Document) -> str:
    """Which of the two was not compiled now, and what its time is then; "" where both were."""
    notes = [(side.upper(), clean(document[side]["compile"]["note"])) for side in "ab"]
    return " ".join(f"{side} was not compiled now: {note}." for side, note in notes if note)


def donations(document: Document) -> str:
    """Which arguments are donated; "" where both donate the same, or it is not known."""
    one, other = (document[side].get("donated") for side in "ab")
    if one == other or one is None or other is None:
        return ""
    a, b = (", ".join(map(clean, names)) or "nothing" for names in (one, other))
    return f"A donates {a}, B donates {b}: XLA may put results into the memory of donated arguments."


def results(document: Document) -> str:
    """How far the results are apart."""
    found = document["results"]
    if found["why"]:
        return f"The results were not compared: {clean(found['why'])}."
    if found["equal"]:
        return "The results are equal, bit for bit but for zeros' signs."
    where = clean(found["where"])
    if amount(found["absolute"]) is None:
        return f"The results differ: {where}."
    absolute, relative = (number(found[which]["value"], "") for which in ("absolute", "relative"))
    apart = f"by at most {absolute}, relative to the larger by at most {relative}"
    return f"The results differ {apart}; most in {where}."


def common(part: Document, noun: str) -> str:
    """`12 equations in both (3 of them read other operands), 2 changed, 1 only in A, 2 only in B`."""
    rewired, changes = part.get("rewired"), part.get("changes")
    other = f" ({rewired:,} of them read{'s' * (rewired == 1)} other operands)" if rewired else ""
    changed = f", {changes:,} changed" if changes else ""
    alone = f"{part['only_a']:,} only in A, {part['only_b']:,} only in B"
    return f"{plural(part['common'], noun)} in both{other}{changed}, {alone}"


# --- figures ----------------------------------------------------------------------------------------------------------


def figures(document: Document) -> list[tuple[str, str, str, str]]:
    """What is said of both: name, of the first, of the second, their ratio (that of the times is of pairs of runs)."""
    rows: list[tuple[str, str, str, str]] = []
    for name, called in _COMPARED.items():
        one, other = document["a"][name], document["b"][name]
        a, b = amount(one), amount(other)
        ratio = document["ratio"] if name == "wall" else b / a if a and b else None
        rows.append((called, show(one), show(other), _times(ratio) if ratio else ""))
    return rows


def _figures(document: ComparisonDocument) -> Table:
    columns = (
        Column("", "short"),
        Column(f"A: {clean(document['a']['title'])}", "number"),
        Column(f"B: {clean(document['b']['title'])}", "number"),
        Column("B to A", "number", "of the times: of pairs of runs"),
        Column("99 % interval: faster ┊ slower", "stretch", "of the time of a call; ┊ is equal"),
    )
    rows = [
        Row(
            (
                called,
                inline.quantity(document["a"][name]),
                inline.quantity(document["b"][name]),
                ratio,
                _stretch(document) if name == "wall" else "",
            )
        )
        for (called, _, _, ratio), name in zip(figures(document), _COMPARED)
    ]
    return Table("A and B", columns, tuple(rows))


def _stretch(document: ComparisonDocument) -> Stretch:
    """The interval of the ratio, on a logarithmic axis with 1 in the middle."""
    low, high = math.log(document["low"]), math.log(document["high"])
    reach = max(abs(low), abs(high), 0.1) * 1.25
    told = f"Ratio {_ratio(document['ratio'])}, {_interval(document)}"
    return Stretch(low + reach, high + reach, 2 * reach, reach, told)


# --- what differs -----------------------------------------------------------------------------------------------------


def _graph(document: ComparisonDocument) -> Iterator[Graph]:
    """Both programs as one graph, beside the code of each; nothing where they are alike."""
    joint = document.get("joint")
    marks = {node.get("mark") for node in joint["graph"]["nodes"]} if joint else set()
    legend = tuple((mark, said) for mark, said in _MARKS.items() if mark in marks)
    if not joint or not legend:
        return
    sources = joint["sources"]
    codes: tuple[tuple[str, Any], ...] = tuple(
        (f"{side.upper()}: {clean(document[side]['title'])}", sources[side]) for side in ("a", "b") if sources[side]
    )
    backward = any(map(is_backward, joint["graph"]["nodes"]))
    notes = ["without a sign: in both"]
    notes += ["dashed lines: how values flow in A alone"] if any(e.get("gone") for e in joint["graph"]["edges"]) else []
    notes += [" ".join(BACKWARD)] if backward else []
    if left := joint["left_out"]:
        notes.append(
            f"{plural(left, 'equation')} not drawn: of large programs, the first that differ are, with what is next to them"
        )
    yield Graph("the graph of both", joint["graph"], 560, codes, legend, tuple(notes))


def _differences(found: Document, noun: str, line: Callable[[Any], CodeLine]) -> Part:
    count = found["only_a"] + found["only_b"] + found.get("changes", 0)
    parts: list[Part] = []
    if changed := found.get("changed", ()):
        lines = tuple(one for change in changed for one in _change(change))
        more = found["changes"] - sum(one.get("times", 1) for one in changed)
        parts.append(Section("changed", (Code(f"changed {noun}s", lines, "hlo", first=_LINES, left_out=2 * more),)))
    sides = (
        _alone(found, side, title, mark, noun, line)
        for side, title, mark in (("a", "only in A", "removed"), ("b", "only in B", "added"))
    )
    if found["only_a"] + found["only_b"]:
        parts.append(Beside(tuple(sides)))
    if not parts:
        return Sentence(common(found, noun))
    return Section(common(found, noun), tuple(parts), opened=count <= _MOST_OPEN)


def _alone(found: Document, side: str, title: str, mark: Any, noun: str, line: Callable[[Any], CodeLine]) -> Section:
    shown: Sequence[Any] = found[side]
    lines = tuple(_marked(line(one), mark) for one in shown)
    if not lines:
        return Section(title, (Sentence("none", "note"),))
    return Section(title, (Code(f"{noun}s {title}", lines, "hlo", first=_LINES, left_out=left(found, side, shown)),))


def _marked(line: CodeLine, mark: Any) -> CodeLine:
    return CodeLine(line.text, note=line.note, mark=mark, ref=line.ref)


def left(found: Document, side: str, shown: Sequence[Document]) -> int:
    """How many equations or kernels of one alone are not among those that are shown."""
    return found[f"only_{side}"] - sum(one.get("times", 1) for one in shown)


def _change(change: ComparedChange) -> Iterator[CodeLine]:
    sides: tuple[tuple[str, Position | None, Literal["removed", "added"]], ...] = (
        (change["before"], change.get("before_position"), "removed"),
        (change["after"], change["position"], "added"),
    )
    for text, position, mark in sides:
        yield CodeLine(_often(change) + clean(text), note=_place(position), mark=mark, ref=Ref(position=position))


def _equation(one: ComparedEquation) -> CodeLine:
    text = _often(one) + clean(one["text"])
    return CodeLine(text, note=_place(one["position"]), ref=Ref(position=one["position"]))


def _kernel(one: ComparedKernel) -> CodeLine:
    """`fusion of 3: f32[64,7] (exponential, 2 add)   In [3] lines 2-4`"""
    several = TABLES["kernels of several"].get(one["kind"]) if one["operations"] > 1 else None
    what = f"{several} of {one['operations']:,}" if several else clean(one["opcode"])
    known = clean(one.get("details", ""))
    details = f" ({known})" if known else ""
    return CodeLine(f"{_often(one)}{what}: {clean(one['type'])}{details}", note=lines_of(one.get("positions", ())))


def _often(one: Document) -> str:
    times = one.get("times", 1)
    return f"{times:,} × " if times > 1 else ""


def _place(position: Document | None) -> str:
    return lines_of((position,)) if position else ""
