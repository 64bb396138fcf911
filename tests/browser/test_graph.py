"""The graph of large programs on a bare page: what is seen first, what can be done with it, on every width."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.audit import assert_readable, axe_findings
from tests.browser.bare import Bare
from tests.browser.notebook import SCREENSHOTS
from tests.browser.view import View
from tests.extent import full
from tests.programs.documents import document_of


Document = dict[str, Any]
WINDOWS = {"wide": (1280, 900), "narrow": (480, 900), "phone": (320, 700), "zoomed": (640, 400)}


@pytest.fixture(scope="session")
def documents() -> dict[str, Document]:
    return {name: document_of(name) for name in ("transformer", "lstm")}


def shown(bare: Bare, document: Document, window: str = "wide", dark: bool = False) -> View:
    width, height = WINDOWS[window]
    view = bare.show(document, dark=dark, width=width, height=height)
    view.open_graph()
    return view


@pytest.mark.parametrize(
    "window, dark",
    [("wide", False), pytest.param("narrow", True, marks=full), ("phone", False), ("zoomed", True)],
)
def test_the_first_screen_shows_operations_and_can_be_read(
    bare: Bare, documents: dict[str, Document], window: str, dark: bool
) -> None:
    view = shown(bare, documents["transformer"], window, dark)
    seen = [node for node in view.nodes() if node["onScreen"]]
    assert len([node for node in seen if node["kind"] in ("equation", "scope", "group")]) >= 3
    assert any(node["kind"] == "equation" for node in seen)
    assert len(seen) > 2 * len([node for node in seen if node["kind"] in ("input", "output")])
    box = view.element.locator(".jitscope-graph").bounding_box()
    assert box is not None
    width, height = WINDOWS[window]
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    assert min(box["y"] + box["height"], height) - box["y"] >= 150, "the graph is in the window"
    assert_readable(view.element.locator(".jitscope-graph-column"))
    SCREENSHOTS.mkdir(exist_ok=True)
    view.page.screenshot(path=SCREENSHOTS / f"transformer-{window}-{'dark' if dark else 'light'}.png")


def test_everything_in_view_has_names(bare: Bare, documents: dict[str, Document]) -> None:
    view = shown(bare, documents["transformer"])
    view.fit()
    names = {label["text"].split(" · ")[0] for label in view.labels()}
    assert {"model", "↩ model (backward)"} <= names
    assert_readable(view.element.locator(".jitscope-graph-column"))


def test_a_step_shows_the_next_equal_block(bare: Bare, documents: dict[str, Document]) -> None:
    view = shown(bare, documents["transformer"])
    repeat = next(node for node in view.nodes() if node["blocks"] == 12 and node["open"])
    before = {node["id"] for node in view.nodes()}
    arrow = next(label for label in view.labels() if label["id"] == repeat["id"] and label["text"] == "›")
    view.element.locator(".jitscope-graph canvas").first.click(
        position={"x": arrow["x"] + arrow["w"] / 2, "y": arrow["y"] + arrow["h"] / 2}
    )
    view.settle()
    texts = [label["text"] for label in view.labels() if label["id"] == repeat["id"]]
    assert "2 of 12" in texts
    assert {node["id"] for node in view.nodes()} != before


def test_enter_jumps_from_match_to_match(bare: Bare, documents: dict[str, Document]) -> None:
    document = documents["transformer"]
    view = shown(bare, document)
    wanted = sum(node["label"].startswith("dot_general") for node in document["graph"]["nodes"])
    box = view.element.locator(".jitscope-search").first
    box.fill("op:dot_general")
    answer = view.element.locator(".jitscope-search-answer").first
    expect(answer).to_have_text(f"{wanted} found")
    box.press("Enter")
    box.press("Enter")
    expect(answer).to_have_text(f"2 of {wanted}")
    box.press("Shift+Enter")
    expect(answer).to_have_text(f"1 of {wanted}")
    assert any(node["onScreen"] and node["label"].startswith("dot_general") for node in view.nodes())


def test_the_help_of_the_search_names_the_filters(bare: Bare, documents: dict[str, Document]) -> None:
    view = shown(bare, documents["lstm"])
    box = view.element.locator(".jitscope-search").first
    box.focus()
    help = view.element.locator(".jitscope-search-help").first
    expect(help).to_be_visible()
    help.get_by_role("button", name="op:dot", exact=True).click()
    expect(box).to_have_value("op:dot")
    expect(help).to_be_hidden()


def test_users_and_ways_are_drawn_and_all_else_is_faint(bare: Bare, documents: dict[str, Document]) -> None:
    document = documents["lstm"]
    view = shown(bare, document)
    edges = [(edge["from"], edge["to"]) for edge in document["graph"]["edges"]]
    leaves = [node for node in view.nodes("equation") if node["onScreen"]]
    first = next(node for node in leaves if any(a == node["id"] for a, _ in edges))
    user = next(b for a, b in edges if a == first["id"])
    view.click_node(first["id"])
    view.element.get_by_role("button", name="all users").click()
    assert {first["id"], user} <= set(view.traced())
    view.page.keyboard.press("Escape")
    assert view.traced() is None


def test_the_minimap_moves_the_picture(bare: Bare, documents: dict[str, Document]) -> None:
    view = shown(bare, documents["transformer"])
    before = {node["id"]: node["y"] for node in view.nodes()}
    small = view.element.locator(".jitscope-minimap")
    box = small.bounding_box()
    assert box is not None
    small.click(position={"x": box["width"] / 2, "y": box["height"] - 6})
    view.settle()
    assert all(node["y"] < before[node["id"]] - 200 for node in view.nodes())


@pytest.mark.parametrize("name", ["transformer", "lstm"])
def test_the_minimap_covers_no_part_of_the_graph(bare: Bare, documents: dict[str, Document], name: str) -> None:
    view = shown(bare, documents[name])
    small = view.element.locator(".jitscope-minimap").bounding_box()
    picture = view.element.locator(".jitscope-graph > canvas").first.bounding_box()
    assert small is not None and picture is not None
    assert picture["x"] + picture["width"] <= small["x"]
    view.collapse_all()  # all of it fits: the graph has all the room
    graph, picture = (
        view.element.locator(s).first.bounding_box() for s in (".jitscope-graph", ".jitscope-graph > canvas")
    )
    assert graph is not None and picture is not None
    hidden = view.element.locator(".jitscope-minimap").is_hidden()
    assert hidden == (picture["width"] >= graph["width"] - 1)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious(bare: Bare, documents: dict[str, Document], dark: bool) -> None:
    view = shown(bare, documents["lstm"], dark=dark)
    assert axe_findings(view.element) == []
    picked = next(node["id"] for node in view.nodes("equation"))
    view.select({"node": picked})
    view.element.locator(".jitscope-search").first.focus()
    assert axe_findings(view.element) == []


def test_in_high_contrast_one_function_of_the_list_has_a_frame(
    page: Page, root: Path, documents: dict[str, Document]
) -> None:
    view = Bare(page, root).show(documents["transformer"], forced_colors="active")
    view.open_graph()
    functions = view.element.locator(".jitscope-function").all()
    framed = [one for one in functions if one.evaluate("element => getComputedStyle(element).outlineStyle") != "none"]
    assert len(functions) > 2
    assert [one.get_attribute("aria-current") for one in framed] == ["true"]
