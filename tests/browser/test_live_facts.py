"""What is read in the tabs of a live view, against XLA's own text and Python's own frames. Nothing here knows of documents."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePath
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import jitscope as jx
from jitscope_scope import observe
from tests.browser.bare import Bare
from tests.extent import some
from tests.scope.fact_sheets import made
from tests.scope.observe.test_facts import equations_in
from tests.scope.page_of_facts import lines_in
from tests.scope.xla_text import Program


NAMES = some(
    """elementwise product lstm scan_gradient libraries message_passing log_softmax_gradient while_in_cond_in_scan
    batched_factorisations sorted_by_two_keys given_away""".split(),
    always="lstm libraries while_in_cond_in_scan given_away",
)

READ = """root => {
  const table = root.querySelector("[aria-label=Kernels]");
  const rows = () => [...table.querySelectorAll(".jitscope-table-row")].filter(row => row.closest("[aria-label]") === table);
  const kernels = rows().map((_, n) => {
    const row = rows()[n];
    const [name, what, type, place] = [...row.querySelectorAll("[role=gridcell]")];
    row.querySelector(".jitscope-table-toggle").click();
    const lines = [...table.querySelectorAll(".jitscope-table-inside .jitscope-code-row > code")];
    const read = {
      called: name.querySelector("strong").textContent.split(" ").slice(1).join(" "),
      name: name.querySelector("code").textContent,
      what: what.textContent,
      type: type.textContent,
      place: [...place.childNodes].map(part => part.textContent).join(" "),
      note: row.querySelector(".jitscope-table-note")?.textContent ?? "",
      operations: lines.slice(1).map(line => line.textContent.split(" ").at(-1)),
    };
    rows()[n].querySelector(".jitscope-table-toggle").click();
    return read;
  });
  return { kernels, headline: root.querySelector(".jitscope-headline").textContent };
}"""
COSTS = "root => [...root.querySelectorAll('[data-kind=timing] .jitscope-facts dd')].map(cost => cost.textContent)"
_UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}


class Live:
    def __init__(self, bare: Bare, name: str) -> None:
        self.facts = made(name)
        self.xla = Program(self.facts.xla)
        view = bare.show(self.facts.document)
        view.open("fusion")
        ways = view.element.get_by_role("group", name="Kernels", exact=True)
        if ways.count():
            ways.get_by_label("one by one").check()
        more = view.element.locator(
            ".jitscope-table-part", has=view.page.get_by_role("treegrid", name="Kernels", exact=True)
        )
        more = more.locator(".jitscope-fold")
        if more.count():
            more.click()
        read: dict[str, Any] = view.element.evaluate(READ)
        self.headline, self.rows = read["headline"], read["kernels"]
        self.kernels = [row for row in self.rows if row["called"].startswith("kernel")]
        self.loops = [row for row in self.rows if row["called"].startswith("loop")]
        view.open("timing")
        self.arithmetic, self.moved, _ = view.element.evaluate(COSTS)

    def number(self, words: str) -> int:
        found = re.search(rf"([\d,]+) {words}", self.headline)
        return int(found[1].replace(",", "")) if found else 0

    def lines(self, row: dict[str, Any]) -> set[tuple[str, int]]:
        """(file, line), "" for the file that most are in."""
        return {(file, line) for file, lines in lines_in(re.sub(r" +", " ", row["place"])).items() for line in lines}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_is_what_the_compiler_made(bare: Bare, name: str) -> None:
    live = Live(bare, name)
    for check in (_counts, _rows, _loops, _lines, _work):
        check(live)


def _counts(live: Live) -> None:
    kernels = list(live.xla.kernels())
    assert live.number("equations?") == sum(equations_in(live.facts.jaxpr).values())
    assert live.number("kernels?") == len(kernels) == len(live.kernels)
    assert live.number("loops?") == len(list(live.xla.loops())) == len(live.loops)
    for word, rows in (("kernel", live.kernels), ("loop", live.loops)):
        assert {row["called"] for row in rows} == {f"{word} {n}" for n in range(1, len(rows) + 1)}
        for part in (_computing(live, rows), [row for row in rows if row not in _computing(live, rows)]):
            numbers = [int(row["called"].split()[1]) for row in part]
            assert numbers == sorted(numbers)
    computing = _computing(live, live.rows)
    assert live.rows[: len(computing)] == computing, "what only fills, moves or counts stands last"


def _computing(live: Live, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of loops, and of kernels of which XLA's text has an operation on more than a counter that is no mere copy or filling."""
    computing = {line.name for line in live.xla.kernels() if live.xla.computes(line)}
    return [
        row for row in rows if row["called"].startswith("loop") or row["name"].split("/")[-1].rstrip("'") in computing
    ]


def _rows(live: Live) -> None:
    lines = {line.name: line for line in live.xla.kernels()} | {line.name: line for line, _ in live.xla.loops()}
    for row in live.rows:
        line = lines[row["name"].split("/")[-1].rstrip("'")]
        assert _said(re.sub(r"\{[^}]*\}|/\*.*?\*/", "", line.type), row["type"]), row
        members = row["operations"] or [row["what"].removesuffix(" (library call)")]
        if line.opcode != "while":
            inside = live.xla.members(line)
            computing = {opcode: n for opcode, n in inside.items() if opcode != "bitcast"}
            assert Counter(members) in (inside, computing), row
        if row["what"].startswith("fusion"):
            assert row["what"] == f"fusion of {len(members):,}" and len(members) > 1


def _said(type: str, shown: str) -> bool:
    """Whether what is shown is a type, or its first parts and how many more there are."""
    first, _, more = shown.replace(" ", "").partition("…")
    if not more:
        return first == type.replace(" ", "")
    parts = re.findall(r"\w+\[[\d,]*\]", type)
    given = re.findall(r"\w+\[[\d,]*\]", first)
    return given == parts[: len(given)] and more == f"{len(parts) - len(given)}more)"


def _loops(live: Live) -> None:
    said = Counter(
        (int(found[1]), int(found[2].replace(",", "")) if found[2] else None)
        for row in live.loops
        if (found := re.search(r"Repeats the (\d+) kernels? in it(?: ([\d,]+) times?)?", row["note"]))
    )
    assert said == Counter((count, line.trips) for line, count in live.xla.loops())


def _lines(live: Live) -> None:
    ran = {(PurePath(found.file).name, found.line) for found in live.facts.recorded}
    numbers = {line for _, line in ran}
    for row in live.kernels:
        places = live.lines(row)
        assert places or row["place"] in ("added by XLA", "no known line"), row
        for file, line in places:
            assert (file, line) in ran if file else line in numbers, (row, ran)


def _work(live: Live) -> None:
    for text, most, least in (
        (live.arithmetic, *(reversed(live.xla.work() or (None, None)))),
        (live.moved, live.xla.moved(), 0),
    ):
        found = re.fullmatch(r"≈ ([\d.,]+) ([kMG]?)(?:flop|B)", text)
        assert (found is None) == (most is None) == text.startswith("unknown: "), text
        if found is not None:
            value = float(found[1].replace(",", "")) * _UNITS[found[2]]
            assert 0.99 * least <= value <= 1.26 * most  # slices of something read whole by others count besides


def test_recompilations_are_counted_alike_everywhere(bare: Bare) -> None:
    """In the headline of the function, on its tab, in the tab's card and in the card below the cell: as often as it had other sizes."""
    jx.clear_caches()
    ledger = observe.Ledger()
    try:
        mark = ledger.mark()
        doubled = jx.jit(lambda x: x + x)
        for size in range(2, 7):
            doubled(np.ones(size, np.float32))
        document = observe.cell_document(mark, cell="In [1]", ledger=ledger)
    finally:
        ledger.close()
    view = bare.show(document)
    view.open("recompiles")
    tab = view.element.locator("[role=tab][data-tab=recompiles]")
    assert re.findall(r"\d+", tab.inner_text()) == ["4"]
    assert "4 recompilations" in view.headline().inner_text()
    cards = view.element.locator(".jitscope-card")
    shown = cards.and_(view.page.locator(":visible"))
    expect(shown).to_have_count(1)  # in the open tab, and not once more below it
    expect(shown).to_contain_text("4 recompilations")
    view.open("memory")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text("4 recompilations")
    view.open("recompiles")
    view.close()
    expect(shown).to_have_count(1)
    view.open("recompiles")
    table = view.element.locator(".jitscope-compilations")
    table.locator("summary").click()
    reasons = [row.locator("td").last.inner_text() for row in table.locator("tbody tr").all()]
    assert reasons[0] == "first compilation" and all(f"f32[{n}]" in why for n, why in enumerate(reasons, 2) if n > 2)
