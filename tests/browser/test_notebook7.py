"""The same views in Notebook 7: live, by keyboard, saved, reopened without a kernel; and the panel at its side."""

import pytest
from playwright.sync_api import expect

from tests.browser.audit import assert_readable, axe_findings
from tests.browser.conftest import Lab
from tests.browser.notebook import Notebook, wait
from tests.browser.programs import LAYER, LOAD
from tests.browser.test_profile import BANDS
from tests.browser.test_sharp_bits import UPDATE, Bits
from tests.browser.view import TABS, View, views
from tests.extent import full


@pytest.fixture(scope="module")
def layer(lab_of_file: Lab) -> tuple[Notebook, View]:
    notebook = lab_of_file.open([LOAD, LAYER, UPDATE], app="notebooks")
    notebook.run_all()
    return notebook, views(notebook.output(1))[0]


@pytest.mark.parametrize("dark", [pytest.param(False, marks=full), True], ids=["light", "dark"])
def test_every_pane_opens(layer: tuple[Notebook, View], dark: bool) -> None:
    notebook, view = layer
    notebook.dark(dark)
    expect(view.headline()).to_contain_text("equations")
    for tab in TABS:
        view.open(tab)
        assert_readable(view.element, at_least=5)
        assert axe_findings(view.element) == []
        notebook.screenshot(f"notebook7-{tab}-{'dark' if dark else 'light'}")
    view.open("graph")
    assert {node["label"] for node in view.nodes("equation")} >= {"dot_general", "add"}


@pytest.mark.parametrize("app", [pytest.param("lab/tree", marks=full), "notebooks"])
def test_a_saved_notebook_is_explored_without_a_kernel(
    layer: tuple[Notebook, View], lab_of_file: Lab, lab: Lab, app: str
) -> None:
    notebook, view = layer
    notebook.save()
    again = views(lab.open(lab_of_file.file(), app=app).output(1))[0]  # its kernel knows nothing of the view
    assert again.document()["compilations"][0]["jaxpr"] == view.document()["compilations"][0]["jaxpr"]
    again.open("fusion")
    assert again.element.get_by_role("treegrid", name="Kernels", exact=True).locator(".jitscope-table-row").count() > 0


def test_the_panel_is_there(layer: tuple[Notebook, View]) -> None:
    notebook, _ = layer
    notebook.page.evaluate("() => { jupyterapp.shell.expandLeft('jitscope-panel'); }")
    panel = notebook.page.locator("#jitscope-panel")
    expect(panel.locator("[data-kind=ledger]")).to_be_visible()
    expect(panel).to_contain_text("layer")
    notebook.screenshot("notebook7-panel")


def test_the_margin_of_the_editor_shows_what_was_measured(lab: Lab) -> None:
    notebook = lab.open([LOAD, LAYER.replace("%%jit", "%%jit --profile")], app="notebooks")
    notebook.run_all()
    wait(notebook.page, f"() => ({BANDS})().length > 0", "bands in the margin", 20)
    assert all("of the time of the kernels of layer" in band["said"] for band in notebook.page.evaluate(BANDS))
    notebook.screenshot("notebook7-margin")


def test_a_mark_has_a_card_that_mends_the_cell(layer: tuple[Notebook, View]) -> None:
    bits = Bits(layer[0])
    bits.expect("update-result-dropped")
    bits.hover(0).get_by_role("button", name="Apply fix").click()
    bits.wait_for_source(2, UPDATE.replace("x.at", "x = x.at"))
    bits.expect()
