"""Saved outputs on a bare page: what they carry comes alive, what was left out is said and fetched, exports are files."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from jitscope_widgets import html, page as saved_page
from jitscope_widgets.columns import compact
from jitscope_widgets.envelope import pack, pack_compilation
from tests.browser.audit import assert_readable
from tests.browser.bare import Bare
from tests.browser.view import View
from tests.widgets import documents as made


def many(count: int) -> dict[str, Any]:
    found = []
    for at in range(count):
        one = made.layer_compilation() | {"id": at, "recompilations": made.recompilations(made.card(at + 1))}
        found.append(one)
    return made.cell(*found)


def test_a_row_is_filled_from_the_kernel(bare: Bare) -> None:
    document = many(12)
    view = bare.mount(pack(document, 200_000).text, {"5": pack_compilation(document["compilations"][5])})
    view.open("graph")
    table = view.element.locator(".jitscope-compilations")
    table.locator("summary").click()
    expect(table.locator("tbody tr")).to_have_count(12)
    assert_readable(view.element)
    table.get_by_role("button", name="6", exact=True).click()
    view.open("graph")
    assert view.nodes("equation")
    assert view.page.evaluate("() => window.asked") == [5]


def test_a_row_without_a_kernel_says_what_is_missing(bare: Bare) -> None:
    view = bare.mount(pack(many(12), 200_000).text)
    view.open("recompiles")
    view.element.locator(".jitscope-picker select").select_option(index=4)
    expect(view.element.locator(".jitscope-left-out")).to_contain_text("Run the cell again to see it.")
    view.element.locator("[role=tab][data-tab=graph]").click()
    expect(view.element.locator("[data-panel=graph]")).to_contain_text("left out of the saved notebook")
    view.element.locator("[role=tab][data-tab=recompiles]").click()
    expect(view.element.locator(".jitscope-card")).to_contain_text("5 recompilations")


def test_what_was_left_out_comes_with_a_button(bare: Bare) -> None:
    document = made.long_program(600)
    small = pack(document, 12_000)
    assert small.remarks
    view = bare.mount(small.text, {"0": pack_compilation(document["compilations"][0])})
    view.headline().click()
    button = view.element.get_by_role("button", name="Get it from the kernel")
    button.click()
    expect(button).to_have_count(0)
    view.open("graph")
    view.level("before")
    assert len(view.nodes()) > 10
    assert view.document()["compilations"][0]["function"] == document["compilations"][0]["function"]


def test_the_graph_is_exported(bare: Bare, tmp_path: Path) -> None:
    view = bare.mount(pack(made.layer_cell()).text)
    view.open("graph")
    menu = view.element.get_by_role("button", name="export")
    taken = {}
    for kind in ("svg", "png", "dot", "json"):
        menu.click()
        with view.page.expect_download() as download:
            view.element.locator(f"[role=menuitem][data-kind={kind}]").click()
        download.value.save_as(tmp_path / f"a.{kind}")
        taken[kind] = (tmp_path / f"a.{kind}").read_bytes()
    ElementTree.fromstring(taken["svg"])
    assert taken["png"].startswith(b"\x89PNG") and len(taken["png"]) > 1000
    assert taken["dot"].startswith(b"digraph jitscope {") and taken["dot"].count(b"->") == len(
        made.layer_graph()["edges"]
    )
    assert json.loads(taken["json"]) == made.layer_cell()
    menu.click()
    expect(view.element.locator("[role=menuitem][data-kind=html]")).to_be_disabled()


def test_50000_operations_reopen(page: Page, root: Path) -> None:
    nodes = [made.node(f"e{at}", label=("sin", "mul")[at % 2], text=f"v{at} = sin v{at - 1}") for at in range(50_000)]
    edges = [made.edge(f"e{at}", f"e{at + 1}") for at in range(49_999)]
    compilation = made.layer_compilation() | {"graph": made.graph(nodes, edges), "equations": 50_000, "fusion": None}
    saved = html(made.cell(compilation))
    assert len(saved.encode()) < 1_000_000
    page.set_content(f"<!doctype html><body style='background: #fff'>{saved}")
    page.add_script_tag(content=(root / "widgets/jitscope_widgets/static/view.iife.js").read_text())
    view = View(page.locator(".jitscope").first)
    view.open("graph")
    assert view.nodes()
    page.screenshot(path=Path(__file__).parent / "screenshots" / "50000-reopened.png")


def test_the_ledger_in_three_orders(bare: Bare) -> None:
    rows = [made.ledger()["rows"][0] | {"id": at, "function": f"f{at % 3}"} for at in range(1, 500)]
    view = bare.mount(pack({**made.ledger(), "rows": rows}).text)
    element = view.element
    rows = element.locator(".jitscope-table-body > .jitscope-table-row")
    first = rows.first.locator("[data-kind=number]").first
    expect(rows).to_have_count(200)
    expect(first).to_have_text("499")
    element.get_by_role("button", name="more").first.click()
    assert rows.count() > 400
    element.get_by_role("radio", name="timeline").check()
    expect(rows).to_have_count(200)
    expect(rows.first).to_contain_text("f1")
    expect(element.locator(".jitscope-stretch")).to_have_count(200)
    element.get_by_role("radio", name="by caller").check()
    expect(rows).to_have_count(4)
    assert_readable(element)


def of_an_earlier_version(document: dict[str, Any]) -> str:
    """As documents were packed before they had views."""
    said = json.dumps(compact({"document": document}), separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(said)).decode()


def test_a_cell_that_an_earlier_version_saved_opens_and_says_what_it_lacks(bare: Bare) -> None:
    cell = made.layer_cell()
    cell["compilations"][0]["instruments"] = {"memory": made.memory()}
    view = bare.mount(of_an_earlier_version(cell))
    view.open("graph")
    assert view.nodes()
    view.open("memory")
    panel = view.element.locator("[data-panel=memory]")
    expect(panel).to_contain_text("was saved by an earlier version of jitscope")


@pytest.mark.page_errors
def test_a_picture_that_an_earlier_version_saved_stays(bare: Bare) -> None:
    page = html(made.memory())
    carried = re.sub(
        r'data-jitscope-document="[^"]*"', f'data-jitscope-document="{of_an_earlier_version(made.memory())}"', page
    )
    bare.mount(pack(made.layer_cell()).text)
    bare.page.evaluate("text => { window.here.innerHTML = text }", carried)
    assert bare.page.evaluate("() => jitscopeView.enliven(window.here)") == 0
    expect(bare.page.locator("#here")).to_contain_text("At most 10.9 kB in use")
    empty = f'<div data-jitscope-document="{of_an_earlier_version(made.memory())}"></div>'
    bare.page.evaluate("text => { window.here.innerHTML = text }", empty)
    bare.page.evaluate("() => jitscopeView.enliven(window.here)")
    expect(bare.page.locator("#here")).to_contain_text("came without its view: an earlier version saved it")


@pytest.mark.parametrize(
    ("width", "least", "most"), [(400, 380, 400), (1280, 1240, 1280), (1920, 1300, 1340), (3840, 2400, 2600)]
)
def test_a_saved_page_is_as_wide_as_can_be_read(page: Page, width: int, least: int, most: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.set_content(saved_page(made.layer_cell(), "layer"))
    box = page.locator("main").bounding_box()
    assert box is not None and least <= box["width"] <= most
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
