"""The memory of a program as text."""

from __future__ import annotations

from . import memory_words as told, words
from .plain import clean
from .quantities import size
from .words import Document, plural
from .wrap import table, wrap


_MOST = 20
_COLUMNS = 60
_LEVELS = "▁▂▃▄▅▆▇█"


def memory(document: Document, width: int) -> list[str]:
    """The lines of a document of memory: the curve, and what is alive at the peak."""
    here = words.mostly_in(document["positions"].values())
    lines = wrap(f"Memory of {clean(document['title'])}: {told.headline(document)}", width, "    ")
    lines += wrap(f"  {told.reserved(document)}", width, "    ")
    lines += ["", *_curve(document, max(10, min(_COLUMNS, width - 4)))]
    lines += [
        "",
        *wrap(f"  In use at the peak, largest first ({plural(document['peak']['count'], 'buffer')}):", width, "    "),
    ]
    shown = told.at_peak(document)[:_MOST]
    rows = [
        (size(b["bytes"]), clean(b["label"]), clean(b["type"]), told.steps(b), told.place(document, b, here))
        for b in shown
    ]
    lines += [line for row in table(rows, width) for line in row]
    if more := told.more_at_peak(document, len(shown)):
        lines.append(f"  {more}")
    for scope in document["scopes"]:
        lines += wrap(f"  {told.steps_words(scope['start'], scope['end'])}: {clean(scope['text'])}", width, "    ")
    for change in document["changes"]:
        if result := told.tried(change, document):
            lines += wrap(f"  {clean(change['text'])}: {result}", width, "    ")
    if said := told.left_out(document):
        lines += wrap(f"  {said}", width, "    ")
    cost = document["cost"]
    return [*lines, *wrap(f"  {words.cost(cost)}", width, "    ")]


def _curve(document: Document, columns: int) -> list[str]:
    """The bytes in use over the schedule, from left to right."""
    columns = max(1, min(columns, document["length"]))
    heights = told.heights(document, columns)
    most = max(heights) or 1
    bars = "".join(_LEVELS[min(7, h * 8 // (most + 1))] if h else " " for h in heights)
    at = min(columns - 1, document["peak"]["position"] * columns // max(document["length"], 1))
    mark = f"{' ' * at}^ peak"
    return [f"  {bars}", f"  {mark}", f"  step 1 to {document['length']:,}, in use, from 0 to {size(most)}"]
