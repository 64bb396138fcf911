"""Run a notebook for real, say what was compiled in it, and leave it as a page to look at without kernel or network.

`python -m jitscope_kernel.demo NOTEBOOK PAGE`
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jitscope_widgets.envelope import unpack
from jitscope_widgets.quantities import amount, number, seconds, show
from jitscope_widgets.words import plural


Document = dict[str, Any]
_TIMEOUT = 600  # seconds for one cell
_STAGES = ("trace", "lower", "compile")


def run(notebook: Path, page: Path) -> None:
    """Execute `notebook` and write `page`; the notebook as executed is left beside it.

    Raises nbclient.exceptions.CellExecutionError when a cell fails, ImportError when nbclient or nbconvert is missing.
    """
    import nbformat
    from jitscope_widgets import export_notebook
    from nbclient import NotebookClient

    executed: Any = nbformat.read(notebook, as_version=4)
    client = NotebookClient(executed, timeout=_TIMEOUT, kernel_name="python3")
    client.resources = {"metadata": {"path": str(notebook.parent)}}
    print(f"Running {notebook} …", flush=True)
    start = time.perf_counter()
    client.execute()
    spent = time.perf_counter() - start
    page.parent.mkdir(parents=True, exist_ok=True)
    beside = page.with_suffix(".ipynb")
    nbformat.write(executed, beside)
    export_notebook(beside, page)
    print(summary(executed))
    print(f"\n{notebook} ran in {seconds(spent)}.")
    print(f"{page} ({number(page.stat().st_size, 'B')}) shows it: open it in a browser, it needs no kernel and no network.")


def summary(notebook: Any) -> str:
    """What was compiled in an executed notebook, as a table."""
    cells = [document for document in documents(notebook) if document["kind"] == "cell"]
    compilations = [one for cell in cells for one in cell["compilations"] if one["cache"] == "compiled"]
    if not compilations:
        return "Nothing was compiled in this notebook."
    rows = [("compiled", "equations", "became", *_STAGES), *map(_row, compilations)]
    total = {stage: sum(_spent(one, stage) or 0.0 for one in compilations) for stage in _STAGES}
    fusions = sum(one["fusion"]["summary"]["fusions"] for one in compilations if one["fusion"])
    again = sum(bool(one["recompilations"]["cards"]) for one in compilations)
    rows.append(("together", str(sum(one["equations"] for one in compilations)), "", *map(seconds, total.values())))
    lines = [*_table(rows), ""]
    lines.append(
        f"{plural(len(compilations), 'program')} compiled, {again} of them because a call differed from an earlier one; "
        f"{plural(fusions, 'fusion')}."
    )
    return "\n".join(lines)


def documents(notebook: Any) -> Iterator[Document]:
    """The documents in the outputs of a notebook, in order."""
    for cell in notebook.cells:
        for out in cell.get("outputs", ()):
            html = "".join(out.get("data", {}).get("text/html", ""))
            for packed in re.findall(r'data-jitscope-document="([^"]+)"', html):
                yield unpack(packed)


def _row(compilation: Document) -> Sequence[str]:
    fusion = compilation["fusion"]
    became = fusion["summary"] if fusion else None
    parts = [plural(became["kernels"], "kernel")] if became else ["?"]
    if became and became["fusions"]:
        parts.append(plural(became["fusions"], "fusion"))
    if became and became["library"]:
        parts.append(plural(became["library"], "library call"))
    name = compilation["function"] + (" (again)" if compilation["recompilations"]["cards"] else "")
    times = (next((show(one["seconds"]) for one in compilation["timing"]["stages"] if one["name"] == stage), "") for stage in _STAGES)
    return (name, str(compilation["equations"]), ", ".join(parts), *times)


def _spent(compilation: Document, stage: str) -> float | None:
    return next((amount(one["seconds"]) for one in compilation["timing"]["stages"] if one["name"] == stage), None)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    sizes = [max(map(len, column)) for column in zip(*rows)]
    words = (0, 2)  # these columns begin at the left, numbers end at the right
    return ["  ".join(f"{text:{'<' if at in words else '>'}{size}}" for at, (text, size) in enumerate(zip(row, sizes))) for row in rows]


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    if len(given) != 2:
        print("usage: python -m jitscope_kernel.demo NOTEBOOK PAGE", file=sys.stderr)
        return 2
    try:
        run(Path(given[0]), Path(given[1]))
    except ImportError as error:
        print(f"Running a notebook needs nbclient and nbconvert ({error}): pip install 'jitscope[demo]'", file=sys.stderr)
        return 1
    except Exception as error:
        if type(error).__name__ not in ("CellExecutionError", "FileNotFoundError", "CellTimeoutError", "DeadKernelError"):
            raise
        print(f"{given[0]} did not run through:\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
