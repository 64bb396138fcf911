"""What the page does for one click, in processor time of its main thread: `python -m tests.browser.clicks DOCUMENT.json`.

DOCUMENT is a compilation as `python -m tests.programs.documents FOLDER NAME` writes it. Each click is followed for 1.5 s."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import CDPSession, sync_playwright

from tests.browser import chromium
from tests.browser.bare import Bare
from tests.browser.conftest import FLAGS, WINDOW
from tests.browser.view import View


LONGEST = 200_000  # ms that anything may take on a busy machine
FOLLOWED = 1500  # ms
TABS = ("fusion", "stages", "timing", "memory", "values", "recompiles", "graph")


def milliseconds(session: CDPSession) -> float:
    found = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(one["value"] for one in found if one["name"] == "TaskDuration")


def clicks(view: View) -> dict[str, Callable[[], object]]:
    """What a person does, by name, in this order."""
    element = view.element
    canvas = element.locator(".jitscope-graph canvas").first
    search = element.locator(".jitscope-search").first
    seen = [node for node in view.nodes() if node["onScreen"]]
    leaf = next(node for node in seen if node["kind"] == "equation")
    closed = next((n for n in seen if n["open"] is False and n["kind"] in ("group", "scope") and n["y"] > 60), None)

    def at(node: dict[str, float]) -> None:
        canvas.click(position={"x": node["x"] + node["w"] / 2, "y": node["y"] + node["h"] / 2})

    found: dict[str, Callable[[], object]] = {"pick an operation": lambda: at(leaf)}
    if closed is not None:
        found["open a box"] = lambda: at(closed)
    found |= {
        "pick a line": lambda: element.locator(".jitscope-line[data-marked]").first.click(),
        "search a letter": lambda: search.fill("d"),
        "search a word": lambda: search.fill("dot"),
        "next match": lambda: search.press("Enter"),
    }
    for level in ("before", "after", "text", "jaxpr"):
        choice = element.locator(f".jitscope-graph-bar input[value={level}]")
        found[f"level {level}"] = lambda choice=choice: choice.check(force=True)
    for tab in TABS:
        found[f"tab {tab}"] = lambda tab=tab: element.locator(f"[role=tab][data-tab={tab}]").first.click()
        if tab == "fusion":
            found["open a kernel"] = lambda: (
                element.locator("[aria-label^='Kernels, by'] .jitscope-table-row").nth(2).click()
            )
    return found


def main(file: str) -> None:
    document = json.loads(Path(file).read_text())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=FLAGS)
        page = browser.new_context(viewport=WINDOW, reduced_motion="reduce").new_page()
        page.set_default_timeout(LONGEST)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        view = Bare(page, Path(__file__).parents[2]).show(document)
        page.wait_for_function("element => element.__jitscope.graph", arg=view.element.element_handle())
        view.settle()
        for name, act in clicks(view).items():
            page.wait_for_timeout(300)
            before = milliseconds(session)
            act()
            page.wait_for_timeout(FOLLOWED)
            print(f"{name:20} {milliseconds(session) - before:5.0f} ms", flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
