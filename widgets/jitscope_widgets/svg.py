"""A graph document as a still SVG picture: no script, light and dark, readable also where styles are stripped."""

from __future__ import annotations

from . import words
from .folding import folded
from .layout import layout
from .looks import OPENS_UP_TO
from .painter import Hues, Painter, line_hues, sentence
from .scopes import Scopes
from .words import Document, plural


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
    whole = Scopes(graph)
    if not whole.nodes:
        return sentence("This graph is empty.", styled)
    drawn, said = folded(graph, max(limit, 1))
    scopes = Scopes(drawn)
    opened = scopes.open_within(min(limit, OPENS_UP_TO))
    painter = Painter(scopes, line_hues(graph) if hues is None else hues, hover, types, whole)
    picture = layout(scopes, opened, painter.size, painter.head)
    remark = " ".join(filter(None, (*said, _closed_words(scopes, opened, whole), _tint_words(scopes))))
    return painter.paint(graph, picture, remark, styled)


def _closed_words(scopes: Scopes, opened: set[str], whole: Scopes) -> str:
    runs = [ident for ident, node in scopes.nodes.items() if node.get("what") == "run"]
    closed = [*runs, *(ident for ident in scopes.members if ident is not None and ident not in opened)]
    drawn = [ident for ident in closed if scopes.parent[ident] is None or scopes.parent[ident] in opened]
    inside = sum((whole if ident in whole.members else scopes).work(ident) for ident in drawn)
    unit = "equation" if scopes.level == "jaxpr" else "operation"
    return f"{plural(len(drawn), 'box')} closed, with {plural(inside, unit)} inside." if inside else ""


def _tint_words(scopes: Scopes) -> str:
    taken = any(node["fused_into"] is not None for node in scopes.nodes.values())
    return "What is tinted became part of a fusion." if taken else ""
