"""Notebooks that tests read, make and execute. nbformat is imported by the test that needs it: it takes seconds (jsonschema's
grammars), which every process that collects tests would pay."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jitscope_widgets.envelope import unpack
from tests import extent


CARRIER = 'data-jitscope-document="'


def read(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)


def write(notebook: Any, path: Path) -> None:
    import nbformat

    nbformat.write(notebook, path)


def validate(notebook: Any) -> None:
    """Raises where it is no notebook of the format that it names."""
    import nbformat

    nbformat.validate(notebook)


def code(source: str) -> Any:
    import nbformat

    return nbformat.v4.new_code_cell(source)


def markdown(source: str) -> Any:
    import nbformat

    return nbformat.v4.new_markdown_cell(source)


def of_cells(cells: Iterable[Any] = ()) -> Any:
    """A notebook of cells, or of the sources of cells with code."""
    import nbformat

    return nbformat.v4.new_notebook(cells=[code(cell) if isinstance(cell, str) else cell for cell in cells])


def execute(notebook: Any, folder: Path, timeout: float = 300, quickly: bool = False, **options: Any) -> None:
    """In a kernel of its own, which runs in that folder. `quickly`: nothing that XLA made is looked at, and `make test` compiles
    without its optimisations."""
    from nbclient import NotebookClient

    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=timeout, kernel_name="python3", resources=resources, **options)
    client.execute(env=os.environ | (extent.flags(**extent.QUICK) if quickly and not extent.ALL else {}))


def documents(cell: Any) -> list[dict[str, Any]]:
    """The documents of the views that a cell shows."""
    htmls = ["".join(output["data"].get("text/html", "")) for output in cell.outputs if "data" in output]
    return [unpack(html.partition(CARRIER)[2].partition('"')[0]) for html in htmls if CARRIER in html]
