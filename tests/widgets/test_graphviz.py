"""Graphs for graphviz: every node and edge, scopes as clusters, nothing taken for markup."""

from __future__ import annotations

import shutil
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from jitscope_widgets import to_graphviz
from tests.extent import examples
from tests.widgets import documents as made
from tests.widgets.strategies import NASTY, graphs, patient


needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="the program dot is not installed")


def test_nodes_edges_and_clusters() -> None:
    source = to_graphviz(made.layer_graph()).source
    assert source.count(" -> ") == len(made.layer_graph()["edges"])
    assert "subgraph cluster_n" in source and "label=where" in source
    for label in ("dot_general", "broadcast_in_dim", "select_n", "exp"):
        assert f"label={label}" in source


def test_library_calls_look_different() -> None:
    assert "peripheries=2" in to_graphviz(made.hlo_after()).source


def test_an_edge_to_a_scope_ends_at_its_border() -> None:
    nodes = [made.node("a"), made.node("s", "scope"), made.node("s/b", scope="s")]
    source = to_graphviz(made.graph(nodes, [made.edge("a", "s"), made.edge("s", "s/b")])).source
    assert source.count("lhead=cluster_n1") == 1
    assert "ltail" not in source


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(ValueError, match="no view of documents of kind 'novel'"):
        to_graphviz({"kind": "novel", "version": 1})


@needs_dot
@pytest.mark.parametrize("name", NASTY)
def test_dot_draws_any_name_as_text(name: str) -> None:
    nodes = [
        made.node("a", label=name, text=name),
        made.node("s", "scope", name),
        made.node("b", label=name, scope="s"),
    ]
    drawing = to_graphviz(made.graph(nodes, [made.edge("a", "b", name)], title=name))
    root = ElementTree.fromstring(drawing.pipe("svg", encoding="utf-8"))
    names = {element.tag.rsplit("}", 1)[-1] for element in root.iter()}
    assert names <= {"svg", "g", "title", "polygon", "polyline", "path", "text", "ellipse", "a"}
    assert all(
        name.split("}")[-1].startswith(("title", "href")) or not name.startswith("on")
        for e in root.iter()
        for name in e.attrib
    )


@settings(patient, max_examples=examples(40))
@given(graphs)
def test_any_graph_becomes_source(graph: dict[str, Any]) -> None:
    source = to_graphviz(graph).source
    assert source.rstrip().endswith("}")
