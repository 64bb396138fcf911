"""The code and the graph of a program as parts of a page."""

from __future__ import annotations

from collections.abc import Callable

from . import code, words
from .budget import Part
from .escapes import clean, escape
from .guard import Pieces, part, said
from .painter import Hues
from .palette import hue_of
from .sentences import say
from .svg import svg
from .words import Document, plural


_SOURCE_WORTH = 20.0
"""More than the pictures: a few lines of code say what all else is about."""


def source_lines(source: Document, hues: Hues) -> Pieces:
    """The functions one after the other, all but the first closed; where there is little room, the first alone."""
    counts = [words.written_in(source, index) for index in range(len(source["functions"]))]

    def form() -> str:
        shown = [_function(function, count, hues) for function, count in zip(source["functions"], counts)]
        first = shown[0] if shown else ""
        rest = "".join(
            f"<details><summary>{escape(clean(function['name']))} "
            f'<span class="dim">{escape(words.home_of(function))}, {_written(count)}</span></summary>{code}</details>'
            for function, count, code in list(zip(source["functions"], counts, shown))[1:]
        )
        return f'<div class="calls">{first}{rest}</div>'

    def first_alone() -> str:
        functions = source["functions"]
        if len(functions) < 2:
            return form()
        left = f"{plural(len(functions) - 1, 'more function')}: left out here to keep the saved output small."
        return f'<div class="calls">{_function(functions[0], counts[0], hues)}{said(left)}</div>'

    return [part("the source", form, first_alone, worth=_SOURCE_WORTH)]


def _written(count: dict[int, int]) -> str:
    total = sum(count.values())
    return plural(total, "equation") if total else "no equations of its own"


def _function(function: Document, count: dict[int, int], hues: Hues) -> str:
    place = words.home_of(function)
    if not function["lines"]:
        return said(say("no code"))
    lines = code.plain(
        (str(number), line, _stripe(hues.get((place, number))) if count.get(number) else "")
        for number, line in enumerate(function["lines"], function["first_line"])
    )
    told = escape(f"Source of {clean(function['name'])}, {place}")
    return f'<div class="source" tabindex="0" role="region" aria-label="{told}">{lines}</div>'


def _stripe(order: int | None) -> str:
    if order is None:
        return ""
    hue, broken = hue_of(order)
    return f"h{hue} broken" if broken else f"h{hue}"


def picture(
    what: str, graph: Document, hues: Hues, limits: tuple[int, ...] = (400, 150, 50), worth: float = 1.0
) -> Part:
    """A graph, with all that can be said at first, then without hover and types, then with fewer and fewer boxes."""

    def form(limit: int, told: bool) -> Callable[[], str]:
        title = escape(graph["title"] or what)
        return lambda: (
            f'<div class="view" tabindex="0" role="region" aria-label="Graph of {title}">'
            f"{svg(graph, limit=limit, hues=hues, styled=False, hover=told, types=told)}</div>"
        )

    return part(what, form(limits[0], True), *(form(limit, False) for limit in limits), worth=worth)
