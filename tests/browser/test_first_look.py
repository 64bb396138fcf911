"""What is seen of a training step at first: the line of the cell, the model before the optimizer, and how boxes open."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Position, expect

import jitscope as jx
from jitscope_scope import observe
from jitscope_widgets.quantities import show
from tests.browser.audit import assert_readable
from tests.browser.bare import Bare, Kernel
from tests.browser.notebook import SCREENSHOTS
from tests.browser.view import View
from tests.extent import full, looks
from tests.programs.documents import document_of
from tests.programs.rows import row_of


Document = dict[str, Any]


@pytest.fixture(scope="session")
def training() -> Document:
    return document_of("training")


def shown(bare: Bare, document: Document, width: int = 1280, **options: Any) -> View:
    view = bare.show(document, width=width, **options)
    view.open_graph()
    return view


def node_of(view: View, label: str) -> dict[str, Any]:
    return next(node for node in view.nodes() if node["label"] == label)


@pytest.mark.parametrize("width", [1280, pytest.param(480, marks=full), 320])
def test_the_model_is_open_and_the_optimizer_one_box(bare: Bare, training: Document, width: int) -> None:
    view = shown(bare, training, width)
    seen = {node["label"]: node for node in view.nodes()}
    for name in ("loss", "model", "block × 4"):
        assert seen[name]["open"], name
    assert seen["loss"]["onScreen"] and seen["model"]["onScreen"]
    assert seen["opt.update"]["open"] is False and seen["loss (backward)"]["open"] is False
    assert seen["loss"]["y"] < seen["loss (backward)"]["y"] < seen["opt.update"]["y"]
    (update,) = [node for node in training["graph"]["nodes"] if node["label"] == "opt.update"]
    written = [label["text"] for label in view.labels()]
    view.fit()
    written += [label["text"] for label in view.labels()]
    assert any(text.startswith("▾ model") for text in written)
    assert any("opt.update" in text for text in written)
    assert update["count"] == 6 * len(_arrays(training))
    assert_readable(view.element.locator(".jitscope-graph-column"))
    SCREENSHOTS.mkdir(exist_ok=True)
    view.page.screenshot(path=SCREENSHOTS / f"training-{width}.png")


def _arrays(document: Document) -> list[str]:
    """The arrays that the optimizer was given: one for each argument `state`."""
    return [n["id"] for n in document["graph"]["nodes"] if n["kind"] == "input" and n["label"].startswith("state")]


def test_nothing_is_cut_at_the_left(bare: Bare, training: Document) -> None:
    """Names begin there."""
    view = shown(bare, training)
    box = view.element.locator(".jitscope-graph").bounding_box()
    assert box is not None
    assert [n["label"] for n in view.nodes() if n["x"] < 0 < n["x"] + n["w"] and 0 <= n["y"] < box["height"]] == []


def test_what_is_opened_comes_into_view_at_a_size_that_can_be_read(bare: Bare, training: Document) -> None:
    view = shown(bare, training)
    view.fit()  # far away
    update = node_of(view, "opt.update")
    view.click_node(update["id"])
    opened = node_of(view, "opt.update")
    box = view.element.locator(".jitscope-graph").bounding_box()
    assert box is not None and opened["open"]
    assert opened["x"] < box["width"] and opened["x"] + opened["w"] > 0
    assert 0 <= opened["y"] < box["height"] - 100
    inside = [
        node for node in view.nodes() if node["onScreen"] and node["label"] in ("moments", "div × 38", "layers × 4")
    ]
    assert inside and all(node["fontPx"] >= 11 for node in inside)


def test_a_double_click_opens_once(bare: Bare, training: Document) -> None:
    view = shown(bare, training)
    closed = next(n for n in view.nodes("group") if n["open"] is False and n["onScreen"] and n["label"] == "attention")
    at: Position = {"x": closed["x"] + closed["w"] / 2, "y": closed["y"] + 10}
    view.element.locator(".jitscope-graph canvas").first.dblclick(position=at)
    view.settle()
    assert next(node for node in view.nodes() if node["id"] == closed["id"])["open"]


def test_the_bar_does_not_cover_what_was_picked(bare: Bare, training: Document) -> None:
    view = shown(bare, training)
    bar = view.element.locator(".jitscope-trace")
    picked = next(node for node in view.nodes("equation") if node["onScreen"])
    view.select({"node": picked["id"]})
    for x, y in ((12, 10), (60, 40), (300, 300)):
        now = next(node for node in view.nodes() if node["id"] == picked["id"])
        view.element.evaluate("(element, by) => element.__jitscope.graph.panBy(...by)", [x - now["x"], y - now["y"]])
        view.settle()
        graph, place = view.element.locator(".jitscope-graph").bounding_box(), bar.bounding_box()
        assert graph is not None and place is not None
        left, top = graph["x"] + x, graph["y"] + y
        apart = left + now["w"] <= place["x"] or place["x"] + place["width"] <= left
        assert apart or top + now["h"] <= place["y"] or place["y"] + place["height"] <= top


def test_titles_stand_between_the_lines(bare: Bare, training: Document) -> None:
    view = shown(bare, training)
    frames = {node["id"]: node for node in view.nodes() if node["open"]}
    strokes = view.element.evaluate("element => element.__jitscope.graph.strokes()")
    titles = [one for one in view.labels() if one["what"] == "caption" and one["text"].startswith("▾")]
    assert len(titles) >= 3
    for title in titles:
        frame = frames[title["id"]]
        for line in strokes:
            for (x1, y1), (x2, y2) in ((line[0], line[1]), (line[2], line[3])):
                inside = frame["y"] <= min(y1, y2) < title["y"] + title["h"]
                if inside and x1 == x2 and max(y1, y2) > title["y"]:
                    assert not title["x"] < x1 < title["x"] + title["w"], title["text"]


def test_the_signs_of_a_graph_are_explained_below_it(bare: Bare, training: Document) -> None:
    view = shown(bare, training)
    legend = view.element.locator(".jitscope-legend")
    for words in ("↩ backward pass", "× n equal blocks", re.compile(r"\d+ its line in your code")):
        expect(legend).to_contain_text(words)
    view.level("after")
    expect(legend).to_contain_text("library call")
    expect(legend).not_to_contain_text("derivative")
    assert legend.get_by_text("opens by a click").count() == any(node["open"] is not None for node in view.nodes())


def test_a_cells_line_shows_the_program_and_that_it_opens(bare: Bare, training: Document) -> None:
    empty = {"reused": [], "left_alone": [], "error": None, "note": "", "cell_id": None}
    view = bare.show({"kind": "cell", "version": 1, "cell": "In [1]", "compilations": [training], **empty})
    line = view.headline()
    parts = training["parts"]
    assert sum(part["equations"] for part in parts) == training["equations"]
    assert [(part["label"], part["backward"]) for part in parts] == [
        ("loss", False), ("loss", True), ("opt.update", False)]  # fmt: skip
    pieces = line.locator(".jitscope-strip i")
    widths = [box["width"] for piece in pieces.all() if (box := piece.bounding_box())]
    assert len(widths) == len(parts)
    for part, width in zip(parts, widths):
        assert width / sum(widths) == pytest.approx(part["equations"] / training["equations"], abs=0.03)
    expect(line).to_contain_text("graph, kernels, times ↵")
    assert_readable(view.element)
    line.focus()
    view.page.keyboard.press("Enter")
    expect(line).to_have_attribute("aria-expanded", "true")
    expect(line).to_contain_text("close ↵")


@looks(1280, 420)
def test_with_a_profile_the_line_shows_how_busy_a_call_was(bare: Bare, dark: bool, width: int) -> None:
    from tests.widgets import documents
    from tests.widgets.profile_documents import profile

    cell = documents.layer_cell()
    cell["compilations"][0]["instruments"] = {"profile": profile()}
    view = bare.show(cell, dark=dark, width=width)
    strip = view.headline().locator(".jitscope-strip")
    expect(strip).to_have_attribute("title", re.compile(r"^One recorded call of 120 µs.*kernels ran in 69 % of it$"))
    whole = strip.bounding_box()
    assert whole
    heights = [box["height"] / whole["height"] for bar in strip.locator("i").all() if (box := bar.bounding_box())]
    assert heights == pytest.approx(profile()["timeline"]["busy"], abs=0.05)
    assert_readable(view.element)


def test_the_line_tells_of_a_profile_as_soon_as_it_is_there(page: Page) -> None:
    from tests.widgets import documents
    from tests.widgets.profile_documents import profile

    cell = documents.layer_cell()
    cell["compilations"][0]["timing"]["steady"] = None
    kernel = Kernel(cell)
    kernel.instruments["profile"] = measured = profile()
    view = kernel.shown(page)
    line = view.headline()
    expect(line).not_to_contain_text("runs in")
    expect(line.locator(".jitscope-strip[data-of=call]")).to_have_count(0)
    view.open("timing")
    view.element.locator("[data-run=profile]").click()
    expect(line.locator(".jitscope-strip[data-of=call] i")).to_have_count(len(measured["timeline"]["busy"]))
    expect(line).to_contain_text(f"runs in {show(measured['wall'])}")
    slowest = max(measured["lines"], key=lambda one: one["own"]["least"] if one["own"] else 0)
    expect(line).to_contain_text(f"line {slowest['position']['line']}: ")
    expect(view.element.locator("[role=tab][data-tab=timing]").first).to_have_attribute("aria-selected", "true")


def test_what_stands_out_is_in_the_line(bare: Bare, training: Document) -> None:
    from tests.widgets import documents

    bad = documents.layer_cell()
    values = documents.values()
    bad["compilations"][0]["instruments"] = {"values": values}
    first = next(row for row in values["rows"] if row["nan"])
    place = values["lines"][first["line"]]["line"]
    view = bare.show(bad)
    expect(view.headline()).to_contain_text(f"first NaN: line {place}")
    assert_readable(view.element)


def test_a_node_is_read_out_with_few_types(bare: Bare, training: Document) -> None:
    view = shown(bare, training)
    names = view.element.locator("[role=treeitem]").all_text_contents()
    assert names and all(name.count("f32[") <= 5 for name in names)


def test_the_search_finds_code_functions_and_library_calls(bare: Bare, training: Document) -> None:
    view = shown(bare, training)
    assert view.search("opt.update") >= 1  # a line's call
    assert view.search("jnp.tri") >= 1  # source text
    assert view.search("softmax") >= 5  # a function
    view.level("after")
    assert view.search("library call") == sum(n["kind"] == "library" for n in training["fusion"]["after"]["nodes"])


def outline(view: View) -> dict[str, list[str]]:
    """The cells of each row of the outline, all of them open, by what it is called."""
    view.element.locator(".jitscope-modules > summary").click()
    table = view.element.locator(".jitscope-modules [role=treegrid]")
    table.locator(".jitscope-table-row").first.wait_for()  # the outline is made when the page tells that it was opened
    view.settle()
    for _ in range(60):
        closed = table.locator("[aria-expanded=false] .jitscope-table-toggle")
        if not closed.count():
            break
        closed.first.click()
        view.settle()
    rows = [row.locator("[role=gridcell]").all_inner_texts() for row in table.locator(".jitscope-table-row").all()]
    return {cells[0].lstrip("▾▸ \n"): cells for cells in rows}


def test_the_outline_counts_what_the_groups_hold(bare: Bare, training: Document) -> None:
    rows = outline(shown(bare, training))
    groups = [node for node in training["graph"]["nodes"] if node.get("what") in ("function", "named scope", "line")]
    for label in ("loss", "model", "loss (backward)", "model (backward)", "opt.update"):
        (group,) = [node for node in groups if node["label"] == label]
        assert rows[label][1] == f"{group['count']:,}", label
    blocks = [node for node in groups if node["label"] == "attention"]
    (attention,) = [cells for name, cells in rows.items() if name.startswith("attention, in each of")]
    assert attention[0].endswith(f"in each of {len(blocks)}")
    assert attention[1] == f"{sum(node['count'] for node in blocks):,}"
    assert 0 < int(rows["opt.update"][2].replace(",", "")) <= training["fusion"]["summary"]["kernels"]


def _halved(x: Any) -> Any:
    return jx.lax.cond(x.sum() > 9, lambda v: v / 2, lambda v: v, x)


def _settled(x: Any) -> Any:
    return _halved(jx.lax.while_loop(lambda v: v.sum() > 9, _halved, x)) + 1


def test_the_outline_counts_no_branches_or_bodies(bare: Bare) -> None:
    """These are boxes in the graph, and no equations."""
    document = observe.compilation_document(row_of(lambda x: _settled(x) * 2, jx.numpy.ones(9)))
    rows = outline(shown(bare, document))
    for node in document["graph"]["nodes"]:
        if node.get("what") == "function":
            assert rows[node["label"]][1] == f"{node['count']:,}", node["label"]


def test_a_row_of_the_outline_is_shown_in_the_graph(bare: Bare, training: Document) -> None:
    view = shown(bare, training)
    outline(view)
    (update,) = [node for node in training["graph"]["nodes"] if node["label"] == "opt.update"]
    view.element.locator(".jitscope-modules .jitscope-table-row").filter(has_text="opt.update").first.click()
    view.settle()
    expect(view.element.locator(".jitscope-details strong").first).to_have_text(update["label"])
    assert node_of(view, "opt.update")["onScreen"]
    assert_readable(view.element.locator(".jitscope-modules"))
    view.page.screenshot(path=SCREENSHOTS / "outline.png")
