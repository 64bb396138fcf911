"""Documents with their views beside their fields, for the live page; a view that cannot be made says so in its place."""

from __future__ import annotations

from typing import Any

from . import words
from .unusual import TELLING, stands_out
from .view.as_data import as_data
from .view.parts import Sentence, View
from .views import has_view, name_of, view_of
from .words import Document


FIELD = "view"
STANDS_OUT = "stands_out"
"""What the line of a program says of an instrument, beside its view."""


def with_views(value: Any, here: str = "") -> Any:
    """A document, or what holds documents, with the views of all that have one; `here` is the cell or file of its function."""
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "compilation" and "source" in value:
        here = words.here_of(value)
    if any(isinstance(one, dict) and "kind" in one for one in value.values()):
        value = {name: with_views(one, here) for name, one in value.items()}
    if has_view(value.get("kind")) and value.get("version") == 1:
        told = {**value, "here": here} if value["kind"] == "fusion" and here else value
        viewed = {**value, FIELD: as_data(parts_of(told), value)}
        return {**viewed, STANDS_OUT: _stands_out(value, here)} if value["kind"] in TELLING else viewed
    if value.get("kind") == "compilation" and "timing" in value:
        return {**value, "timing": {**value["timing"], FIELD: as_data(parts_of(timing_of(value)))}}
    return value


def _stands_out(document: Document, here: str) -> str:
    try:
        return stands_out(document, here)
    except Exception:  # its view says what is wrong with it
        return ""


def fusion_of(compilation: Document) -> Document:
    """What XLA made of a program, with where its lines are."""
    return {**compilation["fusion"], "here": words.here_of(compilation)}


def timing_of(compilation: Document) -> Document:
    """The timing of a compilation, with what a run of it takes; where no other calls were timed, those of its profile."""
    timing = {**compilation["timing"], "cost": compilation["cost"], "steady": words.steady_of(compilation)}
    spread = compilation.get("instruments", {}).get("communication")
    return {**timing, "devices": spread["devices"]} if spread else timing


def parts_of(document: Document) -> View:
    """The view of a document whose kind has one; never raises."""
    try:
        return view_of(document)
    except Exception as error:
        return (Sentence(words.failure(f"this {document['kind']}", error)),)


def title_of(kind: str) -> str:
    """What the view of an instrument is called."""
    return name_of(kind) if has_view(kind) else kind.capitalize()


def without_views(value: Any) -> Any:
    """The same documents without their views: as they were made."""
    if isinstance(value, dict):
        return {
            name: without_views(one)
            for name, one in value.items()
            if not (name in (FIELD, STANDS_OUT) and "kind" in value)
        }
    return [without_views(one) for one in value] if isinstance(value, list) else value
