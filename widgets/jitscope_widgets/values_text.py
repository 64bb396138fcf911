"""The values of a program as text."""

from __future__ import annotations

from . import values_words as told, words
from .plain import clean
from .words import Document
from .wrap import table, wrap


_MOST = 30
_HEAD = ("", "type", "min", "max", "mean", "std", "zeros", "", "line")


def values(document: Document, width: int) -> list[str]:
    """The lines of a document of values: those that are not finite first, then the largest."""
    here = words.mostly_in(document["lines"])
    lines = wrap(f"Values of {clean(document['title'])}: {clean(document['sentence'])}", width, "    ")
    ordered = told.order(document)
    rows = [_HEAD, *(_row(document, row, here) for row in ordered[:_MOST])] if ordered else []
    lines += [line for row in table(rows, width) for line in row]
    if len(ordered) > _MOST:
        lines.append(f"  and {len(ordered) - _MOST:,} more")
    for said in (*told.loops(document), clean(document["differs"]), *map(clean, document["remarks"])):
        lines += wrap(f"  {said}", width, "    ") if said else []
    cost = document["cost"]
    return [*lines, *wrap(f"  {words.cost(cost)}", width, "    ")]


def _row(document: Document, row: Document, here: str) -> tuple[str, ...]:
    figures = [told.figure(row[name]) for name in ("min", "max", "mean", "std")]
    return (
        told.name(row),
        clean(row["type"]),
        *figures,
        told.zeros(row),
        told.marks(row),
        told.line(document, row, here),
    )
