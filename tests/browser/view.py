"""A view of ours, in a notebook or on a page: what it shows and what a person can do with it."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.notebook import wait


MOUNTED = "() => [...document.querySelectorAll('.jitscope')].every(element => element.__jitscope)"
TABS = ("graph", "fusion", "stages", "timing", "memory", "values", "recompiles")


def own_texts(found: Locator) -> list[str]:
    """The text of each of some elements, without that of the elements inside it."""
    return found.evaluate_all(
        "all => all.map(one => [...one.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join('').trim())"
    )


class View:
    def __init__(self, element: Locator) -> None:
        """`element` is the `.jitscope` root that a view is mounted in."""
        self.element = element
        expect(element).to_be_visible()

    @property
    def page(self) -> Page:
        return self.element.page

    def document(self) -> dict[str, Any]:
        return self._do("view.document")

    # --- panes --------------------------------------------------------------------------------------------------------

    def headline(self) -> Locator:
        return self.element.locator(".jitscope-headline").first

    def open(self, tab: str) -> None:
        """Open a pane with the mouse."""
        if self.headline().get_attribute("aria-expanded") == "false":
            self.headline().click()
        self.element.locator(f"[role=tab][data-tab={tab}]").first.click()
        expect(self.element.locator(f"[role=tab][data-tab={tab}]").first).to_have_attribute("aria-selected", "true")
        if tab == "graph":
            self._drawn()

    def close(self) -> None:
        """As it was when it came: closed, nothing selected."""
        self.select(None)
        if self.headline().get_attribute("aria-expanded") == "true":
            self.headline().click()

    def stage(self, name: str) -> None:
        """One of the stages of the open tab Stages: "trace", "passes", …"""
        self.element.locator(f".jitscope-stages > .jitscope-choice input[value={name}]").check()

    # --- the graph ----------------------------------------------------------------------------------------------------

    def nodes(self, *kinds: str) -> list[dict[str, Any]]:
        return [node for node in self._do("view.graph.nodes()") if not kinds or node["kind"] in kinds]

    def all_nodes(self, *kinds: str) -> list[dict[str, Any]]:
        """Every node with all scopes open, block after block of what repeats."""
        self.expand_all()
        found = {node["id"]: node for node in self.nodes()}
        waiting = [(node["id"], block) for node in found.values() for block in range(2, node["blocks"] + 1)]
        while waiting:
            repeat, block = waiting.pop()
            self._do("view.graph.block(...argument)", [repeat, block])
            self.expand_all()
            new = {node["id"]: node for node in self.nodes() if node["id"] not in found}
            found |= new
            waiting += [(node["id"], k) for node in new.values() for k in range(2, node["blocks"] + 1)]
        return [node for node in found.values() if not kinds or node["kind"] in kinds]

    def open_graph(self) -> None:
        """The graph pane; a big graph is made piece by piece."""
        if self.headline().get_attribute("aria-expanded") == "false":
            self.headline().click()
        self._drawn()

    def traced(self) -> list[str] | None:
        return self._do("view.graph.traced()")

    def labels(self) -> list[dict[str, Any]]:
        return self._do("view.graph.labels()")

    def edges(self) -> list[dict[str, Any]]:
        return self._do("view.graph.edges()")

    def level(self, level: str) -> None:
        """The program to draw: "jaxpr", "before" or "after" (XLA's passes)."""
        self._do("view.level(argument)", level)
        self._drawn()

    def expand_all(self) -> None:
        self._do("view.graph.expandAll()")
        self.settle()

    def collapse_all(self) -> None:
        self._do("view.graph.collapseAll()")
        self.settle()

    def fit(self) -> None:
        self._do("view.graph.fit()")
        self.settle()

    def search(self, text: str) -> int:
        hits = self._do("view.graph.search(argument)", text)
        self.settle()
        return hits if isinstance(hits, int) else len(hits)

    def hover(self, node: str) -> str:
        return self._do("view.graph.hover(argument)", node)

    def selection(self) -> dict[str, Any]:
        return self._do("view.selection()")

    def select(self, what: dict[str, Any] | None) -> None:
        self._do("view.select(argument)", what)

    def settle(self) -> None:
        self._do("view.graph.settled()")

    def _drawn(self) -> None:
        wait(self.page, "element => element.__jitscope.graph", "the graph is there", 30, self.element.element_handle())
        self.settle()

    def click_node(self, node: str) -> None:
        """With the mouse, in the middle of the node's box."""
        ((x, y),) = [(n["x"] + n["w"] / 2, n["y"] + n["h"] / 2) for n in self.nodes() if n["id"] == node]
        self.element.locator(".jitscope-graph canvas").first.click(position={"x": x, "y": y})
        self.settle()

    def covered_nodes(self) -> list[str]:
        """Pairs of closed nodes whose boxes lie over each other."""
        boxes = [node for node in self.nodes() if not node["open"]]
        return [
            f"{one['id']} and {other['id']}"
            for i, one in enumerate(boxes)
            for other in boxes[i + 1 :]
            if _overlap(one, other, "x", "w") and _overlap(one, other, "y", "h")
        ]

    def spilled_labels(self) -> list[str]:
        """Texts of nodes that stick out of their node's box."""
        boxes = {node["id"]: node for node in self.nodes()}
        return [
            f"{label['text']!r} of {label['id']}"
            for label in self.labels()
            if label["what"] in ("node", "caption") and label["id"] in boxes and not _inside(label, boxes[label["id"]])
        ]

    def _do(self, script: str, argument: object = None) -> Any:
        return self.element.evaluate(
            f"async (element, argument) => {{ const view = element.__jitscope; return {script}; }}", argument
        )


def views(scope: Locator) -> list[View]:
    """The views inside an element, once there is one and all are mounted."""
    expect(scope.locator(".jitscope").first).to_be_visible()
    wait(scope.page, MOUNTED, "every view is mounted")
    return [View(element) for element in scope.locator(".jitscope").all()]


def _inside(inner: dict[str, Any], outer: dict[str, Any]) -> bool:
    sides = (("x", "w"), ("y", "h"))
    return all(
        outer[at] - 0.5 <= inner[at] and inner[at] + inner[size] <= outer[at] + outer[size] + 0.5 for at, size in sides
    )


def _overlap(one: dict[str, Any], other: dict[str, Any], at: str, size: str) -> bool:
    return min(one[at] + one[size], other[at] + other[size]) - max(one[at], other[at]) > 0.5
