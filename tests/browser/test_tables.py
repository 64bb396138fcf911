"""The tables of a training step by block and by line: readable in every width, at 200 % and in the dark, and by keyboard alone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from jitscope_scope import observe
from tests.browser.audit import assert_readable, axe_findings
from tests.browser.bare import Bare
from tests.browser.view import View
from tests.extent import full
from tests.programs import training
from tests.programs.rows import row_of
from tests.targets.record import recorded
from tests.widgets import documents as made
from tests.widgets.reason_documents import reasons


WAYS = {"fusion": ("by block", "by line"), "memory": ("by line", "by function")}
CUT = """table => [...table.querySelectorAll('[role=gridcell]')].filter(cell => cell.checkVisibility()
  && cell.getBoundingClientRect().right > table.getBoundingClientRect().right + 1).map(cell => cell.textContent)"""
APART = """table => [...table.querySelectorAll('.jitscope-table-toggle')].filter(toggle => {
  const range = document.createRange();
  range.selectNodeContents(toggle.parentElement);
  range.setStartAfter(toggle);
  const text = [...range.getClientRects()].find(box => box.width > 1);
  return toggle.textContent && text && text.top >= toggle.getBoundingClientRect().bottom - 1;
}).map(toggle => toggle.parentElement.textContent)"""


@pytest.fixture(scope="session")
def step() -> dict[str, Any]:
    """Its outermost blocks have names as long as some of optax's."""
    row = row_of(training.program, *training.arguments())
    document = observe.compilation_document(row)
    for block in document["fusion"]["blocks"]:
        if block["outer"] is None:
            block["label"] += ".softmax_cross_entropy_with_integer_labels"
    return {**document, "instruments": {"memory": observe.look(row, "memory")}}


def tables(view: View, tab: str) -> list[Locator]:
    return [one for one in view.element.locator(f"[data-panel={tab}] .jitscope-table-part").all() if one.is_visible()]


@pytest.mark.parametrize(
    ("width", "dark", "zoom"),
    [
        (320, True, 1),
        (1280, False, 2),
        pytest.param(480, False, 1, marks=full),
        pytest.param(1280, True, 1, marks=full),
    ],
)
def test_tables_fit(bare: Bare, step: dict[str, Any], width: int, dark: bool, zoom: int) -> None:
    view = bare.show(step, width=width, dark=dark)
    view.page.evaluate("zoom => { document.documentElement.style.zoom = zoom; }", zoom)
    view.open_graph()
    for tab, ways in WAYS.items():
        view.open(tab)
        panel = view.element.locator(f"[data-panel={tab}]")
        for way in ways:
            for choice in panel.locator("label", has_text=way).all():
                choice.click()
            seen = tables(view, tab)
            assert seen
            for table in seen:
                assert table.locator("[role=treegrid], [role=grid]").first.evaluate(CUT) == []
                assert table.evaluate(APART) == []
                assert_readable(table)
        assert axe_findings(panel) == []


def test_a_table_is_opened_and_left_by_keyboard(bare: Bare, step: dict[str, Any]) -> None:
    view = bare.show(step)
    view.open_graph()
    for tab in WAYS:
        view.open(tab)
        view.element.locator(f"[role=tab][data-tab={tab}]").focus()
        table = tables(view, tab)[0].locator("[role=treegrid]")
        row = table.locator(".jitscope-table-row[aria-expanded]").first
        for _ in range(40):  # Tab reaches it
            view.page.keyboard.press("Tab")
            if table.evaluate(
                "table => table.contains(document.activeElement) && document.activeElement.role === 'row'"
            ):
                break
        focused = table.locator(".jitscope-table-row:focus")
        expect(focused).to_have_count(1)
        for _ in range(40):
            if focused.get_attribute("aria-expanded") == "false":
                break
            view.page.keyboard.press("ArrowDown")
        name = focused.inner_text()
        view.page.keyboard.press("ArrowRight")
        expect(focused).to_have_attribute("aria-expanded", "true")
        assert focused.inner_text().replace("▾", "▸") == name
        view.page.keyboard.press("ArrowLeft")
        expect(focused).to_have_attribute("aria-expanded", "false")
        expect(row).to_be_visible()
        view.page.keyboard.press("Shift+Tab")
        expect(table.locator(".jitscope-table-row:focus")).to_have_count(0)


WIDE = """table => [...table.querySelectorAll('.jitscope-table-head > [role=columnheader]')].map(head => {
  const [box, inside] = [head.getBoundingClientRect(), table.parentElement.getBoundingClientRect()];
  return [box.width, box.right <= inside.right + 1];
})"""


def test_long_notes_leave_columns_their_room(bare: Bare) -> None:
    """What stands below a row in all columns makes none of them wider, and the first of them narrow."""
    document = made.ledger()
    long = "failed: " + "the last axis of the first has another size than the axis of the second that it meets; " * 3
    rows = [{**document["rows"][0], "signature": "shapes(a: f32[3,4], b: f32[5,6]) -> f32[3,6]", "because": long}]
    view = bare.show({**document, "rows": rows}, width=1100)
    table = view.element.get_by_role("grid", name="Compilations of this session")
    heads = table.evaluate(WIDE)
    assert len(heads) == 7 and all(inside for _, inside in heads)
    assert heads[0][0] > 250
    filled = "table => table.parentElement.clientWidth - table.querySelector('.jitscope-table-head').offsetWidth"
    assert table.evaluate(filled) <= 1
    row = table.locator(".jitscope-table-row").first
    assert row.locator("[role=gridcell]").first.evaluate("cell => cell.getBoundingClientRect().height") < 45


def test_the_frame_of_a_matrix_is_as_wide_as_the_matrix(bare: Bare) -> None:
    view = bare.show(made.recompilations(made.card(1)), width=1100)
    matrix = view.element.locator(".jitscope-table[data-matrix]").first
    assert (
        matrix.evaluate("one => one.parentElement.offsetWidth - one.querySelector('.jitscope-table-head').offsetWidth")
        <= 2
    )


TITLED = """table => [...table.querySelectorAll('.jitscope-table-row')].flatMap(row => [...row.querySelectorAll('[data-named]')]
  .map(cell => getComputedStyle(cell, '::before').content.replaceAll('"', '').trim()))"""
PARTED = """view => [...view.querySelectorAll('.jitscope-whole')].filter(one => one.checkVisibility() && one.getClientRects().length > 1)
  .map(one => one.textContent)"""


def test_a_narrow_view_says_what_is_first_and_second(bare: Bare) -> None:
    """It has no heads of columns: what says too little by itself has its title beside it, and numbers stay with their units."""
    view = bare.show(reasons(), width=480)
    table = view.element.get_by_role("treegrid", name="Pairs of kernels")
    assert table.evaluate(TITLED)[:2] == ["the first gives", "the second reads"]
    view = bare.show(reasons(), width=1280)
    assert set(table.evaluate(TITLED)) == {"none"}
    view = bare.show(made.memory(), width=320)
    assert view.element.locator(".jitscope-whole").count() > 3
    assert view.element.evaluate(PARTED) == []


def test_a_table_of_numbers_has_a_frame_of_its_own_width(bare: Bare) -> None:
    view = bare.show(recorded("norm-beside"), width=1280)
    table = view.element.get_by_role("grid", name="On each target")
    outside = "one => one.parentElement.offsetWidth - one.querySelector('.jitscope-table-head').offsetWidth"
    assert table.evaluate(outside) <= 2


def test_what_is_selected_is_outlined_in_forced_colours(bare: Bare) -> None:
    """There all grounds are one colour."""
    view = bare.show(made.layer_cell(), forced_colors="active")
    view.open("graph")
    line = view.element.locator(".jitscope-line[data-marked]").first
    line.click()
    expect(line).to_have_attribute("aria-selected", "true")
    view.page.mouse.move(0, 0)
    view.page.locator(":focus").evaluate("one => one.blur()")
    assert line.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"


def test_a_closer_look_at_a_value_is_whole(bare: Bare) -> None:
    """Of an array that is much higher than wide the figures, the picture and what is said below it are seen at once."""
    for width in (320, 1100):
        document = made.values()
        detail = next(one for one in document["details"] if one["picture"])
        picture = {**detail["picture"], "columns": 20, "cells": "0f" * 640}
        view = bare.show({**document, "first_bad": None, "details": [{**detail, "picture": picture}]}, width=width)
        inside = view.element.locator(".jitscope-table-inside").first
        assert inside.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
        below = "one => one.getBoundingClientRect().bottom - one.closest('.jitscope-table-scroll').getBoundingClientRect().bottom"
        assert width < 640 or inside.locator("figcaption").evaluate(below) <= 0
        assert inside.locator("svg").last.evaluate("one => one.getBoundingClientRect().height") <= 260
        facts = inside.locator(".jitscope-facts").first
        assert facts.evaluate("one => one.getBoundingClientRect().right") <= inside.evaluate(
            "one => one.getBoundingClientRect().right"
        )
