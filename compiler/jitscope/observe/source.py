"""The code that wrote a program as a document: its functions, their calls, and marks from lines to equations."""

from __future__ import annotations

import inspect
from typing import Any

from ..core.jaxpr import Jaxpr, walk
from ..core.source import lines_of
from .calls import CallTree, Function
from .positions import CellOf, no_cell, sendable


MAX_LINES = 400


def source_document(jaxpr: Jaxpr | None, tree: CallTree, cell_of: CellOf = no_cell) -> dict[str, Any] | None:
    """The source document of a program with its call tree. None where no code is to be had."""
    functions = [_function(function, cell_of) for function in tree.functions]
    if not any(function["lines"] for function in functions):
        return None
    return {
        "kind": "source",
        "version": 1,
        "functions": functions,
        "calls": [call._asdict() for call in tree.calls],
        "marks": _marks(jaxpr, tree) if jaxpr is not None else [],
    }


def _function(function: Function, cell_of: CellOf) -> dict[str, Any]:
    label, cell_id = cell_of(function.file) or (None, None)
    return {
        "name": sendable(function.name),
        "label": label or sendable(function.file.rpartition("/")[2]),
        "file": cell_id or sendable(function.file),
        "cell": label,
        "first_line": function.line,
        "lines": [sendable(line.rstrip("\n")) for line in block_at(function.file, function.line)],
    }


def block_at(file: str, line: int) -> list[str]:
    """The lines of the definition that starts at a line of a file."""
    lines = lines_of(file)[line - 1 :]
    try:
        return inspect.getblock(lines)[:MAX_LINES]
    except (IndentationError, SyntaxError):  # a lambda inside an expression
        return lines[:1]


def _marks(jaxpr: Jaxpr, tree: CallTree) -> list[dict[str, Any]]:
    marks: dict[tuple[int, int], dict[str, Any]] = {}
    for path, eqn in walk(jaxpr):
        place = tree.of.get(path)
        if place is None:
            continue
        mark = marks.get(place)
        if mark is None:
            mark = marks[place] = {"call": place[0], "line": place[1], "nodes": [], "forward": 0, "backward": 0}
        mark["nodes"].append(path)
        mark["backward" if "transpose" in tree.stacks.transforms(eqn.traceback) else "forward"] += 1
    return [marks[place] for place in sorted(marks)]
