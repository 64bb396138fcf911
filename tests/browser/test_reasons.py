"""Why two operations are not one kernel: at the value between them in the graph, and in the tab Fusion, asked for or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.core.errors import Unavailable
from jitscope_widgets.views.reasons import MEANING
from tests.browser.audit import assert_readable, axe_findings
from tests.browser.bare import Bare, Kernel
from tests.extent import looks


def layer(x: Any, w: Any) -> Any:
    y = jnp.tanh(x) * 2
    return y @ w, jnp.exp(y - y.mean(1, keepdims=True))


X = np.linspace(-2, 2, 64 * 64, dtype=np.float32).reshape(64, 64)


@pytest.fixture(scope="module")
def seen() -> Any:
    return jx.inspect(layer)(X, X)


def told_at(bare: Bare, document: dict[str, Any], giver: str) -> set[str]:
    """What is said of the values that leave an equation, picked by keys."""
    view = bare.show(document)
    view.open_graph()
    view.element.evaluate(
        "(element, id) => { const { graph } = element.__jitscope; graph.takeFocus(); graph.focus(id); }", giver
    )
    found: set[str] = set()
    for _ in range(4):
        view.page.keyboard.press("e")
        found |= set(view.element.locator(".jitscope-apart").all_inner_texts())
    return found


def test_the_value_between_them_says_xlas_reason(bare: Bare, seen: Any) -> None:
    document = {**seen.document, "instruments": {"reasons": seen.reasons.document}}
    (giver,) = {
        path
        for pair in seen.reasons.document["pairs"]
        if pair["giver"]["opcode"] == "tanh"
        for path in pair["giver"]["paths"]
    }
    told = told_at(bare, document, giver)
    assert told and all(one.startswith("not fused, kernel ") for one in told)
    assert all(MEANING["expensive producer would be duplicated"] in one for one in told)


def test_without_having_asked_what_can_be_seen_is_said(bare: Bare, seen: Any) -> None:
    document = {**seen.document, "instruments": {}}
    giver = next(node["id"] for node in document["graph"]["nodes"] if node["label"] == "tanh")
    told = told_at(bare, document, giver)
    assert told and all("read by 2 kernels" in one and "XLA's own reason" in one for one in told)


def test_a_button_asks_xla_and_can_be_pressed_again_after_a_failure(bare: Bare, seen: Any) -> None:
    compilation = {**seen.document, "instruments": {}}
    cell = {"kind": "cell", "version": 1, "cell": "In [1]", "cell_id": None, "compilations": [compilation], "reused": [],
            "recompilations": compilation["recompilations"], "left_alone": [], "error": None, "note": ""}  # fmt: skip
    failures = [Unavailable("XLA did not compile it")]

    def look(_: int, name: str, options: object) -> Any:
        if failures:
            raise failures.pop()
        return seen.look(name).document

    view = Kernel(cell, look).shown(bare.page)
    view.open("fusion")
    pane = view.element.locator("[data-instrument=reasons]")
    button = view.element.get_by_role("button", name="Ask XLA why")
    button.click()
    expect(pane.get_by_role("status")).to_have_text("XLA did not compile it")
    button.click()
    expect(pane).to_contain_text("pairs of kernels hand a value on")


@looks(1280, 480)
def test_it_can_be_read(bare: Bare, seen: Any, dark: bool, width: int) -> None:
    view = bare.show({**seen.document, "instruments": {"reasons": seen.reasons.document}}, dark=dark, width=width)
    view.open("fusion")
    assert_readable(view.element, at_least=20)
    assert axe_findings(view.element) == []
