"""What people ask of a program, answered by the views in at most two clicks. The answers are held against sums over the documents, and
against what the compiler says when it is asked without us: XLA's text of the program, the bytes of the arguments, the results.

A training step of equinox's is compiled by jax itself, in the environment of `make test-jax`."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import jitscope as jx
from jitscope_scope import observe
from jitscope_widgets.quantities import percent, size
from jitscope_widgets.views.reasons import MEANING
from tests.browser.bare import Bare
from tests.browser.view import View
from tests.extent import full
from tests.programs.rows import row_of
from tests.scope.xla_text import Line, Program


Document = dict[str, Any]
MOST_CLICKS = 2
ROOT = Path(__file__).parents[2]
JAX = ROOT / ".venv-watch"
WATCHED = ("eqx_unet", "linen_gpt", "nnx_resnet")


class Told(TypedDict):
    """What is known of a program by other means."""

    text: str
    """The optimised program, as XLA writes it."""
    arguments: int
    """Bytes."""
    finite: bool
    """Each number of the results."""


@functools.cache
def asked_of(name: str) -> tuple[Document, Told]:
    """The compilation of a program with what was measured of it, and what it is by other means."""
    return by_jax(name) if name in WATCHED else by_us(name)


def by_jax(name: str) -> tuple[Document, Told]:
    if not (JAX / ".installed").exists():
        pytest.skip("jax and its libraries are not installed: `make .venv-watch/.installed` does it")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "document.json"
        command = [JAX / "bin" / "python", "-m", "tests.programs.watched.documents", name, file]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr[-4000:]
        found = json.loads(file.read_text())
    return found["document"], found["jax"]


def by_us(name: str) -> tuple[Document, Told]:
    module = import_module(f"tests.programs.{name}")
    args = jx.tree.map(jx.numpy.asarray, module.arguments())
    row = row_of(module.program, *args)
    found = {
        "profile": observe.look(row, "profile", limit=0.5),
        "memory": observe.look(row, "memory"),
        "values": observe.look(row, "values"),
        "reasons": observe.look(row, "reasons"),
    }
    results = jx.tree.leaves(jx.jit(module.program)(*args))
    told: Told = {
        "text": jx.jit(module.program).lower(*args).compile().as_text(),
        "arguments": sum(leaf.nbytes for leaf in jx.tree.leaves(args)),
        "finite": all(bool(np.isfinite(np.asarray(leaf)).all()) for leaf in results),
    }
    return {**observe.compilation_document(row), "instruments": found}, told


class Asked:
    """A view that counts the clicks an answer takes."""

    def __init__(self, bare: Bare, document: Document, told: Told):
        self.view = View(bare.show(document).element)
        self.view.open_graph()
        self.document, self.told = document, told
        self.clicks = 0

    def click(self, element: Locator) -> None:
        element.click()
        self.clicks += 1

    def tab(self, name: str) -> Locator:
        self.click(self.view.element.locator(f"[role=tab][data-tab={name}]"))
        panel = self.view.element.locator(f"[data-panel={name}]")
        expect(panel).to_be_visible()
        return panel


def what_it_is_made_of(asked: Asked) -> None:
    seen = [node for node in asked.view.nodes() if node["onScreen"]]
    functions = {one["name"] for one in asked.document["source"]["functions"]}
    assert any(node["label"].split(" ×")[0] in functions for node in seen) or len(functions) == 1
    assert any(node["kind"] in ("equation", "scope", "group") for node in seen)


def which_line_is_slowest(asked: Asked) -> None:
    profile = asked.document["instruments"]["profile"]
    said = asked.tab("timing").get_by_text("The slowest line is").first.inner_text()
    (number,) = map(int, re.findall(r", line (\d+)", said))
    total = sum(kernel["median"] for kernel in profile["kernels"])
    number_of = [place["line"] for place in (line["position"] for line in profile["lines"])]
    whose = [{number_of[line] for line in kernel["lines"]} for kernel in profile["kernels"]]
    alone = sum(k["median"] for k, lines in zip(profile["kernels"], whose) if lines == {number}) / total
    touched = sum(k["median"] for k, lines in zip(profile["kernels"], whose) if number in lines) / total
    takes = next(line["own"] for line in profile["lines"] if line["position"]["line"] == number and line["own"])
    share = takes.get("estimate", takes["least"])
    assert percent(share) in said
    assert alone - 0.02 <= share <= touched + 0.02


def what_a_call_takes(asked: Asked) -> None:
    panel = asked.tab("timing")
    expect(panel.get_by_text(re.compile(r"A call takes [\d.]+ (n|µ|m)?s")).first).to_be_visible()


def where_the_first_call_went(asked: Asked) -> None:
    panel = asked.tab("timing")
    stages = [stage["name"] for stage in asked.document["timing"]["stages"]]
    assert {"trace"} <= set(stages)
    for stage in stages:
        expect(panel.get_by_text(stage, exact=False).first).to_be_visible()


def what_it_costs_in_memory(asked: Asked) -> None:
    panel = asked.tab("memory")
    expect(panel.get_by_text("in use, at step").first).to_be_visible()
    expect(panel).to_contain_text(f"arguments {size(asked.told['arguments'])}")


def which_line_holds_most_memory(asked: Asked) -> None:
    memory = asked.document["instruments"]["memory"]
    panel = asked.tab("memory")
    held = _by_line(memory["peak"]["lines"], memory["positions"])
    if len(held) < 2:  # the function, where all is one line's
        names = "|".join(re.escape(one["name"]) for one in asked.document["source"]["functions"])
        expect(panel.locator(".jitscope-table-row").first).to_contain_text(re.compile(rf"line \d+|{names}"))
        return
    number, most = held.most_common(1)[0]
    said = panel.get_by_text("holds the most at the peak").inner_text()
    assert f"line {number} holds" in said and f": {size(most)} in" in said


def where_the_peak_comes_from(asked: Asked) -> None:
    memory = asked.document["instruments"]["memory"]
    panel = asked.tab("memory")
    expect(panel).to_contain_text(f"At most {size(memory['peak']['bytes'])} in use")
    assert sum(line["bytes"] for line in memory["peak"]["lines"]) == memory["peak"]["bytes"]
    instruction = re.escape(memory["peak"]["instruction"])
    assert re.search(rf"^\s*(?:ROOT )?%?{instruction} = ", asked.told["text"], re.M)


def what_is_kept_for_the_backward_pass(asked: Asked) -> None:
    memory = asked.document["instruments"]["memory"]
    panel = asked.tab("memory")
    if not (kept := memory.get("kept")):
        expect(panel.get_by_text("Kept for the backward pass")).to_have_count(0)
        return
    said = panel.get_by_text("Kept for the backward pass").inner_text()
    number, most = _by_line(kept["lines"], memory["positions"]).most_common(1)[0]
    assert f"{size(kept['bytes'])} in" in said and f"line {number}" in said
    assert size(most) in said


def _by_line(shares: list[Document], positions: Document) -> Counter[int]:
    """Bytes by line of those whose line is known."""
    found: Counter[int] = Counter()
    for share in shares:
        if (place := positions.get(share["path"])) is not None:
            found[place["line"]] += share["bytes"]
    return found


def where_the_time_between_kernels_is(asked: Asked) -> None:
    profile = asked.document["instruments"]["profile"]
    said = asked.tab("timing").get_by_text("No kernel ran for").first.inner_text()
    call, kernels = profile["timeline"], profile["kernels"]
    ran = [
        (start, start + length)
        for start, length, at in zip(call["start"], call["length"], call["kernel"])
        if kernels[at]["share"] is not None
    ]
    grid = np.linspace(0, call["seconds"], 200_001)
    starts, ends = (np.sort([span[n] for span in ran]) for n in (0, 1))
    running = np.searchsorted(starts, grid, "right") > np.searchsorted(ends, grid, "right")
    (told,) = re.findall(r"in (\S+) % of it", said)
    assert 100 * running.mean() == pytest.approx(float(told), abs=1.0)
    assert "before the first one" in said


def what_products_are_computed_in(asked: Asked) -> None:
    types = dict(re.findall(r"^\s*(?:ROOT )?%?([\w.\-]+) = \(?(\w+)\[", asked.told["text"], re.M))
    factors = re.findall(r"= (\w+)\[[^=]*? dot\(%?([\w.\-]+),", asked.told["text"])
    narrow = sum(types[name] == "bf16" for _, name in factors)
    panel = asked.tab("fusion")
    if not any("bf16" in kind for node in asked.document["graph"]["nodes"] for kind in node["types"]):
        assert not narrow
        expect(panel.get_by_text("products of bf16")).to_have_count(0)
        return
    said = panel.get_by_text("products of bf16").inner_text()
    (told,) = re.findall(r"([\d,]+) takes? bf16", said)
    assert int(told.replace(",", "")) == narrow > 0


def where_copies_and_transposes_are(asked: Asked) -> None:
    panel = asked.tab("fusion")
    applied = set(re.findall(r"to_apply=%?([\w.\-]+)", asked.told["text"]))  # what adds two numbers of a sum
    parts = re.split(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$", asked.told["text"], flags=re.M)
    text = "".join(body for name, body in zip(parts[1::2], parts[2::2]) if name not in applied)
    for opcode, noun in (("copy", "cop(y|ies)"), ("transpose", "transposes?"), ("convert", "conversions? of dtypes")):
        count = len(re.findall(rf" {opcode}\(", text))
        if count:
            expect(panel.get_by_text(re.compile(rf"(^|\s){count:,} {noun}")).first).to_be_visible()
        else:
            expect(panel.get_by_text(re.compile(rf"[1-9]\d* {noun}.*of their own")).first).to_have_count(0)


def what_the_parts_of_a_step_take(asked: Asked) -> None:
    """The share of the forward pass, the backward pass and the optimizer: in the outline above the graph."""
    asked.click(asked.view.element.locator(".jitscope-modules > summary"))
    table = asked.view.element.locator(".jitscope-modules [role=treegrid]")
    nodes = {node["id"]: node for node in asked.document["graph"]["nodes"]}

    def outermost(node: Document) -> str:
        while node["scope"] in nodes:
            node = nodes[node["scope"]]
        return node["id"]

    part_of = {path: outermost(node) for node in nodes.values() for path in node["paths"]}
    paths = {k["name"]: k.get("paths", ()) for k in asked.document["fusion"]["kernels"]}

    def owner(path: str) -> str | None:
        while path and path not in part_of:  # what stands inside of an operation
            path = path.rpartition("/")[0]
        return part_of.get(path)

    kernels = [k for k in asked.document["instruments"]["profile"]["kernels"] if k["share"] is not None]
    parts = [n for n in nodes.values() if n.get("what") in ("function", "line") and outermost(n) == n["id"]]
    for part in parts:
        row = table.locator(".jitscope-table-row").filter(
            has_text=re.compile(rf"^\W*{re.escape(part['label'])}(\W|\d|$)")
        )
        expect(row.first).to_be_visible()
        cells = row.first.locator("[role=gridcell]").all_inner_texts()
        assert cells[1] == f"{part['count']:,}"
        if not (told := re.findall(r"([\d.]+) %", cells[3])):
            continue
        owners = [{owner(path) for path in k.get("equations") or paths.get(k["name"], ())} for k in kernels]
        least = sum(k["share"] for k, own in zip(kernels, owners) if own == {part["id"]})
        most = sum(k["share"] for k, own in zip(kernels, owners) if part["id"] in own)
        assert all(100 * least - 1 <= float(one) <= 100 * most + 1 for one in told), (part["label"], told, least, most)


def why_it_was_compiled_again(asked: Asked) -> None:
    expect(asked.tab("recompiles")).to_contain_text("Nothing was compiled or traced more than once.")


def what_was_fused(asked: Asked) -> None:
    fusion = asked.document["fusion"]
    said = asked.tab("fusion").locator(".jitscope-sentence").first.inner_text()
    xla = Program(asked.told["text"])
    kernels = list(xla.kernels())
    assert f"→ {len(kernels):,} kernel" in said
    counted = Counter(kernel["kind"] for kernel in fusion["kernels"])
    assert counted["fusion"] == sum(line.opcode == "fusion" and is_fused(xla, line) for line in kernels)
    assert f"{counted['fusion']:,} fusion" in said


def is_fused(xla: Program, line: Line) -> bool:
    """Several operations as one kernel, which is no call of a library."""
    return xla.members(line).total() > 1 and "kind=kCustom" not in line.rest


def why_two_kernels_are_not_one(asked: Asked) -> None:
    document = asked.document["instruments"]["reasons"]
    panel = asked.tab("fusion")
    if not document["pairs"]:
        assert not any(kernel["kind"] == "fusion" for kernel in asked.document["fusion"]["kernels"][1:])
        return
    table = panel.locator("[data-instrument=reasons] .jitscope-table-part")
    told = [
        pair
        for pair in document["pairs"]
        if pair["reason"] and pair["reader"]["positions"] and pair["giver"]["positions"]
    ]
    pair = told[len(told) // 2]
    lines = [f"line {pair[end]['positions'][0]['line']}" for end in ("giver", "reader")]
    filtered = table.get_by_role("searchbox")
    if filtered.count():
        filtered.fill(MEANING[pair["reason"]])
    row = (
        table.locator(".jitscope-table-row")
        .filter(has_text=lines[0])
        .filter(has_text=lines[1])
        .filter(has_text=MEANING[pair["reason"]])
    )
    expect(row.first).to_be_visible()
    asked.click(row.first)
    if "×" not in row.first.inner_text():
        expect(table).to_contain_text(pair["reason"])


def which_kernels_run_a_line(asked: Asked) -> None:
    asked.click(asked.view.element.locator(".jitscope-line[data-marked]").last)
    expect(asked.view.element.locator(".jitscope-details")).to_contain_text(re.compile(r"kernel|loop"))


def which_operations_a_line_became(asked: Asked) -> None:
    asked.click(asked.view.element.locator(".jitscope-line[data-marked]").last)
    expect(asked.view.element.locator(".jitscope-details")).to_contain_text(re.compile(r"[\d,]+ equation"))


def whether_there_is_a_nan(asked: Asked) -> None:
    values = asked.document["instruments"]["values"]
    assert asked.told["finite"] or values["first_bad"] is not None
    said = "all their numbers are finite" if values["first_bad"] is None else "not finite"
    expect(asked.tab("values")).to_contain_text(said)


def what_was_traced(asked: Asked) -> None:
    panel = asked.tab("stages")
    count = asked.document["equations"]
    expect(panel).to_contain_text(f"{count:,} equations recorded" if count != 1 else "1 equation recorded")


QUESTIONS: list[Callable[[Asked], None]] = [
    what_it_is_made_of, which_line_is_slowest, what_a_call_takes, where_the_first_call_went, what_it_costs_in_memory,
    which_line_holds_most_memory, why_it_was_compiled_again, what_was_fused, why_two_kernels_are_not_one, which_kernels_run_a_line,
    which_operations_a_line_became, whether_there_is_a_nan, what_was_traced, where_the_peak_comes_from,
    what_is_kept_for_the_backward_pass, where_the_time_between_kernels_is, what_products_are_computed_in,
    where_copies_and_transposes_are, what_the_parts_of_a_step_take,
]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.__name__)
@pytest.mark.parametrize(
    "name",
    [
        "lstm",
        *WATCHED,
        *(pytest.param(n, marks=full) for n in ("resnet", "transformer", "unrolled")),
    ],
)
def test_a_question_is_answered_in_two_clicks(bare: Bare, name: str, question: Callable[[Asked], None]) -> None:
    asked = Asked(bare, *asked_of(name))
    question(asked)
    assert asked.clicks <= MOST_CLICKS
