"""The text twins: what a terminal user reads, at most 100 columns wide, nothing cut off."""

from __future__ import annotations

import copy
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from jitscope_widgets import html, text
from jitscope_widgets.escapes import columns
from jitscope_widgets.unusual import stands_out
from jitscope_widgets.view.as_data import as_data
from jitscope_widgets.view.parts import Table
from jitscope_widgets.view_data import parts_of
from jitscope_widgets.views import has_view
from jitscope_widgets.views.ledger import short_signature
from jitscope_widgets.views.profile.wording import recording_cost
from jitscope_widgets.words import home
from jitscope_widgets.wrap import table, wrap
from tests.widgets import documents as made, pass_documents, value_documents
from tests.widgets.profile_documents import profile
from tests.widgets.strategies import NASTY, documents, patient


TESTS = Path(__file__).parents[1]


def test_a_compiled_function_in_a_few_lines() -> None:
    assert text(made.layer_cell()).splitlines() == [
        "layer(x: f32[64,20], w: f32[20,7], b: f32[7]) -> f32[64,7]",
        "  10 equations -> 2 kernels (1 fusion of 8)",
        "  trace 2.1 ms, lower 3 ms, compile 61 ms, first run 400 µs, run 210 µs (median of 100)",
        "  Kernels:",
        "  ⬡ kernel 1 dot.1     dot (library call)  f32[64,7]  line 2",
        "      On the CPU a matrix product is a call into a library, so it is no part of a fusion.",
        "  ▣ kernel 2 fusion.1  fusion of 8         f32[64,7]  lines 2, 3, 4",
        "      broadcast, add, compare, exponential, subtract, multiply ×2, select",
        "",
        "layer: the last batch is smaller: axis 0 of x is 64, then 40 (1 recompilation, 61 ms lost)",
        "    called from In [3], line 1, columns 1-30, once, 61 ms: def layer(x, w, b):",
        "    x  f32[64,20] -> f32[40,20]",
        "    fix: Pad axis 0 of x to 64 in the last batch.",
        "      checked: The edited code ran on 2 recorded calls: 2 compilations become 1, same results.",
        "reused without compiling: step (3 calls)",
        "left alone: Model (a class), report (no parameters)",
    ]


def test_pages_list_kernels_that_compute_before_those_that_move_and_text_as_they_run() -> None:
    fusion = made.layer_fusion()
    one = fusion["kernels"][0] | {"members": [{"name": "m", "opcode": "dot", "type": "f32[64,7]", "paths": ["e0"]}]}

    def kernel(name: str, opcode: str, kind: str = "other", type: str = "f32[64,7]") -> Any:
        members = [one["members"][0] | {"opcode": opcode, "type": type}]
        return one | {"name": name, "kind": kind, "opcode": opcode, "type": type, "members": members, "note": ""}

    kernels = [
        kernel("copy.1", "copy", "copy"), kernel("zeros", "broadcast"), kernel("counter", "add", type="s32[]"),
        kernel("loop.1", "while", "loop"), kernel("mul.1", "multiply"), kernel("sum.1", "reduce", type="f32[]"),
    ]  # fmt: skip
    as_run, by_time = (
        ["kernel 1", "kernel 2", "kernel 3", "loop 1", "kernel 4", "kernel 5"],
        ["kernel 2", "kernel 4", "kernel 1"],
    )
    timed = [one | {"share": share} for one, share in zip(kernels, (0.1, 0.5, 0.0, None, 0.4, 0.0))]
    for ran, order, said in ((kernels, as_run, "first, then those"), (timed, by_time, "most of the measured time")):
        document = made.layer_compilation() | {"fusion": fusion | {"kernels": ran}}
        listed = re.findall(r"^  \S ((?:kernel|loop) \d+) ", text(document), re.MULTILINE)
        assert listed[: len(order)] == order
        assert said in html(document)
    assert "numbers say in which order" not in html(made.layer_compilation())


def test_headline_and_times_share_a_line_when_they_fit() -> None:
    compilation = made.layer_compilation()
    compilation["timing"] = made.timing(run=None)
    compilation["timing"]["stages"] = compilation["timing"]["stages"][:2]
    assert text(compilation).splitlines()[1] == (
        "  10 equations -> 2 kernels (1 fusion of 8)   trace 2.1 ms, lower 3 ms"
    )


def test_no_control_character_reaches_the_terminal() -> None:
    def spoilt(x: Any) -> Any:
        if isinstance(x, dict):
            return {k: v if k in ("kind", "schema", "version") else spoilt(v) for k, v in x.items()}
        return [spoilt(v) for v in x] if isinstance(x, list) else f"{x}\x1b[2J\x07" if isinstance(x, str) else x

    document = made.layer_cell()
    document["cell"] = spoilt(document["cell"])
    for compilation in document["compilations"]:
        compilation["function"] = spoilt(compilation["function"])
        compilation["recompilations"] = spoilt(compilation["recompilations"])
    assert not {"\x1b", "\x07"} & set(text(document))


def test_positions_in_another_cell_are_told() -> None:
    compilation = made.layer_compilation()
    compilation["fusion"]["kernels"][0]["positions"] = [made.position(7, cell="In [1]"), made.position(2)]
    assert "In [1] line 7; line 2" in text(compilation)


def test_a_kernel_without_origin_says_so() -> None:
    compilation = made.layer_compilation()
    compilation["fusion"]["kernels"][0]["positions"] = []
    assert "no known line" in text(compilation)


def test_kernels_of_no_line_are_told_by_what_they_are() -> None:
    document = json.loads((TESTS / "targets/recorded/norm-beside.json").read_text(encoding="utf-8"))
    document["nameless"][1] = 3
    for line, kernels in zip(document["lines"], ([2, 3], [5, 6], [1, 4])):
        line["kernels"][1] = kernels
    assert "3 kernels of no known line: 2 × copy, 1 × loop." in text(document)


def test_many_kernels_are_counted_in_the_summary_and_listed_in_full_elsewhere() -> None:
    compilation = made.long_program(120)["compilations"][0]
    assert text(compilation).count("fusion of 6") == 12
    assert "  and 8 more kernels" in text(compilation)
    assert text(compilation["fusion"]).count("fusion of 6") == 20


def test_the_kernels_of_the_summary_stand_in_the_order_in_which_they_run() -> None:
    compilation = made.long_program(120)["compilations"][0]
    kernels = compilation["fusion"]["kernels"]
    for at in (0, 1, 5, 6, 7, 8, 9, 19):
        kernels[at]["members"] = [{**member, "opcode": "copy"} for member in kernels[at]["members"]]
    kernels[0]["members"] = kernels[2]["members"]
    numbers = [int(n) for n in re.findall(r"^  \S kernel (\d+)", text(compilation), re.MULTILINE)]
    assert numbers == [1, 3, 4, 5, *range(11, 18), 18, 19][:12]
    assert "and 8 more kernels\n" in text(compilation) + "\n"
    for kernel in kernels[:8]:
        kernel["members"] = [{**member, "opcode": "copy"} for member in kernel["members"]]
    kernels[7] |= {"kind": "other", "opcode": "copy"}
    kernels[19]["kind"] = "loop"
    assert re.findall(r"^  \S (\w+ \d+)", text(compilation), re.MULTILINE)[-1] == "loop 1"
    assert "and 8 more kernels that only fill, move or count" in text(compilation)


def test_the_jaxpr_comes_when_asked_for() -> None:
    assert "dot_general" not in text(made.layer_compilation())
    assert "d:f32[64,7] = dot_general[dimension_numbers" in text(made.layer_compilation(), jaxpr=True)


def test_a_failed_cell_and_an_empty_one() -> None:
    error = {"type": "ValueError", "message": "shapes do not fit\n  x: f32[3]", "position": made.position(2, 8, 13)}
    assert text(made.cell(error=error)).splitlines() == [
        "ValueError in In [3], line 2, columns 9-13: see the traceback",
    ]
    assert text(made.cell(note="Nothing was compiled: no function has parameters.")) == (
        "Nothing was compiled: no function has parameters."
    )
    assert text(made.cell()) == "In [3]: nothing was compiled."


def test_a_fused_group_is_told_as_one() -> None:
    lines = text(made.layer_fusion()).splitlines()
    at = lines.index("  8 operations became 1 kernel:")
    assert [line[2] for line in lines[at + 1 : at + 10]] == list("--------+")
    assert any(line.endswith("unchanged lines)") for line in lines)


def test_the_line_of_a_program_tells_which_line_takes_much() -> None:
    """The one that the pane calls the slowest, with the number that stands there."""
    document = profile()
    assert stands_out(document) == "line 2: 70 % of the time"
    own = [line for line in document["lines"] if line["own"]]
    own[1]["own"] = {"least": 0.4, "most": 0.9, "estimate": 0.8}
    assert stands_out(document) == "line 3: ~ 80 % of the time"
    assert stands_out(document, "In [9]") == f"{home(own[1]['position'])} line 3: ~ 80 % of the time"
    document["lines"] = own[:1]
    assert stands_out(document) == ""  # it can be no other


def test_a_kernel_without_a_line_is_told_by_where_its_loop_is_called() -> None:
    document = profile()
    copy = next(kernel for kernel in document["kernels"] if kernel["opcode"] == "copy")
    copy |= {"lines": [], "block": 1}
    assert "line 1 · dense × 2" in text(document)


def test_one_line_is_the_slowest_measured_or_estimated() -> None:
    document = profile()
    said = " ".join(text(document).split())
    assert "The slowest line is In [3], line 2: z = x @ w + b. It takes 70 % of the kernels' time." in said
    own = [line for line in document["lines"] if line["own"]]
    own[1]["own"] = {"least": 0.4, "most": 0.9, "estimate": 0.8}
    said = " ".join(text(document).split())
    assert "The slowest line is In [3], line 3: " in said
    by_kernels = "40 % to 90 % by the kernels that compute it"
    assert f"It takes an estimated 80 % of the kernels' time ({by_kernels})." in said
    own[1]["own"] |= {"low": 0.3, "high": 0.85}
    said = " ".join(text(document).split())
    assert f"It takes an estimated 80 % of the kernels' time ({by_kernels}; 30 % to 85 % in single calls)." in said
    own[1]["own"] |= {"high": 0.4}
    assert "30 % to 40 % in single calls, whose kernels were held up in turn)" in " ".join(text(document).split())
    own[1]["own"] |= {"low": 0.79, "high": 0.81}  # that is how measurements are
    assert "in single calls" not in text(document)
    own[0]["own"] = {"least": 0.75, "most": 0.75}
    tied = " ".join(text(document).split())
    assert (
        "The slowest line is one of 2: In [3], line 3 (an estimated 80 % of the kernels' time); In [3], line 2 (75"
        in tied
    )
    assert "(75 %). That is too close to tell." in tied
    assert "~ 80 %" in said and "~ is an estimate" in said and "calibrated on 2 kernels of one line" in said


def test_the_slowest_line_is_one_of_those_that_are_known() -> None:
    document = profile()
    for kernel in document["kernels"]:
        if 0 not in kernel["lines"]:
            kernel |= {"lines": [], "share": 0.8}
    said = " ".join(text(document).split())
    assert "Of the lines that are known, the slowest is " in said and said.count(" is of no known line.") == 2
    note = "A line counts by itself here; beside the code it counts with what it calls."
    assert note in said
    document["lines"] = [line | {"whole": line["own"] or line["whole"]} for line in document["lines"]]
    assert note not in text(document)


def test_without_an_estimate_a_line_is_the_slowest_only_where_that_is_certain() -> None:
    """Documents that were saved before there were estimates."""
    document = profile()
    own = [line for line in document["lines"] if line["own"]]
    for at, line in enumerate(own):
        line["own"] = {"least": 0.5, "most": 0.6} if at == 0 else {"least": 0.1, "most": 0.5}
    assert "It takes 50 % to 60 % of the kernels' time" in " ".join(text(document).split())
    assert len(own) > 1
    own[1]["own"] = {"least": 0.0, "most": 0.55}
    said = " ".join(text(document).split())
    assert "The slowest line is one of 2: " in said
    assert "(50 % to 60 % of the kernels' time)" in said and "(at most 55 %)" in said
    document["low"] = document["high"] = document["wall"]
    assert "(one call alone)" in text(document)


def test_a_lambda_is_told_by_the_lines_that_it_computes() -> None:
    document = pass_documents.transformations()
    document["steps"][0]["function"] = document["steps"][1]["function"] = "<lambda>"
    document["steps"][1]["before"] = document["steps"][1]["after"][0] | {
        "lines": [document["steps"][0]["before"]["lines"][0]]
    }
    said = " ".join(text(document).split())
    assert "2 transformations: jvp of a lambda (line 2), transpose of a lambda" in said and "<lambda>" not in said


def test_timing_tells_what_was_not_measured() -> None:
    assert "Not timed" in text(made.timing(run=None))
    assert "210 µs between 200 µs and 230 µs, median of" in text(made.timing())
    once = made.timing()
    steady = once["steady"]
    steady["low"] = steady["high"] = steady["median"] = {**steady["median"], "note": "median of 1 call not recorded"}
    assert "210 µs in 1 call not recorded" in text(once)
    cell = made.layer_cell()
    cell["compilations"][0]["timing"]["steady"] = steady | {"runs": 1}
    assert "run 210 µs (one call)" in text(cell)


def test_what_is_computed_stands_before_what_was_given() -> None:
    document = value_documents.values()
    (table,) = [part for part in parts_of(document) if isinstance(part, Table)]
    numbers = [int(str(row.cells[-2].text)) - 1 for row in table.rows]
    rows = [document["rows"][at] for at in numbers]
    kinds = [bool(row["nan"] + row["inf"]) * 2 + row["path"].startswith("e") for row in rows]
    assert kinds == sorted(kinds, reverse=True) and len(set(kinds)) > 1


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"kind": "novel", "version": 1}, "There is no view of documents of kind 'novel'."),
        ({"kind": "graph", "version": 9}, "This graph is a document of version 9; these views know version 1."),
        ([], "There is no view of this: a document is a dict, this is list."),
    ],
)
def test_unknown_documents_get_a_sentence(document: Any, said: str) -> None:
    assert text(document) == said


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("document", made.every_kind(), ids=lambda document: document["kind"])
def test_no_line_is_too_wide_and_nothing_is_lost(document: dict[str, Any], width: int) -> None:
    shown = text(document, width=width)
    assert max(columns(line) for line in shown.splitlines()) <= width
    squeezed = "".join(shown.split())
    parts = json.dumps(as_data(parts_of(document))) if has_view(document["kind"]) else ""
    heads = set(re.findall(r'"title": "([^"]*)"', "".join(re.findall(r'"columns": \[.*?\]', parts))))
    for line in text(document, width=10_000).splitlines():
        for cell in re.split(r"\s{2,}", line):  # rows that are wider than a line stand as figures, each with its name
            assert cell in heads or "".join(cell.split()) in squeezed


@settings(patient)
@given(documents)
def test_any_document_becomes_harmless_text(document: dict[str, Any]) -> None:
    shown = text(document)
    assert max((columns(line) for line in shown.split("\n")), default=0) <= 100
    assert not {"\x1b", "\x07", "\x00", "\r", "\u202e", "\u2066"} & set(shown)
    shown.encode()


@pytest.mark.parametrize("name", NASTY)
def test_a_nasty_name_stays_on_its_line(name: str) -> None:
    document = copy.deepcopy(made.layer_cell())
    document["compilations"][0] |= {"function": name, "signature": f"{name}(x) -> y"}
    assert len(text(document, width=1000).splitlines()) == len(text(made.layer_cell(), width=1000).splitlines())


@pytest.mark.parametrize("cells", [[], ["f32[2]"], ["f32[2]"] * 40])
def test_a_matrix_of_uneven_rows_keeps_its_columns(cells: list[str]) -> None:
    card = made.card(3)
    for row in card["matrix"]["rows"]:
        row |= {"cells": cells, "changed": []}
    document = made.recompilations(card)
    assert text(document)
    assert html(document)
    (shown,) = parts_of(document)
    (keys,) = [part for part in shown.cards[0].parts if type(part).__name__ == "Table"]
    assert {len(row.cells) for row in keys.rows} == {len(keys.columns)}


def test_a_cell_counts_its_recompilations_once() -> None:
    card = made.card(299)
    cell = made.cell(*[made.layer_compilation()] * 4, recompilations=made.recompilations(card))
    assert "(299 recompilations, 18.2 s lost)" in " ".join(text(cell).split())
    shown = html(cell)
    assert shown.count("299 recompilations") == 2  # in the headline of the function, and in its card
    assert "1 recompilation<" not in shown


def test_cards_beyond_a_few_are_counted() -> None:
    cards = [made.card(1, f"f{at}") for at in range(9)]
    cell = made.cell(made.layer_compilation(), recompilations=made.recompilations(*cards))
    for shown in (text(cell), html(cell)):
        assert "4 more causes: %recompiles shows all." in shown


def test_loops_are_counted_by_themselves() -> None:
    fusion = made.layer_fusion()
    kernel = fusion["kernels"][0]
    shown = text({**fusion, "kernels": [kernel, {**kernel, "kind": "loop", "opcode": "while"}, kernel]})
    names = [name for name in ("kernel 1", "loop 1", "kernel 2", "kernel 3") if name in shown]
    assert names == ["kernel 1", "loop 1", "kernel 2"]


def test_a_long_cell_leaves_the_columns_of_other_rows_aligned() -> None:
    long = "(" + ", ".join(["f32[3]"] * 9) + ")"
    rows = [("kernel 1", "f32[3]", "line 2"), ("loop 1", long, "line 3"), ("kernel 2", "f32[32,4]", "line 4")]
    (first, second, third) = (lines[0] for lines in table(rows, 100))
    assert first.index("line 2") == third.index("line 4") == len("  kernel 1  f32[32,4]  ")
    assert second == f"  loop 1    {long}  line 3"


def test_a_value_on_several_devices_says_what_each_has() -> None:
    told = text(made.values(), width=160)
    assert "psum (the same on 2 devices)" in told and "sin (on 2 devices)" in told
    shown = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html(made.values())))
    assert " x 0 0.25 3.25 1.5 ✕ 1 NaN " in shown


def test_lines_with_arrows_are_broken_once() -> None:
    words = " ".join(["f32[4] → f32[8]"] * 40)
    for width in range(60, 90):
        lines = "\n".join(wrap(words, width, "    ")).replace("→", "->").split("\n")
        assert all(len(line) <= width for line in lines)
        assert all(len(line) + len(after.split()[0]) >= width for line, after in itertools.pairwise(lines))


@pytest.mark.parametrize(
    ("recorded", "high", "busy", "told"),
    [(3e-3, 1.2e-3, 5e-4, 2e-3), (3e-3, 4e-3, 5e-4, None), (3e-3, 4e-3, 2e-3, 2e-3), (1.01e-3, 1e-3, 5e-4, None)],
)
def test_recording_costs_what_calls_that_are_not_recorded_never_take(recorded, high, busy, told) -> None:
    seconds = {"wall": 1e-3, "high": high, "recorded": recorded, "busy": busy, "together": 0.0}
    found = {name: {"value": value} for name, value in seconds.items()}
    assert recording_cost(found) == (told and pytest.approx(told))


def test_a_long_signature_leaves_arguments_out_and_cuts_none() -> None:
    for long, short in (
        (
            "train_step(state: 86 arrays, x: i32[8,32], y: i32[8,32], key: u32[2]) -> (86 arrays, f32[])",
            "train_step(state: 86 arrays, x: i32[8,32], … 2 more) -> (86 arrays, f32[])",
        ),
        (
            "f(a: (f32[3], g), mode=(1, 2, 3, 4, 5, 6, 7), b: f32[3,4,5,6,7], c: f32[1,2,3]) -> f32[1,2,3,4]",
            "f(a: (f32[3], g), mode=(1, 2, 3, 4, 5, 6, 7), … 2 more) -> f32[1,2,3,4]",
        ),
        (
            "loss(model: 30 arrays, weight: 3 arrays, key: u32[2]) -> (f32[16,2,4,4], f32[16,1,1], f32[1,16,4,4])",
            "loss(model: 30 arrays, … 2 more) -> (f32[16,2,4,4], f32[16,1,1], f32[1,16,4,4])",
        ),
        (
            "loss(model: 30 arrays, key: u32[2]) -> (f32[16,2,4,4], f32[16,1,1], f32[1,16,4,4], f32[1,1,1], f32[32,16])",
            "loss(model: 30 arrays, key: u32[2]) -> (f32[16,2,4,4], f32[16,1,1], … 3 more)",
        ),
        ("f(x: f32[3]) -> f32[3]", "f(x: f32[3]) -> f32[3]"),
    ):
        assert short_signature(long) == short
