"""What the devices of a program exchange, as text."""

from __future__ import annotations

from . import communication_words as told, words
from .plain import clean
from .quantities import size
from .words import Document
from .wrap import table, wrap


_MOST = 40


def communication(document: Document, width: int) -> list[str]:
    """The lines of a document of communication: the collectives, then how arguments and results lie."""
    here = words.mostly_in(document["positions"].values())
    lines = wrap(f"Communication of {clean(document['title'])}: {told.headline(document)}", width, "    ")
    shown = document["collectives"][:_MOST]
    rows = [(one["what"], told.runs(one), told.exchanged(one), told.among(one), told.types(one), told.place(document, one, here)) for one in shown]  # fmt: skip
    lines += [line for row in table(rows, width) for line in row]
    if more := len(document["collectives"]) - len(shown):
        lines.append(f"  and {more:,} more")
    if shown:
        lines += wrap(f"  {told.note(document)}", width, "    ")
    if document["values"]:
        lines += ["", *wrap("  Shardings of arguments and results, and the part that each device has:", width, "    ")]
        values = document["values"][:_MOST]
        rows = [(f"{clean(v['name'])}: {clean(v['type'])}", told.lies(v), clean(v["part"]), size(v["bytes"])) for v in values]  # fmt: skip
        lines += [line for row in table(rows, width) for line in row]
        if more := len(document["values"]) - len(values):
            lines.append(f"  and {more:,} more")
    if rest := told.left_out(document):
        lines += wrap(f"  {rest}", width, "    ")
    return lines
