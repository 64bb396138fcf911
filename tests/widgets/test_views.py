"""Views as data: what text, static HTML and the live page make of one tree of parts, and that nothing from outside is markup in it."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from jitscope_widgets import envelope, html, text
from jitscope_widgets.budget import fit
from jitscope_widgets.view import inline
from jitscope_widgets.view.as_data import as_data
from jitscope_widgets.view.as_html import as_html
from jitscope_widgets.view.as_text import as_text
from jitscope_widgets.view.markup import Markup, element
from jitscope_widgets.view.parts import KINDS, Cards, Chart, Column, Row, Section, Sentence, Table
from jitscope_widgets.view.typescript import FILE, text as typescript
from jitscope_widgets.view_data import timing_of
from jitscope_widgets.views import has_view, view_of
from jitscope_widgets.views.communication import left_out
from jitscope_widgets.views.recompilations import counted
from jitscope_widgets.words import kernel_name
from tests.widgets import documents as made


SHOWN = [document for document in made.every_kind() if has_view(document["kind"])]
each = pytest.mark.parametrize("document", SHOWN, ids=lambda document: document["kind"])
HOSTILE = "<script>alert(1)</script>&\"'\x1b[31m\u202e"


class _Tags(HTMLParser):
    """Notes tags that are opened and never closed, and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        if tag not in ("br", "wbr", "img", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag


def _balanced(markup: str) -> set[str]:
    parser = _Tags()
    parser.feed(markup)
    parser.close()
    assert not parser.open
    return parser.seen


@each
def test_the_three_renderers_take_every_view(document: dict[str, Any]) -> None:
    parts = view_of(document)
    assert as_text(parts, 80) and all(len(line) <= 80 for line in as_text(parts, 80))
    _balanced(fit(as_html(parts), 10**9))
    json.dumps(as_data(parts), allow_nan=False)


@each
def test_what_is_said_is_said_by_all_three(document: dict[str, Any]) -> None:
    """Sentences stand in text, static HTML and in what the live page gets, word for word."""
    parts = view_of(document)
    inside = [one for part in parts if isinstance(part, Cards) for card in part.cards for one in card.parts]
    told = [part for part in (*parts, *inside) if isinstance(part, Sentence)]
    sentences = [inline.words(part.content) for part in told]
    drawn = {inline.words(part.content) for part in told if part.drawn}
    assert sentences
    flat = re.sub(r"\s+", " ", " ".join(as_text(parts, 10_000)))
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", fit(as_html(parts), 10**9)))
    live = json.dumps(as_data(parts), ensure_ascii=False)
    for sentence in sentences:
        assert (sentence in flat) != (sentence in drawn)  # how a picture is read is said where there is one
        assert Markup(element("p", sentence))[3:-4] in page
        assert all(word in live for word in sentence.split('"')[0].split()[:3])


def _hostile(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: item if key in ("kind", "version", "what", "cell_id") else _hostile(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_hostile(item) for item in value]
    return value + HOSTILE if isinstance(value, str) and " " in value else value


@each
def test_text_from_outside_is_never_markup(document: dict[str, Any]) -> None:
    hostile = _hostile(document)
    assert "script" not in _balanced(html(hostile))
    assert "\x1b" not in text(hostile) and "\u202e" not in text(hostile)
    assert "\x1b" not in "".join(_texts(as_data(view_of(hostile))))


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [
            found
            for key, item in value.items()
            if key not in ("position", "document", "fix", "pairs", "operations")
            for found in _texts(item)
        ]
    if isinstance(value, list):
        return [found for item in value for found in _texts(item)]
    return [value] if isinstance(value, str) else []


@each
def test_a_packed_document_has_its_view_and_comes_back_without_it(document: dict[str, Any]) -> None:
    packed = envelope.pack(document).text
    assert envelope.unpack(packed) == document
    assert envelope._read(packed.split()[0])["document"]["view"] == json.loads(
        json.dumps(as_data(view_of(document), document))
    )


@given(st.recursive(st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=8))
def test_elements_escape_what_is_no_markup(content: Any) -> None:
    assert _balanced(element("p", content, title=str(content))) == {"p"}


def test_a_table_gives_way_row_by_row() -> None:
    rows = tuple(Row((f"row {n}", inline.count(n))) for n in range(1000))
    table = Table("Numbers", (Column("name"), Column("count", "number")), rows)
    whole, small = fit(as_html((table,)), 10**9), fit(as_html((table,)), 3000)
    assert whole.count("<tr") == 1001 and 5 < small.count("<tr") < 60 and len(small) <= 3000
    assert "more" in small
    assert as_text((Section("Here", (table,)),), 80)[-1].strip() == "and 980 more"


@pytest.mark.parametrize(
    ("title", "cell", "said"),
    [
        ("line", "line 5", "line 5"),
        ("lines", "lines 3-4", "lines 3-4"),
        ("line", "In [2] line 7; In [3] lines 1-2", "In [2] line 7; In [3] lines 1-2"),
        ("line", "no known line", "no known line"),
        ("line", "5", "line 5"),
        ("operation", "outline 3", "operation outline 3"),
    ],
)
def test_a_stacked_row_says_the_name_of_a_column_once(title: str, cell: str, said: str) -> None:
    columns = (Column("kernel", "code"), Column("written in", "number"), Column("kernels", "number"), Column(title))
    table = Table("Kernels", columns, (Row(("long " * 30, "2 ms", "3", cell)),))
    assert as_text((table,), 80)[-1].strip() == f"written in 2 ms   kernels 3   {said}"


def test_a_number_in_bold_is_not_parted_from_its_unit_in_a_sentence() -> None:
    told = str(as_html((Sentence(("It takes ", inline.strong("19 %"), " of the time", inline.strong(" alone"), ".")),)))
    assert re.search(r"<b[^>]*><[^>]+>19 %</[^>]+></b>", told), told


def test_kernels_of_a_library_are_called_the_same_in_all_lists() -> None:
    kernel = {"kind": "library", "opcode": "fusion"}
    assert kernel_name(kernel, 13) == "fusion of 13 (library call)"
    assert kernel_name({"kind": "library", "opcode": "dot"}, 1) == "dot (library call)"
    assert kernel_name({"kind": "loop", "opcode": "while", "label": "while of scan × 4"}, 9) == "while of scan × 4"


@pytest.mark.parametrize("kind", ["target", "fusion"])
def test_a_loop_is_called_as_in_the_graph(kind: str) -> None:
    (document,) = [one for one in made.every_kind() if one["kind"] == kind]
    kernels = document["kernels"]
    kernels[0] = {**kernels[0], "kind": "loop", "opcode": "while", "label": "while of scan × 40"}
    assert "while of scan × 40" in "\n".join(as_text(view_of(document), 200))


def test_what_a_document_of_exchanges_leaves_out_is_counted_in_the_right_number() -> None:
    told = [left_out({"left_out": {"collectives": 3 - n, "values": n}}) for n in (1, 2)]
    assert told == [
        "Not kept in this document: 2 more collectives and 1 more argument or result.",
        "Not kept in this document: 1 more collective and 2 more arguments and results.",
    ]


def test_rows_of_several_orders_are_told_once() -> None:
    """A row that is the same object in two tables comes once, then by its number among all rows."""
    inner = Row(("b",))
    first, second = Row(("a",), rows=(inner,)), Row(("c",))
    columns = (Column("name"),)
    told = as_data((Table("one", columns, (first, second)), Table("two", columns, (second, inner, Row(("c",)), first))))
    assert told[1]["rows"] == [{"again": 2}, {"again": 1}, {"cells": ["c"]}, {"again": 0}]
    assert [row["cells"] for row in told[0]["rows"]] == [["a"], ["c"]]


def test_the_forms_of_the_front_end_are_those_of_the_parts() -> None:
    written = typescript()
    for kind in KINDS:
        assert is_dataclass(kind)
        form = re.search(rf"export interface {kind.__name__} \{{(.*?)\n\}}", written, re.S)
        assert form and set(re.findall(r"^  (\w+)\??:", form[1], re.M)) == {field.name for field in fields(kind)} | {
            "part"
        }


def test_every_kind_of_part_is_drawn_by_the_front_end() -> None:
    source = (Path(FILE).parent / "view.ts").read_text(encoding="utf-8")
    assert set(re.findall(r'case "(\w+)":', source)) == {kind.__name__.lower() for kind in KINDS}


def test_a_card_counts_what_was_compiled_traced_and_lost() -> None:
    card = made.card(299) | {"retraces": 1, "seconds": made.quantity(12.34)}
    assert counted(card) == "299 recompilations and 1 retrace, 12.3 s lost"
    assert counted(card | {"compilations": 0, "retraces": 3000}) == "3,000 retraces, 12.3 s lost"
    unknown = {"compilations": 0, "retraces": 0, "seconds": made.quantity(None, origin="unknown")}
    assert counted(card | unknown) == "run again"


def test_rows_of_a_matrix_keep_their_columns_and_its_text_says_what_changed() -> None:
    card = made.card(2)
    card["matrix"] |= {"columns_left": 300, "columns_left_after": 2, "rows_left": 9, "alike_left": 5}
    (cards,) = view_of(made.recompilations(card))
    assert isinstance(cards, Cards)
    (matrix,) = [part for part in cards.cards[0].parts if isinstance(part, Table)]
    assert [column.title for column in matrix.columns] == ["program", "1", "2", "…", "3"]
    assert (
        all(len(row.cells) == 5 for row in matrix.rows)
        and "4 more rows left out; 5 more rows, the same in all, left out" in matrix.left_out
    )
    assert "x  f32[64,20] -> f32[40,20] -> (300 more) -> f32[40,20]" in " ".join(as_text((cards,), 100))


def _charts(parts: Any) -> list[Chart]:
    if isinstance(parts, Chart):
        return [parts]
    if is_dataclass(parts):
        parts = [getattr(parts, field.name) for field in fields(parts)]
    return [chart for part in parts for chart in _charts(part)] if isinstance(parts, (list, tuple)) else []


@pytest.mark.parametrize("low, high", [(1, -1.0), (0.001, 25.0), (5e-324, 1.7976931348623157e308)])
def test_edges_of_a_histogram_are_numbers_within_its_bounds(low: float, high: float) -> None:
    document = made.values()
    for detail in document["details"]:
        detail["histogram"] = {"low": low, "high": high, "log": True, "zeros": 0, "counts": [1, 0, 3, 2]}
    charts = [chart for chart in _charts(list(view_of(document))) if chart.summary.startswith("Histogram")]
    assert charts
    for chart in charts:
        edges = chart.series[0].across
        assert edges[0] == low and len(edges) == 4
        assert all(min(low, high) <= edge <= max(low, high) for edge in edges)


def test_numbers_of_one_of_several_devices_are_told_as_such() -> None:
    of_kind = {document["kind"]: document for document in SHOWN}
    assert "in use on each of 8 devices, at step" in text(of_kind["memory"] | {"devices": 8})
    compilation = next(one for one in made.every_kind() if one["kind"] == "compilation")
    spread = {"instruments": {"communication": of_kind["communication"]}}
    count = of_kind["communication"]["devices"]
    assert f"Work of one call, on each of {count} devices" in text(timing_of({**compilation, **spread}))
    assert "each of" not in text(of_kind["memory"]) + text(timing_of(compilation))
