"""Views as files: each ending gives its format, what cannot be written says why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from jitscope_widgets import text, write
from jitscope_widgets.folding import MOST_AT_ONCE
from jitscope_widgets.still import drawn_graph, still
from tests.widgets import documents as made


GRAPHS = [made.layer_graph(), made.layer_fusion(), made.layer_compilation(), made.layer_cell()]


@pytest.mark.parametrize("document", GRAPHS, ids=lambda document: document["kind"])
def test_every_ending_gives_its_format(document: dict[str, Any], tmp_path: Path) -> None:
    assert write(document, tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")
    assert json.loads(write(document, tmp_path / "a.json").read_text()) == document
    assert write(document, str(tmp_path / "a.txt")).read_text() == text(document)
    ElementTree.fromstring(write(document, tmp_path / "a.svg").read_text())
    assert "digraph" in write(document, tmp_path / "a.dot").read_text()


def test_a_png_needs_graphviz(tmp_path: Path) -> None:
    if shutil.which("dot"):
        assert write(made.layer_graph(), tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    else:
        with pytest.raises(ValueError, match="dot of Graphviz, which is not installed"):
            write(made.layer_graph(), tmp_path / "a.png")


def test_a_png_of_a_large_program_shows_what_an_svg_shows() -> None:
    """`dot` lays out some hundred nodes in a second, and some thousand not at all."""
    graph = made.long_program(3000, scopes=100)["compilations"][0]["graph"]
    drawn, remark = drawn_graph(graph)
    shown = {node["id"] for node in drawn["nodes"]}
    assert len(shown) <= MOST_AT_ONCE and remark == still(graph).remark and "closed, with" in remark
    assert all(edge["from"] in shown and edge["to"] in shown and edge["from"] != edge["to"] for edge in drawn["edges"])
    assert any(label.endswith("equations") for label in (node["label"] for node in drawn["nodes"]))


@pytest.mark.parametrize(("name", "said"), [("a.pdf", "cannot be saved as '.pdf'"), ("a.svg", "a timing has no graph")])
def test_what_cannot_be_written_says_why(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said):
        write(made.timing(), tmp_path / name)
    assert not (tmp_path / name).exists()
