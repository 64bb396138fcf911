"""The types of documents: they accept what producers may make and name the path of a wrong field; what is generated from them agrees with
them."""

from __future__ import annotations

import ast
import copy
import importlib.util
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from jitscope_widgets import DocumentError, documents, validate
from jitscope_widgets.documents import file_name, kinds, types, typescript
from jitscope_widgets.documents.fields import fields, records
from jitscope_widgets.documents.schema import schema
from tests.extent import ALL
from tests.widgets import documents as made, strategies


DOCS = Path(__file__).parents[2] / "docs" / "documents.md"
FIXTURES = sorted(Path(__file__).with_name("fixtures").glob("*.json"))


@pytest.mark.parametrize("document", made.every_kind(), ids=lambda document: document["kind"])
def test_good_documents_pass(document: dict[str, Any]) -> None:
    validate(document)


def test_there_is_a_good_document_of_every_kind() -> None:
    assert {document["kind"] for document in made.every_kind()} == set(kinds())


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
    (("cell",), 3, "cell.cell: expected `str`, got `int`"),
    (("version",), 2, "cell.version: invalid enum value 2"),
    (("version",), True, "cell.version: expected `int`, got `bool`"),
    (("compilations",), (), "cell.compilations: expected a list, found tuple ()"),
    ((*GRAPH, "nodes", 3, "types"), "f32", "cell.compilations[0].graph.nodes[3].types: expected `array`, got `str`"),
    ((*GRAPH, "nodes", 3, "bytes"), 1.5, "graph.nodes[3].bytes: expected `int`, got `float`"),
    ((*GRAPH, "nodes", 3, "kind"), "op", "graph.nodes[3].kind: invalid enum value 'op'"),
    ((*GRAPH, "nodes", 3, "id"), "in0", "graph.nodes[3].id: 'in0' is already the id of nodes[0]"),
    ((*GRAPH, "nodes", 3, "scope"), "e9", "graph.nodes[3].scope: no node has the id 'e9'"),
    ((*GRAPH, "nodes", 3, "scope"), "e0", "graph.nodes[3].scope: the node 'e0' would contain itself"),
    ((*GRAPH, "nodes", 3, "params"), {"a": 1}, "graph.nodes[3].params[...]: expected `str`, got `int`"),
    ((*GRAPH, "edges", 0, "to"), "nowhere", "graph.edges[0].to: no node has the id 'nowhere'"),
    ((*GRAPH, "nodes", 3, "positions", 0, "line"), 0, "positions[0]: lines count from 1"),
    (("compilations", 0, "timing", "total", "value"), float("nan"), "timing.total.value: expected a finite number"),
    (("compilations", 0, "timing", "total", "value"), None, "timing.total: the value is None exactly when"),
    (
        ("compilations", 0, "source", "marks", 0, "nodes"),
        ["gone"],
        "source.marks[0].nodes: the graph has no node 'gone'",
    ),
    (
        ("compilations", 0, "fusion", "rows", 0, "left"),
        {},
        "fusion.rows[0].left: object missing required field `number`",
    ),
    (("surplus",), 1, "cell: there is no field 'surplus' here"),
    (("left_alone", 0), {"name": "f"}, "cell.left_alone[0]: object missing required field `reason`"),
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


# --- what is generated from the types ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def validator() -> Any:
    jsonschema = pytest.importorskip("jsonschema")  # JupyterLab brings it
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


@pytest.mark.parametrize("document", made.every_kind(), ids=lambda document: document["kind"])
def test_the_json_schema_accepts_good_documents_alone(document: dict[str, Any], validator: Any) -> None:
    assert validator.is_valid(document)
    assert not validator.is_valid(document | {"surplus": 1})
    required = sorted(documents.types()[document["kind"]].__required_keys__)  # pyright: ignore[reportAttributeAccessIssue]
    for name in required if ALL else required[:1]:
        assert not validator.is_valid({key: value for key, value in document.items() if key != name})


@strategies.patient
@given(strategies.documents)
def test_documents_that_the_types_generate_have_their_form(validator: Any, document: dict[str, Any]) -> None:
    assert validator.is_valid(document)


def test_the_types_of_typescript_hold_every_field(tmp_path: Path) -> None:
    """The TypeScript compiler takes a document of each kind for one, and refuses it without a field."""
    lines = ['import type * as forms from "./forms";']
    for document in made.every_kind():
        name = f"{documents.type_name(document['kind']).removesuffix('Document')}Doc"
        lines.append(f"export const a{len(lines)}: forms.{name} = {json.dumps(document)};")
        short = {key: value for key, value in document.items() if key != "version"}
        lines.append(
            f"// @ts-expect-error: a document has a version\nexport const b{len(lines)}: forms.{name} = {json.dumps(short)};"
        )
    (tmp_path / "forms.ts").write_text(typescript.text())
    (tmp_path / "use.ts").write_text("\n".join(lines))
    compiler = Path(__file__).parents[2] / "node_modules" / "typescript" / "bin" / "tsc"
    if not compiler.is_file():
        pytest.skip("npm's packages are not installed: make front")
    command = ["node", str(compiler), "--noEmit", "--strict", "--skipLibCheck", str(tmp_path / "use.ts")]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def test_every_type_and_every_kind_is_explained() -> None:
    """Each record has a docstring (or is a table of two or three plain fields), and docs/documents.md names each kind."""
    folder = Path(documents.__file__).parent
    for record in records(*types().values()):
        source = (folder / f"{record.__module__.rpartition('.')[2]}.py").read_text(encoding="utf-8")
        written = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
        assert record.__name__ not in written or ast.get_docstring(written[record.__name__]), record
        assert record.__name__ in written or len(fields(record)) <= 7, record
    text = DOCS.read_text(encoding="utf-8")
    assert not [kind for kind in kinds() if f"documents/{file_name(kind)}.py" not in text]


def test_the_pages_of_the_types_list_every_field() -> None:
    """Those that a record has from another one, too."""
    file = DOCS.parent / "site" / "document_pages.py"
    spec = importlib.util.spec_from_file_location("document_pages", file)
    assert spec is not None and spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    for record in records(*types().values()):
        page = pages.page(record.__module__.rpartition(".")[2])
        section = re.search(rf"^## {record.__name__}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
        if section is not None:  # tables of two or three plain fields have none
            assert not [name for name in fields(record) if f"`{name}`" not in section[1]], record
