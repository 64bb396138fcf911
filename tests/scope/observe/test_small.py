"""What is said of the small programs that operations outside of jit are compiled to."""

from __future__ import annotations

import linecache

import pytest

from jitscope.core import source
from jitscope.core.source import Position
from jitscope_scope.observe.small import Small, is_of_notebook, small_document


def made(name: str, seconds: float, line: int) -> Small:
    where = Position("cell_7.py", line, line, 0, 9, "")
    return Small(name, seconds, where, cell=("In [6]", "id"))


def test_the_sentence_and_the_table_name_the_same_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that ran again has a new number, and one alone."""
    linecache.cache["cell_7.py"] = (1, None, [*["y = x < 3\n"] * 7, "y = add(\n", "    1)\n"], "cell_7.py")
    monkeypatch.setattr(source, "cell_names", [lambda file: "In [30]" if file.endswith("cell_7.py") else None])
    document = small_document([made("less", 1.25, 7), made("add", 0.75, 8), made("mul", 0.1, 9)])
    assert {one["cell"] for one in document["operations"]} == {"In [30]"}
    assert document["sentence"] == (
        "jitscope compiled 3 small programs for operations outside jit, in 2.1 s: operation less took 1.25 s in line 7 of In [30] "
        "(y = x < 3); add took 750 ms in line 8 of In [30] (y = add(…))."
    )


def test_a_line_of_what_runs_cells_is_nobodys() -> None:
    """What a magic computes outside of jit has the notebook's own line above it."""
    lines = {
        "/p/ipykernel/zmqshell.py": True,
        "/p/IPython/core/magic.py": True,
        "/tmp/ipykernel_7/8.py": False,
        "/p/a.py": False,
    }
    assert {file: is_of_notebook(Position(file, 1, 1, 0, 9, "")) for file in lines} == lines
    assert not is_of_notebook(None)
