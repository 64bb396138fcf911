"""A graph document as a `graphviz` object: scopes as clusters. Drawing it needs the program `dot`; making it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import words
from .escapes import clean, shorten
from .looks import number_of, sign_of
from .scopes import Scopes
from .words import Document


if TYPE_CHECKING:
    import graphviz


_SHAPES = {
    "input": {"shape": "box", "style": "rounded"},
    "output": {"shape": "box", "style": "rounded"},
    "constant": {"shape": "box", "fontsize": "9", "height": "0.2"},
    "library": {"shape": "box", "peripheries": "2"},
}
_LONGEST_LABEL, _LONGEST_HOVER = 48, 300


def to_graphviz(graph: Document) -> graphviz.Digraph:
    """`graph` for graphviz; in a notebook it shows itself when `dot` is installed, `.source` is its text. Raises
    ValueError for a document that has no view here."""
    import graphviz

    problem = words.not_viewable(graph)
    if problem:
        raise ValueError(problem)
    scopes = Scopes(graph)
    names = {ident: f"n{at}" for at, ident in enumerate(scopes.nodes)}
    drawing = graphviz.Digraph(name="jitscope", comment=graphviz.escape(clean(graph["title"])))
    drawing.attr(compound="true", fontname="monospace", rankdir="TB", tooltip=" ")
    drawing.attr("node", fontname="monospace", fontsize="11", shape="box", height="0.3", margin="0.1,0.05")
    drawing.attr("edge", fontname="monospace", fontsize="9", color="#57606a", fontcolor="#57606a")
    _add(drawing, None, scopes, names)
    for edge in scopes.edges:
        _connect(drawing, edge, scopes, names)
    return drawing


def _add(drawing: graphviz.Digraph, scope: str | None, scopes: Scopes, names: dict[str, str]) -> None:
    import graphviz

    for ident in scopes.members.get(scope, ()):
        node = scopes.nodes[ident]
        own = number_of(node)
        label = graphviz.escape(
            sign_of(node) + (shorten(clean(node["label"]), _LONGEST_LABEL) or "?") + (f" · {own}" if own else "")
        )
        if ident not in scopes.members:
            drawing.node(names[ident], label=label, tooltip=_hover(node), **_SHAPES.get(node["kind"], {}))
            continue
        cluster = graphviz.Digraph(name=f"cluster_{names[ident]}")
        style = "rounded,filled" if node["kind"] == "fusion" else "filled"
        cluster.attr(label=label, tooltip=_hover(node), style=style, fillcolor="#f6f8fb", color="#8c959f")
        cluster.node(names[ident], label="", shape="point", style="invis", width="0")
        _add(cluster, ident, scopes, names)
        drawing.subgraph(cluster)


def _connect(drawing: graphviz.Digraph, edge: Document, scopes: Scopes, names: dict[str, str]) -> None:
    import graphviz

    ends: dict[str, str] = {}
    for end, attribute, other in (("from", "ltail", "to"), ("to", "lhead", "from")):
        if edge[end] in scopes.members and edge[end] not in scopes.outwards(edge[other]):
            ends[attribute] = f"cluster_{names[edge[end]]}"
    label = graphviz.escape(shorten(clean(edge["type"]), _LONGEST_LABEL))
    drawing.edge(names[edge["from"]], names[edge["to"]], label=label, edgetooltip=_told(edge, label), **ends)


def _told(edge: Document, label: str) -> str:
    import graphviz

    return graphviz.escape(shorten(clean(edge["note"]), _LONGEST_HOVER)) if edge.get("note") else label


def _hover(node: Document) -> str:
    import graphviz

    told = [
        clean(node["text"].strip()) or clean(node["label"]),
        *(words.where(place) for place in node["positions"][:3]),
    ]
    return graphviz.escape(shorten("; ".join(told), _LONGEST_HOVER))
