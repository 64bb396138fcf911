"""The table of forms: it mirrors docs/documents.md, accepts what producers may make, and names the path of a wrong field."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from jitscope_widgets import DocumentError, validate
from jitscope_widgets.schema import FORMS, KINDS, Form, Many, Maybe, OneOf, Perhaps, Record, Table
from tests.widgets import documents as made
from tests.widgets.js import forms


DOCS = Path(__file__).parents[2] / "docs" / "documents.md"
FIXTURES = sorted(Path(__file__).with_name("fixtures").glob("*.json"))


@pytest.mark.parametrize("document", made.every_kind(), ids=lambda document: document["kind"])
def test_good_documents_pass(document: dict[str, Any]) -> None:
    validate(document)


def test_there_is_a_good_document_of_every_kind() -> None:
    assert {document["kind"] for document in made.every_kind()} == set(KINDS)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_fixtures_of_the_front_end_pass(path: Path) -> None:
    validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("document", [made.long_program(40), made.long_program(40, 4)])
def test_long_programs_pass(document: dict[str, Any]) -> None:
    validate(document)


def _broken(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    document = copy.deepcopy(made.layer_cell())
    inner: Any = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return document


GRAPH = ("compilations", 0, "graph")

WRONG = [
    (("cell",), 3, "cell.cell: expected a text, found int 3"),
    (("version",), 2, "cell.version: expected 1, found int 2"),
    (("version",), True, "cell.version: expected 1, found bool True"),
    (("compilations",), (), "cell.compilations: expected a list, found tuple ()"),
    ((*GRAPH, "nodes", 3, "types"), "f32", "cell.compilations[0].graph.nodes[3].types: expected a list"),
    ((*GRAPH, "nodes", 3, "bytes"), 1.5, "graph.nodes[3].bytes: expected a whole number, found float 1.5"),
    ((*GRAPH, "nodes", 3, "kind"), "op", "graph.nodes[3].kind: expected 'input' or "),
    ((*GRAPH, "nodes", 3, "id"), "in0", "graph.nodes[3].id: 'in0' is already the id of nodes[0]"),
    ((*GRAPH, "nodes", 3, "scope"), "e9", "graph.nodes[3].scope: no node has the id 'e9'"),
    ((*GRAPH, "nodes", 3, "scope"), "e0", "graph.nodes[3].scope: the node 'e0' would contain itself"),
    ((*GRAPH, "nodes", 3, "params"), {"a": 1}, "graph.nodes[3].params['a']: expected a text"),
    ((*GRAPH, "edges", 0, "to"), "nowhere", "graph.edges[0].to: no node has the id 'nowhere'"),
    ((*GRAPH, "nodes", 3, "positions", 0, "line"), 0, "positions[0]: lines count from 1"),
    (("compilations", 0, "timing", "total", "value"), float("nan"), "timing.total.value: expected a finite number"),
    (("compilations", 0, "timing", "total", "value"), None, "timing.total: the value is None exactly when"),
    (
        ("compilations", 0, "source", "marks", 0, "nodes"),
        ["gone"],
        "source.marks[0].nodes: the graph has no node 'gone'",
    ),
    (("compilations", 0, "fusion", "rows", 0, "left"), {}, "fusion.rows[0].left: the field 'number' is missing"),
    (("surplus",), 1, "cell: there is no field 'surplus' here"),
    (("left_alone", 0), {"name": "f"}, "cell.left_alone[0]: the field 'reason' is missing"),
]


@pytest.mark.parametrize(("path", "value", "message"), WRONG, ids=lambda part: str(part)[:40])
def test_a_wrong_field_is_named_by_its_path(path: tuple[Any, ...], value: Any, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        validate(_broken(path, value))
    assert message in str(caught.value)


@pytest.mark.parametrize("document", [None, [], {}, {"kind": "novel"}, {"kind": ["cell"]}])
def test_what_is_no_document_is_told(document: object) -> None:
    with pytest.raises(DocumentError, match=r"a document is a dict|kind: expected one of"):
        validate(document)


def test_a_row_without_sides_is_wrong() -> None:
    document = made.layer_fusion()
    document["rows"][0] |= {"left": None, "right": None}
    with pytest.raises(DocumentError, match=r"fusion\.rows\[0\]: a row has a line"):
        validate(document)


# --- the table and the documentation say the same -----------------------------------------------------------------------


def _words(form: Form, inside: bool = False) -> set[str]:
    """The field names and fixed words of a form; forms with a name of their own section are not looked into."""
    match form:
        case str():
            return _words(FORMS[form]) if form not in SECTIONS and not inside else set()
        case OneOf():
            return {option for option in form.options if isinstance(option, str)}
        case Maybe() | Many() | Table() | Perhaps():
            return _words(form.form)
        case Record():
            return set(form.fields).union(*map(_words, form.fields.values()))
    return set()


SECTIONS = (*KINDS, "position", "quantity", "edit", "fix")


def _section(name: str) -> str:
    return re.split(r"^## ", DOCS.read_text(encoding="utf-8").split(f"\n## {name}\n", 1)[1], flags=re.MULTILINE)[0]


@pytest.mark.parametrize("kind", [*KINDS, "position"])
def test_the_table_mirrors_the_documentation(kind: str) -> None:
    blocks = re.findall(r"```\n(.*?)```", _section("Position" if kind == "position" else kind), re.DOTALL)
    said = {word for block in blocks for word in re.findall(r'"([A-Za-z0-9_ -]+)"', block)}
    assert said == _words(FORMS[kind])


def test_the_table_mirrors_the_documentation_of_fixes() -> None:
    said = set(re.findall(r'"([a-z_]+)":', _section("Edit and fix")))
    assert said == _words(FORMS["edit"]) | _words(FORMS["fix"])


def test_the_types_of_typescript_are_made_from_the_table() -> None:
    assert forms.FILE.read_text(encoding="utf-8") == forms.types(), "run python -m tests.widgets.js.forms"


def test_the_table_mirrors_the_documentation_of_quantities() -> None:
    said = next(line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("* a quantity is"))
    assert set(re.findall(r'"(\w+)"', said)) == _words(FORMS["quantity"])
