"""`%%regions` and `%regions`: cells of a session, watched, and what is said of them."""

from __future__ import annotations

import contextlib
import io
import random
import tempfile
from pathlib import Path

import numpy as np
from IPython.core.interactiveshell import InteractiveShell

from jitscope_scope.regions import Cell, of_file
from jitscope_scope.regions.finding import Watch
from jitscope_scope.regions.replaying import harmless
from jitscope_scope.regions.watching import snapshot

from .regions_command import text


def of_cell(shell: InteractiveShell, source: str, runs: int) -> tuple[str, str | None]:
    """Runs a cell in the session, watched: its results, output and errors are its own. What is said of its regions, and the cell
    with the edits, if there are any."""
    plain = shell.transform_cell(source)
    watch, cell = Watch(shell.user_ns, whole=False), Cell(shell.execution_count, plain, 1, runs)
    try:
        watch.run(cell, shell.displayhook)
    finally:
        watch.let_go()
    return _said(watch, cell)


def of_last_cell(shell: InteractiveShell, runs: int | None) -> tuple[str, str | None]:
    """Runs the cell before this one once more, on copies of today's values; NumPy's and Python's random generators are put back."""
    earlier = [t for t in shell.user_ns.get("_ih", [])[:-1] if t.strip()]
    if not earlier:
        return "No cell has run yet.", None
    source = str(earlier[-1])
    if not harmless([source]):
        return (
            "The last cell may act on what is outside of it, so it is not run again. %%regions above it watches its next run.",
            None,
        )
    names = snapshot({n: v for n, v in shell.user_ns.items() if not n.startswith("_")}) | {"__name__": "__main__"}
    watch, cell = (
        Watch(names, whole=False),
        Cell(shell.execution_count - 1, source, 1, runs or max(1, earlier.count(source))),
    )
    states = np.random.get_state(), random.getstate()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            watch.run(cell)
    finally:
        np.random.set_state(states[0])
        random.setstate(states[1])
        watch.let_go()
    said, edited = _said(watch, cell)
    return f"Run once more on copies of today's values.\n\n{said}", edited


def of_session(shell: InteractiveShell) -> str:
    """Runs the cells so far in a process of its own, each as often as it ran here, and says what is there to compile."""
    cells = [
        str(t)
        for t in shell.user_ns.get("_ih", [])[:-1]
        if t.strip() and "run_line_magic" not in t and "run_cell_magic" not in t
    ]
    if not cells:
        return "No cell has run yet."
    if not harmless(cells):
        return "Some cells may act on what is outside of them, so they are not run again. %%regions watches one cell's next run."
    counted = {c: cells.count(c) for c in cells}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "session.py"
        file.write_text("\n".join(f"# %% runs: {n}\n{c}" for c, n in counted.items()), encoding="utf-8")
        try:
            return (
                "The session's cells, run again in a process of their own; lines count from its first cell.\n\n"
                + text(of_file(file))
            )
        except RuntimeError as error:
            return f"The session's cells do not run again from the start: {str(error).splitlines()[-1]}"


def _said(watch: Watch, cell: Cell) -> tuple[str, str | None]:
    with contextlib.redirect_stdout(io.StringIO()):
        regions = watch.regions()
    lines = cell.source.splitlines()
    good = [r for r in regions if r.verdict == "compile" and r.edit is not None]
    for r in sorted(good, key=lambda r: -r.line):
        lines[r.line - 1 : r.end_line] = (r.edit or "").splitlines()
    return text([r.as_json() for r in regions]), "\n".join(lines) if good else None
