"""Machine code and LLVM's IR in the view of a compilation, against the document and the program that was really compiled."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import jitscope.numpy as jnp
import jitscope_widgets
from jitscope_scope import observe
from tests.browser.audit import assert_readable, axe_findings
from tests.browser.bare import Bare, Kernel
from tests.browser.notebook import SCREENSHOTS
from tests.browser.view import View, own_texts
from tests.programs.rows import row_of
from tests.widgets import documents, profile_documents


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


LIST = ".jitscope-steps-list[aria-label='Functions of the program']"


def steps_of(view: View, *states: str) -> list[str]:
    """The functions in the list: all, or those in a state."""
    found = view.element.locator(f"{LIST} .jitscope-step{''.join(states)}")
    return own_texts(found)


def step(view: View, name: str) -> Locator:
    return view.element.locator(f"{LIST} .jitscope-step").nth(steps_of(view).index(name))


def lines_of(document: dict[str, Any], one: dict[str, Any]) -> set[int]:
    return {document["positions"][at]["line"] for at in one["lines"]}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_code_and_ir_can_be_read(bare: Bare, dark: bool) -> None:
    view = bare.show(documents.cell(compiled()), height=1000, dark=dark)
    machine = compiled()["instruments"]["machine"]
    first = machine["functions"][0]["name"]
    view.open("stages")
    view.stage("code")
    assert steps_of(view) == [one["name"] for one in machine["functions"]]
    for option, region in (("Hot loop", "The likely hot loop of"), ("LLVM's IR", "LLVM IR of")):
        view.element.get_by_role("radio", name=option).check()
        expect(view.element.get_by_role("region", name=f"{region} {first}").first).to_be_visible()
        assert_readable(view.element)
        assert axe_findings(view.element) == []
        name = "llvm" if "IR" in option else "code"
        view.page.screenshot(path=SCREENSHOTS / f"stage-{name}-{'dark' if dark else 'light'}.png")
    before = view.element.get_by_role("region", name=f"LLVM IR of {first}, before LLVM's passes")
    expect(before).to_contain_text("define")
    step(view, machine["functions"][1]["name"]).click()  # the next function shows the same of itself
    expect(view.element.get_by_role("radio", name="LLVM's IR")).to_be_checked()


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
        assert set(steps_of(view, "[data-related]")) == wanted
        assert set(steps_of(view, "[aria-current]")) <= wanted
    for one in machine["functions"]:
        step(view, one["name"]).click()
        view.open("graph")
        lit = view.element.locator(".jitscope-source .jitscope-line[aria-selected=true] .jitscope-line-number")
        assert {int(text) for text in lit.all_inner_texts()} == lines_of(machine, one)
        view.open("stages")
        view.stage("code")
        step(view, one["name"]).press("Escape")
        assert steps_of(view, "[data-related]") == []


def test_a_profile_puts_the_slowest_function_first(page: Page) -> None:
    """Where the code was looked at before the profile was taken, too."""
    compilation = copy.deepcopy(compiled())
    machine = compilation["instruments"]["machine"]
    last = machine["functions"][-1]
    profile = profile_documents.profile()
    names = [kernel["name"] for kernel in compilation["fusion"]["kernels"]]
    profile["kernels"] = [
        {**profile["kernels"][0], "name": name, "share": 0.75 if name == last["kernels"][0] else 0.01} for name in names
    ]
    kernel = Kernel(documents.cell(compilation))
    kernel.instruments["profile"] = profile
    view = kernel.shown(page)
    view.open("stages")
    view.stage("code")
    assert steps_of(view)[0] != last["name"]
    view.open("timing")
    view.element.locator("[data-run=profile]").click()
    view.open("stages")
    expect(view.element.locator(f"{LIST} .jitscope-step").first).to_contain_text("75 %")
    assert steps_of(view)[0] == last["name"]


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
    expect(view.element.get_by_role("region", name="loop of")).to_have_count(0)
    view.element.get_by_role("button", name="Show its code").click()
    expect(view.element.get_by_role("region", name=f"loop of {one['name']}")).to_be_visible()
    view.element.get_by_role("radio", name="LLVM's IR").check()
    expect(view.element.get_by_role("region", name=f"LLVM IR of {one['name']}, after")).to_contain_text("define")
    assert kernel.asked[-1] == "instrument"


def test_a_saved_page_has_it_without_a_kernel(page: Page, tmp_path: Path) -> None:
    path = jitscope_widgets.write(documents.cell(compiled()), tmp_path / "saved.html")
    page.goto(path.as_uri())
    view = View(page.locator(".jitscope").first)
    view.open("stages")
    view.stage("code")
    machine = compiled()["instruments"]["machine"]
    assert steps_of(view) == [one["name"] for one in machine["functions"]]
    expect(view.element.locator(".jitscope-code-row").first).to_be_visible()
