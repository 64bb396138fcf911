"""The layout of still pictures: nothing overlaps, data flows downwards, edges meet what they connect."""

from __future__ import annotations

import copy
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from jitscope_widgets.label_places import places
from jitscope_widgets.layout import Picture, layout
from jitscope_widgets.painter import SMALL_SIZE, Painter, text_width
from jitscope_widgets.scopes import Scopes
from tests.extent import examples
from tests.widgets import documents as made
from tests.widgets.strategies import graphs, patient


Rectangle = tuple[float, float, float, float]


def _laid_out(graph: dict[str, Any], limit: int = 400) -> tuple[Scopes, Painter, Picture]:
    scopes = Scopes(graph)
    painter = Painter(scopes, {})
    return scopes, painter, layout(scopes, scopes.open_within(limit), painter.size, painter.head)


def _written(scopes: Scopes, painter: Painter, picture: Picture) -> dict[tuple[str, str], Rectangle]:
    """Where there is text: closed nodes, types below nodes, captions of open scopes."""
    places: dict[tuple[str, str], Rectangle] = {}
    for box in picture.boxes:
        if box.open:
            width = painter.head(box.ident)
            places["caption", box.ident] = (box.x + 14, box.y + 9, box.x + 14 + width, box.y + 22)
        else:
            places["node", box.ident] = (box.x, box.y, box.x + box.width, box.y + box.height)
    for ident, (x, y) in picture.labels.items():
        width = text_width(", ".join(scopes.nodes[ident]["types"])[:32], SMALL_SIZE)
        places["type", ident] = (x, y - 9, x + width, y + 2)
    return places


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


GRAPHS = {
    "layer": made.layer_graph(),
    "after fusion": made.hlo_after(),
    "long": made.long_program(120)["compilations"][0]["graph"],
    "scopes": made.long_program(120, 6)["compilations"][0]["graph"],
    "kernels": made.long_program(120)["compilations"][0]["fusion"]["after"],
}


@pytest.mark.parametrize("name", GRAPHS)
def test_texts_never_overlap(name: str) -> None:
    places = _written(*_laid_out(GRAPHS[name]))
    overlapping = [pair for pair in combinations(places, 2) if _overlap(places[pair[0]], places[pair[1]])]
    assert not overlapping


@pytest.mark.parametrize("name", GRAPHS)
def test_everything_is_inside_the_sheet_and_its_scope(name: str) -> None:
    scopes, painter, picture = _laid_out(GRAPHS[name])
    boxes = {box.ident: box for box in picture.boxes}
    assert len(boxes) == len(scopes.nodes)
    for x1, y1, x2, y2 in _written(scopes, painter, picture).values():
        assert 0 <= x1 and 0 <= y1 and x2 <= picture.width + 1 and y2 <= picture.height + 1
    for ident, scope in scopes.parent.items():
        if scope is not None:
            inner, outer = boxes[ident], boxes[scope]
            assert outer.x <= inner.x and inner.x + inner.width <= outer.x + outer.width + 1
            assert outer.y <= inner.y and inner.y + inner.height <= outer.y + outer.height + 1


@pytest.mark.parametrize("name", GRAPHS)
def test_data_flows_downwards(name: str) -> None:
    scopes, _, picture = _laid_out(GRAPHS[name])
    boxes = {box.ident: box for box in picture.boxes}
    for edge in scopes.edges:
        if not (boxes[edge["from"]].open or boxes[edge["to"]].open):
            assert boxes[edge["from"]].y + boxes[edge["from"]].height <= boxes[edge["to"]].y
    for route in picture.routes:
        heights = [y for _, y in route.points]
        assert heights == sorted(heights)


@pytest.mark.parametrize("name", GRAPHS)
def test_edges_run_beside_boxes_not_through_them(name: str) -> None:
    _, _, picture = _laid_out(GRAPHS[name])
    closed = [box for box in picture.boxes if not box.open]
    for route in picture.routes:
        for (x1, y1), (x2, y2) in zip(route.points, route.points[1:]):
            if x1 == x2:
                line = (x1 - 0.5, y1 + 2, x1 + 0.5, y2 - 2)
                hit = [
                    box.ident for box in closed if _overlap(line, (box.x, box.y, box.x + box.width, box.y + box.height))
                ]
                assert not hit, (route.value, hit)


@pytest.mark.parametrize("name", GRAPHS)
def test_every_edge_is_drawn_from_its_source_to_its_target(name: str) -> None:
    scopes, _, picture = _laid_out(GRAPHS[name])
    boxes = {box.ident: box for box in picture.boxes}
    for edge in scopes.edges:
        source, target = boxes[edge["from"]], boxes[edge["to"]]
        pieces = [route.points for route in picture.routes if route.value == edge["from"]]
        starts = [points[0] for points in pieces]
        ends = [points[-1] for points in pieces]
        assert any(
            source.x <= x <= source.x + source.width and abs(y - source.y - source.height) < 2 for x, y in starts
        )
        assert any(target.x <= x <= target.x + target.width and abs(y - target.y) < 2 for x, y in ends)


def test_a_chain_is_straight() -> None:
    _, _, picture = _laid_out(GRAPHS["layer"])
    middle = {box.ident: box.x + box.width / 2 for box in picture.boxes}
    assert abs(middle["e4"] - middle["e5"]) <= 1
    assert abs(middle["e5"] - middle["e6"]) <= 1


def test_a_result_that_is_a_number_stands_with_the_results() -> None:
    graph = copy.deepcopy(GRAPHS["layer"])
    (result,) = [node for node in graph["nodes"] if node["kind"] == "output"]
    graph["nodes"].append({**result, "id": "out9", "label": "result[1]", "text": "0:i32[]"})
    _, _, picture = _laid_out(graph)
    top = {box.ident: box.y for box in picture.boxes}
    assert top["out9"] == top[result["id"]] == max(top.values())


def test_closed_scopes_stand_for_what_is_in_them() -> None:
    graph = GRAPHS["scopes"]
    scopes, _, picture = _laid_out(graph, limit=20)
    assert {box.ident for box in picture.boxes} == set(scopes.members[None])
    assert {route.value for route in picture.routes} <= set(scopes.members[None])


@settings(patient, max_examples=examples(60))
@given(graphs, st.integers(0, 8))
def test_any_graph_has_a_layout_without_overlaps(graph: dict[str, Any], limit: int) -> None:
    _, _, picture = _laid_out(graph, limit)
    closed = [box for box in picture.boxes if not box.open]
    for one, other in combinations(closed, 2):
        assert not _overlap(
            (one.x, one.y, one.x + one.width, one.y + one.height),
            (other.x, other.y, other.x + other.width, other.y + other.height),
        )


def test_a_label_goes_to_the_side_that_no_line_crosses() -> None:
    """Beside a line that bends to the right, on its left; to the right where both sides are free, or neither is."""
    bends, falls = [(100.0, 0.0), (180.0, 40.0)], [(100.0, 0.0), (100.0, 40.0)]
    away = [(100.0, 0.0), (20.0, 40.0)]
    box = (0.0, 0.0, 60.0, 40.0)
    for routes, taken, x in (
        ([bends], [], 44.0),
        ([falls], [], 106.0),
        ([away], [], 106.0),
        ([bends, away], [], 106.0),
        ([bends], [box], 106.0),
    ):
        assert places({"e0": ((100.0, 13.0), 50.0)}, routes, taken) == {"e0": (x, 13.0)}
    beside = places({"e0": ((30.0, 13.0), 50.0), "e1": ((100.0, 13.0), 50.0)}, [bends], [])
    assert beside == {"e0": (36.0, 13.0), "e1": (106.0, 13.0)}, "where another label is"
