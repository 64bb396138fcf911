"""The views on a bare page, from sample documents: every kind can be read in light and dark, narrow and wide."""

import copy
import functools
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_widgets.envelope import pack
from tests.browser.audit import assert_readable, axe_findings
from tests.browser.bare import Bare
from tests.browser.notebook import SCREENSHOTS
from tests.browser.view import TABS
from tests.extent import full, looks
from tests.widgets import documents


KINDS = [
    pytest.param(
        document, dark, id=f"{document['kind']}-{'dark' if dark else 'light'}", marks=() if i % 2 == dark else full
    )
    for i, document in enumerate(documents.every_kind())
    for dark in (False, True)
]
"""Every kind of document, light and dark; `make test` has them in turn."""


@pytest.mark.parametrize(("document", "dark"), KINDS)
def test_every_kind_of_document_can_be_read(bare: Bare, document: dict[str, Any], dark: bool) -> None:
    view = bare.show(document, dark=dark)
    assert_readable(view.element)
    SCREENSHOTS.mkdir(exist_ok=True)
    view.page.screenshot(path=SCREENSHOTS / f"kind-{document['kind']}-{'dark' if dark else 'light'}.png")


@pytest.mark.parametrize("width", [480, pytest.param(1200, marks=full)])
def test_every_pane_of_a_long_program_can_be_read(bare: Bare, width: int) -> None:
    view = bare.show(documents.long_program(300, scopes=6), width=width)
    for tab in TABS:
        view.open(tab)
        assert_readable(view.element)
        view.page.screenshot(path=SCREENSHOTS / f"long-{tab}-{width}.png")


TAB_BAR = """bar => {
  const strip = bar.querySelector('[role=tablist]'), bounds = strip.getBoundingClientRect();
  const box = strip.querySelector('[aria-selected=true]').getBoundingClientRect();
  const marked = ['data-before', 'data-after'].filter(name => bar.hasAttribute(name));
  return [marked, bounds.height < 45, box.left >= bounds.left - 1 && box.right <= bounds.right + 1];
}"""


def test_tabs_that_do_not_fit_are_told_of(bare: Bare) -> None:
    """They stand in one row, its ends say that there are more, and the chosen one is in sight."""
    view = bare.show(documents.layer_cell(), width=340)
    view.headline().click()
    bar = view.element.locator(".jitscope-tabbar").first
    expect(bar).to_have_attribute("data-after", "")  # once the page has measured it
    assert bar.evaluate(TAB_BAR) == [["data-after"], True, True]
    bar.locator("[aria-selected=true]").focus()
    view.page.keyboard.press("End")
    expect(bar.locator("[role=tab]").last).to_have_attribute("aria-selected", "true")
    expect(bar).to_have_attribute("data-before", "")
    assert bar.evaluate(TAB_BAR) == [["data-before"], True, True]
    for width in (500, 1280):  # at the first they just fit
        view.page.set_viewport_size({"width": width, "height": 900})
        expect(bar).not_to_have_attribute("data-before", "")
        expect(bar).not_to_have_attribute("data-after", "")
    assert bar.evaluate(TAB_BAR) == [[], True, True]


@pytest.mark.parametrize("expanded", [False, True], ids=["closed", "open"])
@pytest.mark.parametrize(
    "document", [documents.layer_cell(), documents.long_program(300, scopes=6)], ids=["short", "long"]
)
def test_no_node_lies_over_another_and_no_label_sticks_out(
    bare: Bare, document: dict[str, Any], expanded: bool
) -> None:
    view = bare.show(document)
    view.open("graph")
    for level in ("jaxpr", "after"):
        view.level(level)
        if expanded:
            view.expand_all()
        else:
            view.collapse_all()
        assert view.covered_nodes() == []
        assert view.spilled_labels() == []
        view.fit()
        assert_readable(view.element)


@pytest.mark.page_errors
def test_a_document_of_the_future_gets_a_sentence(bare: Bare) -> None:
    view = bare.show({"kind": "graph", "version": 99})
    assert "version 99" in view.element.inner_text()
    view = bare.show({"kind": "hologram", "version": 1})
    assert "hologram" in view.element.inner_text()


def test_passes_are_stepped_through_by_keyboard_and_followed_from_a_line(bare: Bare) -> None:
    view = bare.show(documents.passes())
    slider = view.element.get_by_role("slider", name="State of the program")
    now = view.element.locator(".jitscope-step[aria-current]")
    assert now.inner_text().startswith("cse")
    slider.focus()
    view.page.keyboard.press("ArrowRight")
    assert now.inner_text().startswith("fusion")
    assert (slider.get_attribute("aria-valuetext") or "").startswith("fusion: 4 operations in 2 kernels")
    assert "and 1 more" not in view.element.inner_text()
    assert "1 more change of this pass" in view.element.inner_text()
    slider.press("ArrowLeft")
    rows = view.element.locator(".jitscope-code-row")
    assert [row.get_attribute("data-mark") for row in rows.all()] == ["removed", "removed", "added"]
    became = view.element.get_by_role("grid", name="What became of each line").get_by_role("row")
    became.filter(has_text="1 equation fused by fusion").click()
    assert now.inner_text().startswith("fusion")
    assert rows.first.get_attribute("aria-selected") == "true" and now.get_attribute("data-related") == ""
    rows.first.press("Escape")
    assert rows.first.get_attribute("aria-selected") == "false" and now.get_attribute("data-related") is None


@pytest.mark.parametrize("width", [420, 1280])
def test_the_roofline_has_its_labels_whole(bare: Bare, width: int) -> None:
    view = bare.show(documents.profile(), width=width)
    plot = view.element.get_by_role("figure", name="Roofline of this machine")
    labels = plot.locator("svg text")
    assert labels.count() > 8 and "peak 200 Gflop/s" in labels.all_text_contents()
    frame = plot.locator("svg").bounding_box()
    assert frame is not None
    for label in labels.all():
        box = label.bounding_box()
        assert box is not None and frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"] + 1


def crossing(one: Any, other: Any) -> bool:
    sides = (("x", "width"), ("y", "height"))
    return all(one[at] < other[at] + other[size] and other[at] < one[at] + one[size] for at, size in sides)


@pytest.mark.parametrize("rate", [2e11, 2.5e11, 3.5e11])
def test_no_kernel_lies_on_a_label_of_the_roofline(bare: Bare, rate: float) -> None:
    """A kernel where the label of the peak would be, at different heights."""
    document = copy.deepcopy(documents.profile())
    kernel = document["kernels"][0]
    kernel |= {"flops": rate * kernel["median"], "bytes": rate * kernel["median"] / 60, "share": 0.6}
    view = bare.show(document, width=420)
    plot = view.element.get_by_role("figure", name="Roofline of this machine")
    marks = [mark.bounding_box() for mark in plot.locator(".jitscope-chart-mark").all()]
    assert len(marks) == 3
    for label in plot.locator("svg text").all():
        assert not any(crossing(label.bounding_box(), mark) for mark in marks), label.text_content()


def test_the_list_of_values_shows_the_one_that_is_looked_at(bare: Bare) -> None:
    document = documents.layer_cell()
    found = documents.values()
    example = found["rows"][1]
    found["rows"] = [example | {"path": f"e9{n:03}", "label": f"value{n}"} for n in range(400)]
    found["rows"][333] |= {"path": "e3"}
    found |= {"first_bad": None, "details": found["details"][:1], "loops": []}
    document["compilations"][0]["instruments"] = {"values": found}
    view = bare.show(document)
    view.open("values")
    rows = view.element.locator(".jitscope-parts[data-kind=values] .jitscope-table-row")
    view.open("graph")
    view.element.evaluate("(element) => element.__jitscope.select({ node: 'e3' })")
    view.open("values")
    shown = rows.and_(view.page.locator("[aria-selected=true]"))
    expect(shown).to_contain_text("value333")
    expect(shown).to_be_in_viewport()
    names = rows.locator("strong").all_inner_texts()
    assert names == [f"value{n}" for n in (*range(60), *range(328, 339))]
    expect(view.element.get_by_text("268 more")).to_have_count(1)
    expect(view.element.get_by_text("61 more")).to_have_count(1)


@looks(420, 1280)
def test_machine_code_can_be_read_and_gone_through_by_keyboard(bare: Bare, dark: bool, width: int) -> None:
    view = bare.show(documents.machine(), dark=dark, width=width)
    functions = view.element.get_by_role("list", name="Functions of the program").get_by_role("button")
    assert [text.split()[0] for text in functions.all_inner_texts()] == ["multiply_fusion", "wrapped_add"]
    code = view.element.get_by_role("region", name="The likely hot loop of multiply_fusion")
    assert "vmulps" in code.inner_text() and "vbroadcastss" not in code.inner_text()
    assert "in 1 loop (hot)" in code.inner_text()
    view.element.get_by_role("radio", name="Hot loop").focus()
    view.page.keyboard.press("ArrowRight")
    code = view.element.get_by_role("region", name="Machine code of multiply_fusion")
    assert "vbroadcastss" in code.inner_text() and "; calls <memcpy>" in code.inner_text()
    assert_readable(view.element)
    view.page.screenshot(path=SCREENSHOTS / f"machine-code-{width}-{'dark' if dark else 'light'}.png")
    view.element.get_by_role("radio", name="LLVM's IR").check()
    after = view.element.get_by_role("region", name="LLVM IR of multiply_fusion, after LLVM's passes")
    assert "<8 x float>" in after.inner_text() and "loop depth 1" in after.inner_text()
    assert "7 more lines not kept" in view.element.inner_text()
    assert_readable(view.element)
    view.page.screenshot(path=SCREENSHOTS / f"machine-llvm-{width}-{'dark' if dark else 'light'}.png")
    functions.first.focus()
    view.page.keyboard.press("ArrowDown")
    view.page.keyboard.press("Enter")
    assert functions.nth(1).get_attribute("aria-current") == "step"
    assert "is not kept in this document" in view.element.inner_text()
    assert_readable(view.element)


@functools.cache
def comparison() -> dict[str, Any]:
    """A program against one that has a product more, as it is measured."""

    def plain(x):
        return jnp.tanh(x) * 2 + x.sum()

    def dearer(x):
        return jnp.tanh(x @ x) * 2 + x.sum()

    x = np.ones((256, 256), np.float32)
    one, other = jx.inspect(plain)(x), jx.inspect(dearer)(x)
    return one.compare(other, limit=0.2).document


@looks(1280)
def test_the_graph_of_both_programs_is_linked_with_the_code_of_each(bare: Bare, dark: bool, width: int) -> None:
    document = comparison()
    view = bare.show(document, dark=dark, width=width)
    codes = view.element.locator(".jitscope-joint-code")
    expect(codes).to_have_count(2)
    # a line of one lights what both have in the other, and in the graph; Escape lets go of it
    for at, (line, other) in enumerate((("jnp.tanh(x)", "jnp.tanh(x @ x)"), ("jnp.tanh(x @ x)", "jnp.tanh(x)"))):
        codes.nth(at).locator("[data-marked]", has_text=line).click()
        expect(codes.nth(1 - at).locator("[aria-selected=true] code")).to_have_text(f"return {other} * 2 + x.sum()")
        expect(view.element.locator(".jitscope-details")).to_contain_text("equations")
        view.page.keyboard.press("Escape")
        expect(codes.locator("[role=option][aria-selected=true]")).to_have_count(0)
    # what the signs mean stands below, and the nodes have them
    legend = view.element.locator(".jitscope-joint-legend")
    expect(legend).to_contain_text("+ only in B")
    expect(legend).to_contain_text("reads other operands")
    labels = [label["text"] for label in view.labels()]
    assert any(text.startswith("+ dot_general") for text in labels)
    view.click_node(next(n["id"] for n in document["joint"]["graph"]["nodes"] if n["label"] == "tanh"))
    expect(codes.locator("[role=option][aria-selected=true]")).to_have_count(2)


@looks(1280)
def test_lines_of_another_file_have_their_own_numbers(bare: Bare, dark: bool, width: int) -> None:
    document = copy.deepcopy(comparison())
    for function in document["joint"]["sources"]["b"]["functions"]:
        function["file"] = "other.py"
    (node,) = [node for node in document["joint"]["graph"]["nodes"] if node.get("mark") == "added"]
    node["positions"][0]["file"] = "other.py"
    view = bare.show(document, dark=dark, width=width)
    view.settle()
    written = [label["text"] for label in view.labels()]
    assert str(node["positions"][0]["line"]) in written
    assert not [text for text in written if text.isdigit() and int(text) > 10_000]


@looks(420, 1280)
def test_two_programs_are_compared_on_a_page_without_a_kernel(bare: Bare, dark: bool, width: int) -> None:
    document = comparison()
    view = bare.show(document, dark=dark, width=width)
    assert_readable(view.element)
    assert not axe_findings(view.element)
    assert view.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    verdict = view.element.locator(".jitscope-sentence").first
    words = verdict.inner_text()
    assert document["verdict"] == "slower" and words.startswith(f"{document['b']['title']} is slower: it takes ")
    assert f"from {document['pairs']:,} pairs of runs" in words
    # the picture: the interval lies right of 1, which is in the middle
    whole, bar, one = (
        view.element.locator(f".jitscope-stretch{name}").bounding_box() for name in ("", " > span", " > i")
    )
    assert whole and bar and one and one["x"] == pytest.approx(whole["x"] + whole["width"] / 2, abs=1.5)
    assert one["x"] < bar["x"] and bar["x"] + bar["width"] < whole["x"] + whole["width"]
    # what only one of them has, opened and closed by keyboard
    only = view.element.locator(".jitscope-part-code:has([data-mark=added])").first
    assert "dot_general" in only.inner_text() and "dearer" in view.element.inner_text()
    summary = view.element.locator("summary").first
    said = document["equations"]
    assert summary.inner_text() == (
        f"{said['common']} equations in both ({said['rewired']} of them reads other operands), "
        f"{said['only_a']} only in A, {said['only_b']} only in B"
    )
    summary.focus()
    view.page.keyboard.press("Enter")
    expect(only).to_be_hidden()
    view.page.keyboard.press("Enter")
    expect(only).to_be_visible()
    saved = bare.mount(pack(document).text)
    assert saved.element.locator(".jitscope-sentence").first.inner_text() == words


@functools.cache
def in_half() -> dict[str, Any]:
    """A program in f32 against itself in f16, with a sine more."""

    def f(x):
        return jnp.tanh(x @ x).max(axis=0) * 2

    def g(x):
        return jnp.sin(jnp.tanh(x @ x).max(axis=0) * 2)

    one, other = (jx.inspect(fun)(np.ones((64, 64), kind)) for fun, kind in ((f, np.float32), (g, np.float16)))
    return one.compare(other, limit=0.02).document


@looks(420, 1280)
def test_what_changed_stands_once_in_the_graph_of_both(bare: Bare, dark: bool, width: int) -> None:
    document = in_half()
    for view in (bare.show(document, dark=dark, width=width), bare.mount(pack(document).text)):
        shown = view.element.inner_text()
        assert "0 equations in both, 4 changed, 0 only in A, 1 only in B" in shown
        assert "≠ in both, with other types, parameters or numbers" in shown
        (tanh,) = [one for one in document["equations"]["changed"] if one["before"].startswith("tanh")]
        assert tanh["before"] in shown and tanh["after"] in shown and "f16" in tanh["after"]
        assert_readable(view.element)
    labels = [label["text"] for label in view.labels()]
    assert sum(text.startswith("≠ tanh") for text in labels) == sum(text.startswith("≠ x") for text in labels) == 1
    assert view.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    view.page.screenshot(path=SCREENSHOTS / f"changed-{width}-{'dark' if dark else 'light'}.png", full_page=True)


@looks(420, 1280)
def test_numbers_of_ones_own_stand_in_the_graph_and_are_found_by_keyboard(bare: Bare, dark: bool, width: int) -> None:
    def f(x):
        y = jnp.tanh(x @ x)
        return y.sum(axis=0) * 2

    seen = jx.inspect(f)(np.ones((30, 30), np.float32))
    seen.with_numbers(lambda eqn: eqn.outvars[0].aval.size / 1000, "thousand elements")
    for view in (bare.show(seen.document, dark=dark, width=width), bare.mount(pack(seen.document).text)):
        view.open_graph()
        labels = [label["text"] for label in view.labels()]
        assert "tanh · 0.9" in labels and "reduce_sum · 0.03" in labels
        assert "after the names: thousand elements" in view.element.inner_text()
        assert view.covered_nodes() == view.spilled_labels() == []
        assert_readable(view.element)
        view.element.get_by_role("searchbox").focus()
        view.page.keyboard.type("number:>0.5 -op:dot")
        view.page.keyboard.press("Enter")
        details = view.element.locator(".jitscope-details")
        expect(details).to_contain_text("thousand elements 0.9")
        expect(details).to_contain_text("tanh")
    view.page.screenshot(path=SCREENSHOTS / f"numbers-{width}-{'dark' if dark else 'light'}.png")
