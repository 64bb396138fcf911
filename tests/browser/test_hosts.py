"""Views where there is no JupyterLab: a page that speaks anywidget's protocol and nothing else (as VS Code and Colab do), and the
system's high contrast, little motion, large and small windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.audit import assert_readable, axe_findings
from tests.browser.bare import Bare, Kernel
from tests.browser.notebook import SCREENSHOTS
from tests.browser.view import TABS
from tests.extent import full
from tests.widgets import documents
from tests.widgets.profile_documents import profile


def layer() -> dict[str, Any]:
    return documents.cell(documents.layer_compilation())


def test_a_page_with_anywidget_alone_shows_the_view(page: Page) -> None:
    kernel = Kernel(layer() | {"diagnostics": documents.diagnostics()})
    view = kernel.shown(page)
    told = view.element.locator(".jitscope-folded")
    told.locator("summary").first.click()
    expect(told.locator(".jitscope-ignore")).to_have_count(2)
    assert_readable(view.element)
    told.locator("summary").first.click()
    for tab in TABS:
        view.open(tab)
        assert_readable(view.element)
    view.open("timing")
    view.element.get_by_role("button", name="Measure").click()
    expect(view.element.locator(".jitscope-headline").first).to_be_visible()
    assert kernel.asked == ["view-code?", "document?", "offers?", "measure"]
    page.evaluate("() => cleanUp()")
    assert page.evaluate("() => touched") == []


def test_an_instrument_is_asked_for_by_a_button(page: Page) -> None:
    kernel = Kernel(layer())
    view = kernel.shown(page)
    view.open("stages")
    view.stage("passes")
    assert_readable(view.element)
    button = view.element.get_by_role("button", name="Show passes")
    button.click()
    expect(view.element.get_by_text("the program is no longer kept")).to_be_visible()
    kernel.instruments["passes"] = documents.passes()
    button.click()
    expect(view.element.get_by_role("slider", name="State of the program")).to_be_visible()
    assert_readable(view.element)
    view.open("timing")
    view.open("stages")
    expect(view.element.get_by_role("slider", name="State of the program")).to_be_visible()
    assert kernel.asked[-2:] == ["instrument", "instrument"]


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=full), "dark"])
def test_high_contrast(page: Page, root: Path, scheme: str) -> None:
    view = Bare(page, root).show(layer(), dark=scheme == "dark", forced_colors="active")
    for tab in TABS:
        view.open(tab)
        assert_readable(view.element, at_least=5)
        assert axe_findings(view.element) == []
        view.page.screenshot(path=SCREENSHOTS / f"contrast-{tab}-{scheme}.png")
        if tab == "graph":
            paper = view.element.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
            drawn = view.element.evaluate(CORNER)
            assert drawn == paper


CORNER = """element => {
  const [r, g, b] = element.querySelector(".jitscope-graph canvas").getContext("2d").getImageData(1, 1, 1, 1).data;
  return `rgb(${r}, ${g}, ${b})`;
}"""


@pytest.mark.parametrize(
    "width, height",
    [(320, 640), pytest.param(640, 450, marks=full), pytest.param(1920, 1080, marks=full), (3840, 2160)],
)
def test_every_width(bare: Bare, width: int, height: int) -> None:
    view = bare.show(layer(), width=width, height=height)
    for tab in TABS:
        view.open(tab)
        wide = view.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{tab} is {wide} px wider than the window"
        assert_readable(view.element)
        view.page.screenshot(path=SCREENSHOTS / f"width-{width}-{tab}.png")


FRAMES = """async (element, id) => {
  const graph = element.__jitscope.graph, real = requestAnimationFrame;
  let frames = 0;
  globalThis.requestAnimationFrame = done => real(time => (frames++, done(time)));
  graph.toggle(id);
  await graph.settled();
  globalThis.requestAnimationFrame = real;
  return frames;
}"""


def test_nothing_moves_where_people_want_less_motion(bare: Bare) -> None:
    view = bare.show(layer(), reduced_motion="reduce")
    view.open("graph")
    scope = next(node["id"] for node in view.nodes() if node["open"] is not None)
    assert view.element.evaluate(FRAMES, scope) == 1


def test_a_profile_tells_at_once_what_a_run_takes(page: Page) -> None:
    compilation = documents.layer_compilation()
    compilation["timing"] = {**compilation["timing"], "steady": None, "can_measure": False}
    kernel = Kernel(documents.cell(compilation))
    kernel.instruments["profile"] = profile()
    view = kernel.shown(page)
    view.open("timing")
    panel = view.element.locator("[data-panel=timing]")
    expect(panel).to_contain_text("Not timed by repeated calls.")
    panel.locator("[data-run=profile]").click()
    expect(panel).to_contain_text("timed for the profile below")
    expect(panel).not_to_contain_text("Not timed by repeated calls.")


HELD = """() => {
  const answer = toKernel, held = new Promise(done => { globalThis.release = done; });
  globalThis.toKernel = async content => {
    if (content.type === "instrument") await held;
    return answer(content);
  };
}"""


@pytest.mark.parametrize("elsewhere", [False, True], ids=["there", "in another tab"])
def test_a_profile_comes_though_the_document_changed_meanwhile(page: Page, elsewhere: bool) -> None:
    """It is asked for, and takes time; what a run takes comes before it, with which the view is made anew."""
    kernel = Kernel(layer())
    kernel.instruments["profile"] = profile()
    view = kernel.shown(page)
    view.open("timing")
    page.evaluate(HELD)
    panel = view.element.locator("[data-panel=timing]")
    panel.locator("[data-run=profile]").click()
    panel.get_by_role("button", name="Measure").click()
    expect(panel.get_by_role("button", name="Measure")).to_be_enabled()
    expect(panel).to_contain_text("looking …")
    expect(panel.locator("[data-run=profile]")).to_be_disabled()
    if elsewhere:
        view.open("graph")
    page.evaluate("() => release()")
    expect(view.element.locator(".jitscope-headline").first).to_contain_text("of the time")
    view.open("timing")
    expect(panel).to_contain_text("The slowest line is")


def test_places_and_names_of_errors_stay_within_a_narrow_page(page: Page) -> None:
    error = {
        "type": "TracerBoolConversionErrorOfAnArray",
        "message": "no value",
        "position": documents.position(2, 8, 13),
    }
    cell = layer() | {"error": error}
    view = Kernel(cell).shown(page)
    page.set_viewport_size({"width": 200, "height": 700})
    beyond = view.element.evaluate(BEYOND)
    assert beyond == []


BEYOND = """element => [...element.querySelectorAll(".jitscope-error strong, .jitscope-link, .jitscope-open-hint")].filter(
  one => one.getBoundingClientRect().right > element.getBoundingClientRect().right + 1).map(one => one.textContent)"""
