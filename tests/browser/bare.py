"""A page that has no notebook: views of documents and of saved outputs, and what speaks anywidget's protocol and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from jitscope_scope.observe import Unavailable, offers
from jitscope_widgets.answers import Answers
from jitscope_widgets.envelope import pack
from jitscope_widgets.widget import View as Widget
from tests.browser.view import View


# What only Jupyter's own front ends have; looking at it is noted.
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>host</title>
<style>html { color-scheme: light dark; background: Canvas; color: CanvasText; font-family: sans-serif }</style>
<main id="here"></main><script>
globalThis.touched = [];
for (const name of ["jupyterapp", "jupyterlab", "_JUPYTERLAB", "Jupyter", "requirejs", "require", "google", "acquireVsCodeApi"])
  Object.defineProperty(globalThis, name, { configurable: true, get() { touched.push(name); } });
</script>"""

# What is drawn once its width is known is drawn after a page's first frame, before its second one.
FRAMES = "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));"

MOUNT = f"""async ([text, packed, parts]) => {{
  const host = parts && {{ fetch: async (at) => {{ (window.asked ??= []).push(at); return parts[at]; }} }};
  jitscopeView.mount(window.here, packed ? text : JSON.parse(text), host || {{}});
  {FRAMES}
}}"""

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


class Bare:
    def __init__(self, page: Page, root: Path) -> None:
        self.page = page
        self._code = (root / "widgets/jitscope_widgets/static/view.iife.js").read_text()

    def show(
        self, document: dict[str, Any], *, dark: bool = False, width: int = 1280, height: int = 900, **media: Any
    ) -> View:
        self.page.emulate_media(**{"color_scheme": "dark" if dark else "light", **media})
        self.page.set_viewport_size({"width": width, "height": height})
        return self._mounted(pack(document).text, True, None)

    def mount(self, packed: str, parts: dict[str, str] | None = None) -> View:
        """A saved output, which has no kernel; or one that knows these compilations, by their places."""
        return self._mounted(packed, True, parts)

    def _mounted(self, *what: object) -> View:
        self.page.set_content(PAGE)
        self.page.add_script_tag(content=self._code)
        self.page.evaluate(MOUNT, list(what))
        return View(self.page.locator("#here > .jitscope"))


class Kernel:
    """The widget of a kernel, answering what a page asks."""

    def __init__(self, document: dict[str, Any], look: Callable[..., Any] | None = None) -> None:
        self.asked: list[str] = []
        self.instruments: dict[str, Any] = {}
        self._sent: list[dict[str, Any]] = []
        self._widget = Widget(
            document, Answers(lambda _: document["compilations"][0], instrument=look or self._look, offers=offers)
        )
        self._widget.send = lambda content, buffers=None: self._sent.append(content)

    def _look(self, program: int, name: str, options: object) -> dict[str, Any]:
        if name not in self.instruments:
            raise Unavailable("the program is no longer kept")
        return self.instruments[name]

    def _answer(self, content: dict[str, Any]) -> list[dict[str, Any]]:
        self._sent = []
        self.asked.append(content["type"])
        self._widget._receive(None, content)
        return self._sent

    def shown(self, page: Page) -> View:
        page.set_content(PAGE)
        page.expose_function("toKernel", self._answer)
        page.evaluate(RENDER, [self._widget._esm, {"changes": 0}])
        expect(page.locator("#here .jitscope-headline").first).to_be_visible()
        return View(page.locator("#here .jitscope"))
