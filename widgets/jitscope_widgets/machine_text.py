"""The machine code of a program as text."""

from __future__ import annotations

from . import machine_words as told, words
from .plain import clean, clean_lines
from .sentences import say
from .words import Document, plural
from .wrap import wrap


_MOST_FUNCTIONS = 20
_MOST_LINES = 120
_MOST_LINES_OF_IR = 60


def machine(document: Document, width: int) -> list[str]:
    """The lines of a machine document: the first function with its hot loop, the others in short."""
    functions = document["functions"]
    lines = wrap(f"Machine code of {clean(document['title'])}: {clean(document['sentence'])}", width, "    ")
    for said in (_target(document), *map(clean, document["notes"]), say("code linked")):
        lines += wrap(f"  {said}", width, "    ") if said else []
    if functions:
        lines += _first(document, functions[0], width)
        lines += _llvm(document, functions[0]) if document.get("opens") == "llvm" else _code(functions[0], width)
        missing = told.missing(functions[0])
        lines += wrap(f"      {missing}", width, "      ") if missing else []
    for one in functions[1:_MOST_FUNCTIONS]:
        lines += wrap(f"  {clean(one['name'])}: {told.facts(document, one)}. {told.work(one)}", width, "      ")
    if len(functions) > _MOST_FUNCTIONS:
        lines.append(f"  and {plural(len(functions) - _MOST_FUNCTIONS, 'more function')}")
    for said, _ in told.without_code(document):
        lines += wrap(f"  {said}", width, "      ")
    cost = document["cost"]
    return [*lines, *wrap(f"  {words.cost(cost)}", width, "    ")]


def _target(document: Document) -> str:
    parts = [clean(document[name]) for name in ("processor", "triple") if document[name]]
    return f"For {', '.join(parts)}." if parts else ""


def _first(document: Document, one: Document, width: int) -> list[str]:
    lines = wrap(f"  {clean(one['name'])}: {told.facts(document, one)}.", width, "      ")
    for said in (told.work(one), told.calls(one), told.unread(one), clean(one["note"])):
        lines += wrap(f"      {said}", width, "      ") if said else []
    return lines


def _code(one: Document, width: int) -> list[str]:
    if one["blocks"] is None:
        return []
    lines = wrap(f"      {say('likely hot')}", width, "      ") if told.hot_loop(one) is not None else []
    code = list(told.code_of(one, told.hot_blocks(one)))
    lines += [f"      {at:>5}  {text}" if at else f"      {text}:" for at, text in code[:_MOST_LINES]]
    return lines + _more(len(code) - _MOST_LINES)


def _llvm(document: Document, one: Document) -> list[str]:
    """LLVM's IR of the first function's module, as XLA handed it to LLVM and as LLVM left it."""
    module = told.place(document["modules"], one["module"])
    lines: list[str] = []
    for when in ("before", "after"):
        if module is not None and module[when]:
            text = clean_lines(module[when]["text"])
            lines.append(f"      LLVM's IR {when} its passes:")
            lines += [f"      {number:>5}  {line}" for number, line in enumerate(text[:_MOST_LINES_OF_IR], 1)]
            lines += _more(len(text) - _MOST_LINES_OF_IR + module[when]["left_out"])
    return lines or ["      XLA wrote no LLVM IR with this function."]


def _more(count: int) -> list[str]:
    return [f"      and {plural(count, 'more line')}"] if count > 0 else []
