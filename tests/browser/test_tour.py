"""The tour in JupyterLab, and the page that `make demo` makes of it, opened from disk with the network off."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.audit import assert_readable
from tests.browser.conftest import Lab
from tests.browser.view import TABS, View, views


@pytest.mark.timeout(400)
def test_the_tour_runs_in_jupyterlab(lab: Lab, root: Path) -> None:
    notebook = lab.open(root / "examples/tour.ipynb", "tour.ipynb")
    notebook.run_all(seconds=300)
    printed = "\n".join(notebook.text(i) for i in range(len(notebook.cells())))
    (accuracy,) = re.findall(r"test accuracy:?\s+([\d.]+)\s?%", printed)[-1:]
    assert float(accuracy) >= 95

    shown = views(notebook.page.locator(".jp-Notebook"))
    assert shown
    for dark in (False, True):
        notebook.dark(dark)
        for i, view in enumerate(shown):
            view.element.scroll_into_view_if_needed()
            assert_readable(view.element)
            notebook.screenshot(f"tour-{i}-{'dark' if dark else 'light'}")


@pytest.fixture
def demo(page: Page, demo_html: Path) -> list[View]:
    page.context.set_offline(True)
    page.goto(demo_html.as_uri())
    return views(page.locator("body"))


TITLES = (
    "all => [...new Set(all.map(one => getComputedStyle(one)).map(style => `${style.fontWeight} ${style.fontSize}`))]"
)


def test_demo_page_expands_searches_and_selects(demo: list[View]) -> None:
    page = demo[0].page
    assert page.locator(".jitscope h4").evaluate_all(TITLES) == [
        "600 13px"
    ]  # whatever the notebook's own titles look like
    for number, view in enumerate(demo):
        for tab in TABS:
            if view.element.locator(f"[role=tab][data-tab={tab}]").count():
                view.open(tab)
                assert_readable(view.element)
        if not view.element.locator("[role=tab][data-tab=graph]").count():
            continue
        view.open("graph")
        view.collapse_all()
        closed = len(view.nodes())
        view.expand_all()
        opened = view.nodes()
        assert len(opened) >= closed
        wanted = next(node for node in opened if node["kind"] in ("equation", "instruction"))
        assert view.search(wanted["label"]) >= 1
        view.search("")
        view.fit()
        view.click_node(wanted["id"])
        expect(view.element.locator(".jitscope-details").first).to_contain_text(wanted["label"])
        page.screenshot(path=Path(__file__).parent / "screenshots" / f"demo-{number}.png")


def test_demo_page_needs_nothing_but_itself(demo_html: Path) -> None:
    html = demo_html.read_text()
    assert not re.findall(r"""<(?:script|link|img)[^>]+(?:src|href)=["']?(?:https?:)?//[^"'>]+""", html)
    assert len(re.findall(r"jitscopeView", html)) < 20, "the view code must be in the page once"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_demo_page_without_scripts_still_shows_the_views(browser, demo_html: Path, scheme: str) -> None:
    """Page and views are light or dark together, as the reader prefers."""
    context = browser.new_context(java_script_enabled=False, offline=True, color_scheme=scheme)
    page = context.new_page()
    page.goto(demo_html.as_uri())
    assert page.locator("[data-jitscope-document] svg").count() > 0
    assert page.locator("[data-jitscope-document] details").count() > 0
    papers = [page.locator(one).first.evaluate(RGB, "backgroundColor") for one in ("body", ".jp-InputArea-editor")]
    inks = [page.locator(one).first.evaluate(RGB, "color") for one in ("body", "[data-jitscope-document]")]
    dark, bright = (papers, inks) if scheme == "dark" else (inks, papers)
    assert max(map(max, dark)) < 80 and min(map(min, bright)) > 200, (papers, inks)
    context.close()


def test_demo_page_follows_the_reader_while_it_is_open(demo: list[View]) -> None:
    demo[0].page.emulate_media(color_scheme="dark")
    expect(demo[0].element).to_have_attribute("data-theme", "dark")
    demo[0].open("graph")
    assert_readable(demo[0].element)
    assert max(demo[0].page.locator("body").evaluate(RGB, "backgroundColor")) < 80


RGB = "(element, what) => getComputedStyle(element)[what].match(/[0-9]+/g).slice(0, 3).map(Number)"
