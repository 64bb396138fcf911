"""A trace that an error ended: the way from the arguments to the operation that failed, the graph, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator

from .. import words
from ..documents.annotations import StoppedDocument, StoppedStep
from ..escapes import clean
from ..view import inline
from ..view.parts import Content, Edit, Graph, List, Part, Place, Sentence
from ..words import plural


NAME = "Stopped trace"
_TALLEST = 420  # pixels of the graph, so that the rewrites stay in sight


def view(document: StoppedDocument) -> Iterator[Part]:
    """The parts of a trace that stopped."""
    head = f"The trace of {clean(document['function'])} stopped at "
    way = ". The way to it:" if len(document["steps"]) > 1 else "."
    yield Sentence((head, inline.code(clean(document["asked"])), way), "headline")
    yield List("The way to it", tuple(_step(step, document) for step in document["steps"]))
    yield Graph("the graph of what was traced", document["graph"], _TALLEST)
    if count := document["left_out"]:
        yield Sentence(f"{plural(count, 'equation')} that the error does not depend on are not shown.", "note")
    yield from map(Edit, document["fixes"])


def _step(step: StoppedStep, document: StoppedDocument) -> Content:
    """`line 3: y = sin(x), which gives f32[3]`, `argument x: f32[3]`."""
    text = inline.code(clean(step["text"]))
    if step["kind"] == "argument":
        return ("argument ", text)
    place: tuple[Content, ...] = (
        (Place(words.where(step["position"]), step["position"]), ": ") if step["position"] else ()
    )
    sign = (inline.Text("✕ ", "bad", "stopped here"),) if step["kind"] == "stop" else ()
    types = _types(step, document)
    return (*place, *sign, text, *((inline.muted(types),) if types else ()))  # pyright: ignore[reportReturnType]


def _types(step: StoppedStep, document: StoppedDocument) -> str:
    """What a line gave at last; what the code that failed was given."""
    graph = document["graph"]
    if step["kind"] == "stop":
        taken = [clean(edge["type"]) for edge in graph["edges"] if edge["to"] == document["stop"] and edge["type"]]
        return f", of {' and '.join(taken)}" if taken else ""
    given = {node["id"]: ", ".join(map(clean, node["types"])) for node in graph["nodes"]}
    last = given.get(step["nodes"][-1], "") if step["nodes"] else ""
    return f", which gives {last}" if last else ""
