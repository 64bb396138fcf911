"""Sharp bits: a card for each, with the line, the cause, the evidence and the fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .. import words
from ..documents.annotations import Diagnostic, DiagnosticsDocument, Position
from ..escapes import clean
from ..view import inline
from ..view.parts import Card, Cards, Code, CodeLine, Content, Edit, Ignore, Part, Place, Section, Sentence, View
from ..words import plural


NAME = "Sharp bits"
NOTHING = (
    "No sharp bits were found by looking at the code of these cells and at what they compiled. `%sharpbits on` looks at the values of "
    "runs too."
)
_SEVERITIES = {"error": "error", "warning": "warning", "info": "remark"}


def view(document: DiagnosticsDocument) -> View:
    """The parts of some sharp bits; their cards are in the order of the items."""
    items = document["items"]
    if not items:
        return (Sentence(inline.prose(document.get("note") or NOTHING), "note"),)
    cards = Cards(NAME, tuple(map(_card, items)), ("severity", "sharp bit"))
    return (Sentence(counted(items), "headline"), cards)


def counted(items: list[Diagnostic]) -> str:
    """`3 sharp bits: 1 error, 2 warnings`, or `2 sharp bits (warnings)`"""
    counts = Counter(item["severity"] for item in items)
    kinds = [plural(counts[severity], name) for severity, name in _SEVERITIES.items() if counts[severity]]
    told = f": {', '.join(kinds)}" if len(kinds) > 1 else f" ({''.join(kinds).lstrip('0123456789, ')})"
    return f"{plural(len(items), 'sharp bit')}{told}"


def _card(item: Diagnostic) -> Card:
    position, severity = item["position"], _SEVERITIES.get(item["severity"], clean(item["severity"]))
    place: tuple[Content, ...] = ("  ", Place(words.where(position), position)) if position else ()
    head = (inline.strong(f"{severity}: "), inline.code(clean(item["id"])), *place)
    return Card(head, tuple(_parts(item)), item["severity"], name=item["id"], tags=(severity, item["id"]))


def _parts(item: Diagnostic) -> Iterator[Part]:
    if (position := item["position"]) and position["text"].strip():
        yield Code("the line", (_line(position),), "python")
    yield Sentence(inline.prose(item["message"]))
    if item["evidence"]:
        yield Code("the evidence", tuple(CodeLine(clean(line)) for line in item["evidence"]))
    if item["fix"]:
        yield Edit(item["fix"])
    if item["why"]:
        why = (inline.strong(f"{item['title']}. "), *inline.prose(item["why"]))
        yield Section("Why", (Sentence(why),), opened=False)
    yield Ignore(item["id"], position["file"] if position else "", item["silence"])


def _line(position: Position) -> CodeLine:
    """The source line without its indentation, with what is meant pointed out."""
    line = position["text"].rstrip()
    indent = len(line) - len(line.lstrip())
    end = position["end_column"] if position["end_line"] == position["line"] else len(line)
    start = min(max(position["column"], indent), len(line))
    meant = (start - indent, max(min(end, len(line)), start) - indent)
    return CodeLine(line[indent:], str(position["line"]), stretch=meant)
