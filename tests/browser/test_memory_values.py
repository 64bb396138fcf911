"""The tabs Memory and Values on real documents: in a page without a kernel, by keyboard, light and dark; and asking a kernel."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope_scope import observe
from jitscope_widgets.quantities import number, size
from tests.browser.audit import assert_readable, axe_findings
from tests.browser.bare import Bare, Kernel
from tests.browser.notebook import SCREENSHOTS
from tests.extent import looks
from tests.programs.rows import row_of


def loss(w, xs):
    def step(carry, x):
        carry = jnp.tanh(carry @ w + x)
        return carry, carry.sum()

    last, sums = lax.scan(step, xs[0], xs)
    return jnp.log(last).sum() + sums.mean()


@functools.cache
def program() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """(the ledger's row, the arguments, the compilation's document with both instruments) of a gradient with NaN in it."""
    random = np.random.default_rng(0)
    args = (
        jnp.array(random.normal(size=(12, 12)).astype(np.float32)),
        jnp.array(random.normal(size=(9, 12)).astype(np.float32)),
    )
    row = row_of(jx.grad(loss), *args)
    document = observe.compilation_document(row)
    document["instruments"] = {name: observe.look(row, name) for name in ("memory", "values")}
    return row, args, document


@looks(1280, 420)
def test_both_can_be_read_without_a_kernel(bare: Bare, dark: bool, width: int) -> None:
    document = program()[2]
    view = bare.show(document, dark=dark, width=width)
    for tab in ("memory", "values"):
        view.open(tab)
        assert_readable(view.element, at_least=20)
        assert axe_findings(view.element) == []
        wide = view.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0
        view.page.screenshot(path=SCREENSHOTS / f"{tab}-{'dark' if dark else 'light'}-{width}.png", full_page=True)


def test_the_memory_by_keyboard(bare: Bare) -> None:
    document = program()[2]
    memory = document["instruments"]["memory"]
    view = bare.show(document)
    view.open("memory")
    peak = memory["peak"]
    plot = view.element.get_by_role("slider", name="Step of the schedule")
    expect(plot).to_have_attribute("aria-valuenow", str(peak["position"] + 1))
    panel = view.element.locator("[data-panel=memory]")
    panel.get_by_label("buffer by buffer").check()
    expect(panel.get_by_role("heading", name="In use at this step, largest first")).to_be_visible()
    rows = panel.locator(".jitscope-table-row")
    largest = memory["buffers"][peak["buffers"][0]]
    expect(rows.first).to_contain_text(largest["label"])
    plot.focus()
    view.page.keyboard.press("Home")
    expect(plot).to_have_attribute("aria-valuenow", "1")
    alive = [b for b in memory["buffers"] if b["born"] == 0]
    expect(rows).to_have_count(min(len(alive), 20))
    view.element.get_by_role("button", name="Go to the peak").click()
    expect(plot).to_have_attribute("aria-valuenow", str(peak["position"] + 1))
    with_line = next(n for n, at in enumerate(peak["buffers"]) if memory["buffers"][at]["path"] is not None)
    rows.first.focus()
    for _ in range(with_line):
        view.page.keyboard.press("ArrowDown")
    view.page.keyboard.press("Enter")
    buffer = memory["buffers"][peak["buffers"][with_line]]
    expect(rows.nth(with_line)).to_have_attribute("aria-selected", "true")
    view.open("graph")
    line = memory["positions"][buffer["path"]]["line"]
    expect(view.element.locator(".jitscope-details")).to_contain_text(f"line {line}")


def test_the_memory_by_line_sums_what_is_in_use_at_the_peak(bare: Bare) -> None:
    document = program()[2]
    memory = document["instruments"]["memory"]
    view = bare.show(document)
    view.open("memory")
    panel = view.element.locator("[data-panel=memory]")
    panel.get_by_label("by line", exact=True).check()
    alive = [memory["buffers"][at] for at in memory["peak"]["buffers"]]
    lines: dict[str, int] = {}
    for buffer in alive:
        position = memory["positions"].get(buffer["path"])
        given = "given to the program" if buffer["kind"] == "argument" else "no known line"
        name = f"line {position['line']}" if position else given
        lines[name] = lines.get(name, 0) + buffer["bytes"]
    assert sum(lines.values()) == memory["peak"]["bytes"]
    rows = panel.locator(".jitscope-table-row")
    expect(rows).to_have_count(len(lines))
    for name, bytes in sorted(lines.items(), key=lambda item: -item[1])[:3]:
        expect(rows.filter(has_text=name).first).to_contain_text(size(bytes))
    several = rows.and_(view.page.locator("[aria-expanded]")).first
    several.focus()
    view.page.keyboard.press("ArrowRight")
    expect(rows.locator("xpath=self::*[@aria-level=2]").first).to_be_visible()
    view.page.keyboard.press("ArrowLeft")
    expect(rows).to_have_count(len(lines))
    panel.get_by_role("button", name="buffers", exact=True).click()
    counts = [int(text) for text in rows.locator("[data-name=buffers]").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)


def test_the_values_by_keyboard(bare: Bare) -> None:
    document = program()[2]
    values = document["instruments"]["values"]
    view = bare.show(document)
    view.open("values")
    panel = view.element.locator("[data-panel=values]")
    rows = panel.locator(".jitscope-table-row")
    first = values["rows"][values["first_bad"]]
    expect(rows.first).to_contain_text(first["label"])
    expect(rows.first).to_contain_text("NaN" if first["nan"] else "Inf")
    card = panel.locator(".jitscope-table-inside")
    expect(card).to_have_count(1)  # the first that is not finite is open
    expect(card.get_by_role("img", name="Picture of the array")).to_be_visible()
    expect(card.locator("dt").filter(has_text="elements").locator("+ dd")).to_have_text(f"{first['size']:,}")
    panel.locator(".jitscope-table-sort").filter(has_text="#").click()
    panel.locator(".jitscope-table-sort").filter(has_text="#").click()
    expect(rows.first).to_contain_text(values["rows"][0]["label"])
    rows.first.focus()
    view.page.keyboard.press("ArrowDown")
    view.page.keyboard.press("Enter")
    expect(rows.nth(1)).to_contain_text(values["rows"][1]["label"])
    expect(rows.nth(1)).to_have_attribute("aria-expanded", "true")
    expect(card).to_have_count(1)
    expect(card.locator("dt").filter(has_text="elements").locator("+ dd")).to_have_text(
        f"{values['rows'][1]['size']:,}"
    )
    view.page.keyboard.press("ArrowLeft")
    expect(card).to_have_count(0)
    panel.get_by_role("button", name="largest", exact=True).click()
    known = [max(abs(row["min"]), abs(row["max"])) for row in values["rows"] if row["min"] is not None]
    expect(rows.first.locator("[data-name=largest]")).to_have_text(number(max(known), ""))
    panel.get_by_label("Values: only rows with").fill("tanh")
    texts = {at: line["text"] for at, line in enumerate(values["lines"])}
    expect(rows).to_have_count(sum("tanh" in row["label"] + texts.get(row["line"], "") for row in values["rows"]))


ROWS_OF_TEXT = """cells => cells.map(cell => {
  const words = document.createRange();
  words.selectNodeContents(cell);
  return new Set([...words.getClientRects()].map(box => Math.round(box.bottom / 8))).size;
})"""


def test_lines_of_values_stand_in_few_rows(bare: Bare) -> None:
    """However many elements are not finite: 59 characters of a line in three rows, that wrapped to six."""
    values = program()[2]["instruments"]["values"]
    lines = [{**line, "text": 'state = kernel.sample(state, (x, group), {"y": y})'} for line in values["lines"]]
    rows = [{**row, "nan": 4697, "inf": 1303, "iterations": 3, "first_bad": 0} for row in values["rows"]]
    view = bare.show({**values, "lines": lines, "rows": rows, "details": []}, width=1280)
    shown = view.element.locator(".jitscope-table-row > [data-name=line]:not(:empty)")
    counts = shown.evaluate_all(ROWS_OF_TEXT)
    assert counts and max(counts) <= 3, counts


def test_the_graph_marks_what_is_not_finite_and_shows_values(bare: Bare) -> None:
    document = program()[2]
    values = document["instruments"]["values"]
    view = bare.show(document)
    view.open("graph")
    labels = {node["id"]: node["label"] for node in view.nodes()}
    bad = {row["path"] for row in values["rows"] if row["nan"] or row["inf"]} & labels.keys()
    assert bad and all("✕" in labels[path] for path in bad)
    fine = {row["path"] for row in values["rows"]} & labels.keys() - bad
    assert fine and not any("✕" in labels[path] for path in fine)
    path = sorted(bad)[0]
    view.element.evaluate("(e, node) => e.__jitscope.select({ node })", path)
    details = view.element.locator(".jitscope-details .jitscope-value-card")
    expect(details).to_contain_text("✕")
    assert_readable(view.element)
    view.page.screenshot(path=SCREENSHOTS / "values-graph.png", full_page=True)


def test_a_kernel_is_asked_for_more(page: Page) -> None:
    row, _args, document = program()
    cell = {
        "kind": "cell",
        "version": 1,
        "cell": "In [1]",
        "cell_id": None,
        "compilations": [{**document, "instruments": {}}],
        "recompilations": document["recompilations"],
        "reused": [],
        "left_alone": [],
        "error": None,
        "note": "",
    }
    asked: list[dict[str, Any]] = []

    def look(_: int, name: str, options: Any) -> dict[str, Any]:
        asked.append(dict(options))
        return observe.look(row, name, None, **options)

    view = Kernel(cell, look).shown(page)
    view.open("memory")
    view.element.get_by_role("button", name="Show memory").click()
    expect(view.element.get_by_role("slider", name="Step of the schedule")).to_be_visible()
    change = document["instruments"]["memory"]["changes"][0]
    button = view.element.get_by_role("button", name="Compile with this").first
    button.click()
    result = view.element.locator("[data-panel=memory] p").filter(has_text=f"{change['text']}: in use at most")
    expect(result).to_contain_text("instead of")
    expect(result).to_contain_text("Compiling it took")
    view.open("values")
    view.element.get_by_role("button", name="Show values").click()
    panel = view.element.locator("[data-panel=values]")
    card = panel.locator(".jitscope-table-inside")
    panel.get_by_label("Values: only rows with").fill("tanh")
    panel.locator(".jitscope-table-row").filter(has=page.locator("strong", has_text="tanh")).first.click()
    card.get_by_label("Iteration").fill("3")
    card.get_by_role("button", name="Look at this iteration").click()
    expect(card).to_contain_text("Iteration 3 (from 0)")
    expect(card.get_by_label("Iteration")).to_have_attribute("max", "8")
    card.get_by_label("Iteration").fill("5")
    view.page.keyboard.press("Enter")
    expect(card).to_contain_text("Iteration 5 (from 0)")
    assert [one.get("iteration") for one in asked] == [None, None, None, 3, 5]
    assert asked[0] == {} and asked[1] == {"change": change["id"]}
    assert_readable(view.element)


DETAILS = ".jitscope-details"
FREE = """(element) => {
  const { graph } = element.__jitscope;
  const boxes = graph.nodes().filter((node) => !node.open);
  const free = ([x, y]) => !boxes.some((b) => x > b.x - 4 && x < b.x + b.w + 4 && y > b.y - 4 && y < b.y + b.h + 4);
  const height = element.querySelector('.jitscope-graph canvas').clientHeight;
  const middle = ([, [ax, ay], [bx, by]]) => [(ax + bx) / 2, (ay + by) / 2];
  return graph.strokes().map(middle).filter((point) => free(point) && point[1] > 30 && point[1] < height - 30);
}"""


def test_values_are_picked_on_their_way(bare: Bare) -> None:
    document = program()[2]
    view = bare.show(document)
    view.open("graph")
    view.fit()
    nodes = {node["id"]: node for node in document["graph"]["nodes"]}
    flows = {(nodes[e["from"]]["label"], nodes[e["to"]]["label"], e["type"]) for e in document["graph"]["edges"]}
    details = view.element.locator(DETAILS)
    known = {(row["path"], row["result"]): row for row in document["instruments"]["values"]["rows"]}

    def told() -> tuple[str, list[str], str]:
        maker, *readers = details.locator("button.jitscope-link").all_inner_texts()
        return maker, readers, details.locator(".jitscope-details-first > code").first.inner_text()

    seen = 0
    for x, y in view.element.evaluate(FREE)[:6]:
        view.element.locator(".jitscope-graph canvas").first.click(position={"x": x, "y": y})
        if details.get_by_text("made by").count():
            maker, readers, kind = told()
            assert readers and all((maker, reader, kind) in flows for reader in readers)
            seen += 1
    assert seen >= 2
    # by keyboard: what leaves an equation, whose values are known
    start = next(e["from"] for e in document["graph"]["edges"] if (e["from"], 0) in known)
    view.element.evaluate(
        "(element, id) => { const { graph } = element.__jitscope; graph.takeFocus(); graph.focus(id); }", start
    )
    view.page.keyboard.press("e")
    expect(details).to_contain_text("made by")
    maker, readers, kind = told()
    assert maker == nodes[start]["label"] and all((maker, reader, kind) in flows for reader in readers)
    name = nodes[start]["text"].split(":")[0]
    assert details.locator("strong").first.inner_text() == f"value {name}"
    assert f"{known[start, 0]['size']:,}" in details.locator(".jitscope-facts").first.inner_text()
    assert details.locator("svg").count() >= 1
    assert_readable(view.element)
    assert not axe_findings(view.element)
    details.locator("button.jitscope-link").nth(1).click()
    expect(details.locator("strong").first).to_have_text(readers[0])
