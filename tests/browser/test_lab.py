"""JupyterLab starts, runs a cell, survives a reload, and our extension is in it."""

import pytest

from tests.browser.audit import complaints
from tests.browser.conftest import Lab
from tests.browser.notebook import Notebook


FLAWED = """
<div id=audited style="font: 14px sans-serif; color: #222; background: #fff; position: relative; height: 220px">
<p>fine</p>
<p style="color: #aaa">faint</p>
<p style="font-size: 9px">tiny</p>
<p style="opacity: 0.3">washed out</p>
<p style="position: absolute; left: 200px; top: 20px">one</p>
<p style="position: absolute; left: 210px; top: 22px">other</p>
<p style="visibility: hidden; font-size: 5px">unseen</p>
<p style="position: absolute; left: 300px; top: 20px; font-size: 5px">behind</p>
<div style="position: absolute; left: 290px; top: 20px; width: 99px; height: 40px; background: #fff">a menu</div>
<div style="height: 0; overflow: hidden; font-size: 5px">cut away</div>
<svg width=200 height=30 viewBox="0 0 400 60">
<rect width=400 height=60 fill="#000"/><text x=9 y=40 font-size=20 fill="#fff">scaled</text></svg>
</div>"""


@pytest.fixture(scope="module")
def notebook(lab_of_file: Lab) -> Notebook:
    notebook = lab_of_file.open(["x = 6 * 7\nprint(x)", "x + 1", f"from IPython.display import HTML\nHTML({FLAWED!r})"])
    notebook.run_all()
    notebook.save()
    return notebook


def test_a_cell_runs_and_the_page_reloads(notebook: Notebook) -> None:
    assert notebook.text(0).strip() == "42"
    assert notebook.text(1) == "43"
    assert notebook.ask("x") == 42

    notebook.reload()
    assert notebook.ask("[x, y]", "y = x + 2") == [42, 44]
    notebook.run(1)
    assert notebook.text(1) == "43"


def test_the_theme_changes(notebook: Notebook) -> None:
    for dark in (True, False):
        notebook.dark(dark)
        notebook.screenshot(f"lab-{'dark' if dark else 'light'}")


def test_the_audit_sees_what_is_wrong_and_only_that(notebook: Notebook) -> None:
    found = complaints(notebook.page.locator("#audited"))
    expected = {"faint": "contrast", "tiny": "9.0 px", "washed out": "contrast", "one": "overlap", "scaled": "10.0 px"}
    assert len(found) == len(expected), found
    for text, complaint in expected.items():
        assert any(f"'{text}'" in line and complaint in line for line in found), (text, found)


def test_the_extension_is_in_jupyterlab(notebook: Notebook) -> None:
    assert notebook.page.evaluate("() => jupyterapp.hasPlugin('jitscope:plugin')")
