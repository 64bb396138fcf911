"""Still pictures: well-formed, readable without styles, everything from the program escaped."""

from __future__ import annotations

import copy
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from jitscope_widgets import svg
from jitscope_widgets.folding import folded
from tests.widgets import documents as made
from tests.widgets.markup import check_still, font_sizes
from tests.widgets.strategies import NASTY, graphs, patient


SPACE = "{http://www.w3.org/2000/svg}"


def _texts(picture: str) -> list[str]:
    root = ElementTree.fromstring(picture)
    return ["".join(element.itertext()) for element in root.iter(f"{SPACE}text")]


def test_nodes_types_and_lines_are_written() -> None:
    texts = _texts(svg(made.layer_graph()))
    assert {"x", "w", "b", "dot_general2", "exp4", "f32[64,20]", "where · line 3", "out"} <= set(texts)
    assert (
        len(
            [
                text
                for text in texts
                if re.fullmatch(r"(mul|add|gt|sub|exp|dot_general|broadcast_in_dim|select_n)\d", text)
            ]
        )
        == 9
    )


def test_hover_tells_the_line_of_the_program_and_of_the_source() -> None:
    root = ElementTree.fromstring(svg(made.layer_graph()))
    hovers = [element.text or "" for element in root.iter(f"{SPACE}title")]
    assert "f:f32[64,7] = add d e\nIn [3], line 2, columns 5-20: z = x @ w + b" in hovers
    assert len(list(ElementTree.fromstring(svg(made.layer_graph(), hover=False)).iter(f"{SPACE}title"))) == 1


def test_a_screen_reader_gets_title_and_summary() -> None:
    root = ElementTree.fromstring(svg(made.hlo_after()))
    assert root.get("role") == "img"
    title, described = root.find(f"{SPACE}title"), root.find(f"{SPACE}desc")
    assert title is not None and title.text == "layer after fusion: HLO graph"
    assert described is not None and described.text is not None
    assert described.text.startswith("9 operations, 3 inputs, 1 output, 1 fusion, 1 library call.")


@pytest.mark.parametrize("options", [{}, {"hover": False, "types": False}])
def test_shapes_tell_the_kinds_apart(options: dict[str, Any]) -> None:
    root = ElementTree.fromstring(svg(made.hlo_after(), **options))
    classes = {group.get("class") for group in root.iter(f"{SPACE}g")}
    assert {"h", "l", "b"} <= classes


def test_what_was_fused_is_marked_and_said() -> None:
    graph = made.layer_graph()
    graph["nodes"][4]["fused_into"] = "fusion.1"
    picture = svg(graph)
    assert "What is tinted became part of a fusion." in _texts(picture)
    assert "became part of fusion.1" in picture
    assert "tinted" not in svg(made.layer_graph())


def test_attributes_are_readable_when_styles_are_stripped() -> None:
    picture = re.sub(r"<style>.*?</style>| class=\"[^\"]*\"", "", svg(made.layer_graph()))
    root = ElementTree.fromstring(picture)
    paper = root.find(f"{SPACE}rect")
    assert paper is not None and paper.get("fill") == "#ffffff"
    for group in root.iter(f"{SPACE}g"):
        if group.find(f"{SPACE}text") is not None:
            assert group.get("fill") in ("#1f2328", "#59636e")


def test_texts_are_large_enough() -> None:
    sizes = font_sizes(svg(made.layer_graph()))
    assert sizes and min(sizes) >= 11


def test_large_graphs_are_drawn_closed_and_say_so() -> None:
    graph = made.long_program(300, 10)["compilations"][0]["graph"]
    texts = _texts(svg(graph))
    closed = sum(int(said.split()[0]) for said in texts if re.fullmatch(r"\d+ equations", said))
    drawn = [
        said for said in texts if re.match(r"(add|mul|exp|tanh|dot_general|reduce_sum|transpose|select_n|sub)\d", said)
    ]
    assert len(drawn) <= 60
    assert f"with {closed} equations inside." in " ".join(texts)
    assert "inside." not in svg(made.layer_graph())


def test_a_flat_graph_that_is_too_large_is_drawn_as_runs() -> None:
    graph = made.long_program(5000)["compilations"][0]["graph"]
    texts = _texts(svg({**graph, "nodes": [{**node, "positions": []} for node in graph["nodes"]]}))
    runs = [
        [int(end.replace(",", "")) for end in said.split(" to ")]
        for said in texts
        if re.fullmatch(r"[\d,]+ to [\d,]+", said)
    ]
    assert 10 < len(runs) < 40
    assert sorted(at for first, last in runs for at in range(first, last + 1)) == list(range(1, 5001))
    assert "5,000 operations one after the other are drawn as runs." in " ".join(texts)
    assert any(re.match(r"\w+ ×\d+, \w+ ×\d+", said) for said in texts)


def test_a_large_fusion_says_how_much_is_in_it() -> None:
    graph = made.long_program(500)["compilations"][0]["graph"]
    fusion = made.node("f", "fusion", "fusion")
    inside = [{**node, "scope": "f"} if node["kind"] == "equation" else node for node in graph["nodes"]]
    assert any(said.startswith("fusion of 500") for said in _texts(svg({**graph, "nodes": [fusion, *inside]})))


def _repeat(times: int) -> dict[str, Any]:
    """`times` equal blocks of two equations, each with a weight of its own, one after the other."""
    nodes = [made.node("tree", "group", "params", what="tree", count=times)]
    nodes += [made.node(f"w{at}", "input", f"params[{at}]", scope="tree") for at in range(times)]
    nodes += [made.node("x", "input"), made.node("all", "group", f"block × {times}", what="repeat", count=times)]
    edges, before = [], "x"
    for at in range(times):
        nodes.append(made.node(f"i{at}", "group", f"block {at + 1}", what="instance", count=times, scope="all"))
        nodes += [made.node(f"a{at}", label="mul", scope=f"i{at}"), made.node(f"b{at}", label="tanh", scope=f"i{at}")]
        edges += [made.edge(before, f"a{at}"), made.edge(f"w{at}", f"a{at}"), made.edge(f"a{at}", f"b{at}")]
        before = f"b{at}"
    return made.graph([*nodes, made.node("y", "output")], [*edges, made.edge(before, "y")])


def test_trees_stay_closed_and_equal_blocks_are_drawn_once() -> None:
    texts = _texts(svg(_repeat(12)))
    assert texts.count("mul") == texts.count("tanh") == 1
    assert {"params", "12 arrays", "block × 12 · 24 equations", "x", "y"} <= set(texts)
    assert "Equal blocks are drawn once (block × 12)." in " ".join(texts)
    assert not [said for said in texts if said.startswith("params[")]


def test_a_picture_of_equal_blocks_keeps_what_leads_in_and_out() -> None:
    drawn, _ = folded(_repeat(5))
    ends = {(edge["from"], edge["to"]) for edge in drawn["edges"]}
    assert {("x", "a0"), ("w0", "a0"), ("w4", "all"), ("a0", "b0"), ("all", "y")} <= ends
    assert {node["id"] for node in drawn["nodes"] if node["scope"] == "all"} == {"a0", "b0"}


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (made.graph([], []), "This graph is empty."),
        ({"kind": "graph", "version": 2}, "This graph is a document of version 2"),
        ("text", "There is no view of this"),
    ],
)
def test_sad_graphs_are_sentences(graph: Any, said: str) -> None:
    assert " ".join(_texts(svg(graph))).startswith(said)


def test_edges_that_lead_nowhere_or_round_in_circles_are_survived() -> None:
    nodes = [made.node("a"), made.node("b"), made.node("c", scope="c"), made.node("d", scope="gone")]
    edges = [made.edge(a, b) for a, b in [("a", "b"), ("b", "a"), ("a", "a"), ("a", "gone"), ("gone", "b")]]
    texts = _texts(svg(made.graph(nodes, edges)))
    assert {"a", "b", "c", "d"} <= set(texts)


@pytest.mark.parametrize("name", NASTY)
def test_names_are_text(name: str) -> None:
    graph = copy.deepcopy(made.layer_graph())
    graph["title"] = name
    for field in ("label", "text"):
        graph["nodes"][5][field] = name
    graph["nodes"][5]["types"] = [name]
    picture = svg(graph)
    check_still(picture)
    ElementTree.fromstring(picture)


def test_the_same_graph_gives_the_same_picture() -> None:
    assert svg(made.layer_graph()) == svg(made.layer_graph())


@settings(patient)
@given(graphs)
def test_any_graph_is_a_harmless_picture(graph: dict[str, Any]) -> None:
    for options in ({}, {"hover": False, "types": False, "limit": 3}):
        picture = svg(graph, **options)
        ElementTree.fromstring(picture)
        check_still(picture)
        assert min(font_sizes(picture)) >= 11


def test_types_are_whole_and_equal_ones_are_counted() -> None:
    graph = made.layer_graph()
    graph["nodes"][5]["types"] = ["f32[8,16]", "f32[8,16]", "f32[40,8,16]"]
    graph["nodes"][6]["types"] = [f"f32[{n},8,16]" for n in range(40, 50)]
    texts = _texts(svg(graph))
    assert {"f32[8,16] ×2, f32[40,8,16]", "f32[40,8,16], f32[41,8,16], 8 more"} <= set(texts)


def test_a_backward_pass_has_a_sign_and_the_sign_is_explained() -> None:
    written, derived, backward = (
        made.node("e0", label="mul"),
        made.node("e1", label="mul"),
        made.node("e2", label="mul"),
    )
    graph = made.graph(
        [written, derived | {"transforms": ["jvp"]}, backward | {"transforms": ["jvp", "transpose"]}],
        [made.edge("e0", "e1"), made.edge("e1", "e2")],
    )
    for hover in (True, False):
        picture = svg(graph, hover=hover)
        assert {"mul", "↩ mul"} <= set(_texts(picture))
        assert "↩ backward pass." in _texts(picture)
        assert picture.count("stroke-dasharray") == 1
    assert "derivative" not in svg(made.layer_graph()) and "stroke-dasharray" not in svg(made.layer_graph())
