"""Sharp bits in the cells of a real JupyterLab: where the marks stand, what the card says, and what its buttons do."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.audit import assert_readable, axe_findings
from tests.browser.conftest import Lab
from tests.browser.notebook import NOTEBOOK, Notebook, wait


LOAD = "%load_ext jitscope\nimport jitscope as jx\nimport jitscope.numpy as jnp"
BRANCH = "%%jit\ndef f(x):\n    y = x * 2\n    return y if x > 0 else -y"
UPDATE = "x = jnp.zeros(3)\nx.at[0].set(1.0)\ny = x + 1"
KEYS = "key = jx.random.key(0)\na = jx.random.normal(key)\nb = jx.random.normal(key)"

# Every mark in the page: the cell, the text under the line, and where the editor says that stands.
MARKS = f"""() => {NOTEBOOK}.content.widgets.flatMap((cell, index) => {{
  const view = cell.editor?.editor;
  return !view ? [] : [...view.contentDOM.querySelectorAll('.jitscope-mark')].map(mark => {{
    const at = view.posAtDOM(mark), line = view.state.doc.lineAt(at);
    return {{cell: index, line: line.number, column: at - line.from, text: mark.textContent, id: mark.dataset.bit}};
  }});
}})"""
SOURCE = f"i => {NOTEBOOK}.content.model.cells.get(i).sharedModel.getSource()"


class Bits:
    """The marks and cards of a notebook."""

    def __init__(self, book: Notebook) -> None:
        self.book, self.page = book, book.page
        self.cards = self.page.locator(".jitscope-card-tooltip")

    def marks(self) -> list[tuple[int, int, int, str]]:
        return [(m["cell"], m["line"], m["column"], m["text"]) for m in self.page.evaluate(MARKS)]

    def expect(self, *ids: str) -> None:
        condition = f"wanted => JSON.stringify(({MARKS})().map(m => m.id)) === JSON.stringify(wanted)"
        try:
            wait(self.page, condition, "", 20, list(ids))
        except AssertionError:
            raise AssertionError(f"expected {ids}, marked: {self.page.evaluate(MARKS)}") from None

    def source(self, cell: int) -> str:
        return self.page.evaluate(SOURCE, cell)

    def hover(self, nth: int) -> Locator:
        self.page.mouse.move(5, 5)
        expect(self.cards).to_have_count(0)
        self.page.locator(".jitscope-mark").nth(nth).hover()
        expect(self.cards.locator(".jitscope-card").first).to_be_visible()
        return self.cards

    def wait_for_source(self, cell: int, text: str) -> None:
        wait(self.page, f"([i, text]) => ({SOURCE})(i) === text", f"cell {cell} is {text!r}", 10, [cell, text])


@pytest.fixture(scope="module")
def book(lab_of_file: Lab) -> Notebook:
    return lab_of_file.open([LOAD, "", "", "", ""])


@pytest.fixture
def bits(book: Notebook, request: pytest.FixtureRequest) -> Bits:
    """The cells anew, in a new kernel."""
    sources = getattr(request, "param", [BRANCH, UPDATE])
    for cell in range(1, 5):
        book.write(cell, sources[cell - 1] if cell <= len(sources) else "")
    book.dark(False)
    book.restart()
    book.run_all(allow_errors=True)
    return Bits(book)


def test_a_mark_stands_under_the_code_and_its_card_mends_it(bits):
    bits.expect("branch-on-tracer", "update-result-dropped")
    assert bits.marks() == [(1, 4, 16, "x > 0"), (2, 2, 0, "x.at[0].set(1.0)")]
    expect(bits.page.locator(".jitscope-gutter .jitscope-sign")).to_have_count(2)

    card = bits.hover(1)
    expect(card).to_contain_text("makes a new array and drops it")
    bits.book.screenshot("sharp-bits-card")
    assert_readable(card)
    assert axe_findings(card) == []
    card.get_by_role("button", name="Apply fix").click()
    bits.wait_for_source(2, UPDATE.replace("x.at", "x = x.at"))
    bits.expect("branch-on-tracer")
    bits.page.keyboard.press("Control+z")
    bits.wait_for_source(2, UPDATE)
    bits.expect("branch-on-tracer", "update-result-dropped")


def test_by_keyboard_alone(bits):
    bits.expect("branch-on-tracer", "update-result-dropped")
    page = bits.page
    bits.book.cell(1).locator(".cm-content").click(position={"x": 2, "y": 2})
    page.keyboard.press("F8")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_focused()
    expect(dialog).to_have_attribute("aria-label", re.compile("^error, branch-on-tracer: "))
    page.keyboard.press("F8")
    expect(dialog).to_contain_text("update-result-dropped")
    expect(dialog).to_be_focused()
    page.keyboard.press("Shift+F8")
    expect(dialog).to_contain_text("branch-on-tracer")
    page.keyboard.press("F8")
    expect(dialog).to_contain_text("update-result-dropped")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    bits.wait_for_source(2, UPDATE.replace("x.at", "x = x.at"))
    bits.expect("branch-on-tracer")
    page.keyboard.press("F8")
    expect(dialog).to_contain_text("branch-on-tracer")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.type("(")  # the editor has the focus again, at the mark
    assert "if (" in bits.source(1)


def test_marks_follow_edits_and_go_with_their_line(bits):
    bits.expect("branch-on-tracer", "update-result-dropped")
    bits.book.write(2, "# first\n" + UPDATE)
    wait(bits.page, f"() => ({MARKS})().some(m => m.cell === 2 && m.line === 3)", "the mark moved")
    bits.book.write(2, UPDATE.replace("x.at[0].set(1.0)", "z = ("))
    bits.expect("branch-on-tracer")
    bits.book.write(2, "jnp.zeros(3).at[0].set(2.0)\nz = 1")  # found while it is written, before it runs
    bits.expect("branch-on-tracer", "update-result-dropped")
    assert bits.marks()[1][:3] == (2, 1, 0)


def test_silenced_here_and_everywhere(bits):
    bits.expect("branch-on-tracer", "update-result-dropped")
    bits.hover(1).get_by_role("button", name="here", exact=True).click()
    bits.wait_for_source(2, UPDATE.replace("set(1.0)", "set(1.0)  # jitscope: ok update-result-dropped"))
    bits.expect("branch-on-tracer")
    bits.hover(0).get_by_role("button", name="everywhere").click()
    bits.expect()
    assert bits.book.ask("get_ipython().meta['jitscope'].magics.ignore") == ["branch-on-tracer"]


def test_marks_survive_the_page_but_not_the_kernel(bits):
    bits.expect("branch-on-tracer", "update-result-dropped")
    bits.book.save()
    bits.book.reload()
    bits.expect("branch-on-tracer", "update-result-dropped")
    bits.book.restart()
    bits.expect()
    assert bits.page.locator(".jitscope-gutter").count() == 0
    bits.book.run_all()
    bits.expect("branch-on-tracer", "update-result-dropped")


def choose(tab: Locator) -> None:
    """Click a tab, once more where JupyterLab was still moving the panel and the pointer came up beside it."""
    for _ in range(3):
        tab.click()
        if tab.get_attribute("aria-selected") == "true":
            return
    raise AssertionError("the tab cannot be chosen")


def test_the_panel_lists_them_and_leads_to_the_line(bits):
    bits.expect("branch-on-tracer", "update-result-dropped")
    bits.page.locator("[data-id=jitscope-panel]").click()
    panel = bits.page.locator("#jitscope-panel")
    tab = panel.get_by_role("tab", name="Sharp bits")
    expect(tab).to_contain_text("2")
    choose(tab)
    cards = panel.locator(".jitscope-cards > .jitscope-card")
    expect(cards).to_have_count(2)
    assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth"), "nothing of it lies beside the panel"
    bits.book.screenshot("sharp-bits-panel")
    assert_readable(panel)
    assert axe_findings(panel) == []
    panel.get_by_label("severity").select_option("warning")
    expect(cards).to_have_count(1)
    panel.get_by_role("button", name="In [3], line 2").click()
    line = f"() => {{ const at = {NOTEBOOK}.content.activeCell.editor.getCursorPosition(); return at.line; }}"
    assert bits.page.evaluate(f"() => {NOTEBOOK}.content.activeCellIndex") == 2
    assert bits.page.evaluate(line) == 1
    cards.get_by_role("button", name="Apply fix").click()
    bits.wait_for_source(2, UPDATE.replace("x.at", "x = x.at"))
    expect(tab).to_contain_text("1")
    bits.book.write(1, "1")
    expect(panel.locator("[role=tabpanel]:not([hidden])")).to_contain_text("No sharp bits")


@pytest.mark.parametrize("bits", [[BRANCH + "\nf(1.0)", "1"]], indirect=True)
def test_an_error_is_told_once(bits):
    bits.expect("branch-on-tracer")
    outputs = bits.book.output(1)
    assert outputs.locator(".jitscope-ignore").count() == 0
    assert bits.marks() == [(1, 4, 16, "x > 0")]


def test_other_notebooks_and_plain_ones_are_left_alone(lab):
    book = lab.open([f"{LOAD.partition(chr(10))[2]}\n{KEYS}"])
    book.run_all()
    assert book.page.locator(".jitscope-mark, .jitscope-gutter, .jitscope-marked").count() == 0
    other = lab.open([LOAD, KEYS], name="other.ipynb")
    other.run_all()
    Bits(other).expect("key-reuse")


@pytest.mark.parametrize("bits", [[BRANCH, UPDATE, KEYS, "%sharpbits"]], indirect=True, ids=["four cells"])
def test_output_of_the_magic(bits):
    book = bits.book
    shown = book.output(4).locator(".jitscope-parts")
    expect(shown.locator(".jitscope-cards > .jitscope-card")).to_have_count(3)
    book.screenshot("sharp-bits-magic", book.output(4))
    assert_readable(shown)
    shown.locator("[data-name=update-result-dropped]").get_by_role("button", name="Apply fix").click()
    wait(book.page, f"() => ({SOURCE})(2).includes('x = x.at')", "the fix is made")
    book.dark()
    book.screenshot("sharp-bits-magic-dark", book.output(4))
