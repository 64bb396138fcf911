"""What people ask of a program, answered by the views in at most two clicks. The answers are held against sums over the documents, and
against what the compiler says when it is asked without us: XLA's text of the program, the bytes of the arguments, the results.

A training step of equinox's is compiled by jax itself, in the environment of `make test-jax`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import jitscope as jx
from jitscope_scope import observe
from jitscope_widgets.quantities import percent, seconds, size
from jitscope_widgets.views.reasons import MEANING
from tests.browser.audit import assert_readable
from tests.browser.bare import Bare
from tests.browser.conftest import Watched
from tests.browser.view import TABS, View
from tests.extent import full
from tests.programs import ablation
from tests.programs.rows import row_of
from tests.programs.told import ROOT, WATCHED, Document, Told, asked_of, in_jax
from tests.scope.xla_text import Line, Program


pytestmark = pytest.mark.long
MOST_CLICKS = 2


class Asked:
    """A view that counts the clicks an answer takes."""

    def __init__(self, bare: Bare, document: Document, told: Told):
        self.view = View(bare.show(document).element)
        self.document, self.told = document, told

    def begin(self) -> None:
        """The graph is shown, and nothing selected."""
        self.view.open("graph")
        self.view.select(None)
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
    listed = asked.view.element.locator(".jitscope-function").count()  # what a library calls may be deep in its loops
    assert len(functions) <= max(1, listed) or any(node["label"].split(" ×")[0] in functions for node in seen)
    assert any(node["kind"] in ("equation", "scope", "group") for node in seen)


def which_line_is_slowest(asked: Asked) -> None:
    profile = asked.document["instruments"]["profile"]
    expect(
        asked.view.element.locator(".jitscope-line .jitscope-heat").first
    ).to_be_visible()  # beside the code, at once
    said = asked.tab("timing").get_by_text("The slowest line is").first.inner_text()
    named = [int(n) for n in re.findall(r", line (\d+)", said)]
    assert named if "one of" in said else len(named) == 1  # some that are too close to tell, or one
    total = sum(kernel["median"] for kernel in profile["kernels"])
    number_of = [line["position"]["line"] for line in profile["lines"]]
    whose = [{number_of[line] for line in kernel["lines"]} for kernel in profile["kernels"]]
    for number in named:
        alone = sum(k["median"] for k, lines in zip(profile["kernels"], whose) if lines == {number}) / total
        touched = sum(k["median"] for k, lines in zip(profile["kernels"], whose) if number in lines) / total
        takes = next(line["own"] for line in profile["lines"] if line["position"]["line"] == number and line["own"])
        share = takes.get("estimate", takes["least"])
        assert percent(share) in said and alone - 0.02 <= share <= touched + 0.02


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


def what_xla_sets_aside(asked: Asked) -> None:
    said = asked.tab("memory").get_by_text("Reserved:").first.inner_text()
    for kind, noun in (("argument", "arguments"), ("output", "results"), ("temp", "temporaries")):
        assert (f"{noun} {size(asked.told['memory'][kind])}" in said) == (asked.told["memory"][kind] > 0)


def what_compiling_took(asked: Asked) -> None:
    """As the events of jax's say; of ours, as the stages of the document do, which add up."""
    panel = asked.tab("timing")
    stages = {stage["name"]: stage["seconds"]["value"] for stage in asked.document["timing"]["stages"]}
    for stage, told in asked.told.get("seconds", stages).items():
        row = panel.get_by_role("row").filter(has_text=re.compile(rf"^\W*{stage}\s*[\d<]"))
        expect(row.first).to_contain_text(seconds(told))
    assert sum(stages.values()) == pytest.approx(asked.document["timing"]["total"]["value"])


def which_operation_costs_most(asked: Asked) -> None:
    """The first kernel of the table; its opcode and type are those of XLA's text."""
    panel = asked.tab("timing")
    kernels = [k for k in asked.document["instruments"]["profile"]["kernels"] if k["share"] is not None]
    most = max(kernels, key=lambda kernel: kernel["share"])
    asked.click(panel.locator("label", has_text="one by one").last)
    table = panel.get_by_role("treegrid", name=re.compile("^Kernels")).or_(
        panel.get_by_role("grid", name=re.compile("^Kernels"))
    )
    row = table.locator(".jitscope-table-row").filter(has_text=re.compile(rf"{most['called']}(\D|$)")).first
    expect(row).to_contain_text(percent(most["share"]))
    expect(row).to_contain_text(most["opcode"] if most["operations"] == 1 else f"fusion of {most['operations']:,}")
    assert re.search(rf"^\s*(?:ROOT )?%?{re.escape(most['name'])} = ", asked.told["text"], re.M)


def what_a_block_costs(asked: Asked) -> None:
    """The parts of the program by their kernels: they add up, and the backward pass has kernels that XLA names so, too."""
    panel = asked.tab("timing")
    asked.click(panel.locator("label", has_text="by block").last)
    table = panel.get_by_role("treegrid", name=re.compile("^Kernels, by the part"))
    told: dict[str, float] = {}
    for row in table.locator(".jitscope-table-row[aria-level='1']").all():
        text = row.inner_text()
        told[text] = float((re.findall(r"([\d.]+) %", text) or ["0"])[0])
    assert sum(told.values()) == pytest.approx(100, abs=0.5 + 0.5 * len(told))
    kernels = [k for k in asked.document["instruments"]["profile"]["kernels"] if k["share"] is not None]
    names = scopes_of(asked.told["text"])
    if not any(names.values()):  # our own texts are written without
        return
    least = 100 * sum(k["share"] for k in kernels if _all_backward(names[k["name"]]))
    most = 100 * sum(k["share"] for k in kernels if _any_backward(names[k["name"]]))
    backward = sum(share for text, share in told.items() if "(backward)" in text)
    several = sum(share for text, share in told.items() if "in several or none" in text)
    assert least - several - 1 <= backward <= most + 1


def _all_backward(names: list[str]) -> bool:
    return bool(names) and all("transpose(" in one for one in names)


def _any_backward(names: list[str]) -> bool:
    return not names or any("transpose(" in one for one in names)


def scopes_of(text: str) -> dict[str, list[str]]:
    """What XLA says each instruction stems from (`op_name`), of a fusion what is in it."""
    parts = re.split(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$", text, flags=re.M)
    inside = dict(zip(parts[1::2], parts[2::2]))
    found: dict[str, list[str]] = {}
    for name, rest in re.findall(r"^\s*(?:ROOT )?%?([\w.\-]+) = (.*)$", text, re.M):
        called = re.search(r"calls=%?([\w.\-]+)", rest)
        found[name] = re.findall(r'op_name="([^"]*)"', inside[called[1]] if called else rest)
    return found


def what_grad_made(asked: Asked) -> None:
    """The equations that transpositions made, in all and by line; XLA's names say whether there are any."""
    backward = sum(mark["backward"] for mark in asked.document["source"]["marks"])
    if names := re.findall(r'op_name="([^"]*)"', asked.told["text"]):  # our own texts are written without
        assert bool(backward) == any("transpose(" in name for name in names)
    lines = asked.view.element.locator(".jitscope-line .jitscope-backward").all_inner_texts()
    assert bool(backward) == bool(lines)
    if backward:
        told = asked.view.element.locator(".jitscope-function").first.get_attribute("title") or ""
        assert f"{backward:,} more for the backward pass" in told or f"{backward:,} equations for the backward" in told
        assert max(int(one.strip("↩").replace(",", "")) for one in lines) <= backward


def where_it_runs(asked: Asked) -> None:
    """On one device: no tab tells of an exchange, and XLA's program has no part for another one."""
    expect(asked.view.element.locator("[role=tab][data-tab=communication]")).to_have_count(0)
    assert "num_partitions=" not in asked.told["text"].partition("\n")[0].replace("num_partitions=1", "")


def whether_it_came_from_disk(asked: Asked) -> None:
    words = asked.view.headline().inner_text()
    assert asked.document["cache"] == "compiled" and "compiled in" in words and "loaded" not in words


def which_line_holds_most_memory(asked: Asked) -> None:
    memory = asked.document["instruments"]["memory"]
    panel = asked.tab("memory")
    held = _by_line(memory["peak"]["lines"], memory["positions"])
    if len(held) < 2:  # the function, where all is one line's
        names = "|".join(re.escape(one["name"]) for one in asked.document["source"]["functions"])
        expect(panel.locator(".jitscope-table-row").first).to_contain_text(re.compile(rf"line \d+|{names}"))
        return
    number, most = held.most_common(1)[0]
    if list(held.values()).count(most) > 1:  # none holds the most
        expect(panel.get_by_text("holds the most at the peak")).to_have_count(0)
        return
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
    said = asked.tab("timing").get_by_text(re.compile("(No kernel|None of these) ran for")).first.inner_text()
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
    for opcode, noun in (("copy", "cop(y|ies)"), ("transpose", "transposes?"), ("convert", "casts?")):
        count = len(re.findall(rf" {opcode}\(", text))
        if count:
            expect(panel.get_by_text(re.compile(rf"(^|\s){count:,} {noun}")).first).to_be_visible()
        else:
            expect(panel.get_by_text(re.compile(rf"[1-9]\d* {noun}.*of their own")).first).to_have_count(0)


def what_the_parts_of_a_step_take(asked: Asked) -> None:
    """The share of the forward pass, the backward pass and the optimizer: in the outline above the graph, where there are parts."""
    if not any(node.get("what") in ("function", "line", "named scope") for node in asked.document["graph"]["nodes"]):
        expect(asked.view.element.locator(".jitscope-modules")).to_have_count(0)
        return
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
    expect(asked.tab("recompiles")).to_contain_text("No function of yours was compiled or traced more than once.")


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
        filtered.fill(lines[0])  # who asks knows the lines, not the reason
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
    where_copies_and_transposes_are, what_the_parts_of_a_step_take, what_xla_sets_aside, what_compiling_took,
    which_operation_costs_most, what_a_block_costs, what_grad_made, where_it_runs, whether_it_came_from_disk,
]  # fmt: skip


NAMES = "eqx_unet lstm nbody linen_gpt nnx_resnet resnet transformer unrolled".split()
ASKED = [
    pytest.param(name, question, id=f"{name}-{question.__name__}", marks=() if which == at % 3 else full)
    for which, name in enumerate(NAMES)
    for at, question in enumerate(QUESTIONS)
]
"""Each question of each program; at `make test` of one, in turn of one that jax compiled and of two of ours."""


@pytest.fixture(scope="module")
def view_of(page_of_file: Watched) -> Callable[[str], Asked]:
    """One view for the questions of a program: a new one takes longer than an answer."""
    shown: dict[str, Asked] = {}

    def view(name: str) -> Asked:
        if name not in shown or not shown[name].view.element.count():
            page_of_file.empty()
            shown[name] = Asked(Bare(page_of_file.page, ROOT), *asked_of(name))
        shown[name].begin()
        return shown[name]

    return view


@pytest.mark.parametrize(("name", "question"), ASKED)
def test_a_question_is_answered_in_two_clicks(
    view_of: Callable[[str], Asked], page_of_file: Watched, name: str, question: Callable[[Asked], None]
) -> None:
    asked = view_of(name)
    question(asked)
    assert asked.clicks <= MOST_CLICKS
    page_of_file.check()


@pytest.mark.parametrize(
    "name",
    ["lstm", "nbody", *(pytest.param(n, marks=full) for n in ("transformer", "resnet", *WATCHED))],
)
def test_the_share_of_a_line_is_what_it_costs_by_itself(bare: Bare, name: str) -> None:
    """The line is cut out of the program, which is compiled and timed apart."""
    if name in WATCHED:
        found = in_jax(name, "line")
        document, share = found["document"], found["share"]
        file = str(ROOT / f"tests/programs/watched/{name}.py")
    else:
        document, share, file = line_of_ours(name)
    least, most = ablation.bounds_of(document["instruments"]["profile"], ablation.line_of(name, file))
    assert least - ablation.SLACK <= share <= most + ablation.SLACK
    view = View(bare.show(document).element)
    number = ablation.line_of(name, file)
    (line,) = [one for one in document["instruments"]["profile"]["lines"] if one["position"]["line"] == number]
    if line["own"]:
        view.open("timing")
        rows = view.element.get_by_role("treegrid", name=re.compile("^Lines")).locator(".jitscope-table-row")
        shown = rows.filter(has_text=re.compile(rf"line {number}\D")).first
        least, most = line["own"]["least"], line["own"]["most"]
    else:  # what it calls stands in other lines
        view.open_graph()
        shown = view.element.locator(".jitscope-line").filter(has_text=re.compile(rf"line {number}: "))
        for function in view.element.locator(".jitscope-function").all():
            if shown.locator(".jitscope-heat").count():
                break
            function.click()
        shown = shown.first.locator(".jitscope-heat")
    told = float(re.findall(r"([\d.]+) %", shown.inner_text())[0])
    assert 100 * least - 1 <= told <= 100 * most + 1


def line_of_ours(name: str) -> tuple[Document, float, str]:
    module = import_module(f"tests.programs.{name}")
    assert module.__file__
    args = jx.tree.map(jx.numpy.asarray, module.arguments(**ablation.SIZES.get(name, {})))
    row = row_of(module.program, *args)
    whole, cut = (jx.jit(one.program) for one in (module, ablation.without_line(name, module.__file__)))
    profile, share = ablation.compared(
        lambda: observe.look(row, "profile", limit=0.5),
        ablation.line_of(name, module.__file__),
        lambda: jx.block_until_ready(whole(*args)),
        lambda: jx.block_until_ready(cut(*args)),
    )
    return {**observe.compilation_document(row), "instruments": {"profile": profile}}, share, module.__file__


@pytest.mark.parametrize("name", ["nnx_resnet", *(pytest.param(n, marks=full) for n in ("eqx_unet", "linen_gpt"))])
def test_recompilations_are_those_of_jaxs_log(bare: Bare, name: str) -> None:
    """A second batch of half the size compiles again, a third of the first size does not."""
    found = in_jax(name, "again")
    assert found["compiled"]["jit(train_step)"] == 2
    view = View(bare.show(found["document"]).element)
    expect(view.headline()).to_contain_text("1 recompilation")
    view.open("recompiles")
    panel = view.element.locator("[data-panel=recompiles]")
    traced = [line for line in found["said"] if line.startswith("Compiling jit(train_step)")]
    before, after = [re.findall(r"ShapedArray\((\w+)\[([\d,]*)\]", line) for line in traced]
    other = [(one, two) for one, two in zip(before, after, strict=True) if one != two]
    assert other
    for one, two in other:
        for kind, shape in (one, two):
            short = kind.replace("float", "f").replace("uint", "u").replace("int", "i")
            expect(panel.get_by_text(f"{short}[{shape}]").first).to_be_visible()


WINDOWS = [
    pytest.param(320, 640, True, id="320-dark"),
    pytest.param(480, 800, False, id="480-light", marks=full),
    pytest.param(480, 800, True, id="480-dark", marks=full),
    pytest.param(320, 640, False, id="320-light", marks=full),
    pytest.param(3840, 2160, False, id="4K"),
    pytest.param(640, 450, False, id="200 %"),
]
"""A window of 1280 × 900 pixels at 200 % has 640 × 450."""


@pytest.mark.parametrize(("width", "height", "dark"), WINDOWS)
@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n == "eqx_unet" else full) for n in WATCHED])
def test_a_watched_program_fits_any_window(bare: Bare, name: str, width: int, height: int, dark: bool) -> None:
    document, _ = asked_of(name)
    view = View(bare.show(document, width=width, height=height, dark=dark).element)
    for tab in TABS:
        view.open(tab)
        wide = view.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{tab} is {wide} px wider than the window"
        assert_readable(view.element)
    view.open("graph")
    box = view.element.locator(".jitscope-graph").first.bounding_box()
    assert box is not None and height * 0.4 <= box["height"] <= max(580, height * 0.75)


def test_numbers_of_a_row_stand_on_one_line_in_a_narrow_window(bare: Bare) -> None:
    view = View(bare.show(asked_of("lstm")[0], width=320, height=640).element)
    view.open("timing")
    row = view.element.get_by_role("treegrid", name=re.compile("^Lines")).locator(".jitscope-table-row").first
    tops = row.evaluate(BASELINES)
    assert len(tops) >= 2 and max(tops) - min(tops) <= 1, tops


BASELINES = """row => {
  const bottoms = [...row.children].slice(0, 3).filter(one => one.textContent.trim() && one.checkVisibility()).map(one => {
    const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT), range = document.createRange();
    let last; for (let at; (at = texts.nextNode());) if (at.data.trim()) last = at;
    range.selectNodeContents(last);
    return range.getBoundingClientRect().bottom;
  });
  return bottoms.filter(bottom => Math.abs(bottom - bottoms[0]) < 14);  // those of the first line
}"""
