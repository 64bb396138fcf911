"""Positions by path: a node that names the equations it stems from, but no positions, gets those of the equations."""

from __future__ import annotations

from typing import Any

from .words import Document


def placed(graph: Document, *known: Document) -> Document:
    """`graph` with the positions that the nodes of the graphs `known` have for the same paths; a new document."""
    by_path = _by_path(known)
    nodes = [node if node["positions"] or not node["paths"] else _placed(node, by_path) for node in graph["nodes"]]
    return {**graph, "nodes": nodes}


def _by_path(graphs: tuple[Document, ...]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for node in (node for graph in graphs for node in graph["nodes"] if node["positions"] and len(node["paths"]) == 1):
        found.setdefault(node["paths"][0], node["positions"])
    return found


def _placed(node: Document, by_path: dict[str, list[Any]]) -> Document:
    """Each position once; most nodes of a place share one, so they are told apart by where they are."""
    found: dict[tuple[Any, ...], Any] = {}
    for path in node["paths"]:
        for position in by_path.get(path, ()):
            found.setdefault(tuple(position.values()), position)
    return {**node, "positions": list(found.values())}
