"""The cells of a file: a notebook's code cells, or the parts of a program that `# %%` divides."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..advise.code.ipython import python_of


_MARK = re.compile(r"^#\s*%%")
_RUNS = re.compile(r"#.*?\bruns:\s*(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Cell:
    """One cell. `first` is the number of its first line in the file (1 in a notebook, whose cells count their own lines); `file` is the name
    that its code has, if it has one."""

    number: int
    source: str
    first: int
    runs: int
    file: str = ""


_METADATA = "jitscope"
"""Where a notebook's cell may say how often it runs, as a comment does."""


def read(path: Path) -> list[Cell]:
    """The code cells of a notebook or a program. Raises OSError and ValueError for files that are neither."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return cells_of(text)
    found = json.loads(text)["cells"]
    codes = [c for c in found if c["cell_type"] == "code"]
    sources = ["".join(c["source"]) if isinstance(c["source"], list) else c["source"] for c in codes]
    return [Cell(k, _plain(text), 1, _runs(text, _noted(c))) for k, (c, text) in enumerate(zip(codes, sources), 1)]


def notebook_of(cells: Iterable[tuple[str, int]]) -> str:
    """A notebook's text, of cells given as Python and how often that runs."""
    found = [{"cell_type": "code", "source": text, "metadata": {_METADATA: {"runs": runs}}} for text, runs in cells]
    return json.dumps({"cells": found})


def cells_of(text: str) -> list[Cell]:
    """The cells of a program. What stands before the first mark is a cell if it has any code; if it has none, `# runs: N` there counts for
    every cell that says nothing else."""
    lines = text.splitlines(keepends=True)
    starts = [k for k, line in enumerate(lines) if _MARK.match(line)]
    edges = sorted({0, *starts, len(lines)})
    parts = [(a, "".join(lines[a:b])) for a, b in itertools.pairwise(edges)]
    kept = [(a, part) for a, part in parts if a in starts or re.search(r"^[^#\s]", part, re.MULTILINE)]
    usual = 1 if kept[:1] == parts[:1] else _runs(parts[0][1])
    return [Cell(k, part, a + 1, _runs(part, usual)) for k, (a, part) in enumerate(kept, 1)]


def _runs(source: str, usual: int = 1) -> int:
    """What `# runs: N` says on one of the first lines: the mark's own line, or the first one with text after it; else the `usual`."""
    heads = [line for line in source.splitlines() if line.strip()][:2]
    for line in heads:
        if line.lstrip().startswith("#") and (found := _RUNS.search(line)):
            return max(1, int(found[1]))
    return usual


def _noted(cell: dict[str, Any]) -> int:
    """How often a notebook's cell runs by its metadata; once, if these do not say."""
    own = cell.get("metadata", {}).get(_METADATA)
    runs = own.get("runs") if isinstance(own, dict) else None
    return runs if isinstance(runs, int) and runs > 0 else 1


def _plain(source: str) -> str:
    """The Python of a notebook's cell, each line where it stands there."""
    found = python_of(source)
    return found.text if found is not None else "\n" * source.count("\n")
