"""Keys alone, in every pane: Tab gets to all that a pointer can press, or to its list, in which arrows do; what has the focus is seen,
and Tab leaves the view again."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_scope import observe
from tests.browser.bare import Bare
from tests.browser.view import TABS, View
from tests.programs.rows import row_of
from tests.widgets import documents


INSTRUMENTS: dict[str, dict[str, Any]] = {
    "profile": {"limit": 0.3}, "memory": {}, "values": {}, "reasons": {}, "passes": {}, "transformations": {}, "machine": {},
}  # fmt: skip
MOST = 250
"""Tabs after which a pane is a trap."""


@functools.cache
def document() -> dict[str, Any]:
    """A cell whose program was looked at with every instrument, and compiled again."""

    def loss(w: Any, x: Any) -> Any:
        def step(h: Any, row: Any) -> Any:
            h = jnp.tanh(h @ w + row)
            return h, h.sum()

        h, sums = jx.lax.scan(step, jnp.zeros(w.shape[0]), x)
        return (h**2).sum() + jnp.log(jnp.exp(sums).sum())

    args = [jnp.asarray(np.full(shape, 0.1, np.float32)) for shape in ((16, 16), (8, 16))]
    gradient = jx.jit(jx.grad(loss))
    row = row_of(gradient, *args)
    found = {name: observe.look(row, name, **given) for name, given in INSTRUMENTS.items()}
    del gradient  # it is traced once more for some
    return documents.cell(
        {**observe.compilation_document(row), "instruments": found, "recompilations": documents.recompilations()}
    )


FOCUSED = """element => {
  const at = document.activeElement;
  if (!element.contains(at)) return null;
  window.visited ??= [];
  if (!window.visited.includes(at)) window.visited.push(at);
  const box = at.getBoundingClientRect();
  const shows = one => one && getComputedStyle(one).outlineStyle !== "none" && parseFloat(getComputedStyle(one).outlineWidth) >= 1;
  const inside = at.closest("[role=tree], [role=listbox]");
  const stroke = at.matches(".jitscope-chart-mark") && parseFloat(getComputedStyle(at).strokeWidth) >= 2;
  const rings = [at, at.nextElementSibling, at.parentElement, at.closest(".jitscope-outline")];
  return {
    what: `${at.tagName.toLowerCase()}.${at.getAttribute("class") ?? ""} ${(at.getAttribute("aria-label") ?? at.textContent ?? "").slice(0, 60)}`,
    seen: box.width > 0 && box.height > 0 && at.checkVisibility({ visibilityProperty: true }),
    near: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    ring: stroke || rings.some(shows) || (at.matches("input") && getComputedStyle(at).opacity !== "0"),
    named: !!(at.getAttribute("aria-label") || at.getAttribute("aria-labelledby") || at.textContent.trim() || at.labels?.length || at.title),
  };
}"""

# What a pointer can press and no key gets to: neither a stop of Tab nor an entry of a list that has one.
OUT_OF_REACH = """element => {
  const lists = "[role=tablist], [role=tree], [role=treegrid], [role=grid], [role=listbox], [role=list], [role=radiogroup], fieldset, svg, [role=toolbar], .jitscope-diff";
  const press = "a, button, input, select, summary, [role=option], [role=treeitem], [role=row], [role=button], [data-links]";
  const found = [];
  for (const one of element.querySelectorAll("*:not(.jitscope-minimap)")) {  // what the small map does, arrows of the graph do
    if (!one.checkVisibility({ visibilityProperty: true }) || getComputedStyle(one).cursor !== "pointer") continue;
    const able = one.closest(press) ?? one.closest("[tabindex]") ?? (one.closest("label")?.querySelector("input"));
    if (!able) { found.push(`nothing takes the focus: ${one.outerHTML.slice(0, 160)}`); continue; }
    if (able.disabled || able.getAttribute("aria-disabled") === "true" || visited.includes(able)) continue;
    const radios = able.type === "radio" && visited.some(other => other.type === "radio" && other.name === able.name);
    const list = able.closest(lists);
    if (radios || (list && visited.some(other => list.contains(other)))) continue;
    found.push(`not reached: ${able.outerHTML.slice(0, 160)}`);
  }
  return [...new Set(found)];
}"""


# Entries of lists that no arrow leads away from, of those with several.
STUCK = """async element => {
  const lists = "[role=tablist], [role=tree], [role=treegrid], [role=grid], [role=listbox], [role=list], .jitscope-diff";
  const found = [];
  for (const one of visited) {
    const list = one.closest(lists);
    const entries = list && [...list.querySelectorAll("[tabindex]")].filter(other => other !== list && other.checkVisibility() && other.className === one.className);
    if (one === list || !entries || !entries.includes(one) || entries.length < 2) continue;
    one.focus();
    for (const key of ["ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"]) {
      if (document.activeElement !== one) break;
      one.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    }
    if (document.activeElement === one || !list.contains(document.activeElement)) found.push(one.outerHTML.slice(0, 160));
  }
  return found;
}"""


def stops(view: View) -> list[dict[str, Any]]:
    """Every stop of Tab from where the focus is, until it leaves the view."""
    view.page.evaluate("() => { window.visited = []; }")
    found: list[dict[str, Any]] = []
    while (now := view.element.evaluate(FOCUSED)) is not None:
        found.append(now)
        assert len(found) < MOST, f"Tab does not leave: {now['what']}"
        view.page.keyboard.press("Tab")
    return found


def by_keys(view: View, tab: str) -> None:
    """Opens a pane from the line that is seen first."""
    view.headline().focus()
    if view.headline().get_attribute("aria-expanded") == "false":
        view.page.keyboard.press("Enter")
    chosen = view.element.locator("[role=tab][aria-selected=true]").first
    expect(chosen).to_be_visible()
    chosen.focus()
    view.page.keyboard.press("Home")
    for _ in range(TABS.index(tab)):
        view.page.keyboard.press("ArrowRight")
    expect(view.element.locator(f"[role=tab][data-tab={tab}]").first).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize("tab", TABS)
def test_keys_reach_all_of_a_pane_and_leave_it(bare: Bare, tab: str) -> None:
    view = bare.show(document(), height=800)
    by_keys(view, tab)
    view.settle()
    view.headline().focus()
    found = stops(view)
    assert [one["what"] for one in found if not one["seen"] or not one["near"]] == []
    assert [one["what"] for one in found if not one["ring"]] == []
    assert [one["what"] for one in found if not one["named"]] == []
    assert view.element.evaluate(OUT_OF_REACH) == []
    assert view.element.evaluate(STUCK) == []
    view.page.keyboard.press("Shift+Tab")
    assert view.element.evaluate(FOCUSED) is not None


@pytest.mark.parametrize("tab", ["fusion", "timing", "memory", "values"])
def test_enter_picks_what_escape_lets_go(bare: Bare, tab: str) -> None:
    """A row of a table that stems from the program is selected in all panes, and Escape ends that."""
    view = bare.show(document(), height=800)
    by_keys(view, tab)
    rows = view.element.locator(f"[data-panel={tab}] [role=treegrid] .jitscope-table-row:visible")
    rows.first.focus()
    for _ in range(12):
        view.page.keyboard.press("Enter")
        if view.selection()["paths"]:
            break
        view.page.keyboard.press("ArrowDown")
    assert view.selection()["paths"] or view.selection()["lines"]
    view.page.keyboard.press("Escape")
    assert not view.selection()["paths"] and not view.selection()["lines"]
    assert view.element.evaluate("element => element.contains(document.activeElement)")
