"""A real kernel shows our views, and its notebook becomes a page that needs neither kernel nor network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import jitscope_widgets
from jitscope_widgets import export_notebook, static_files
from tests import notebooks


CELLS = (
    "from IPython.display import display\nfrom jitscope_widgets import View, display_bundle\n"
    "from tests.widgets.documents import layer_cell, long_program",
    "display(display_bundle(layer_cell()), raw=True)",
    "View(long_program(60))",
)
ROOMS = [str(Path(jitscope_widgets.__file__).parents[1]), str(Path(__file__).parents[2])]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """By nbclient, which has no front end."""
    title = notebooks.markdown("# Title with $x^2$ and ![picture](https://a.example/p.png)")
    notebook = notebooks.of_cells([title, f"import sys; sys.path[:0] = {ROOMS}", *CELLS])
    notebooks.execute(notebook, tmp_path_factory.mktemp("notebook"))
    return notebook


def _shown(notebook: Any, at: int) -> Any:
    (output,) = notebook.cells[at].outputs
    return output.data


def test_a_notebook_executed_without_a_front_end_has_still_and_text(executed: Any) -> None:
    for at in (3, 4):
        data = _shown(executed, at)
        assert set(data) == {"text/html", "text/plain"}
        assert "data-jitscope-document" in data["text/html"]
    assert _shown(executed, 3)["text/plain"].startswith("layer(x: f32[64,20]")


def test_nbconvert_shows_the_still_view(executed: Any) -> None:
    import nbconvert  # which imports nbformat: tests/notebooks.py

    page, _ = nbconvert.HTMLExporter().from_notebook_node(executed)
    assert '"model_id"' not in page
    for said in ("layer", "10 equations → 2 kernels"):
        assert said in page
    assert page.count("data-jitscope-document") == 2


def test_the_exported_page_fetches_nothing(executed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = tmp_path / "static"
    built.mkdir()
    for name in (static_files.LOADER, static_files.VIEW, static_files.PAGE_VIEW):
        (built / name).write_text("globalThis.jitscope = 1;", encoding="utf-8")
    monkeypatch.setattr(static_files, "FOLDER", built)
    notebooks.write(executed, tmp_path / "tour.ipynb")
    path = export_notebook(tmp_path / "tour.ipynb", tmp_path / "out" / "tour.html")
    page = path.read_text(encoding="utf-8")
    assert page.count("data-jitscope-document=") == 2
    assert page.count("<script data-jitscope-view") == 1
    assert "vnd.jupyter.widget" not in page
    fetched = re.findall(r"(?<!data-offline-)\b(?:src|srcset)\s*=\s*[\"']?(?:https?:)?//[^\"'> ]*", page)
    fetched += re.findall(r"<link\b[^>]*//[^>]*>", page)
    fetched += re.findall(r"import\s*\(?\s*[\"'](?:https?:)?//", page)
    fetched += re.findall(r"url\(\s*[\"']?https?:", page)
    assert not fetched
    assert "Title with" in page and "<title>tour</title>" in page


def test_exporting_needs_a_notebook(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        export_notebook(tmp_path / "none.ipynb", tmp_path / "none.html")
