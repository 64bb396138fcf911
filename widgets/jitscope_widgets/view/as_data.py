"""Parts as plain data, which js/parts draws: each a dict with its kind in `part`, fields that have their usual value left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def as_data(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """What the live page gets of some parts. A row of a table that stood before, the very same object, is told by its number among all rows
    (`again`): tables in several orders share theirs."""
    rows: dict[int, int] = {}
    return [_data(part, rows) for part in parts]


def _data(value: Any, rows: dict[int, int]) -> Any:
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
                found[name] = own if isinstance(own, Mapping) else _data(own, rows)
        return found
    if isinstance(value, (tuple, list)):
        return [_data(one, rows) for one in value]
    return value


@cache
def _usual(kind: type) -> list[tuple[str, Any]]:
    return [(field.name, _default(field)) for field in fields(kind)]


def _default(field: Field[Any]) -> Any:
    if field.default is not MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not MISSING else MISSING
