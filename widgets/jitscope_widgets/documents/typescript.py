"""The types of documents for the front end: `python -m jitscope_widgets.documents.typescript` writes js/forms.ts."""

from __future__ import annotations

from pathlib import Path

from . import types
from .fields import Field, Form, entries, fields, is_record, items, optional, options, records


FILE = Path(__file__).parents[1] / "js" / "forms.ts"

_HEAD = "// The forms of documents as types, made from ../documents: python -m jitscope_widgets.documents.typescript\n"
_WIDTH = 132
_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean"}


def text() -> str:
    """The text of the file."""
    every = " | ".join(map(_name, types().values()))
    interfaces = map(_interface, records(*types().values()))
    return "".join([_HEAD, *interfaces, f"export type AnyDocument = {every};\n"])


def _name(record: type) -> str:
    name = record.__name__
    return f"{name.removesuffix('Document')}Doc" if record in types().values() else name


def _interface(record: type) -> str:
    parts = [_field(name, field) for name, field in fields(record).items()]
    short = f"export interface {_name(record)} {{ {'; '.join(parts)} }}\n"
    if len(short) <= _WIDTH:
        return short
    return "\n".join([f"export interface {_name(record)} {{", *(f"  {part};" for part in parts), "}", ""])


def _field(name: str, field: Field) -> str:
    key = name if name.isidentifier() else f'"{name}"'
    return f"{key}{'' if field.required else '?'}: {_type(field.form)}"


def _type(form: Form) -> str:
    inner, may_be_none = optional(form)
    if may_be_none:
        return f"{_type(inner)} | null"
    if is_record(form):
        return _name(form)
    if words := options(form):
        return " | ".join(f'"{word}"' if isinstance(word, str) else str(word) for word in words)
    if (inner := items(form)) is not None:
        of = _type(inner)
        return f"({of})[]" if " | " in of else f"{of}[]"
    if (inner := entries(form)) is not None:
        return f"Record<string, {_type(inner)}>"
    return _PLAIN[form]


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
