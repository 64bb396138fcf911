"""Run a notebook for real, say what was compiled in it, and leave it as a page to look at without kernel or network.

`python -m jitscope_kernel.demo NOTEBOOK PAGE`
"""

from __future__ import annotations

import dataclasses
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from jitscope_widgets.documents.annotations import AnyDocument, CompilationDocument, LedgerDocument
from jitscope_widgets.envelope import unpack
from jitscope_widgets.quantities import amount, number, seconds
from jitscope_widgets.words import plural


_TIMEOUT = 600  # seconds for one cell
_STAGES = ("trace", "lower", "compile")


def run(notebook: Path, page: Path) -> None:
    """Execute `notebook` and write `page`; the notebook as executed is left beside it.

    Raises nbclient.exceptions.CellExecutionError when a cell fails, ImportError when nbclient or nbconvert is missing.
    """
    import nbformat
    from nbclient import NotebookClient

    from jitscope_widgets import export_notebook

    executed: Any = nbformat.read(notebook, as_version=4)
    client = NotebookClient(executed, timeout=_TIMEOUT, kernel_name="python3", extra_arguments=["--log-level=ERROR"])
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
    print(
        f"{page} ({number(page.stat().st_size, 'B')}) shows it: open it in a browser, it needs no kernel and no network."
    )


def summary(notebook: Any) -> str:
    """What was compiled in an executed notebook, as a table."""
    shown = list(documents(notebook))
    cells = [document for document in shown if document["kind"] == "cell"]
    compilations = [one for cell in cells for one in cell["compilations"] if one["cache"] == "compiled"]
    ledgers = [document for document in shown if document["kind"] == "ledger"]
    known = {one["id"] for one in compilations}
    elsewhere = _rows_of_ledger(ledgers[-1], known) if ledgers else []
    rows = sorted([*map(_row, compilations), *elsewhere], key=lambda row: row.id)
    if not rows:
        return "Nothing was compiled in this notebook."
    total = Row(0, "together", sum(row.equations for row in rows), "", _sums(rows))
    fusions = sum(one["fusion"]["summary"]["fusions"] for one in compilations if one["fusion"])
    again = sum(row.again for row in rows)
    said = f"{plural(len(rows), 'program')} compiled, {again} of them because a call differed from an earlier one"
    lines = _table([HEAD, *(row.texts() for row in (*rows, total))])
    return "\n".join([*lines, "", f"{said}; {plural(fusions, 'fusion')} in the programs of %%jit cells."])


@dataclasses.dataclass
class Row:
    """A line of the table: one program."""

    id: int
    function: str
    equations: int
    became: str
    seconds: Mapping[str, float | None]
    again: bool = False

    def texts(self) -> Sequence[str]:
        name = self.function + (" (again)" if self.again else "")
        times = (seconds(spent) if (spent := self.seconds[stage]) is not None else "" for stage in _STAGES)
        return (name, str(self.equations), self.became, *times)


HEAD = ("compiled", "equations", "became", *_STAGES)


def _sums(rows: Sequence[Row]) -> dict[str, float | None]:
    return {stage: sum(row.seconds[stage] or 0.0 for row in rows) for stage in _STAGES}


def _row(compilation: CompilationDocument) -> Row:
    fusion = compilation["fusion"]
    parts: list[str] = []
    if fusion:
        counts = fusion["summary"]
        parts.append(plural(counts["kernels"], "kernel"))
        parts += [plural(counts["fusions"], "fusion")] if counts["fusions"] else []
        parts += [plural(counts["library"], "library call")] if counts["library"] else []
    spent = {stage["name"]: amount(stage["seconds"]) for stage in compilation["timing"]["stages"]}
    again = compilation.get("because", "").startswith("recompiled")
    times = {stage: spent.get(stage) for stage in _STAGES}
    return Row(compilation["id"], compilation["function"], compilation["equations"], ", ".join(parts), times, again)


def _rows_of_ledger(ledger: LedgerDocument, known: set[int]) -> list[Row]:
    """What was compiled outside `%%jit` cells, where the notebook shows its ledger."""
    return [
        Row(
            row["id"],
            row["function"],
            row["equations"],
            "",
            cast("Mapping[str, float | None]", row["seconds"]),
            row["what"] == "recompiled",
        )
        for row in ledger["rows"]
        if row["what"] in ("compiled", "recompiled") and row["id"] not in known
    ]


def documents(notebook: Any) -> Iterator[AnyDocument]:
    """The documents in the outputs of a notebook, in order."""
    for cell in notebook.cells:
        for out in cell.get("outputs", ()):
            html = "".join(out.get("data", {}).get("text/html", ""))
            for packed in re.findall(r'data-jitscope-document="([^"]+)"', html):
                yield cast("AnyDocument", unpack(packed))


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    sizes = [max(map(len, column)) for column in zip(*rows)]
    words = (0, 2)  # these columns begin at the left, numbers end at the right
    return [
        "  ".join(f"{text:{'<' if at in words else '>'}{size}}" for at, (text, size) in enumerate(zip(row, sizes)))
        for row in rows
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a notebook and write it as a page of HTML; the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if len(given) != 2:
        print("usage: python -m jitscope_kernel.demo NOTEBOOK PAGE", file=sys.stderr)
        return 2
    try:
        run(Path(given[0]), Path(given[1]))
    except ImportError as error:
        print(
            f"Running a notebook needs nbclient and nbconvert ({error}): pip install 'jitscope[demo]'", file=sys.stderr
        )
        return 1
    except Exception as error:  # told by their names: nbclient is loaded late
        if type(error).__name__ not in (
            "CellExecutionError",
            "FileNotFoundError",
            "CellTimeoutError",
            "DeadKernelError",
        ):
            raise
        print(f"{given[0]} stopped with an error:\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
