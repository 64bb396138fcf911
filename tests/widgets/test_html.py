"""Static HTML: no script, balanced, escaped, small, and carrying its document."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import given, settings

from jitscope_widgets import html, validate
from jitscope_widgets.envelope import pack, unpack
from jitscope_widgets.html import allowance
from tests.extent import one_in
from tests.widgets import documents as made, machine_documents
from tests.widgets.markup import Markup, check_still, font_sizes
from tests.widgets.strategies import NASTY, documents, patient


def _said(markup: Markup) -> str:
    return re.sub(r"\s+", " ", "".join(markup.text).replace("\xa0", " "))


def _carried(shown: str) -> dict[str, Any]:
    return unpack(re.findall(r'data-jitscope-document="([^"]*)"', shown)[0])


def test_first_one_line_then_the_panes() -> None:
    markup = check_still(html(made.layer_cell()))
    said = _said(markup)
    assert (
        "layer 10 equations → 2 kernels (1 fusion of 8) · compiled in 66.1 ms · runs in 210 µs · ▲ 1 recompilation"
        in said
    )
    for pane in ("Graph 10 equations", "Fusion 12 operations → 2 kernels", "Timing 66.5 ms", "Recompiles (1)", "Jaxpr"):
        assert pane in said
    assert "reused without compiling: step (3 calls)" in said
    assert "2 definitions left alone" in said and "Model (a class), report (no parameters)" in said


def test_panes_are_closed_until_they_are_asked_for() -> None:
    shown = html(made.layer_cell())
    assert shown.count("<details open") == 1  # of the program and the graphs before and after
    assert shown.count('<details class="card" open>') == 2
    assert shown.count('<details class="pane" open>') == 1
    assert shown.count('<details class="pane">') == 4


def test_the_document_is_carried_whole_and_the_same_each_time() -> None:
    shown = html(made.layer_cell())
    assert shown.startswith('<div class="jitscope" data-jitscope-document="')
    assert _carried(shown) == made.layer_cell()
    assert pack(made.layer_cell()) == pack(made.layer_cell())
    assert html(made.layer_cell()) == shown


@pytest.mark.parametrize("document", made.every_kind(), ids=lambda document: document["kind"])
def test_every_kind_has_a_view(document: dict[str, Any]) -> None:
    shown = html(document)
    said = _said(check_still(shown))
    assert "could not be made" not in said
    assert _carried(shown) == document
    assert min(font_sizes(shown)) >= 11


def test_what_a_strict_sanitiser_leaves_is_worth_reading() -> None:
    document = made.layer_compilation()
    bare = re.sub(r"<(style|script|svg)\b.*?</\1>", "", html(document), flags=re.DOTALL)
    bare = re.sub(r' (?:class|style|tabindex|role|aria-\w+|data-[\w-]+)="[^"]*"', "", bare)
    assert set(re.findall(r"<(\w+)", bare)) <= set(
        "br wbr b i em mark p code pre div table tbody tr td th details summary span small".split()
    )
    for kernel in document["fusion"]["kernels"]:
        assert f"<code>{kernel['name']}</code>" in bare and f"<code>{kernel['type']}</code>" in bare
    assert all(line.strip() in _said(check_still(bare)) for line in document["source"]["functions"][0]["lines"])
    assert document["headline"] in _said(check_still(bare))


def test_the_diff_groups_what_became_one_kernel() -> None:
    shown = html(made.layer_fusion())
    row = next(row for row in re.findall(r"<tr>.*?</tr>", shown, re.DOTALL) if "8 operations became 1 kernel" in row)
    left, right = re.findall(r"<td.*?</td>", row, re.DOTALL)
    assert left.count("<span>") == 8 and right.count("<span>") == 1
    assert "6 unchanged lines" in shown
    assert "<mark>%dot.1</mark> =" in shown
    assert "<b>exponential</b>" in left and "<em>f32[64,7]{1,0}</em>" in left


def test_origin_of_numbers_is_told_on_hover() -> None:
    shown = html(made.layer_compilation())
    assert '<span title="modelled: XLA&#x27;s cost analysis">≈ 21.5 kflop</span>' in shown
    assert ">unknown<" in shown


def test_lines_have_the_same_hue_in_source_and_graph() -> None:
    shown = html(made.layer_compilation())
    assert re.search(r'<span class="h0"><i>2</i>', shown)
    assert re.search(r'<span class="h2"><i>4</i>', shown)
    assert '<path class="h0"' in shown and '<path class="h2"' in shown


def test_a_failed_cell_and_an_empty_one() -> None:
    error = {
        "type": "ValueError",
        "message": "<b>shapes</b> do not fit\n  x: f32[3]",
        "position": made.position(2, 8, 13),
    }
    failed = html(made.cell(error=error))
    said = _said(check_still(failed))
    assert "✕ ValueError in In [3], line 2, columns 9-13" in said and "<b>shapes</b> do not fit" in said
    assert "<b>shapes" not in failed
    assert "nothing was compiled" in html(made.cell())
    assert "no function here" in html(made.cell(note="Nothing: no function here."))


def test_unknown_kinds_get_a_sentence() -> None:
    said = _said(check_still(html({"kind": "<novel>", "version": 1})))
    assert "There is no view of documents of kind '<novel>'." in said


def test_a_pane_that_fails_says_so_and_the_others_stand() -> None:
    document = made.layer_cell()
    document["compilations"][0]["fusion"]["kernels"] = 7
    document["compilations"][0]["recompilations"]["cards"][0]["matrix"] = 7
    said = _said(check_still(html(document)))
    assert "The view of the list of kernels could not be made (TypeError" in said
    assert "The view of this recompilations could not be made (TypeError" in said
    assert "8 operations became 1 kernel" in said and "dot_general" in said


def test_a_compilation_that_fails_says_so_and_the_cell_stands() -> None:
    document = made.layer_cell()
    document["compilations"].append({"function": "g"})
    said = _said(check_still(html(document)))
    assert "The view of this compilation could not be made (KeyError" in said
    assert "runs in 210 µs" in said and "reused without compiling: step (3 calls)" in said


@pytest.mark.parametrize("rest", [{}, {"compilations": 7}, {"compilations": [None]}])
def test_a_cell_that_is_none_is_a_sentence(rest: dict[str, Any]) -> None:
    assert "could not be made" in _said(check_still(html({"kind": "cell", "version": 1, **rest})))


def test_a_document_that_cannot_be_kept_is_still_shown() -> None:
    document = made.timing()
    document["title"] = object()
    shown = html(document)
    assert "data-jitscope-document" not in shown
    assert "compile" in shown and "could not be made (TypeError" in shown


# --- size ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("scopes", "drawn"), [(0, 20), (10, 3)])
def test_300_equations_fit_with_their_graph_and_all_data(scopes: int, drawn: int) -> None:
    document = made.long_program(300, scopes)
    validate(document)
    shown = html(document)
    assert len(shown.encode()) <= 150_000
    assert _carried(shown) == document
    said = _said(check_still(shown))
    assert said.count("select_n") >= drawn
    assert ": left out here to keep the saved output small" in said


def test_large_graphs_are_drawn_folded_everywhere() -> None:
    document = made.long_program(6000)
    (compilation,) = document["compilations"]
    nodes = [node | {"positions": []} for node in compilation["graph"]["nodes"]]
    compilation["fusion"]["after"] = compilation["graph"] | {"nodes": nodes}
    assert _said(check_still(html(document))).count("6,000 operations one after the other are drawn as runs.") == 3


@pytest.mark.parametrize("limit", one_in(3, [60_000, 120_000, 200_000, 400_000]))
def test_as_many_kernels_are_listed_as_there_is_room_for(limit: int) -> None:
    document = made.long_program(600)
    fusion = document["compilations"][0]["fusion"]
    (kernel,) = [one for one in fusion["kernels"] if one["kind"] == "fusion"][:1]
    kernel["members"] = kernel["members"][:1] * 1_200
    kernels = fusion["kernels"] = [{**kernel, "name": f"k{i}"} for i in range(700)]
    shown = html(document, limit=limit)
    said = _said(check_still(shown))
    assert "fusion of 1,200" in said
    listed = len(re.findall(r"<tr><td><b>▣ kernel \d+</b> <code>k\d+</code>", shown))
    left = re.search(r"and ([\d,]+) more", said[said.index("Kernels") :]) if listed < len(kernels) else None
    assert listed + (int(left[1]) if left else 0) == len(kernels)
    assert listed >= {60_000: 20, 120_000: 80, 200_000: 200, 400_000: 700}[limit]


def test_more_equations_may_take_more() -> None:
    assert allowance(made.long_program(50)) == 150_000
    assert allowance(made.long_program(1000)) == 500_000
    assert allowance(made.timing()) == 150_000


def test_what_is_left_out_of_the_data_is_said_in_view_and_data() -> None:
    document = made.long_program(600)
    shown = html(document, limit=50_000)
    assert len(shown.encode()) <= 50_000
    assert "Of layer, the " in shown and "are not kept." in shown
    carried = _carried(shown)
    validate(carried)
    assert "left out of the saved output" in carried["compilations"][0]["fusion"]["summary"]["sentence"]
    assert carried["compilations"][0]["timing"] == document["compilations"][0]["timing"]


@pytest.mark.parametrize("limit", [30_500, 50_000, 120_000])
def test_the_source_stays_in_a_small_output(limit: int) -> None:
    document = made.long_program(600)
    shown = html(document, limit=limit)
    assert len(shown.encode()) <= limit
    said = _said(check_still(shown))
    lines = document["compilations"][0]["source"]["functions"][0]["lines"]
    assert lines and all(line.strip() in said for line in lines)


def test_instruments_with_much_to_say_leave_room_for_the_program() -> None:
    """The sentences of 200 functions of machine code are longer than all that the output may have."""
    document = made.layer_compilation()
    machine = machine_documents.machine()
    machine["functions"] = [
        function | {"name": f"{function['name']}.{at}"} for at in range(100) for function in machine["functions"]
    ]
    shown = html(document | {"instruments": {"machine": machine}}, limit=60_000)
    assert len(shown.encode()) <= 60_000
    assert "The graph is left out" not in shown and "The source is left out" not in shown
    assert "The rest is left out here to keep the saved output small" in shown


def test_when_nothing_else_helps_the_still_view_is_kept() -> None:
    shown = html(made.long_program(600), limit=30_500)
    assert "data-jitscope-document" not in shown
    assert "Too large to be kept in the saved output" in shown
    check_still(shown)


def test_the_style_sheet_is_there_once_and_small() -> None:
    shown = html(made.layer_cell())
    styles = re.findall(r"<style>(.*?)</style>", shown)
    assert len(styles) == 1 and len(styles[0]) < 8_200
    for selector in re.findall(r"([^{}]+)\{", re.sub(r"@media\([^)]*\)\{", "", styles[0])):
        for one in selector.split(","):
            assert ".jitscope" in one, one


# --- escaping -----------------------------------------------------------------------------------------------------------


def _everywhere(value: Any, name: str) -> Any:
    """The document with `name` in the place of every text that user code can choose."""
    if isinstance(value, dict):
        kept = {
            "kind",
            "level",
            "origin",
            "unit",
            "severity",
            "what",
            "part",
            "id",
            "scope",
            "from",
            "to",
            "cache",
            "source",
        }
        if value.get("name") in ("trace", "lower", "compile", "first run"):
            kept.add("name")
        return {
            key: item if key in kept and not isinstance(item, dict | list) else _everywhere(item, name)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_everywhere(item, name) for item in value]
    return name if isinstance(value, str) else value


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("document", made.every_kind(), ids=lambda document: document["kind"])
def test_names_are_text_everywhere(document: dict[str, Any], name: str) -> None:
    shown = html(_everywhere(copy.deepcopy(document), name))
    markup = check_still(shown)
    styles = [text for text in markup.text if "--fg" in text]
    assert len(styles) == 1 and "alert" not in styles[0]


@settings(patient)
@given(documents)
def test_any_document_is_harmless_html(document: dict[str, Any]) -> None:
    shown = html(document)
    check_still(shown)
    shown.encode()
    assert _carried(shown) == document


# --- positions by path --------------------------------------------------------------------------------------------------


def test_the_graph_after_fusion_gets_its_lines_by_path() -> None:
    compilation = made.layer_compilation()
    for node in compilation["fusion"]["after"]["nodes"]:
        node |= {"positions": [], "paths": ["e0", "e4"] if node["id"] == "fusion.1" else []}
    compilation["fusion"]["before"]["nodes"] = []
    pictures = re.findall(r"<svg.*?</svg>", html(compilation), re.DOTALL)
    assert len(pictures) == 2
    assert "fusion of 8 · lines 2, 4" in pictures[1]
    assert "In [3], line 4, columns 5-20" in pictures[1]
    assert "dot</text>" in pictures[1]


def test_a_note_is_told_once() -> None:
    fusion = made.layer_fusion()
    fusion["kernels"].append(fusion["kernels"][0] | {"name": "dot.2"})
    assert html(fusion).count("a call into a library, so it is no part") == 1


def test_words_of_documents_made_elsewhere_are_text() -> None:
    """Also where only a few words are allowed: a document may come from a file."""
    item = {**made.diagnostics()["items"][0], "severity": "<b onclick=x>"}
    row = {**made.ledger()["rows"][0], "what": "<b onclick=x>"}
    for document in ({**made.diagnostics(), "items": [item]}, {**made.ledger(), "rows": [row]}):
        assert "<b onclick" not in html(document).partition("data-jitscope-document")[0]
        assert "&lt;b onclick" in html(document)


def test_a_pass_has_a_picture_of_what_it_changed() -> None:
    document = made.passes()
    state = next(state for state in document["states"] if state["graph"])
    marks = {"removed": "−", "added": "+"}
    labels = {
        node.get("mark"): f"{marks[node['mark']]} {node['label']}"
        for node in state["graph"]["nodes"]
        if node.get("mark") in marks
    }
    pictures = re.findall(r'aria-label="Graph of What cse changed, drawn">(.*?)</svg>', html(document), re.DOTALL)
    drawn = " ".join(pictures)
    assert pictures and "<svg" in drawn
    assert labels["removed"] in drawn and "− removed" in html(document)
    stays = next(node for node in state["graph"]["nodes"] if node["kind"] != "scope" and node.get("mark") != "removed")
    assert stays["label"] in drawn


def test_of_a_failed_trace_no_figures_are_told() -> None:
    ledger = made.ledger()
    ledger["rows"][0] |= {
        "what": "failed",
        "equations": 0,
        "calls": None,
        "seconds": {"trace": 0.0, "lower": 0.0, "compile": 0.0},
    }
    compiled, failed = re.findall(r"<tr[^>]*><td><code>layer.*?</tr>", html(ledger))[:2]
    assert re.findall(r"<td[^>]*>(.*?)</td>", failed)[4:] == [""] * 3
    assert "14" in compiled
