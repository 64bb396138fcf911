"""What became of a program: lines of the programs before and after in groups, kernels in their order and by their names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from jitscope_widgets.view import inline
from jitscope_widgets.view.parts import Diff, Graph, Instrument, Table
from jitscope_widgets.view_data import with_views
from jitscope_widgets.views import view_of
from jitscope_widgets.views.fusion import difference, kernel_table
from tests.widgets import documents as made


_KINDS = {"s": "same", "c": "changed", "f": "fused", "r": "removed"}


def every(value: Any) -> Iterator[Any]:
    """The parts in some parts, however deep."""
    if isinstance(value, tuple):
        for inner in value:
            yield from every(inner)
    elif is_dataclass(value):
        yield value
        for field in fields(value):
            yield from every(getattr(value, field.name))


def rows(kinds: str) -> list[Any]:
    return [
        {
            "kind": _KINDS[kind],
            "left": {"number": at, "text": f"{at}", "name": "", "paths": []},
            "right": None,
            "caption": "",
        }
        for at, kind in enumerate(kinds)
    ]


@pytest.mark.parametrize(
    ("kinds", "runs"),
    [
        ("ssssss", "same 6"),
        ("sssssssss", "folded 9"),
        ("sssssssssc", "folded 7, same 2, changed 1"),
        ("csssssssssc", "changed 1, same 2, folded 5, same 2, changed 1"),
        ("sffffs", "same 1, fused 4, same 1"),
        ("", ""),
    ],
)
def test_long_unchanged_runs_are_folded_with_lines_beside_a_change(kinds: str, runs: str) -> None:
    found = difference("", rows(kinds))
    assert ", ".join(f"{run.kind} {run.count}" for run in found.runs) == runs


def test_rows_of_two_kernels_do_not_run_together() -> None:
    found = rows("ffff")
    found[0]["caption"], found[2]["caption"] = "2 operations became 1 kernel", "another 2"
    assert [run.count for run in difference("", found).runs] == [2, 2]
    found = rows("fff")
    found[0]["right"] = found[1]["right"] = found[0]["left"]
    assert [run.count for run in difference("", found).runs] == [1, 2]


@pytest.mark.parametrize(
    ("left", "right", "marked"),
    [
        ("%a.1 = f32[3] add(x, y)", "%a.1 = f32[3] add(x, zz)", ("y", "zz")),
        ("dot.1 = dot(x)", "%dot.1 = dot(x)", ("dot.1", "%dot.1")),
        ("  add(x)", "  add(x)", ("", "")),
        ("add(x)", "add(x), y", ("", ", y")),
    ],
)
def test_what_differs_in_a_changed_line_is_marked_in_whole_words(
    left: str, right: str, marked: tuple[str, str]
) -> None:
    (row,) = rows("c")
    row["left"], row["right"] = (row["left"] | {"text": text} for text in (left, right))
    ((a, b, c, d),) = difference("", [row]).marks
    assert (left[a:b], right[c:d]) == marked


def test_kernels_are_told_by_what_they_are() -> None:
    (one, *_) = made.layer_fusion()["kernels"]

    def kernel(kind: str, opcode: str, members: int = 1) -> Any:
        member = {"name": "m", "opcode": opcode, "type": "f32[]", "paths": []}
        return one | {"kind": kind, "opcode": opcode, "members": [member] * members}

    kernels = [kernel("fusion", "fusion", 6), kernel("copy", "copy"), kernel("library", "dot"), kernel("loop", "while")]
    told = {inline.words(row.cells[0]).split(" dot")[0]: row.cells[1] for row in kernel_table(kernels, "").rows}
    assert told == {
        "▣ kernel 1": "fusion of 6", "◇ kernel 2": "copy", "⬡ kernel 3": "dot (library call)", "↻ loop 1": "while",
    }  # fmt: skip


def test_neighbours_are_told_beside_both_kernels_and_once_to_the_live_page() -> None:
    fusion = made.layer_fusion()
    seen = [{"kind": "library", "text": "the first is a library call"}]
    fusion["boundaries"] = [{"from": "dot.1", "to": "fusion.1", "observed": seen}]
    parts = list(every(view_of(fusion)))
    tables = [part for part in parts if isinstance(part, Table) and part.name == "Not fused with 1 neighbour"]
    assert len(tables) == 2 and tables[0].rows[0] is tables[1].rows[0]
    assert tables[0].rows[0].ref.kernels == ("dot.1", "fusion.1")
    assert [part.name for part in parts if isinstance(part, Instrument)] == ["reasons"]


def test_what_stands_in_the_document_is_not_sent_twice() -> None:
    fusion = made.layer_fusion()
    (diff,) = (part for part in every(view_of(fusion)) if isinstance(part, Diff))
    assert diff.pairs is fusion["rows"]
    shown = str(with_views(fusion)["view"])
    assert "{'at': ['rows']}" in shown and "{'at': ['after']}" in shown and "{'at': ['kernels', 1, 'members']}" in shown


def test_programs_that_were_left_out_are_not_called_empty() -> None:
    fusion = made.layer_fusion() | {"kernels": [], "rows": []}
    for side in ("before", "after"):
        fusion[side] = fusion[side] | {"nodes": [], "edges": []}
    parts = list(every(view_of(fusion)))
    assert not any(isinstance(part, Table | Diff | Graph) for part in parts)
