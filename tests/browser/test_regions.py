"""The card of a stretch that is worth compiling, in a real JupyterLab: its edit goes into the cell by one click, gives what the cell gave, and is
taken back by one undo."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.audit import assert_readable, axe_findings
from tests.browser.conftest import Lab
from tests.browser.notebook import NOTEBOOK, wait
from tests.browser.programs import LOAD


SETUP = "import numpy as np\na = np.linspace(0.0, 1.0, 3)\ndef turned(v):\n    return v + 0.01 * np.sin(v)"
LOOP = "x = a.copy()\nfor i in range(30000):\n    x = turned(x)"
CELL = f"%%regions --runs 500\n{LOOP}"
SOURCE = f"i => {NOTEBOOK}.content.model.cells.get(i).sharedModel.getSource()"


def test_an_edit_goes_in_by_one_click_and_out_by_one_undo(lab: Lab) -> None:
    notebook = lab.open([LOAD, SETUP, CELL, "1"])
    notebook.run_all()
    card = notebook.output(2).locator(".jitscope-parts[data-kind=regions]")
    expect(card).to_contain_text("1 of 1 stretch is worth compiling")
    assert_readable(card)
    assert axe_findings(card) == []
    notebook.screenshot("regions", notebook.cell(2))
    card.get_by_role("button", name=re.compile("^Apply")).first.click()
    page = notebook.page
    wait(page, f"([i, text]) => ({SOURCE})(i) !== text", "the edit is in the cell", 10, [2, CELL])
    edited = page.evaluate(SOURCE, 2)
    assert "fori_loop" in edited and "turned" in edited, edited
    notebook.write(1, f"{SETUP}\nplain = a.copy()\nfor i in range(30000):\n    plain = turned(plain)")
    notebook.write(3, "print(np.allclose(x, plain, 1e-12), x.dtype)")
    notebook.run_all()
    expect(notebook.output(3)).to_contain_text("True float64")
    page.evaluate(f"() => {{ {NOTEBOOK}.content.activeCellIndex = 2; {NOTEBOOK}.content.mode = 'edit'; }}")
    notebook.cell(2).locator(".cm-content").click()
    page.keyboard.press("Control+z")
    wait(page, f"([i, text]) => ({SOURCE})(i) === text", "the cell is as before", 10, [2, CELL])
