"""The lessons with jax itself, by their switch: they run, right predictions are right, and the tasks are solved by the same solutions."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests import notebooks


ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "examples" / "teaching"))
notes: Any = import_module("notes")

ALWAYS = {"03-jaxprs", "07-static-arguments-and-the-cache", "10-purity"}
"""Those that the fixed part runs."""
OTHER_ERRORS = {"10-purity": ["Exception", "RuntimeError"]}
"""jax has no class of its own for a tracer that leaked and for an array that was donated."""


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if one in ALWAYS else pytest.mark.full) for one in notes.names()],
)
def test_a_lesson_runs_with_jax(name: str) -> None:
    told = notes.notes(name)
    notebook = notebooks.read(notes.LESSONS / f"{name}.ipynb")
    cells, answers = [], iter(told["question"])
    for cell in notebook.cells:
        if cell.cell_type == "code" and "# import real_jax" in cell.source:
            cell.source = cell.source.replace("# import real_jax", "import real_jax")
        if cell.cell_type == "code" and "prediction = ..." in cell.source:
            cell.source = cell.source.replace("prediction = ...", f"prediction = {next(answers)['right']}")
        cells.append(cell)
        kind = cell.metadata.get("nbgrader", {})
        if kind.get("solution"):
            cells.append(notebooks.code(told["task"]["solution"]))
        elif kind.get("grade"):
            cell.source += f"\n{told['task']['hidden']}\nassert again, again.said"
            cell.metadata["tags"] = []
    executed = notebooks.of_cells(type(cell)({**cell, "id": f"c{at}"}) for at, cell in enumerate(cells))
    notebooks.execute(executed, notes.LESSONS, timeout=200, extra_arguments=["--log-level=ERROR"])
    assert "run with jax" in executed.cells[1].outputs[0]["text"]
    other = []
    for before, cell, after in zip([None, *executed.cells], executed.cells, [*executed.cells[1:], None]):
        errors = [out.ename for out in cell.get("outputs", ()) if out.output_type == "error"]
        assert bool(errors) == ("raises-exception" in cell.metadata.get("tags", ())), cell.source
        said = [text.source for text in (before, after) if text is not None and text.cell_type == "markdown"]
        other += [error for error in errors if not any(f"`{error}`" in text for text in said)]
        if cell.cell_type == "code" and re.search(r"^check\(|^verdict$", cell.source, re.M):
            (result,) = (out for out in cell.outputs if out.output_type == "execute_result")
            assert result.data["text/plain"].startswith("Right: "), (cell.source, result.data["text/plain"])
    assert other == OTHER_ERRORS.get(name, [])
