"""The stages of a program in Chromium: its trace replayed, its passes with the graph of each step, and the one selection of all panes."""

import functools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope_scope import observe
from jitscope_scope.observe.instruments import look
from jitscope_widgets.envelope import pack
from jitscope_widgets.quantities import seconds
from tests.browser.audit import assert_readable, axe_findings
from tests.browser.bare import Bare
from tests.browser.conftest import Lab
from tests.browser.notebook import NOTEBOOK, Notebook, wait
from tests.browser.programs import LOAD
from tests.browser.view import View, views
from tests.extent import looks
from tests.programs.rows import row_of
from tests.widgets import documents as made


def layer(x, w):
    z = x @ w
    again = jnp.exp(x)[::-1] + jnp.exp(x)
    return 1.05 * jnp.where(z > 0, z, 1.67 * (jnp.exp(z) - 1)), again


def scalar(w, x):
    y = jnp.tanh(x @ w)
    return (y * y).sum()


def looping(x, w):
    return lax.scan(lambda carry, _: (jnp.tanh(carry + (w @ w).sum()), carry.sum()), x, None, length=50)


@functools.cache
def document_of(fun: Any, *shapes: tuple[int, ...]) -> dict[str, Any]:
    """The compilation document of a program, with what its passes did."""
    row = row_of(fun, *(np.ones(shape, np.float32) for shape in shapes))
    return {**observe.compilation_document(row), "instruments": {"passes": look(row, "passes")}}


@functools.cache
def gradient_document() -> dict[str, Any]:
    w, x = np.full((4, 3), 0.5, np.float32), np.ones((5, 4), np.float32)
    seen = jx.inspect(jx.grad(scalar))(w, x)
    return {**seen.document, "instruments": {"transformations": seen.transformations.document}}


def line_of(fun: Any, text: str) -> int:
    code = Path(__file__).read_text().split(f"def {fun.__name__}(")[0].count("\n")
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines[code:], code + 1) if text in line)


def stage(view: View, name: str) -> None:
    view.open("stages")
    view.stage(name.lower())


def test_the_trace_is_replayed_by_keyboard_and_lights_the_lines(bare: Bare) -> None:
    document = document_of(layer, (64, 20), (20, 7))
    view = bare.show(document)
    stage(view, "Trace")
    slider = view.element.get_by_role("slider", name="Step of the trace")
    said = view.element.locator(".jitscope-replay-said")
    shown = view.element.locator(".jitscope-replay-list li")
    assert "layer was traced: 2 inputs, 11 equations recorded" in view.element.inner_text()
    first = document["graph"]["nodes"][2]
    assert first["id"] == "e0" and f"{first['label']} is recorded" in said.inner_text()  # it begins behind what goes in
    slider.focus()
    for key in ("ArrowLeft", "ArrowRight"):
        view.page.keyboard.press(key)
    expect(shown).to_have_count(3)
    lit = view.element.locator(".jitscope-stages .jitscope-line[aria-selected=true]")
    assert f"line {line_of(layer, 'x @ w')}:" in lit.inner_text()
    view.page.keyboard.press("End")
    equations = [node for node in document["graph"]["nodes"] if node["kind"] == "equation"]
    recorded = view.element.locator(".jitscope-replay-list li:not([data-kind=input])")
    assert [one.get_attribute("data-node") for one in recorded.all()] == [node["id"] for node in equations]


def test_the_trace_goes_into_a_loop_and_says_so(bare: Bare) -> None:
    view = bare.show(document_of(looping, (30, 4), (3, 3)))
    stage(view, "Trace")
    view.element.get_by_role("slider", name="Step of the trace").focus()
    view.page.keyboard.press("End")
    steps = view.element.locator(".jitscope-replay-list li:not([data-kind=input])").all()
    ways = [(one.get_attribute("data-kind"), one.get_attribute("data-node")) for one in steps]
    scan = ways[0][1]
    assert ways[0][0] == "enter" and ways[-1] == ("equation", scan)
    assert all(name.startswith(f"{scan}/") for _, name in ways[1:-1])
    steps[0].click()
    assert "the inner jaxpr of scan × 50 begins" in view.element.locator(".jitscope-replay-said").inner_text()


def test_a_line_finds_its_passes_and_an_operation_of_a_pass_its_line(bare: Bare) -> None:
    view = bare.show(document_of(layer, (64, 20), (20, 7)))
    view.open("graph")
    merged = line_of(layer, "[::-1]")
    view.element.locator(f".jitscope-graphpane .jitscope-line[data-line$='{merged}']").click()
    stage(view, "Passes")
    now = view.element.locator(".jitscope-step[aria-current]")
    marked = view.element.locator(".jitscope-step[data-related]")
    names = {text.split("\n")[0].split(",")[0] for text in marked.all_inner_texts()}
    assert {"cse", "fusion"} <= names and now.inner_text().split("\n")[0].split(",")[0] in names
    became = view.element.get_by_role("grid", name="What became of each line").get_by_role("row")
    became.filter(has_text="4 equations: 1 merged with equal ones by cse, 3 fused by fusion").click()
    assert now.inner_text().startswith("fusion")  # what became of most of it; the other is marked
    marked.filter(has_text="cse").click()
    assert now.inner_text().startswith("cse")
    now.press("Escape")
    assert marked.count() == 0
    # from an operation of the last pass that fused, by keyboard, to its line
    view.element.locator(".jitscope-step", has_text="fusion").first.click()
    row = view.element.locator(".jitscope-code-row[data-links]").filter(has_text="→").first
    line = (row.get_attribute("title") or "").split(":")[0]
    row.focus()
    view.page.keyboard.press("Enter")
    assert row.get_attribute("aria-selected") == "true"
    assert line.removeprefix("line ") in {str(n % 1_000_000) for n in view.selection()["lines"]}


def test_the_graph_of_a_step_shows_what_changed(bare: Bare) -> None:
    document = document_of(layer, (64, 20), (20, 7))
    view = bare.show(document)
    stage(view, "Passes")
    view.element.locator(".jitscope-step", has_text="cse").first.click()
    figure = view.element.locator(".jitscope-selecting")
    assert "− removed" in figure.inner_text() and "dashed lines: how values flowed before" in figure.inner_text()
    state = next(p["state"] for p in document["instruments"]["passes"]["passes"] if p["name"] == "cse")
    nodes = document["instruments"]["passes"]["states"][state]["graph"]["nodes"]
    tree = figure.get_by_role("tree")
    expect(tree).to_be_visible()
    tree.focus()
    view.page.keyboard.press("ArrowDown")
    assert view.selection()["paths"]
    assert {node.get("mark") for node in nodes} >= {"removed", "rewired", None}


@looks(480, 1200)
def test_the_stages_can_be_read(bare: Bare, dark: bool, width: int) -> None:
    view = bare.show(document_of(layer, (64, 20), (20, 7)), dark=dark, width=width)
    for name in ("Trace", "Passes"):
        stage(view, name)
        assert_readable(view.element)
    view.element.locator(".jitscope-step", has_text="fusion").first.click()
    assert_readable(view.element)
    assert view.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@looks(480, 1200)
def test_the_transformations_are_stepped_through_and_lit(bare: Bare, dark: bool, width: int) -> None:
    view = bare.show(gradient_document(), dark=dark, width=width)
    stage(view, "Transformations")
    steps = view.element.locator(".jitscope-step")
    assert [step.inner_text() for step in steps.all()] == [
        "1. jvp of scalar",
        "2. linearize of scalar",
        "3. transpose of scalar",
    ]
    assert_readable(view.element)
    first = view.element.locator(".jitscope-part-code").first.locator("[data-links]").first
    first.focus()
    view.page.keyboard.press("Enter")
    lit = view.element.locator(".jitscope-code-row[aria-selected=true]")
    assert lit.count() >= 3 and len({one.get_attribute("data-same") for one in lit.all()}) == 1
    assert {n % 1_000_000 for n in view.selection()["lines"]} == {line_of(scalar, "x @ w")}
    steps.nth(2).focus()
    view.page.keyboard.press("Enter")
    assert steps.nth(2).get_attribute("aria-current") == "step" and lit.count() >= 1
    assert "↩" in view.element.locator(".jitscope-steps").inner_text()
    assert_readable(view.element)


def test_a_saved_output_has_its_stages_without_a_kernel(bare: Bare) -> None:
    document = {**gradient_document(), "recompilations": made.recompilations()}
    document["instruments"] |= document_of(layer, (64, 20), (20, 7))["instruments"]
    view = bare.mount(pack(made.cell(document), 200_000).text)
    for name, slider in (("Trace", "Step of the trace"), ("Passes", "State of the program")):
        stage(view, name)
        expect(view.element.get_by_role("slider", name=slider)).to_be_visible()
    stage(view, "Transformations")
    expect(view.element.locator(".jitscope-step:visible")).to_have_count(3)
    bare = bare.mount(pack(made.cell({**document, "instruments": {}}), 200_000).text)
    stage(bare, "Passes")
    assert "%%jit --with passes keeps it" in bare.element.inner_text()
    assert_readable(bare.element)


def test_a_stage_that_cannot_be_told_of_a_program_is_not_offered(bare: Bare) -> None:
    stages = [["Trace", "Transformations"], ["Trace"]]
    for silent, offered in zip(([], ["transformations"]), stages, strict=True):
        view = bare.show({**document_of(layer, (64, 20), (20, 7)), "silent": silent})
        view.open("stages")
        names = view.element.locator(".jitscope-stages > .jitscope-choice label").all_inner_texts()
        assert names == [*offered, "Passes", "LLVM and machine code"]


def test_the_lines_of_a_nested_function_are_marked_before_anything_is_picked(bare: Bare) -> None:
    def halves(x, w):
        def half(y):
            z = jnp.tanh(y @ w)
            return z * 2

        return half(x) + half(x * 3)

    view = bare.show(document_of(halves, (8, 8), (8, 8)))
    view.open_graph()
    line = view.element.locator(".jitscope-line", has_text="jnp.tanh(y @ w)")
    expect(line).to_have_attribute("data-marked", "")
    assert line.locator(".jitscope-count").inner_text() == "4"
    line.click()
    expect(line).to_have_attribute("aria-selected", "true")
    expect(view.element.locator(".jitscope-line", has_text="def halves")).to_be_visible()
    assert len(view.selection()["paths"]) == 4


def unlike(x):
    y = jnp.cumsum(x)
    for k in range(80):
        x = jnp.sin(x) * k + 1.0  # the large one
    return x, jnp.flip(jnp.pad(y, 3))


def test_two_clicks_say_what_the_compile_seconds_went_into(bare: Bare) -> None:
    """The kernel named is the one with eighty times as much in it; the pass is the one whose runs add up to most."""
    document = document_of(unlike, (1000,))
    view = bare.show(document)
    view.open_graph()
    view.open("stages")
    view.stage("passes")
    said = view.element.get_by_text("took longest").first
    expect(said).to_be_in_viewport()
    expect(said).to_contain_text(f"line {line_of(unlike, 'the large one')}")
    spent: dict[str, float] = {}
    for one in document["instruments"]["passes"]["passes"]:
        spent[one["name"]] = spent.get(one["name"], 0.0) + one["seconds"]["value"]
    dear = max(spent, key=spent.__getitem__)
    expect(said).to_contain_text(f"Of the passes {dear} took longest: {seconds(spent[dear])}")
    view.element.get_by_text("Where the time of compiling went").first.click()
    first = view.element.get_by_role("grid", name="Passes, by the time they took").locator(".jitscope-table-row").first
    expect(first).to_contain_text(dear)
    view.element.locator("label", has_text="by kernel").click()
    first = (
        view.element.get_by_role("grid", name=re.compile("^Kernels, by the time")).locator(".jitscope-table-row").first
    )
    expect(first).to_contain_text(f"line {line_of(unlike, 'the large one')}")
    assert_readable(view.element)
    assert not axe_findings(view.element)


def each(w, x, n):
    y = lax.cond(n > 2, jnp.sin, jnp.cos, x @ w)
    return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2), (0, y))[1].sum() + (w.T @ w).sum()


def mapped(w, xs, ns):
    return jx.vmap(each, in_axes=(None, 1, 0))(w, xs, ns)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (480, True)])
def test_two_clicks_say_what_became_of_the_batch_axis(bare: Bare, width: int, dark: bool) -> None:
    """XLA's text of the program has no conditional, computes both branches, and has a loop."""
    w, xs, ns = np.ones((5, 7), np.float32), np.ones((5, 11), np.float32), np.arange(11)
    seen = jx.inspect(mapped)(w, xs, ns)
    text = jx.jit(mapped).lower(w, xs, ns).compile().as_text()
    assert " conditional(" not in text and " sine(" in text and " cosine(" in text and " while(" in text
    instruments = {"transformations": seen.transformations.document}
    view = bare.show({**seen.document, "instruments": instruments}, width=width, dark=dark)
    view.open_graph()
    view.open("stages")
    view.stage("transformations")
    said = view.element.get_by_text("vmap of each:").first
    expect(said).to_be_in_viewport()
    expect(said).to_contain_text(f"cond (line {line_of(each, 'lax.cond')}) computes all branches for each example")
    expect(said).to_contain_text(f"while (line {line_of(each, 'while_loop')}) runs for all examples until the last")
    rows = view.element.get_by_role("grid", name="What became of the axis of the examples").locator(
        ".jitscope-table-row"
    )
    expect(rows.first).to_contain_text(re.compile(r"cond.*f32\[11,7\]", re.S))
    expect(rows.filter(has_text="dot_general").last).to_contain_text("computed once")
    assert_readable(view.element)
    assert not axe_findings(view.element)


DIRTY = f"() => {NOTEBOOK}.content.model.dirty"

GRADIENT = """%%jit
import jitscope as jx
def scalar(w, x):
    y = jnp.tanh(x @ w)
    return (y * y).sum()
def train(w, x):
    return w - 0.1 * jx.grad(scalar)(w, x)
train(jnp.ones((4, 3)), jnp.ones((5, 4)));"""


@pytest.fixture(scope="module")
def opened(lab_of_file: Lab) -> Notebook:
    return lab_of_file.open([LOAD, GRADIENT])


@pytest.fixture
def gradient(opened: Notebook) -> tuple[Notebook, View]:
    """The view of the cell, run in a new kernel."""
    opened.dark(False)
    opened.restart()
    opened.run_all()
    return opened, views(opened.output(1))[0]


@pytest.mark.timeout(300)
def test_the_stages_are_asked_for_in_jupyterlab(gradient: tuple[Notebook, View]) -> None:
    notebook, view = gradient
    stage(view, "Transformations")
    view.element.get_by_role("button", name="Show transformations").click()
    expect(view.element.locator(".jitscope-step")).to_have_count(3)
    stage(view, "Passes")
    view.element.get_by_role("button", name="Show passes").click()
    expect(view.element.get_by_role("slider", name="State of the program")).to_be_visible(timeout=60_000)
    for dark in (False, True):
        notebook.dark(dark)
        assert_readable(view.element)
        notebook.screenshot(f"stages-{'dark' if dark else 'light'}", notebook.cell(1))
    assert not axe_findings(view.element)


@pytest.mark.timeout(300)
def test_what_a_click_found_is_saved_with_the_notebook(gradient: tuple[Notebook, View], lab_of_file: Lab) -> None:
    notebook, view = gradient
    notebook.save()
    stage(view, "Transformations")
    view.element.get_by_role("button", name="Show transformations").click()
    steps = view.element.locator(".jitscope-step")
    expect(steps).to_have_count(3)
    steps.nth(2).click()
    wait(notebook.page, DIRTY, "the notebook has something to save")
    assert steps.nth(2).get_attribute("aria-current") == "step"  # nothing was drawn again
    notebook.save()
    lab_of_file.delete_kernels()
    notebook.reload()
    saved = views(notebook.output(1))[0]
    stage(saved, "Transformations")
    expect(saved.element.locator(".jitscope-step")).to_have_count(3)
    stage(saved, "Passes")
    assert "%%jit --with passes keeps it" in saved.element.inner_text()
    (output,) = [one for one in notebook.cells()[-1]["outputs"] if "data" in one]
    assert "Transformations of train" in output["data"]["text/plain"]
    assert set(output["data"]) >= {"text/html", "text/plain"}
