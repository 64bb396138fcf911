"""A graph document as a still SVG picture: no script, light and dark, readable also where styles are stripped."""

from __future__ import annotations

from . import words
from .layout import layout
from .painter import Hues, Painter, line_hues, sentence
from .still import still
from .words import Document


def svg(
    graph: Document,
    *,
    limit: int = 400,
    hues: Hues | None = None,
    styled: bool = True,
    hover: bool = True,
    types: bool = True,
) -> str:
    """The picture of `graph`: few boxes first, and as many scopes open as `limit` allows; what is closed is said below it.

    `hues` gives source lines their place in the order of hues (see `line_hues`); `styled=False` leaves out the style
    sheet, when the page has it already; `hover=False` leaves out what the pointer is told over a node, `types=False`
    the types beside the edges.
    """
    problem = words.not_viewable(graph)
    if problem:
        return sentence(problem, styled)
    scopes, opened, whole, remark = still(graph, limit)
    if not whole.nodes:
        return sentence("This graph is empty.", styled)
    painter = Painter(scopes, line_hues(graph) if hues is None else hues, hover, types, whole)
    picture = layout(scopes, opened, painter.size, painter.head)
    return painter.paint(graph, picture, remark, styled)
