"""Parts as plain data, which js/parts draws: each a dict with its kind in `part`, fields that have their usual value left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any

from ..plain import clean_text
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
    (`again`): tables in several orders share theirs. A graph that stands in the document is told by its place there (`at`)."""
    rows: dict[int, int] = {}
    graphs = cache(lambda: {id(graph): {"at": place} for graph, place in _graphs(document, ())})
    return [_data(part, rows, graphs) for part in parts]


def _graphs(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[Mapping[str, Any], list[str | int]]]:
    """The graphs in a document, each with its place."""
    if isinstance(value, dict):
        if value.get("kind") == "graph":
            yield value, [*place]
        else:
            for name, inner in value.items():
                yield from _graphs(inner, (*place, name))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _graphs(inner, (*place, at))


def _data(value: Any, rows: dict[int, int], graphs: Callable[[], dict[int, Any]]) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Row) and id(value) in rows:
        return {AGAIN: rows[id(value)]}
    if is_dataclass(value) and not isinstance(value, type):
        if isinstance(value, Row):
            rows[id(value)] = len(rows)
        found: dict[str, Any] = {"part": NAMED[type(value)]} if type(value) in NAMED else {}
        for name, usual in _usual(type(value)):
            if (own := getattr(value, name)) != usual:
                found[name] = _data(own, rows, graphs)
        return found
    if isinstance(value, (tuple, list)):
        return [_data(one, rows, graphs) for one in value]
    return graphs().get(id(value), value) if isinstance(value, Mapping) and value.get("kind") == "graph" else value


@cache
def _usual(kind: type) -> list[tuple[str, Any]]:
    return [(field.name, _default(field)) for field in fields(kind)]


def _default(field: Field[Any]) -> Any:
    if field.default is not MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not MISSING else MISSING
