"""The profile of a cell in a real JupyterLab: the tab, the source pane, and the gutter of the user's own cell."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.audit import assert_readable
from tests.browser.conftest import Lab
from tests.browser.notebook import NOTEBOOK, Notebook, wait
from tests.browser.view import views


LOAD = "%load_ext jitscope\nimport jitscope as jx\nimport jitscope.numpy as jnp"
CODE = "def layer(x, w):\n    y = jnp.sin(x)\n    return (y @ w).sum()\nx = jnp.ones((400, 400))\nlayer(x, x);"
SLOWEST = re.compile(r"y @ w|jnp\.sin\(x\)")  # on a busy machine it may be either
BANDS = f"""() => [...{NOTEBOOK}.content.widgets[1].node.querySelectorAll('.jitscope-heat')].map(band =>
  ({{text: band.textContent, said: band.title}}))"""


@pytest.fixture(scope="module")
def opened(lab_of_file: Lab) -> Notebook:
    return lab_of_file.open([LOAD, CODE])


@pytest.fixture
def book(opened: Notebook, request: pytest.FixtureRequest) -> Notebook:
    opened.dark(False)
    opened.write(1, f"{getattr(request, 'param', '%%jit --profile')}\n{CODE}")
    opened.restart()
    opened.run_all()
    return opened


def test_the_gutter_of_the_cell_shows_what_was_measured(book):
    page = book.page
    wait(page, f"() => ({BANDS})().length > 0", "bands in the gutter", 20)
    bands = page.evaluate(BANDS)
    assert all(re.fullmatch(r"([~≤<] )*[\d.]+(–[\d.]+)? %", band["text"]) for band in bands), bands
    slowest = max(bands, key=lambda band: float(re.findall(r"[\d.]+", band["text"])[-1]))
    assert "of the time of the kernels of layer" in slowest["said"]
    lines = page.evaluate(
        f"""() => {{
          const view = {NOTEBOOK}.content.widgets[1].editor.editor;
          const top = band => band.getBoundingClientRect().top;
          const bands = [...view.dom.querySelectorAll('.jitscope-heat')];
          return bands.map(band => view.state.doc.lineAt(view.posAtCoords({{x: view.contentDOM.getBoundingClientRect().left + 5, y: top(band) + 4}})).text);
        }}"""
    )
    assert any("y @ w" in line for line in lines) and not any("jnp.ones" in line for line in lines)
    book.screenshot("profile-gutter")
    book.dark()
    book.screenshot("profile-gutter-dark")
    book.write(1, f"%%jit --profile\n# another line\n{CODE}")
    wait(page, f"() => ({BANDS})().length === 0", "an edit clears the gutter", 10)


@pytest.mark.parametrize("book", ["%%jit"], indirect=True)
def test_one_click_profiles_the_kernels(book):
    view = book.output(1).locator(".jitscope").first
    view.locator(".jitscope-headline").first.click()
    view.locator("[data-tab=timing]").click()
    view.locator("[data-run=profile]").click()
    panel = view.locator(".jitscope-parts[data-kind=profile]")
    expect(panel.locator(".jitscope-sentence")).to_contain_text(SLOWEST, timeout=60_000)
    expect(panel.get_by_role("row").filter(has_text="kernel 1").first).to_be_visible()
    assert_readable(view)
    wait(book.page, f"() => ({BANDS})().length > 0", "bands in the gutter", 20)
    book.screenshot("profile-timing")
    roofline = panel.get_by_role("figure", name="Roofline of this machine")
    roofline.locator(".jitscope-chart-mark").first.focus()
    expect(roofline.locator(".jitscope-chart-answer")).to_contain_text("of the kernels' time")
    view.locator("[data-tab=graph]").click()
    expect(view.locator(".jitscope-source .jitscope-heat").first).to_be_visible()


def test_a_saved_notebook_shows_the_profile_without_a_kernel(book):
    view = book.output(1).locator(".jitscope").first
    expect(view).to_be_visible()
    book.save()
    book.page.evaluate(f"() => {NOTEBOOK}.sessionContext.shutdown()")
    book.reload()
    wait(book.page, f"() => ({BANDS})().length > 0", "bands in the gutter", 30)
    view = views(book.output(1))[0]
    view.open("timing")
    expect(view.element.locator(".jitscope-parts[data-kind=profile] .jitscope-sentence")).to_contain_text(SLOWEST)
