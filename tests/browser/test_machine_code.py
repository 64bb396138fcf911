"""Machine code and LLVM's IR in the view of a compilation, against the document and the program that was really compiled."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import jitscope.numpy as jnp
import jitscope_widgets
from jitscope_scope import observe
from tests.browser.audit import assert_readable, axe_findings
from tests.browser.bare import Bare, Kernel
from tests.browser.notebook import SCREENSHOTS
from tests.browser.view import View
from tests.programs.rows import row_of
from tests.widgets import documents


def network(x, w, b):
    y = x @ w + b
    z = 1.05 * jnp.where(y > 0, y, 1.67 * jnp.exp(y) - 1.67)
    return jnp.tanh(z.sum(0)) * 3.0


@cache
def compiled() -> dict[str, Any]:
    random = np.random.default_rng(0)
    arguments = [jnp.asarray(random.normal(size=n).astype(np.float32)) for n in ((64, 32), (32, 128), (128,))]
    row = row_of(network, *arguments)
    return {**observe.compilation_document(row), "instruments": {"machine": observe.look(row, "machine")}}


def functions_of(view: View) -> list[str]:
    """The functions that the list shows at present."""
    found = view.element.get_by_role("listbox", name="Functions of the program").get_by_role("option")
    return [one.get_attribute("data-function") or "" for one in found.all() if one.is_visible()]


def lines_of(document: dict[str, Any], one: dict[str, Any]) -> set[int]:
    return {document["positions"][at]["line"] for at in one["lines"]}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_both_stages_can_be_read(bare: Bare, dark: bool) -> None:
    view = bare.show(documents.cell(compiled()), height=1000, dark=dark)
    machine = compiled()["instruments"]["machine"]
    view.open("stages")
    for stage in ("code", "llvm"):
        view.stage(stage)
        assert sorted(functions_of(view)) == sorted(one["name"] for one in machine["functions"])
        assert_readable(view.element)
        assert axe_findings(view.element) == []
        view.page.screenshot(path=SCREENSHOTS / f"stage-{stage}-{'dark' if dark else 'light'}.png")
    first = machine["functions"][0]["name"]
    expect(view.element.get_by_role("region", name=f"LLVM IR of {first}, before LLVM's passes")).to_contain_text(
        "define"
    )
    view.stage("code")
    expect(view.element.get_by_role("region", name="LLVM IR")).to_have_count(0)
    view.stage("passes")
    expect(view.element.locator(".jitscope-machine")).to_be_hidden()


def test_a_line_leads_to_its_code_and_code_to_its_lines(bare: Bare) -> None:
    view = bare.show(documents.cell(compiled()), height=1000)
    machine = compiled()["instruments"]["machine"]
    start = compiled()["source"]["functions"][0]["first_line"]
    view.open("stages")
    view.stage("code")
    for line in (start + 2, start + 3):
        wanted = {one["name"] for one in machine["functions"] if line in lines_of(machine, one)}
        assert wanted
        view.open("graph")
        view.element.locator(".jitscope-source .jitscope-line[data-marked]").filter(
            has_text=f"line {line}:"
        ).first.click()
        view.open("stages")
        view.stage("code")
        assert set(functions_of(view)) == wanted
        now = view.element.locator(".jitscope-code-item[aria-selected=true]").get_attribute("data-function")
        assert now in wanted
    view.element.locator(".jitscope-code-selected").get_by_role("button", name="Show all").click()
    assert len(functions_of(view)) == len(machine["functions"])
    for one in machine["functions"]:
        view.element.locator(f'.jitscope-code-item[data-function="{one["name"]}"]').click()
        view.open("graph")
        lit = view.element.locator(".jitscope-source .jitscope-line[aria-selected=true] .jitscope-line-number")
        assert {int(text) for text in lit.all_inner_texts()} == lines_of(machine, one)
        view.open("stages")
        view.stage("code")
        view.element.locator(".jitscope-code-list").press("Escape")
        view.element.locator(f'.jitscope-code-item[data-function="{one["name"]}"]').press("Escape")


def test_a_profile_puts_the_slowest_function_first(bare: Bare) -> None:
    compilation = copy.deepcopy(compiled())
    machine = compilation["instruments"]["machine"]
    last = machine["functions"][-1]
    for kernel in compilation["fusion"]["kernels"]:
        kernel["share"] = 0.75 if kernel["name"] == last["kernels"][0] else 0.01
    view = bare.show(documents.cell(compilation), height=1000)
    view.open("stages")
    view.stage("code")
    assert functions_of(view)[0] == last["name"]
    expect(view.element.locator(".jitscope-code-item").first).to_contain_text("75 %")
    expect(view.element.locator(".jitscope-code-detail h4")).to_have_text(last["name"])


def test_code_that_was_left_out_is_asked_for(page: Page) -> None:
    short = copy.deepcopy(compiled())
    machine = compiled()["instruments"]["machine"]
    one = machine["functions"][0]
    short["instruments"]["machine"]["functions"][0]["blocks"] = None
    short["instruments"]["machine"]["modules"][one["module"]] |= {"before": None, "after": None}
    kernel = Kernel(documents.cell(short))
    kernel.instruments["machine"] = machine
    view = kernel.shown(page)
    view.open("stages")
    view.stage("code")
    expect(view.element.locator(".jitscope-code-line")).to_have_count(0)
    view.element.get_by_role("button", name="Show its code").click()
    expect(view.element.locator(".jitscope-code-line").first).to_be_visible()
    view.stage("llvm")
    expect(view.element.get_by_role("region", name=f"LLVM IR of {one['name']}, after")).to_contain_text("define")
    assert kernel.asked[-1] == "instrument"


def test_a_saved_page_has_it_without_a_kernel(page: Page, tmp_path: Path) -> None:
    path = jitscope_widgets.write(documents.cell(compiled()), tmp_path / "saved.html")
    page.goto(path.as_uri())
    view = View(page.locator(".jitscope").first)
    view.open("stages")
    view.stage("code")
    machine = compiled()["instruments"]["machine"]
    assert sorted(functions_of(view)) == sorted(one["name"] for one in machine["functions"])
    expect(view.element.locator(".jitscope-code-line").first).to_be_visible()
