"""`%%regions` and `%regions`: cells of a session, watched, and what is said of them."""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from jitscope.backend.dispatch import JitFunction
from jitscope_scope.advise.code.ipython import python_of
from jitscope_scope.observe.fixes import fix_document
from jitscope_scope.observe.positions import place_document
from jitscope_scope.regions import Cell, naming, of_file
from jitscope_scope.regions.answers import Region
from jitscope_scope.regions.cells import notebook_of
from jitscope_scope.regions.finding import Watch
from jitscope_scope.regions.replaying import harmless
from jitscope_scope.regions.watching import snapshot
from jitscope_widgets.documents.annotations import Fix, RegionsDocument


def of_cell(
    shell: InteractiveShell, line: str, source: str, runs: int, cell_id: str, number: int
) -> tuple[RegionsDocument, str | None]:
    """Runs a cell in the session, watched: its results, output and errors are its own. What was found in it, and the cell with the
    edits, if there are any. `line` is what stands behind the magic, `cell_id` that of the cell in the notebook ("" if it has none), `number`
    that of its run. Raises UsageError for what is no Python."""
    plain = shell.transform_cell(source)
    below, raw = f"\n{plain}", f"%%regions {line}".rstrip() + f"\n{source}"
    if wrong := no_code(below):
        raise UsageError(f"%%regions: this cell cannot be run: {wrong}")
    file = cast("str", shell.compile.cache(below, number, raw_code=raw))
    linecache.cache[file] = (len(raw), None, raw.splitlines(keepends=True), file)
    watch, cell = Watch(shell.user_ns, whole=False), Cell(number, below, 1, runs, file)
    try:
        watch.run(cell, shell.displayhook)
    finally:
        watch.let_go()
    return _found(watch, cell, "", cell_id, plain.rstrip("\n") == source.rstrip("\n"))


def of_last_cell(
    shell: InteractiveShell, runs: int | None, named: Callable[[str, tuple[str, None]], None]
) -> tuple[RegionsDocument, str | None]:
    """Runs the cell before this one once more, on copies of today's values; NumPy's and Python's random generators are put back. `named` is
    told which cell the code is of that runs then."""
    earlier = _before(shell)
    if not earlier:
        return _nothing("No cell has run yet."), None
    number, source = list(earlier.items())[-1]
    if wrong := no_code(source):
        return _nothing(f"The last cell cannot be run once more: {wrong}"), None
    if not harmless([source]):
        said = "The last cell may act on what is outside of it, so it is not run again. %%regions above it watches its next run."
        return _nothing(said), None
    names = snapshot({n: v for n, v in shell.user_ns.items() if not n.startswith("_")}) | {"__name__": "__main__"}
    watch, cell = (
        Watch(names, whole=False),
        Cell(number, source, 1, runs or max(1, list(earlier.values()).count(source))),
    )
    named(watch.file(cell), (f"In [{number}]", None))
    states = np.random.get_state(), random.getstate()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            watch.run(cell)
    finally:
        np.random.set_state(states[0])
        random.setstate(states[1])
        watch.let_go()
    return _found(
        watch, cell, "Found by running the cell once more, on copies of the values that its names have now.", "", True
    )


def of_session(shell: InteractiveShell, runs: int | None) -> RegionsDocument:
    """Runs the Python of the cells so far in a process of its own, each cell as often as it ran here (or is said to run), and says what
    is there to compile."""
    cells = _before(shell)
    if not cells:
        return _nothing("No cell has run yet.")
    if not harmless(list(cells.values())):
        said = "Some cells may act on what is outside of them, so they are not run again. %%regions watches one cell's next run."
        return _nothing(said)
    last = {text: n for n, text in cells.items()}
    counted = Counter(cells.values())
    numbers = list(map(last.__getitem__, counted))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "session.ipynb"
        file.write_text(notebook_of([(text, runs or n) for text, n in counted.items()]), encoding="utf-8")
        try:
            found = of_file(file)
        except RuntimeError as error:
            said = re.sub(r"^cell (\d+)", lambda found: f"In [{numbers[int(found[1]) - 1]}]", str(error))
            return _nothing(f"The session's cells do not run again from the start: {said}")
    told = [{**one, "cell": numbers[cast("int", one["cell"]) - 1]} for one in found]
    compiled = _compiled_by_magic(shell, cells)
    told = [_unmeasured(one, names) if (names := _named(one, cells) & compiled) else one for one in told]
    note = "The session's cells, run again in a process of their own; each has the number of its last run here."
    among = sorted({cast("int", one["cell"]) for one in told})
    return _document(f"In [{among[0]}]" if len(among) == 1 else "the session", note, told)


def _compiled_by_magic(shell: InteractiveShell, cells: dict[int, str]) -> set[str]:
    """Functions that `%%jit` compiled, which the cells' Python alone does not, and those that call them."""
    raw, found, users = shell.history_manager.input_hist_raw, set[str](), dict[str, set[str]]()  # type: ignore[union-attr]
    for number, text in cells.items():
        for function in ast.parse(text).body:
            if isinstance(function, ast.FunctionDef):
                users[function.name] = naming.loaded(function.body)
                if raw[number].lstrip().startswith("%%jit") and isinstance(
                    shell.user_ns.get(function.name), JitFunction
                ):
                    found.add(function.name)
    while more := {name for name, used in users.items() if used & found} - found:
        found |= more
    return found


def _named(region: dict[str, object], cells: dict[int, str]) -> set[str]:
    """The words of a region's lines."""
    first, last = cast("int", region["line"]), cast("int", region["end_line"])
    return {*re.findall(r"\w+", "\n".join(cells[cast("int", region["cell"])].splitlines()[first - 1 : last]))}


def _unmeasured(region: dict[str, object], names: set[str]) -> dict[str, object]:
    """A region in which functions ran as plain Python that `%%jit` compiles: nothing that was measured is true of it."""
    said = f"{' and '.join(f'`{n}`' for n in sorted(names))} ran as plain Python here, without %%jit: %%regions above this cell watches it as it is"
    nothing = dict.fromkeys(("eager_s", "compiled_s", "compile_s", "break_even_runs", "same", "edit"))
    return {**region, **nothing, "verdict": "cannot", "reason": said}


def no_code(text: str) -> str:
    """Why a text is no Python, or awaits something, and in which line; "" where it can be run."""
    try:
        compile(text, "<cell>", "exec")
    except SyntaxError as error:
        written = text.splitlines()[(error.lineno or 1) - 1 :]
        return f"{error.msg}, in line {error.lineno}: {''.join(written[:1]).strip()}"
    except ValueError as error:
        return str(error)
    return ""


def _before(shell: InteractiveShell) -> dict[int, str]:
    """The Python of the cells before this one, by the numbers of their runs; those that are only magics aside."""
    history = getattr(shell.history_manager, "input_hist_raw", None) or [""]
    written = [python_of(str(cell)) for cell in history[:-1]]
    return {n: one.text for n, one in enumerate(written) if one is not None and _does_something(one.text)}


def _does_something(text: str) -> bool:
    """Whether there is a statement: of lines that only IPython understands `pass` is left."""
    return any(not isinstance(one, ast.Pass) for one in ast.parse(text).body)


def _found(watch: Watch, cell: Cell, note: str, cell_id: str, as_typed: bool) -> tuple[RegionsDocument, str | None]:
    """The document, and the cell's code with its edits. Edits of the cell are made only where it was run `as_typed`."""
    with contextlib.redirect_stdout(io.StringIO()):
        regions = watch.regions()
    lines = cell.source.splitlines()
    edited, told = list(lines), [r.as_json() for r in regions]
    good = [r for r in regions if r.verdict == "compile" and r.edit is not None]
    for r in sorted(good, key=lambda r: -r.line):
        edited[r.line - cell.first : r.end_line - cell.first + 1] = (r.edit or "").splitlines()
    for r, one in zip(regions, told):
        if r in good and as_typed:
            one["fix"] = _fix(r, cell, cell_id)
    return _document(f"In [{cell.number}]", note, told), "\n".join(edited[1 if cell.file else 0 :]) if good else None


def _fix(region: Region, cell: Cell, cell_id: str) -> Fix:
    lines = [""] * (cell.first - 1) + cell.source.splitlines()
    first, last = lines[region.line - 1], lines[region.end_line - 1]
    span = region.line, 0, region.end_line, len(last)
    position = place_document(cell_id, f"In [{cell.number}]", span, first)
    edit = (*span, (region.edit or "").rstrip("\n"))
    checked = (
        "It ran on the recorded values and on three nearby sets; the results differ by no more than is said above."
    )
    return fix_document("Put these lines in their place.", [edit], position, lines, checked)


def _document(title: str, note: str, regions: list[dict[str, Any]]) -> RegionsDocument:
    return {"kind": "regions", "version": 1, "title": title, "note": note, "regions": cast("list[Any]", regions)}


def _nothing(note: str) -> RegionsDocument:
    return _document("", note, [])
