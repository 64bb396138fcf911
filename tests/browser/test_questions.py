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
WATCHED = ("eqx_unet",)


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
    row = asked.tab("memory").locator(".jitscope-table-row").first
    names = "|".join(re.escape(one["name"]) for one in asked.document["source"]["functions"])
    expect(row).to_contain_text(re.compile(rf"line \d+|{names}"))  # the function, where all is one line's


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
    expect(panel).to_contain_text(f"recorded {asked.document['equations']:,} equation")


QUESTIONS: list[Callable[[Asked], None]] = [
    what_it_is_made_of, which_line_is_slowest, what_a_call_takes, where_the_first_call_went, what_it_costs_in_memory,
    which_line_holds_most_memory, why_it_was_compiled_again, what_was_fused, why_two_kernels_are_not_one, which_kernels_run_a_line,
    which_operations_a_line_became, whether_there_is_a_nan, what_was_traced,
]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.__name__)
@pytest.mark.parametrize(
    "name",
    [
        "lstm",
        "eqx_unet",
        *(pytest.param(n, marks=full) for n in ("resnet", "transformer", "unrolled")),
    ],
)
def test_a_question_is_answered_in_two_clicks(bare: Bare, name: str, question: Callable[[Asked], None]) -> None:
    asked = Asked(bare, *asked_of(name))
    question(asked)
    assert asked.clicks <= MOST_CLICKS
