"""The machine code of a program as text."""

from __future__ import annotations

from . import machine_words as told, words
from .plain import clean
from .words import Document, plural
from .wrap import wrap


_MOST_FUNCTIONS = 20
_MOST_LINES = 120


def machine(document: Document, width: int) -> list[str]:
    """The lines of a machine document: the first function with its hot loop, the others in short."""
    functions = document["functions"]
    lines = wrap(f"Machine code of {clean(document['title'])}: {clean(document['sentence'])}", width, "    ")
    for said in (_target(document), *map(clean, document["notes"]), f"{told.LEGEND}."):
        lines += wrap(f"  {said}", width, "    ") if said else []
    if functions:
        lines += _first(document, functions[0], width)
    for one in functions[1:_MOST_FUNCTIONS]:
        lines += wrap(f"  {clean(one['name'])}: {told.facts(document, one)}. {told.work(one)}", width, "      ")
    if len(functions) > _MOST_FUNCTIONS:
        lines.append(f"  and {plural(len(functions) - _MOST_FUNCTIONS, 'more function')}")
    for note, kernels in told.without_code(document):
        lines += wrap(f"  {plural(len(kernels), 'kernel')} without code of their own: {note}", width, "      ")
    cost = document["cost"]
    return [*lines, *wrap(f"  {words.cost(cost)}", width, "    ")]


def _target(document: Document) -> str:
    parts = [clean(document[name]) for name in ("processor", "triple") if document[name]]
    return f"For {', '.join(parts)}." if parts else ""


def _first(document: Document, one: Document, width: int) -> list[str]:
    lines = wrap(f"  {clean(one['name'])}: {told.facts(document, one)}.", width, "      ")
    for said in (told.work(one), told.calls(one), told.unread(one), clean(one["note"])):
        lines += wrap(f"      {said}", width, "      ") if said else []
    if told.hot_loop(one) is not None:
        lines += wrap(f"      Shown is {told.CHOSEN}.", width, "      ")
    if one["blocks"] is not None:
        code = list(told.code_of(one, told.hot_blocks(one)))
        for at, text in code[:_MOST_LINES]:
            lines += [f"      {at:>5}  {text}" if at else f"      {text}:"]
        if len(code) > _MOST_LINES:
            lines.append(f"      and {plural(len(code) - _MOST_LINES, 'more line')}")
    missing = told.missing(one)
    return [*lines, *(wrap(f"      {missing}", width, "      ") if missing else [])]
