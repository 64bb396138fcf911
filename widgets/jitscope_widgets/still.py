"""What a still picture of a graph shows: few boxes first, and as many scopes open as there is room for."""

from __future__ import annotations

from typing import NamedTuple

from .folding import folded
from .looks import BACKWARD, OPENS_UP_TO, second_line, sign_of, unsigned_label_of
from .scopes import Scopes
from .words import Document, plural


class Still(NamedTuple):
    """The scopes that are drawn, those that are `opened`, those of the `whole` graph, and what is said below the picture."""

    scopes: Scopes
    opened: set[str]
    whole: Scopes
    remark: str


def still(graph: Document, limit: int = 400) -> Still:
    """What is drawn of a graph when about `limit` boxes are beside each other at most."""
    whole = Scopes(graph)
    drawn, said = folded(graph, max(limit, 1))
    scopes = Scopes(drawn)
    opened = scopes.open_within(min(limit, OPENS_UP_TO))
    return Still(
        scopes,
        opened,
        whole,
        " ".join(filter(None, (*said, _closed_words(scopes, opened, whole), _tint_words(scopes), _sign_words(scopes)))),
    )


def drawn_graph(graph: Document) -> tuple[Document, str]:
    """What is drawn of a graph as a graph of its own, its closed scopes as nodes, and what is said below."""
    scopes, opened, whole, remark = still(graph)
    closed = {ident for ident in scopes.members if ident is not None and ident not in opened}
    stands = {
        ident: [ident, *(o for o in scopes.outwards(scopes.parent[ident]) if o in closed)][-1] for ident in scopes.nodes
    }
    nodes = [
        {
            **node,
            "label": f"{unsigned_label_of(node)} · {second_line(node, whole if ident in whole.members else scopes)}",
        }
        if ident in closed
        else node
        for ident, node in scopes.nodes.items()
        if stands[ident] == ident
    ]
    edges = {(stands[e["from"]], stands[e["to"]], e["type"]): e for e in scopes.edges}
    return {
        **graph,
        "nodes": nodes,
        "edges": [{**edge, "from": start, "to": end} for (start, end, _), edge in edges.items() if start != end],
    }, remark


def _closed_words(scopes: Scopes, opened: set[str], whole: Scopes) -> str:
    runs = [ident for ident, node in scopes.nodes.items() if node.get("what") == "run"]
    closed = [*runs, *(ident for ident in scopes.members if ident is not None and ident not in opened)]
    drawn = [ident for ident in closed if scopes.parent[ident] is None or scopes.parent[ident] in opened]
    inside = sum((whole if ident in whole.members else scopes).work(ident) for ident in drawn)
    unit = "equation" if scopes.level == "jaxpr" else "operation"
    return f"{plural(len(drawn), 'box')} closed, with {plural(inside, unit)} inside." if inside else ""


def _sign_words(scopes: Scopes) -> str:
    there = {sign_of(node).strip() for node in scopes.nodes.values()}
    return f"{' '.join(BACKWARD)}." if BACKWARD[0] in there else ""


def _tint_words(scopes: Scopes) -> str:
    taken = any(node["fused_into"] is not None for node in scopes.nodes.values())
    return "What is tinted became part of a fusion." if taken else ""
