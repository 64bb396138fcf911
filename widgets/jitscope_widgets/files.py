"""A document as a file: a page of HTML, a picture, Graphviz's language, text, or the document itself as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from . import words
from .page import page
from .still import drawn_graph
from .svg import svg
from .text import text
from .words import Document


SUFFIXES = (".html", ".svg", ".png", ".dot", ".json", ".txt")


def write(document: Document, path: str | Path) -> Path:
    """Write `document` in the format that the ending of `path` names; gives the path.

    Raises ValueError for other endings, for a document without a graph that should be drawn, and for a PNG where the program
    `dot` is not installed.
    """
    path = Path(path)
    match path.suffix.lower():
        case ".html" | ".htm" | "":
            said = page(document, words.title(document))
        case ".json":
            said = json.dumps(document)
        case ".txt":
            said = text(document)
        case ".svg":
            said = svg(graph_of(document))
        case ".dot" | ".gv":
            said = _graphviz(graph_of(document)).source
        case ".png":
            path.write_bytes(_png(document))
            return path
        case other:
            raise ValueError(f"a view cannot be saved as {other!r}; the endings are {', '.join(SUFFIXES)}")
    path.write_text(said, encoding="utf-8")
    return path


def graph_of(document: Document) -> Document:
    """The graph to draw of a document: its own, that of the program after fusion, or that of the only compilation."""
    compilations = document.get("compilations", ())
    if document.get("kind") == "cell" and len(compilations) == 1:
        return compilations[0]["graph"]
    found = {"graph": document, "compilation": document.get("graph"), "fusion": document.get("after")}
    graph = found.get(document.get("kind", ""))
    if graph is None:
        raise ValueError(f"a {document.get('kind')} has no graph to draw; save it as .html, .json or .txt")
    return graph


def _graphviz(graph: Document):
    from .graphviz_view import to_graphviz

    return to_graphviz(graph)


def _png(document: Document) -> bytes:
    """What an SVG shows, too: of some thousand nodes `dot` would not come to an end."""
    import graphviz

    graph, remark = drawn_graph(graph_of(document))
    drawing = _graphviz(graph)
    drawing.attr(label=graphviz.escape(remark))
    try:
        return drawing.pipe(format="png")
    except graphviz.ExecutableNotFound:
        raise ValueError(
            "a PNG needs the program dot of Graphviz, which is not installed; the live view exports PNG without it, "
            "and .svg needs nothing"
        ) from None
