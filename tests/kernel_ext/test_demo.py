"""Running a notebook into a page, and the command line."""

import json
import re
import sys
from pathlib import Path

import pytest

from jitscope_kernel import cli, demo
from jitscope_widgets.envelope import unpack
from tests import notebooks


CELLS = [
    "%load_ext jitscope\nimport jitscope.numpy as jnp",
    "%%jit\ndef f(x, w):\n    return jnp.tanh(x @ w) + 1\n\nf(jnp.ones((8, 3)), jnp.ones((3, 2)))",
    "%%jit\nf(jnp.ones((4, 3)), jnp.ones((3, 2)));",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write(folder / "small.ipynb", CELLS)
    assert demo.main([str(folder / "small.ipynb"), str(folder / "out" / "small.html")]) == 0
    return folder


def write(path: Path, cells: list[str]) -> None:
    notebooks.write(notebooks.of_cells(cells), path)


@pytest.mark.timeout(300)
def test_the_page_holds_the_executed_notebook(made: Path) -> None:
    html = (made / "out" / "small.html").read_text()
    assert html.count("data-jitscope-document=") >= 2
    assert "jnp" in html and "Array([[" in html
    executed = notebooks.read(made / "out" / "small.ipynb")
    assert [cell.execution_count for cell in executed.cells] == [1, 2, 3]
    assert notebooks.read(made / "small.ipynb").cells[1].outputs == []


def test_the_summary_says_what_was_compiled(made: Path) -> None:
    executed = notebooks.read(made / "out" / "small.ipynb")
    text = demo.summary(executed)
    lines = text.splitlines()
    assert lines[0].split() == ["compiled", "equations", "became", "trace", "lower", "compile"]
    assert lines[1].startswith("f ") and "fusion" in lines[1] and "library call" in lines[1]
    assert lines[2].startswith("f (again) ")
    assert "2 programs compiled, 1 of them because" in text
    assert len({len(line) for line in lines[:3]}) == 1
    assert demo.summary(notebooks.of_cells()) == "Nothing was compiled in this notebook."


@pytest.mark.timeout(300)
def test_a_cell_that_fails_fails_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "bad.ipynb", ["1 / 0"])
    assert demo.main([str(tmp_path / "bad.ipynb"), str(tmp_path / "bad.html")]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert not (tmp_path / "bad.html").exists()


def test_a_notebook_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main([str(tmp_path / "none.ipynb"), str(tmp_path / "x.html")]) == 1
    assert "none.ipynb" in capsys.readouterr().err
    assert demo.main([]) == 2


# --- the command ------------------------------------------------------------------------------------------------------


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("jitscope ")


def test_show(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    executed = notebooks.read(made / "out" / "small.ipynb")
    document = next(demo.documents(executed))
    (tmp_path / "cell.json").write_text(json.dumps(document))
    assert cli.main(["show", str(tmp_path / "cell.json")]) == 0
    assert "f(x: f32[8,3], w: f32[3,2]) -> f32[8,2]" in capsys.readouterr().out
    assert cli.main(["show", str(tmp_path / "cell.json"), "--html", str(tmp_path / "cell.html")]) == 0
    assert "data-jitscope-document" in (tmp_path / "cell.html").read_text()


def test_what_cannot_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_text('{"kind": "cell", "version": 1}')
    for file in ("bad.json", "none.json"):
        assert cli.main(["show", str(tmp_path / file)]) == 1
        assert "cannot be shown" in capsys.readouterr().err


def _viewed(capsys: pytest.CaptureFixture[str], file: Path) -> str:
    assert cli.main(["view", str(file), "--no-browser"]) == 0
    page = Path(capsys.readouterr().out.strip())
    assert page.suffix == ".html" and page.parent.name.startswith("jitscope-")
    return page.read_text()


def test_a_notebook_and_a_document_are_viewed(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    executed = notebooks.read(made / "out" / "small.ipynb")
    document = next(demo.documents(executed))
    (tmp_path / "cell.json").write_text(json.dumps(document))
    for file in (made / "out" / "small.ipynb", tmp_path / "cell.json"):
        page = _viewed(capsys, file)
        carried = re.findall(r'data-jitscope-document="([^"]+)"', page)
        assert document in map(unpack, carried)
        assert "data-jitscope-view" in page


def test_without_nbconvert_the_views_of_a_notebook_are_viewed(
    made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nbconvert", None)
    page = _viewed(capsys, made / "out" / "small.ipynb")
    assert "data-jitscope-document" in page and "%%jit" in page


@pytest.mark.parametrize("text", ['{"kind": "cell", "version": 1}', "no json", "[]", '{"cells": 3}', '{"cells": [{}]}'])
def test_what_cannot_be_viewed(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_text(text)
    for file in ("bad.json", "none.json", "code.py"):
        assert cli.main(["view", str(tmp_path / file), "--no-browser"]) == 1
        assert "cannot be viewed" in capsys.readouterr().err
