"""Writes the TypeScript types of documents from their schema: `python -m tests.widgets.js.forms`."""

from __future__ import annotations

from pathlib import Path

from jitscope_widgets.schema import (
    FLAG,
    FORMS,
    KINDS,
    NUMBER,
    TEXT,
    WHOLE,
    Form,
    Kind,
    Many,
    Maybe,
    OneOf,
    Perhaps,
    Record,
    Scalar,
    Table,
)


FILE = Path(__file__).parents[3] / "widgets" / "jitscope_widgets" / "js" / "forms.ts"

_HEAD = "// The forms of documents as types, made from schema.py: python -m tests.widgets.js.forms\n"
_WIDTH = 132
_PLAIN: dict[Scalar, str] = {TEXT: "string", WHOLE: "number", NUMBER: "number", FLAG: "boolean"}
_NAMES = {
    "node": "GraphNode",
    "edge": "GraphEdge",
    "line": "DiffLine",
    "row": "DiffRow",
    "card": "RecompilationCard",
    "function": "SourceFunction",
    "ledger row": "LedgerRow",
    "small operation": "SmallOperation",
    "program": "CodeProgram",
    "pass": "PassRun",
    "pass row": "PassRow",
    "state": "PassState",
    "buffer": "MemoryBuffer",
    "memory change": "MemoryChange",
    "timed kernel": "TimedKernel",
    "compared side": "ComparedSide",
    "compared kernel": "ComparedKernel",
    "compared equation": "ComparedEquation",
    "value": "ValueRow",
    "value detail": "ValueDetail",
    "code function": "CodeFunction",
    "code text": "CodeText",
}


def types() -> str:
    """The text of the file."""
    parts = [_HEAD, *(_interface(name, form) for name, form in FORMS.items())]
    every = " | ".join(map(_name, KINDS))
    return "".join([*parts, f"export type AnyDocument = {every};\n"])


def _name(form: str) -> str:
    return f"{form.title().replace('-', '')}Doc" if form in KINDS else _NAMES.get(form, form.capitalize())


def _interface(name: str, form: Record) -> str:
    short = f"export interface {_name(name)} {_type(form)}\n"
    if len(short) <= _WIDTH:
        return short
    fields = "".join(f"  {_field(field, inner)};\n" for field, inner in form.fields.items())
    return f"export interface {_name(name)} {{\n{fields}}}\n"


def _field(name: str, form: Form) -> str:
    return f"{name}?: {_type(form.form)}" if isinstance(form, Perhaps) else f"{name}: {_type(form)}"


def _type(form: Form) -> str:
    match form:
        case str():
            return _name(form)
        case Scalar():
            return _PLAIN[form]
        case OneOf():
            return " | ".join(f'"{o}"' if isinstance(o, str) else str(o) for o in form.options)
        case Maybe():
            return f"{_type(form.form)} | null"
        case Many():
            inner = _type(form.form)
            return f"({inner})[]" if " | " in inner and not inner.startswith("{") else f"{inner}[]"
        case Table(Kind(kinds)):
            return "{ " + "; ".join(f"{_key(kind)}?: {_name(kind)}" for kind in kinds) + " }"
        case Table():
            return f"Record<string, {_type(form.form)}>"
        case Record():
            return "{ " + "; ".join(_field(*item) for item in form.fields.items()) + " }"
        case Kind():
            return " | ".join(map(_name, form.kinds))
        case Perhaps():
            raise TypeError("only a field may be missing")


def _key(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'


if __name__ == "__main__":
    FILE.write_text(types(), encoding="utf-8")
