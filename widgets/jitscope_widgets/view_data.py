"""Documents with their views beside their fields, for the live page; a view that cannot be made says so in its place."""

from __future__ import annotations

from typing import Any

from . import words
from .conversions import conversions
from .view.as_data import as_data
from .view.parts import Sentence, View
from .views import has_view, name_of, view_of
from .words import Document


FIELD = "view"


def with_views(value: Any) -> Any:
    """A document, or what holds documents, with the views of all that have one."""
    if not isinstance(value, dict):
        return value
    if any(isinstance(one, dict) and "kind" in one for one in value.values()):
        value = {name: with_views(one) for name, one in value.items()}
    if has_view(value.get("kind")) and value.get("version") == 1:
        return {**value, FIELD: as_data(parts_of(value), value)}
    if value.get("kind") == "fusion" and value.get("version") == 1:
        return {**value, FIELD: as_data(conversion_parts(value))}
    if value.get("kind") == "compilation" and "timing" in value:
        return {**value, "timing": {**value["timing"], FIELD: as_data(parts_of(timing_of(value)))}}
    return value


def conversion_parts(fusion: Document) -> View:
    """What a program converts, copies and transposes: the part of the view of a fusion that is made here. Never raises."""
    try:
        return tuple(conversions(fusion))  # pyright: ignore[reportArgumentType]
    except Exception as error:
        return (Sentence(words.failed("what is converted and copied", error)),)


def timing_of(compilation: Document) -> Document:
    """The timing of a compilation, with what a run of it takes."""
    return {**compilation["timing"], "cost": compilation["cost"]}


def parts_of(document: Document) -> View:
    """The view of a document whose kind has one; never raises."""
    try:
        return view_of(document)
    except Exception as error:
        return (Sentence(words.failed(f"this {document['kind']}", error)),)


def title_of(kind: str) -> str:
    """What the view of an instrument is called."""
    return name_of(kind) if has_view(kind) else kind.capitalize()


def without_views(value: Any) -> Any:
    """The same documents without their views: as they were made."""
    if isinstance(value, dict):
        return {name: without_views(one) for name, one in value.items() if not (name == FIELD and "kind" in value)}
    return [without_views(one) for one in value] if isinstance(value, list) else value
