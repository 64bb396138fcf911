"""A comparison of two programs as text."""

from __future__ import annotations

from collections.abc import Callable

from . import compare_words as told
from .plain import clean
from .quantities import show
from .sentences import say
from .words import Document, plural
from .wrap import table, wrap


_MOST = 12


def comparison(document: Document, width: int) -> list[str]:
    """The verdict, the figures of both, what is in one alone, how far the results are apart."""
    lines = wrap(told.verdict(document), width, "    ")
    lines += wrap(f"  A is {clean(document['a']['title'])}, B is {clean(document['b']['title'])}.", width, "    ")
    rows = [("", "A", "B", ""), *told.figures(document)]
    lines += [part for row in table(rows, width) for part in row]
    lines += wrap(f"  {told.ran_on(document)} {told.results(document)}", width, "    ")
    for note in filter(None, (told.donations(document), told.compiling(document))):
        lines += wrap(f"  {note}", width, "    ")
    lines += _part(document["equations"], "equation", told.equation, width)
    lines += _part(document["kernels"], "kernel", told.kernel, width)
    said = say("comparison", method=clean(document["method"]), time=show(document["cost"]))
    return [*lines, *wrap(f"  {said}", width, "    ")]


def _part(part: Document, noun: str, said: Callable[[Document], str], width: int) -> list[str]:
    lines = ["", *wrap(f"  {told.common(part, noun)}", width, "    ")]
    for sign, side in (("-", "a"), ("+", "b")):
        for one in part[side][:_MOST]:
            lines += wrap(f"  {sign} {said(one)}", width, "        ")
        more = told.left(part, side, part[side][:_MOST])
        lines += [f"  {sign} and {plural(more, f'more {noun}')}"] if more > 0 else []
    return lines
