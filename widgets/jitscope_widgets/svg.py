"""A graph document as a still SVG picture: no script, light and dark, readable also where styles are stripped."""

from __future__ import annotations

from . import words
from .layout import layout
from .painter import Hues, Painter, line_hues, sentence
from .plain import clean, shorten
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
    """The picture of `graph`, with as many scopes open as `limit` boxes allow; what is closed is said below it.

    `hues` gives source lines their place in the order of hues (see `line_hues`); `styled=False` leaves out the style
    sheet, when the page has it already; `hover=False` leaves out what the pointer is told over a node, `types=False`
    the types beside the edges.
    """
    problem = words.not_viewable(graph)
    if problem:
        return sentence(problem, styled)
    scopes = Scopes(graph)
    if not scopes.nodes:
        return sentence("This graph is empty.", styled)
    if len(scopes.members[None]) > limit:
        return sentence(_too_many(scopes), styled)
    opened = scopes.open_within(limit)
    painter = Painter(scopes, line_hues(graph) if hues is None else hues, hover, types)
    picture = layout(scopes, opened, painter.size, painter.head)
    remark = " ".join(filter(None, (_closed_words(scopes, opened), _tint_words(scopes))))
    return painter.paint(graph, picture, remark, styled)


def _closed_words(scopes: Scopes, opened: set[str]) -> str:
    closed = [ident for ident in scopes.members if ident is not None and ident not in opened]
    drawn = [ident for ident in closed if scopes.parent[ident] is None or scopes.parent[ident] in opened]
    if not drawn:
        return ""
    inside = sum(scopes.operations(scopes.inside(ident)) for ident in drawn)
    return f"{plural(len(drawn), 'scope')} drawn closed, {plural(inside, 'operation')} inside."


def _tint_words(scopes: Scopes) -> str:
    taken = any(node["fused_into"] is not None for node in scopes.nodes.values())
    return "What is tinted became part of a fusion." if taken else ""


def _too_many(scopes: Scopes) -> str:
    counts: dict[str, int] = {}
    for ident in scopes.members[None]:
        label = shorten(clean(scopes.nodes[ident]["label"]), 24)
        counts[label] = counts.get(label, 0) + 1
    common = sorted(counts.items(), key=lambda entry: -entry[1])[:8]
    named = ", ".join(f"{count:,} {label}" for label, count in common)
    return (
        f"{plural(len(scopes.members[None]), 'operation')} at the top level are too many for a still picture; "
        f"the live view shows them. Most frequent: {named}."
    )
