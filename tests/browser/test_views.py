"""What the views show equals what the compiler says, and a person can read and reach it."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import truth
from tests.browser.audit import assert_readable, axe_findings
from tests.browser.conftest import Lab
from tests.browser.notebook import Notebook
from tests.browser.programs import LAYER, LOAD, PROGRAMS
from tests.browser.view import TABS, View, views
from tests.extent import full


CLOCK = """import time
_jitscope_clock = {}
def _start(info): _jitscope_clock["start"] = time.perf_counter()
def _stop(result):
    if "start" in _jitscope_clock:  # the cell that registers this began unseen
        _jitscope_clock.setdefault("cells", []).append(time.perf_counter() - _jitscope_clock["start"])
get_ipython().events.register("pre_run_cell", _start)
get_ipython().events.register("post_run_cell", _stop)"""
AGAIN = "%%jit\nlayer(jnp.ones((40, 20)), w, b);"
MARKUP = "<img src=x onerror=\\\"document.title='broken'\\\"><script>document.title='broken'</script>"
HOSTILE = f'%%jit\ndef f(d):\n    return d["{MARKUP}"] * 2  # {MARKUP}\nf({{"{MARKUP}": jnp.ones(3)}});'
CELLS = [LOAD, CLOCK, *(cell for cell, _ in PROGRAMS.values()), AGAIN, HOSTILE]


@pytest.fixture(scope="module")
def book(lab_of_file: Lab) -> Notebook:
    notebook = lab_of_file.open(CELLS)
    notebook.run_all()
    return notebook


@pytest.fixture
def layer(book: Notebook) -> tuple[Notebook, View]:
    """The view of one cell, closed and in the light."""
    book.dark(False)
    view = views(book.output(2))[0]
    view.close()
    return book, view


# --- content, compared with the compiler ------------------------------------------------------------------------------


@pytest.mark.timeout(300)
def test_graphs_and_fusions_are_the_compilers(book: Notebook) -> None:
    for number, (name, (_, call)) in enumerate(PROGRAMS.items(), start=2):
        view = views(book.output(number))[0]
        said = truth.ask(book, call)
        _check_jaxpr_graph(view, name, said)
        _check_hlo_graph(view, name, said)
        _check_fusions(view, name, said)
        book.screenshot(f"program-{name}", book.cell(number))


def _check_jaxpr_graph(view: View, name: str, said: truth.Truth) -> None:
    view.open("graph")
    view.level("jaxpr")
    shown = view.all_nodes("equation", "scope")
    assert len(shown) == len(said.equations), name
    assert sorted(node["label"] for node in shown) == said.equations, name
    assert view.covered_nodes() == []


def _check_hlo_graph(view: View, name: str, said: truth.Truth) -> None:
    view.level("after")
    shown = {node["id"] for node in view.all_nodes("instruction", "fusion", "library")}
    expected = set()
    for instruction, opcode, members in said.instructions:
        computing = [member for member, kind in members if kind not in truth.PASSIVE]
        # A kernel that XLA wrapped round a single operation is that operation.
        expected.update(computing if len(computing) > 1 else [])
        expected.update([instruction] if opcode not in truth.PASSIVE else [])
    assert shown == expected, name


def _check_fusions(view: View, name: str, said: truth.Truth) -> None:
    view.open("fusion")
    kernels = view.element.get_by_role("treegrid", name="Kernels", exact=True)
    more = view.element.locator(
        ".jitscope-table-part", has=view.page.get_by_role("treegrid", name="Kernels", exact=True)
    ).locator(".jitscope-fold")
    if more.count():
        more.click()
    shown = {}
    for row in kernels.locator(".jitscope-table-row", has_text="▣").all():
        row.locator(".jitscope-table-toggle").click()
        lines = kernels.locator(".jitscope-table-inside .jitscope-code-row code").all_inner_texts()
        shown[row.locator("code").first.inner_text()] = sorted(line.split(" = ")[0] for line in lines[1:])
    assert shown == said.fusions(), name


def test_hovering_a_node_shows_the_line_of_the_cell(layer: tuple[Notebook, View]) -> None:
    _, view = layer
    view.open("graph")
    view.level("jaxpr")
    view.expand_all()
    by_label = {node["label"]: node["id"] for node in view.nodes("equation")}
    lines = {"dot_general": "z = x @ w + b", "gt": "1.05 * jnp.where(z > 0", "exp": "jnp.exp(z) - 1"}
    for label, line in lines.items():
        assert line in view.hover(by_label[label]), label


def test_stages_took_time_and_no_more_than_the_cell(layer: tuple[Notebook, View]) -> None:
    notebook, view = layer
    wall = notebook.ask("_jitscope_clock['cells'][0]")
    view.open("timing")
    rows = view.element.locator("[data-kind=timing] .jitscope-table-body .jitscope-table-row").evaluate_all(
        "rows => rows.map(row => [row.children[0].textContent, row.querySelector('[data-kind=number]').textContent])"
    )
    assert [name for name, _ in rows] == ["trace", "lower", "compile", "first run", "total"]
    spent = [float(time.split()[0]) * {"µs": 1e-6, "ms": 1e-3, "s": 1.0}[time.split()[1]] for _, time in rows[:-1]]
    assert all(seconds > 0 for seconds in spent)
    assert sum(spent) <= wall * 1.01  # three digits are shown


def test_steady_time_is_measured_by_the_button(layer: tuple[Notebook, View]) -> None:
    _, view = layer
    view.open("timing")
    view.element.get_by_role("button", name=re.compile("measure", re.I)).first.click()
    expect(view.element.locator(".jitscope-headline")).to_contain_text("runs in")
    assert 0 < view.document()["compilations"][0]["timing"]["steady"]["median"]["value"] < 1


def test_a_recompilation_is_explained(book: Notebook) -> None:
    view = views(book.output(CELLS.index(AGAIN)))[0]
    view.open("recompiles")
    card = view.element.locator(".jitscope-card").first
    for part in ("layer", "x", "f32[64,20]", "f32[40,20]"):
        expect(card).to_contain_text(part)


def test_names_are_text_and_never_markup(book: Notebook) -> None:
    view = views(book.output(CELLS.index(HOSTILE)))[0]
    for tab in TABS:
        view.open(tab)
    view.open("graph")
    assert book.page.title() != "broken"
    assert view.element.locator("img, script").count() == 0
    assert "onerror" in view.element.inner_text()


# --- reading and reaching ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, pytest.param(True, marks=full)], ids=["light", "dark"])
def test_every_pane_can_be_read(layer: tuple[Notebook, View], dark: bool) -> None:
    notebook, view = layer
    notebook.dark(dark)
    shade = "dark" if dark else "light"
    assert_readable(view.element)
    notebook.screenshot(f"closed-{shade}")
    for tab in TABS:
        view.open(tab)
        if tab == "graph":
            view.expand_all()
            view.fit()
        assert_readable(view.element, at_least=5)
        assert axe_findings(view.element) == []
        notebook.screenshot(f"{tab}-{shade}")


def test_views_come_back_when_the_page_is_loaded_anew(layer: tuple[Notebook, View]) -> None:
    notebook, view = layer
    before = view.document()
    notebook.save()
    notebook.reload()
    again = views(notebook.output(2))[0]
    assert again.document() == before
    again.open("graph")
    assert again.nodes("equation", "scope")


def test_everything_is_reached_by_keyboard(layer: tuple[Notebook, View]) -> None:
    notebook, view = layer
    keyboard = notebook.page.keyboard
    headline = view.headline()
    headline.press("Enter")
    expect(headline).to_have_attribute("aria-expanded", "true")

    tabs = view.element.locator("[role=tab]")
    tabs.first.focus()
    names = [tabs.first.get_attribute("data-tab")]
    for _ in range(len(TABS) - 1):
        keyboard.press("ArrowRight")
        names.append(view.element.locator("[role=tab][aria-selected=true]").first.get_attribute("data-tab"))
    assert set(TABS) <= set(names)

    view.open("graph")
    view.level("jaxpr")
    view.expand_all()
    start = next(node["id"] for node in view.nodes("equation") if node["label"] == "dot_general")
    view.select({"node": start})
    view.element.locator(".jitscope-graph [tabindex='0']").first.focus()
    neighbours = {edge["to"] for edge in view.edges() if edge["from"] == start}
    before = view.selection()
    keyboard.press("ArrowDown")
    assert view.selection() != before
    assert set(view.selection()["paths"]) <= neighbours | {start}
    keyboard.press("Escape")
    keyboard.press("/")
    keyboard.type("exp")
    expect(view.element.locator("input:focus")).to_have_value("exp")


def test_one_selection_in_all_panes(layer: tuple[Notebook, View]) -> None:
    _, view = layer
    view.open("graph")
    view.level("jaxpr")
    view.expand_all()
    exponential = next(node["id"] for node in view.nodes("equation") if node["label"] == "exp")
    view.click_node(exponential)
    assert exponential in view.selection()["paths"]
    chosen = view.element.locator(".jitscope-source [data-line][aria-selected=true]")
    expect(chosen.first).to_contain_text("jnp.exp(z)")
    expect(view.element.locator(".jitscope-details").first).to_contain_text("exp")


# --- the side panel ---------------------------------------------------------------------------------------------------


def test_side_panel_lists_compilations_as_they_happen(lab: Lab) -> None:
    notebook = lab.open([LOAD, *["1"] * 30, LAYER])
    notebook.page.evaluate("() => jupyterapp.shell.activateById('jitscope-panel')")
    panel = notebook.page.locator("#jitscope-panel")
    rows = panel.locator("[data-kind=ledger] .jitscope-table-body > .jitscope-table-row")
    notebook.run(0)
    expect(rows.filter(has_text="layer")).to_have_count(0)
    notebook.run(31)
    expect(rows.filter(has_text="layer")).to_have_count(1)
    assert_readable(panel)
    notebook.screenshot("side-panel")

    notebook.page.evaluate("() => { jupyterapp.shell.currentWidget.content.node.scrollTop = 0; }")
    rows.filter(has_text="layer").click()
    expect(notebook.cell(31)).to_be_in_viewport()
