"""Lighter forms of a document, for outputs that must stay small; each says in its place what was left out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .words import Document


_GONE = "Left out of the saved output to keep it small."


def lighter(document: Document) -> Iterator[tuple[Document, str]]:
    """Forms of `document` that hold less and less, each with the sentence that tells so."""
    yield _each(document, _without_hlo), "Kept without the HLO programs, to keep the saved output small."
    yield _each(document, _without_graphs), "Kept without the graphs and programs, to keep the saved output small."


def _each(document: Document, change: Callable[[Document], Document]) -> Document:
    if document["kind"] == "cell":
        return {**document, "compilations": [change(compilation) for compilation in document["compilations"]]}
    return change(document)


def _without_hlo(document: Document) -> Document:
    if document["kind"] == "fusion":
        return _bare_fusion(document)
    fusion = document.get("fusion")
    return {**document, "fusion": _bare_fusion(fusion)} if fusion else document


def _without_graphs(document: Document) -> Document:
    if document["kind"] == "graph":
        return _bare_graph(document)
    if document["kind"] != "compilation":
        return _without_hlo(document)
    bare: dict[str, Any] = {**_without_hlo(document), "graph": _bare_graph(document["graph"]), "jaxpr": _GONE}
    bare["source"] = {**document["source"], "marks": []} if document["source"] else None
    return bare


def _bare_fusion(fusion: Document) -> Document:
    summary = {**fusion["summary"], "sentence": f"{fusion['summary']['sentence']} {_GONE}".strip()}
    graphs = {side: _bare_graph(fusion[side]) for side in ("before", "after")}
    return {**fusion, **graphs, "rows": [], "summary": summary}


def _bare_graph(graph: Document) -> Document:
    return {**graph, "title": f"{graph['title']} ({_GONE.rstrip('.').lower()})", "nodes": [], "edges": []}
