"""What the views say is said once, in words and numbers that hold, and can be read without hovering."""

from __future__ import annotations

import re
from typing import Any

import pytest

from jitscope_widgets import bundle, html, jaxpr_lines, text, words
from jitscope_widgets.answers import Answers
from jitscope_widgets.envelope import unpack
from jitscope_widgets.escapes import columns
from jitscope_widgets.painter import with_counterparts
from jitscope_widgets.view.chart_svg import Scale, chart_svg, timeline_svg
from jitscope_widgets.view.parts import Axis, Chart, Series, Span, Timeline
from jitscope_widgets.views.diagnostics import counted
from jitscope_widgets.widget import View as Widget
from tests.widgets import documents as made
from tests.widgets.parts import quantity
from tests.widgets.profile_documents import profile
from tests.widgets.reason_documents import reasons


def bits(*severities: str) -> list[Any]:
    return [{"severity": severity} for severity in severities]


def test_sharp_bits_are_counted_once() -> None:
    assert counted(bits("warning")) == "1 sharp bit (warning)"
    assert counted(bits("warning", "warning")) == "2 sharp bits (warnings)"
    assert counted(bits("info", "error", "info")) == "3 sharp bits: 1 error, 2 remarks"


def test_an_expression_is_no_file() -> None:
    place = {"cell": None, "line": 1, "end_line": 1, "column": 3, "end_column": 9}
    assert words.where({**place, "file": "<jx.grad(lambda w: f(w) / 2)(w)>"}) == "the expression, line 1, columns 4-9"
    assert words.where({**place, "file": "/a/b/model.py"}) == "model.py, line 1, columns 4-9"
    assert words.where({**place, "file": "<stdin>"}) == "<stdin>, line 1, columns 4-9"


def test_a_region_says_each_reason_once_and_in_words() -> None:
    document = made.regions()
    one = {
        **document["regions"][0],
        "verdict": "cannot",
        "edit": None,
        "reason": "line 3: `xs` is iterated over by Python",
    }
    cut = {"line": 3, "why": "object", "note": "`xs` is iterated over by Python"}
    other = {"line": 5, "why": "file", "note": ""}
    said = text({**document, "regions": [{**one, "cuts": [cut, other]}]}, width=200)
    assert said.count("is iterated over by Python") == 1
    assert "object" not in said and "`" not in said and "line 5: file" in said


def test_the_largest_pair_is_no_bound_of_pairs_together() -> None:
    document = reasons()
    assert len(document["pairs"]) > 1
    assert " at most each; " in text(document)
    alone = {**document, "pairs": document["pairs"][:1], "left_out": 0, "told": 1}
    assert "at most" not in text(alone)


def test_an_array_of_one_number_has_no_histogram() -> None:
    document = made.values()
    detail = next(one for one in document["details"] if one["histogram"] and one["histogram"]["counts"])
    same = {**detail["histogram"], "low": 1.0, "high": 1.0, "log": False}
    picture = detail["picture"] and {
        **detail["picture"],
        "low": 1.0,
        "high": 1.0,
        "cells": "0" * len(detail["picture"]["cells"]),
    }
    told = {**detail, "histogram": same, "picture": picture}
    shown = html({**document, "details": [told]})
    assert "Every element is 1." in shown
    turned = {**told, "first": ["(1+0j)", "(0+1j)"]}  # of one magnitude
    assert "Every element" not in html({**document, "details": [turned]})
    assert "Histogram (value) from 1 to 1" not in shown and "faint 1, strong 1" not in shown


def test_steps_below_a_chart_are_those_above_them() -> None:
    for high in (1, 2, 5, 9, 400):
        chart = Chart(
            "Memory",
            "",
            Axis("schedule", 0, high),
            Axis("bytes", 0, 8, "B"),
            (Series("a", "area", (0.0,), (4.0,)),),
            steps="step",
        )
        drawn = re.findall(r'<text x="([\d.]+)" y="255"[^>]*>([\d,]+)<', str(chart_svg(chart)))
        assert len(drawn) >= min(high, 2)
        for x, shown in drawn:
            at = (float(x) - 74) / (760 - 12 - 74) * high  # in steps: step 1 is from 0 to 1
            assert int(shown.replace(",", "")) == min(high, int(at + 1e-3) + 1)


def test_spans_of_a_still_timeline_have_their_names_where_these_fit() -> None:
    spans = (
        Span(0, 0.0, 0.6, "kernel 1, dot (library call), line 2"),
        Span(0, 0.6, 0.61, "kernel 2, add, line 3"),
        Span(0, 0.61, 0.75, "kernel 3, fusion of 100, lines 2-9"),
    )
    drawn = re.findall(r"<text[^>]*>(kernel[^<]*)<", str(timeline_svg(Timeline("call", "", ("thread 1",), spans, 1.0))))
    assert drawn == ["kernel 1, dot (library call), line 2", "kernel 3"]


def test_letters_of_a_jaxpr_have_the_names_of_the_picture() -> None:
    compilation = made.layer_compilation()
    assert jaxpr_lines.names(compilation) == "a is x, b is w, c is b"
    lines = jaxpr_lines.lines(compilation)
    assert any(line.endswith("add d e  # line 2") for line in lines)
    assert [line.partition("  # ")[0] for line in lines] == [
        line.rstrip() for line in compilation["jaxpr"].splitlines()
    ]
    assert "Arguments: a is x, b is w, c is b." in html(made.layer_cell())


def test_a_line_is_told_of_no_equation_that_could_be_another() -> None:
    compilation = made.layer_compilation()
    twice = {**compilation, "jaxpr": compilation["jaxpr"] + "\n    f:f32[64,7] = add d e"}
    assert not any("add d e  #" in line for line in jaxpr_lines.lines(twice))
    longer = {**compilation, "jaxpr": compilation["jaxpr"].replace("c:f32[7]", "c:f32[8]")}
    assert jaxpr_lines.names(longer) == ""


def test_a_table_that_is_too_wide_is_told_row_by_row() -> None:
    document = made.ledger()
    row = document["rows"][0]
    long = f"step({', '.join(f'argument_{n}: f32[64,20]' for n in range(6))})"
    shown = text({**document, "rows": [{**row, "signature": long, "because": ""}]}, width=80)
    assert re.search(r"^ +number 1   program .*time .* ms", shown, re.M), shown
    assert max(map(columns, shown.splitlines())) <= 80


def test_figures_have_names_above_them_in_text() -> None:
    shown = text(made.memory())
    assert re.search(r"^  at the peak +buffers +kept for backward +function$", shown, re.M), shown


def test_text_says_nothing_of_pictures_that_it_has_not() -> None:
    shown = text(profile())
    assert "is an estimate" in shown and not re.search("Full bar|sloping|dashed", shown)
    assert "Full bar" in html(profile()) and "sloping" in html(profile())


class Terminal:
    def isatty(self) -> bool:
        return True


def test_text_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle.sys, "stdout", Terminal())
    for wide, least in (("72", 72), ("20", 40), ("300", 100)):
        monkeypatch.setenv("COLUMNS", wide)
        shown = bundle.static_bundle(made.layer_cell())["text/plain"]
        assert max(map(columns, shown.splitlines())) <= least
        assert shown == text(made.layer_cell(), width=least)


def test_a_profile_tells_what_a_run_takes() -> None:
    compilation = {**made.layer_compilation(), "id": 0}
    compilation["timing"] = {**compilation["timing"], "steady": None, "can_measure": False}
    compilation["instruments"] = {}
    answers = Answers(lambda _: compilation, instrument=lambda *_: profile())
    widget, sent = Widget(compilation, answers), []
    widget.send = lambda content, buffers=None: sent.append(content)
    for name in ("timing", "profile", "timing"):
        widget._receive(None, {"type": "instrument", "id": 0, "name": name, "options": {}, "token": 1})
    before, _, after = (text(unpack(one["data"])) for one in sent if one["type"] == "instrument")
    assert "Not timed by repeated calls" in before
    assert "Not timed" not in after and "timed for the profile below" in after


def test_nothing_is_called_bold_where_no_key_differs() -> None:
    card = made.card(1)
    same = [{**row, "changed": [False for _ in row["changed"]]} for row in card["matrix"]["rows"]]
    alike = {**card, "matrix": {**card["matrix"], "rows": same}}
    assert "bold: differs" in html(made.recompilations(card))
    assert "bold" not in text(made.recompilations(alike)) and "bold: differs" not in html(made.recompilations(alike))


def test_a_number_stays_with_its_unit_where_a_sentence_breaks() -> None:
    document = {**made.memory(), "cost": quantity(0.27)}
    assert '<span class="nw">270 ms</span>' in html(document)
    assert ".nw{white-space:nowrap}" in html(document)


@pytest.mark.parametrize(("steps", "shown"), [(5, "1 2 3 4 5"), (2, "1 2"), (161, "1 41 81 121 161")])
def test_steps_are_numbered_in_their_middle(steps: int, shown: str) -> None:
    across = tuple(float(n) for n in range(steps))
    series = (Series("in use", "area", across, across),)
    chart = Chart("use", "", Axis("schedule", 0, steps), Axis("bytes", 0, steps, "B"), series=series, steps="step")
    found = re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="middle"[^>]*>(\d+)</text>', chart_svg(chart))
    assert [number for _, number in found] == shown.split()
    first, last = float(found[0][0]), float(found[-1][0])
    wide = (last - first) / (steps - 1)
    plot = re.search(r'd="M([\d.]+),[\d.]+H([\d.]+)"', chart_svg(chart))
    assert plot is not None
    assert first == pytest.approx(float(plot[1]) + wide / 2, abs=0.2)
    assert last == pytest.approx(float(plot[2]) - wide / 2, abs=0.2)


@pytest.mark.parametrize(
    ("high", "count", "written"),
    [(15e3, 4, [0, 5e3, 10e3, 15e3]), (2.5e6, 4, [0, 1e6, 2e6]), (228, 2, [0, 200]), (5, 2, [0, 5]), (1, 4, [0, 1])],
)
def test_what_is_counted_has_round_numbers_at_its_axis(high: float, count: int, written: list[float]) -> None:
    assert Scale(Axis("in use", 0, high), 0, 100).heights(count) == written


def test_a_line_is_told_once_with_all_that_became_of_it() -> None:
    document = made.passes()
    merged, fused = document["fates"]
    document["fates"] = [{**fused, "path": "e4"}, merged, {**fused, "path": "e5"}]
    said = " ".join(text(document).split())
    assert "3 equations: 1 merged with equal ones by cse, 2 fused by fusion" in said
    assert said.count("line 4") == " ".join(text(made.passes()).split()).count("line 4")


def test_what_an_instrument_took_is_told_without_a_note() -> None:
    took = {"value": 0.7, "unit": "s", "origin": "measured", "note": ""}
    assert words.cost(took) == "Finding this out took 700 ms."


def test_what_a_pass_made_of_one_operation_is_no_fusion() -> None:
    document = made.passes()
    document["fates"] = [{**document["fates"][1], "path": path} for path in ("e3", "e4", "e5")]
    assert "fused by fusion" in text(document)
    (wraps,) = [one for one in document["passes"] if one["state"] == 2]
    wraps["name"] = "fusion-wrapper"
    assert "2 equations made kernels of their own by fusion-wrapper" in " ".join(text(document).split())
    assert "fused by" not in text(document)


def test_times_that_nobody_measured_have_no_column() -> None:
    document = made.machine()
    assert "Kernels without code of their own" in text(document)
    for one in document["kernels"]:
        one["share"] = None
    assert ">measured time<" not in html(document)
    next(one for one in document["kernels"] if one["function"] is None)["share"] = 0.2
    assert ">measured time<" in html(document)


def test_two_programs_are_told_apart_in_the_words_of_other_views() -> None:
    document = made.comparison()
    for name in ("memory", "flops", "bytes"):
        document["b"][name] = document["a"][name]
    shown = text(document)
    assert "× 1.000" not in shown and "equal" in shown
    assert "arithmetic" in shown and "moved" in shown and "operations  " not in shown


def test_times_that_contradict_their_ratio_are_explained() -> None:
    document = made.comparison()
    assert "and counts" not in text(document)
    document["a"]["wall"], document["b"]["wall"] = document["b"]["wall"], document["a"]["wall"]
    assert "the ratio is of runs right after each other" in " ".join(text(document).split())


def test_the_way_to_an_error_says_what_each_line_gave() -> None:
    document = made.stopped()
    document["graph"]["edges"].append(
        {"from": document["steps"][1]["nodes"][0], "to": "stop", "type": "f32[64,7]", "bytes": 1792}
    )
    shown = text(document)
    assert "z = x @ w, which gives f32[64,7]" in shown and "✕ if z > 0, of f32[64,7]" in shown


def test_a_stretch_is_paid_back_after_runs() -> None:
    document = made.regions()
    (one,) = [one for one in document["regions"] if one["verdict"] == "compile"]
    for count, shown in ((1, "1 run"), (1200, "1,200 runs")):
        one["break_even_runs"] = count
        assert shown in text(document)


def test_alike_lines_of_two_programs_have_one_colour() -> None:
    def source(cell: str, marks: dict[int, list[str]]) -> dict[str, Any]:
        function = {"name": "f", "label": cell, "file": cell, "cell": cell}
        return {
            "functions": [function],
            "calls": [{"function": 0}],
            "marks": [{"call": 0, "line": line, "nodes": nodes} for line, nodes in marks.items()],
        }

    one = source("In [1]", {3: ["e1"], 4: ["e2", "e3"]})
    other = source("In [2]", {3: ["e0", "e1"], 4: ["e2"], 5: ["e3"]})
    hues = {("In [1]", 3): 0, ("In [1]", 4): 1, ("In [2]", 3): 2, ("In [2]", 4): 3, ("In [2]", 5): 4}
    found = with_counterparts(hues, one, other)
    assert [found["In [2]", line] for line in (3, 4, 5)] == [0, 1, 4]
    assert with_counterparts(hues, one, one) == hues
