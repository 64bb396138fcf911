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
    yield List("The way to it", tuple(map(_step, document["steps"])))
    yield Graph("the graph of what was traced", document["graph"], _TALLEST)
    if count := document["left_out"]:
        yield Sentence(f"{plural(count, 'equation')} that the error does not depend on are not shown.", "note")
    yield from map(Edit, document["fixes"])


def _step(step: StoppedStep) -> Content:
    """`line 3: y = sin(x)`, `argument x: f32[3]`."""
    text = inline.code(clean(step["text"]))
    if step["kind"] == "argument":
        return ("argument ", text)
    place: tuple[Content, ...] = (
        (Place(words.where(step["position"]), step["position"]), ": ") if step["position"] else ()
    )
    sign = (inline.Text("✕ ", "bad", "stopped here"),) if step["kind"] == "stop" else ()
    return (*place, *sign, text)  # pyright: ignore[reportReturnType]
