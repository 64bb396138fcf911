"""The profile of real programs in a page without a kernel: looks, keyboard, orders, and the selection that all panes share."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope_scope import observe
from jitscope_widgets.quantities import percent
from tests.browser.audit import assert_readable, axe_findings
from tests.browser.bare import Bare
from tests.browser.notebook import SCREENSHOTS
from tests.browser.view import View
from tests.extent import looks
from tests.programs import lstm, transformer
from tests.programs.rows import row_of


def dense(x, w):
    h = x @ w
    m = h.mean(-1, keepdims=True)
    with jx.named_scope("squash"):
        return jnp.tanh(h - m) * 1.5


def network(x, ws):
    for w in ws:
        x = dense(x, w)
    return (x**2).sum()


def looped(x):
    return lax.fori_loop(0, 30, lambda _, c: jnp.sin(c @ c) + jnp.cos(c), x)


@functools.cache
def profiled(name: str) -> dict[str, Any]:
    """The compilation of a program, with its profile."""
    random = np.random.default_rng(0)
    square = random.normal(size=(256, 256)).astype(np.float32)
    of = {
        "network": (network, square, [square * 0.1] * 6),
        "looped": (looped, square),
        "lstm": (lstm.program, *lstm.arguments()),
    }
    row = row_of(*of[name])
    found = observe.look(row, "profile", limit=0.5)
    return {**observe.compilation_document(row), "instruments": {"profile": found}}


def opened(bare: Bare, name: str, **options: Any) -> tuple[View, Locator, dict[str, Any]]:
    document = profiled(name)
    view = bare.show(document, **options)
    view.open("timing")
    return view, view.element.locator(".jitscope-parts[data-kind=profile]"), document["instruments"]["profile"]


@looks(1280, 420)
@pytest.mark.parametrize("name", ["network", "lstm"])
def test_it_can_be_read(bare: Bare, name: str, dark: bool, width: int) -> None:
    view, panel, _ = opened(bare, name, dark=dark, width=width)
    assert_readable(view.element, at_least=20)
    assert axe_findings(view.element) == []
    wide = view.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    panel.screenshot(path=SCREENSHOTS / f"profile-{name}-{'dark' if dark else 'light'}-{width}.png")


BROKEN = """panel => [...panel.querySelectorAll('.jitscope-table-row > [role=gridcell]:not(.jitscope-table-note)')].flatMap(cell => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), broken = [];
  for (let node; (node = walker.nextNode());) {
    for (const { index, 0: word } of node.data.matchAll(/\\S{2,16}/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) broken.push(word);
    }
  }
  return broken;
})"""


@pytest.mark.parametrize("width", [760, 900, 1100])
def test_no_word_of_a_table_is_broken(bare: Bare, width: int) -> None:
    """Where the numbers leave little room, too."""
    _, panel, _ = opened(bare, "looped", width=width)
    assert panel.evaluate(BROKEN) == []


def test_the_first_sentence_names_the_line_or_those_too_close_to_tell(bare: Bare) -> None:
    _view, panel, profile = opened(bare, "network")
    first = max((line for line in profile["lines"] if line["own"]), key=lambda line: line["own"]["estimate"])
    sentence = panel.locator(".jitscope-sentence").first
    expect(sentence).to_contain_text(f"line {first['position']['line']}")
    if "too close to tell" not in sentence.inner_text():
        expect(sentence).to_contain_text(first["position"]["text"].strip())
    expect(sentence).to_contain_text(percent(first["own"]["estimate"]))
    table = panel.get_by_role("treegrid", name="Lines, by their share")
    shown = table.locator("[data-name=share]").all_inner_texts()
    own = sorted((line["own"]["estimate"] for line in profile["lines"] if line["own"]), reverse=True)
    assert [text.strip(" \n~▸") for text in shown] == [percent(share) for share in own]
    estimated = [
        line
        for line in profile["lines"]
        if line["own"] and percent(line["own"]["least"]) != percent(line["own"]["most"])
    ]
    assert table.locator("[title^='estimated; by its kernels']").count() >= len(estimated) > 0


def test_a_line_opens_to_its_kernels_and_selects_what_was_written_in_it(bare: Bare) -> None:
    view, panel, profile = opened(bare, "network")
    table = panel.get_by_role("treegrid", name="Lines, by their share")
    rows = table.locator(".jitscope-table-row")
    row = rows.filter(has_text="h = x @ w").first
    row.focus()
    view.page.keyboard.press("ArrowRight")
    expect(table.locator("[aria-level='2']").first).to_contain_text("× 6")
    view.page.keyboard.press("ArrowLeft")
    expect(table.locator("[aria-level='2']")).to_have_count(0)
    view.page.keyboard.press("Enter")
    expect(row).to_have_attribute("aria-selected", "true")
    view.open("graph")
    line = next(one["position"]["line"] for one in profile["lines"] if "h = x @ w" in one["position"]["text"])
    chosen = view.element.locator(".jitscope-source [data-line][aria-selected=true]")
    expect(chosen.first).to_contain_text("h = x @ w")
    assert str(line) in chosen.first.inner_text()


def test_the_same_number_stands_in_the_table_and_beside_the_source(bare: Bare) -> None:
    """The source shows each call by itself; of a line that is called once the numbers agree."""
    view, _, profile = opened(bare, "looped")
    (line,) = [one for one in profile["lines"] if one["own"] and "fori_loop" in one["position"]["text"]]
    view.open("graph")
    heat = view.element.locator(".jitscope-source .jitscope-heat").first
    expect(heat).to_have_text(percent(line["whole"]["estimate"]))


def test_functions_and_named_scopes(bare: Bare) -> None:
    _view, panel, profile = opened(bare, "network")
    panel.get_by_label("by function").check()
    table = panel.get_by_role("treegrid", name="Functions")
    sums: dict[str, float] = {}
    for line in profile["lines"]:
        if line["own"]:
            name = line["position"]["function"]
            sums[name] = sums.get(name, 0.0) + line["own"]["estimate"]
    for name, share in sums.items():
        expect(table.locator(".jitscope-table-row").filter(has_text=name).first).to_contain_text(percent(share))
    panel.get_by_label("by named scope").check()
    (scope,) = profile["scopes"]
    row = panel.get_by_role("grid", name="Named scopes").locator(".jitscope-table-row")
    expect(row).to_contain_text(percent(scope["estimate"]))


def test_kernels_that_do_the_same_are_one_row_that_opens(bare: Bare) -> None:
    _view, panel, profile = opened(bare, "network")
    table = panel.get_by_role("treegrid", name="Kernels, those that do the same together")
    six = panel.page.locator("strong", has_text=re.compile(r"^\s*× 6$"))  # not the "5 × 6.1 µs" of another row
    row = table.locator(".jitscope-table-row").filter(has=six).first
    row.locator(".jitscope-table-toggle").click()
    inner = table.locator("[aria-level='2']")
    expect(inner).to_have_count(6)
    inner.first.click()
    expect(inner.first).to_have_attribute("aria-selected", "true")
    expect(row).to_have_attribute("aria-selected", "true")
    mark = panel.locator(".jitscope-chart-mark[data-related]")
    span = panel.locator(".jitscope-timeline-span[data-related]")
    expect(span.first).to_be_visible()
    expect(mark).to_have_count(1)
    panel.get_by_label("one by one").check()
    alone = panel.get_by_role("grid", name="Kernels, by the time")
    alone.get_by_role("button", name="all runs").click()
    expect(alone.locator("[aria-sort=descending]")).to_have_text("all runs")
    first = max(profile["kernels"], key=lambda kernel: kernel["total"])
    expect(alone.locator(".jitscope-table-row").first).to_contain_text(first["called"])
    panel.get_by_label("by kind").check()
    kinds = {kernel["kind"] for kernel in profile["kernels"]}
    expect(panel.get_by_role("treegrid", name="Kernels, by what they are").locator("[aria-level='1']")).to_have_count(
        len(kinds)
    )


def test_kernels_by_block_open_to_their_blocks_and_add_up(bare: Bare) -> None:
    _view, panel, profile = opened(bare, "network")
    panel.get_by_label("by block").check()
    table = panel.get_by_role("treegrid", name="Kernels, by the part of the program")
    tops = table.locator("[aria-level='1']")
    blocks = profile["blocks"]
    sums: dict[int | None, float] = {}
    for kernel in profile["kernels"]:
        at = kernel["block"]
        while at is not None and blocks[at]["outer"] is not None:
            at = blocks[at]["outer"]
        if kernel["share"] is not None:
            sums[at] = sums.get(at, 0.0) + kernel["share"]
    assert len(sums) > 1
    for at, share in sums.items():
        row = tops.filter(has_text="in several or none of these" if at is None else blocks[at]["label"]).first
        expect(row).to_contain_text(percent(share))
    tops.first.click()
    expect(table.locator("[aria-level='2']").first).to_be_visible()


def test_the_call_on_a_time_axis(bare: Bare) -> None:
    view, panel, profile = opened(bare, "network")
    axis = panel.get_by_role("figure", name="One recorded call")
    spans = axis.locator(".jitscope-timeline-span")
    gaps = axis.locator(".jitscope-timeline-span[data-of=gap]")
    assert gaps.count() >= 1
    assert spans.count() - gaps.count() == len(profile["timeline"]["start"])
    longest = max(range(len(profile["timeline"]["length"])), key=profile["timeline"]["length"].__getitem__)
    kernel = profile["kernels"][profile["timeline"]["kernel"][longest]]
    widths = [(span.bounding_box() or {"width": 0.0})["width"] for span in spans.all()]
    kernels = axis.locator(".jitscope-timeline-span:not([data-of=gap])")
    widest = max(kernels.all(), key=lambda span: (span.bounding_box() or {"width": 0.0})["width"])
    widest.hover()
    expect(axis.locator(".jitscope-chart-answer")).to_contain_text(kernel["called"])
    widest.click()
    expect(panel.locator(".jitscope-table-row[data-related]").first).to_be_visible()
    axis.get_by_role("button", name="zoom in").click()
    assert len(widths) >= axis.locator(".jitscope-timeline-span").count()
    axis.get_by_role("group").focus()
    for key in ("+", "ArrowRight", "ArrowDown", "Enter", "Home"):
        view.page.keyboard.press(key)
    expect(axis.locator(".jitscope-timeline-span")).to_have_count(len(widths))


def test_marks_of_the_roofline_go_by_keyboard(bare: Bare) -> None:
    view, panel, profile = opened(bare, "network")
    roofline = panel.get_by_role("figure", name="Roofline of this machine")
    placed = [k for k in profile["kernels"] if k["share"] is not None and k["flops"] and k["bytes"] and k["fast"]]
    expect(roofline.locator(".jitscope-chart-mark")).to_have_count(len(placed))
    roofline.locator(".jitscope-chart-mark[tabindex='0']").focus()
    answer = roofline.locator(".jitscope-chart-answer")
    expect(answer).to_contain_text(f"{placed[0]['called']}, ")
    view.page.keyboard.press("ArrowRight")
    expect(answer).to_contain_text(f"{placed[1]['called']}, ")
    view.page.keyboard.press("Enter")
    view.open("fusion")
    expect(view.element.locator("[data-panel=fusion] [data-related]").first).to_be_visible()


# Each box with a name: the name, what is said of the box, and by how many pixels the name is wider than the box.
NAMED = """axis => [...axis.querySelectorAll(".jitscope-timeline-span")].flatMap(box => {
  const name = box.querySelector("text");
  if (!name) return [];
  box.dispatchEvent(new PointerEvent("pointerover"));
  const [text, rect] = [name.getBoundingClientRect(), box.querySelector("rect").getBoundingClientRect()];
  return [[name.textContent, axis.querySelector(".jitscope-chart-answer").textContent, text.right - rect.right]];
})"""


def test_names_in_the_timeline_are_whole(bare: Bare) -> None:
    """Where a box has no room for the name of its kernel, it has none: the beginning of one may be the name of another."""
    row = row_of(transformer.program, *transformer.arguments(layers=4))
    document = {
        **observe.compilation_document(row),
        "instruments": {"profile": observe.look(row, "profile", limit=0.2)},
    }
    view = bare.show(document)
    view.open("timing")
    axis = view.element.get_by_role("figure", name="One recorded call")
    expect(axis.locator(".jitscope-timeline-span text").first).to_be_attached()
    seen = set()
    for key in [*["+"] * 9, *["ArrowDown"] * 25]:
        axis.get_by_role("group").press(key)
        for name, told, over in axis.evaluate(NAMED):
            assert re.match(rf"{re.escape(name)}(?!\w)", told), f"{name} stands in the box of {told}"
            assert over <= 0, f"{name} is {over:.1f} px wider than its box"
            seen.add(name)
    assert sum(name.startswith("kernel") for name in seen) > 3


COVERED = """axis => [...axis.querySelectorAll(".jitscope-timeline-span text")].flatMap(name => {
  const box = name.getBoundingClientRect();
  return [...axis.querySelectorAll(".jitscope-timeline-span")].filter(other => {
    const rect = other.querySelector("rect").getBoundingClientRect();
    const over = Math.min(rect.right, box.right) - Math.max(rect.left, box.left);
    return !other.contains(name) && rect.top < box.bottom && rect.bottom > box.top && over > 1 && name.compareDocumentPosition(other) & 4;
  }).map(() => name.textContent);
})"""


def test_no_kernel_lies_on_the_name_of_another(bare: Bare) -> None:
    """A thread runs parts of other kernels while it waits for one."""
    document = profiled("looped")
    profile = document["instruments"]["profile"]
    second = profile["timeline"]["seconds"] / 10
    called = [kernel["called"] for kernel in profile["kernels"]]
    kernel = next(number for number, name in enumerate(called) if name.startswith("kernel"))
    call = {"threads": ["thread 1"], "thread": [0] * 4, "kernel": [kernel] * 4, "left_out": 3}
    times = {
        "start": [0.0, second * 0.2, second * 5, second * 8],
        "length": [second * 4, second * 0.1, second * 2, second],
    }
    timeline = {**profile["timeline"], **call, **times}
    view = bare.show({**document, "instruments": {"profile": {**profile, "timeline": timeline}}})
    view.open("timing")
    axis = view.element.get_by_role("figure", name="One recorded call")
    names = axis.locator(".jitscope-timeline-span text")
    expect(names.first).to_be_attached()
    assert axis.evaluate(COVERED) == []
    assert [name.split(", ")[0] for name in names.all_text_contents()].count(called[kernel]) == 2
    expect(axis).to_contain_text("None of these ran for")
    expect(axis.get_by_text("no kernel", exact=True)).to_have_count(0)
