"""Parts as plain data, which js/parts draws: each a dict with its kind in `part`, fields that have their usual value left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, cached_property
from typing import Any

from ..escapes import clean_text
from .parts import KINDS, Bar, Part, Place, Row, Stretch, Text


NAMED = {
    Text: "text",
    Place: "place",
    Bar: "bar",
    Stretch: "stretch",
    **{kind: kind.__name__.lower() for kind in KINDS},
}


AGAIN = "again"


def as_data(parts: Sequence[Part], document: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """What the live page gets of some parts. A row of a table that stood before, the very same object, is told by its number among all rows
    (`again`): tables in several orders share theirs. A graph that stands in the document is told by its place there (`at`), and so are the
    rows of a difference."""
    rows: dict[int, int] = {}
    places = _Places(document or {})
    return [_data(part, rows, places) for part in parts]


class _Places:
    """Where in a document something stands: what is right in it, lists of its records, graphs anywhere."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def of(self, value: Mapping[str, Any] | list[Any]) -> list[str | int] | None:
        if isinstance(value, list):
            place = self._lists.get(id(value))
        else:
            own = (name for name, inner in self._document.items() if inner is value)
            place = next(((name,) for name in own), None) or self._graphs.get(id(value))
        return [*place] if place else None

    @cached_property
    def _lists(self) -> dict[int, tuple[str | int, ...]]:
        own = {name: value for name, value in self._document.items() if isinstance(value, list)}
        found: dict[int, tuple[str | int, ...]] = {id(value): (name,) for name, value in own.items()}
        for name, records in own.items():
            for at, record in enumerate(records):
                if isinstance(record, dict):
                    found |= {
                        id(value): (name, at, field) for field, value in record.items() if isinstance(value, list)
                    }
        return found

    @cached_property
    def _graphs(self) -> dict[int, tuple[str | int, ...]]:
        return {id(graph): place for graph, place in _graphs(self._document, ())}


def _graphs(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[Mapping[str, Any], tuple[str | int, ...]]]:
    """The graphs in a document, each with its place."""
    if isinstance(value, dict):
        if value.get("kind") == "graph":
            yield value, place
        else:
            for name, inner in value.items():
                yield from _graphs(inner, (*place, name))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _graphs(inner, (*place, at))


def _data(value: Any, rows: dict[int, int], places: _Places) -> Any:
    kind = type(value)
    if kind is str:
        return value if value.isprintable() else clean_text(value)
    if kind is tuple:
        return [_data(one, rows, places) for one in value]
    if kind is list:
        place = places.of(value)
        return {"at": place} if place else [_data(one, rows, places) for one in value]
    if kind is dict:
        place = places.of(value) if value.get("kind") == "graph" else None
        return {"at": place} if place else value
    if kind is Row and id(value) in rows:
        return {AGAIN: rows[id(value)]}
    if (usual := _usual(kind)) is None:
        return value
    if kind is Row:
        rows[id(value)] = len(rows)
    found: dict[str, Any] = {"part": NAMED[kind]} if kind in NAMED else {}
    for name, default in usual:
        if (own := getattr(value, name)) is not default and own != default:
            found[name] = _data(own, rows, places)
    return found


@cache
def _usual(kind: type) -> list[tuple[str, Any]] | None:
    """The fields of a part with their usual values; None for what is none."""
    return [(field.name, _default(field)) for field in fields(kind)] if is_dataclass(kind) else None


def _default(field: Field[Any]) -> Any:
    if field.default is not MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not MISSING else MISSING
