"""The passes of a program as text."""

from __future__ import annotations

from . import pass_words as told, words
from .plain import clean
from .quantities import show
from .words import Document, plural
from .wrap import wrap


_MOST_ROWS = 12


def passes(document: Document, width: int) -> list[str]:
    """The lines of a document of passes, each change with its first lines."""
    here = words.mostly_in(document["positions"].values())
    lines = wrap(f"Passes of {clean(document['title'])}: {told.headline(document)}", width, "    ")
    for said in (told.stages(document), told.LEGEND):
        lines += wrap(f"  {said}", width, "    ") if said else []
    for step in told.steps(document):
        if step.state is None:
            lines += wrap(f"  {told.unchanged(step.passes)}", width, "    ")
        else:
            lines += _changed(document, step.passes[0], step.state, here, width)
    cost = document["cost"]
    return [*lines, *wrap(f"  {words.cost(cost)}", width, "    ")]


def _changed(document: Document, one: Document, state: Document, here: str, width: int) -> list[str]:
    lines = wrap(f"  {told.name(one)}, {show(one['seconds'])}: {state['sentence']}", width, "      ")
    if one["does"]:
        lines += wrap(f"      {one['does']}", width, "      ")
    for row in state["rows"][:_MOST_ROWS]:
        for sign, line in told.lines_of(row, document["positions"], here):
            lines += wrap(f"      {sign} {line}", width, "          ")
    more = len(state["rows"][_MOST_ROWS:]) + state["left_out"]
    return [*lines, *([f"      and {plural(more, 'more change')}"] if more else [])]
