"""The forms of parts for the front end: `python -m jitscope_widgets.view.typescript` writes js/parts/forms.ts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..documents.parts import Position
from .as_data import NAMED
from .parts import (
    KINDS,
    Axis,
    Band,
    Bar,
    Block,
    Code,
    CodeLine,
    Column,
    Diff,
    Edit,
    Graph,
    Ignore,
    Number,
    Place,
    Point,
    Ref,
    Row,
    Run,
    Series,
    Span,
    Step,
    Stretch,
    Text,
)


FILE = Path(__file__).parents[1] / "js" / "parts" / "forms.ts"

_HEAD = """// The forms of a view's parts as types, made from ../../view/parts.py: python -m jitscope_widgets.view.typescript
// A field that has its usual value is not there.
import type { DiffRow, Fix, GraphDoc, Member, Position, SourceDoc } from "../forms";

"""
_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", Any: "any"}
_DOCUMENTS = {
    (Graph, "document"): "GraphDoc",
    (Diff, "pairs"): "DiffRow[]",
    (Code, "operations"): "Member[]",
    (Edit, "fix"): "Fix",
    (Ignore, "here"): "Fix | null",
    (Graph, "codes"): "[string, SourceDoc][]",
}
_INLINE = (Text, Place, Bar, Stretch)
_RECORDS = (*_INLINE, Ref, Column, Row, Axis, Series, Point, Band, Span, Block, CodeLine, Run, Number, Step, *KINDS)


def text() -> str:
    """The text of the file."""
    unions = [
        f"export type Inline = string | {' | '.join(kind.__name__ for kind in _INLINE)};\n",
        "export type Content = Inline | Inline[];\n",
        f"export type Part = {' | '.join(kind.__name__ for kind in KINDS)};\n",
    ]
    return "".join([_HEAD, *map(_interface, _RECORDS), *unions])


def _interface(record: type) -> str:
    hints = get_type_hints(record)
    own = [f'  part: "{NAMED[record]}";\n'] if record in NAMED else []
    forms = {field.name: _DOCUMENTS.get((record, field.name)) or _type(hints[field.name]) for field in fields(record)}
    found = [f"  {field.name}{_optional(field)}: {forms[field.name]};\n" for field in fields(record)]
    return f"export interface {record.__name__} {{\n{''.join([*own, *found])}}}\n\n"


def _optional(field: Field[Any]) -> str:
    return "" if field.default is MISSING and field.default_factory is MISSING else "?"


def _type(form: Any) -> str:
    if form in _PLAIN:
        return _PLAIN[form]
    if form is Position:
        return "Position"
    origin, inner = get_origin(form), get_args(form)
    if origin is Literal:
        return " | ".join(f'"{word}"' for word in inner)
    if origin in (Union, UnionType):
        return _union(inner)
    if origin is tuple and inner[-1] is not Ellipsis:
        return f"[{', '.join(map(_type, inner))}]"
    if origin in (tuple, Sequence):
        return f"({_type(inner[0])})[]"
    if origin is Mapping:
        return f"Record<string, {_type(inner[1])}>"
    return form.__name__


def _union(ways: tuple[Any, ...]) -> str:
    if set(ways) == set(KINDS):
        return "Part"
    if set(_INLINE) <= set(ways):
        return "Content" if len(ways) > len(_INLINE) + 1 else "Inline"
    return " | ".join(map(_type, ways))


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
