"""Views where there is no JupyterLab: a page that speaks anywidget's protocol and nothing else (as VS Code and Colab do), and the
system's high contrast, little motion, large and small windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from jitscope.observe import Unavailable
from jitscope_widgets.answers import Answers
from jitscope_widgets.widget import View as Widget
from tests.browser.audit import assert_readable, axe_findings
from tests.browser.notebook import SCREENSHOTS
from tests.browser.view import TABS, View
from tests.widgets import documents


# What only Jupyter's own front ends have; looking at it is noted.
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>host</title>
<style>html { color-scheme: light dark; background: Canvas; color: CanvasText }</style><main id="here"></main><script>
globalThis.touched = [];
for (const name of ["jupyterapp", "jupyterlab", "_JUPYTERLAB", "Jupyter", "requirejs", "require", "google", "acquireVsCodeApi"])
  Object.defineProperty(globalThis, name, { get() { touched.push(name); } });
</script>"""

RENDER = """async ([code, state]) => {
  const handlers = [];
  const model = {
    get: name => state[name],
    on: (name, handler) => handlers.push([name, handler]),
    off: (name, handler) => handlers.splice(handlers.findIndex(h => h[1] === handler), 1),
    send: async content => {
      for (const message of await toKernel(content))
        for (const [name, handler] of [...handlers]) if (name === "msg:custom") handler(message);
    },
  };
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  globalThis.cleanUp = (await import(url)).default.render({ model, el: document.getElementById("here") });
}"""


class Kernel:
    """The widget of a kernel, answering what a page asks."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.sent: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.instruments: dict[str, Any] = {}
        self.widget = Widget(document, Answers(lambda _: document["compilations"][0], instrument=self.look))
        self.widget.send = lambda content, buffers=None: self.sent.append(content)

    def look(self, program: int, name: str, options: object) -> dict[str, Any]:
        if name not in self.instruments:
            raise Unavailable("the program is no longer kept")
        return self.instruments[name]

    def answer(self, content: dict[str, Any]) -> list[dict[str, Any]]:
        self.sent = []
        self.asked.append(content["type"])
        self.widget._receive(None, content)
        return self.sent


def opened(page: Page) -> tuple[Kernel, View]:
    """A kernel's widget, shown on a page."""
    kernel = Kernel(documents.cell(documents.layer_compilation()))
    page.set_content(PAGE)
    page.expose_function("toKernel", kernel.answer)
    page.evaluate(RENDER, [kernel.widget._esm, {"changes": 0}])
    expect(page.locator("#here .jitscope-headline").first).to_be_visible()
    return kernel, View(page.locator("#here .jitscope"))


def test_a_page_with_anywidget_alone_shows_the_view(page: Page) -> None:
    kernel, view = opened(page)
    for tab in TABS:
        view.open(tab)
        assert_readable(view.element)
    view.open("timing")
    view.element.get_by_role("button", name="Measure").click()
    expect(view.element.locator(".jitscope-headline").first).to_be_visible()
    assert kernel.asked == ["view-code?", "document?", "measure"]
    page.evaluate("() => cleanUp()")
    assert page.evaluate("() => touched") == []


def test_an_instrument_is_asked_for_by_a_button(page: Page) -> None:
    kernel, view = opened(page)
    view.open("stages")
    view.stage("passes")
    assert_readable(view.element)
    button = view.element.get_by_role("button", name="Show passes")
    button.click()
    expect(view.element.get_by_text("the program is no longer kept")).to_be_visible()
    kernel.instruments["passes"] = documents.passes()
    button.click()
    expect(view.element.get_by_role("slider", name="Pass")).to_be_visible()
    assert_readable(view.element)
    view.open("timing")
    view.open("stages")
    expect(view.element.get_by_role("slider", name="Pass")).to_be_visible()
    assert kernel.asked[-2:] == ["instrument", "instrument"]


@pytest.fixture
def show(page: Page, root: Path):
    code = (root / "widgets/jitscope_widgets/static/view.iife.js").read_text()

    def show(width: int = 1280, height: int = 900, **media: Any) -> View:
        page.emulate_media(**media)
        page.set_viewport_size({"width": width, "height": height})
        page.set_content(PAGE)
        page.add_script_tag(content=code)
        document = documents.cell(documents.layer_compilation())
        page.evaluate("document => { jitscopeView.mount(window.here, document); }", document)
        return View(page.locator("#here > .jitscope"))

    return show


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_high_contrast(show, scheme: str) -> None:
    view = show(color_scheme=scheme, forced_colors="active")
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


@pytest.mark.parametrize("width, height", [(320, 640), (640, 450), (1920, 1080), (3840, 2160)])
def test_every_width(show, width: int, height: int) -> None:
    view = show(width, height)
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


def test_nothing_moves_where_people_want_less_motion(show) -> None:
    view = show(reduced_motion="reduce")
    view.open("graph")
    scope = next(node["id"] for node in view.nodes() if node["open"] is not None)
    assert view.element.evaluate(FRAMES, scope) == 1
