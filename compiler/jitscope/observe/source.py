"""The function's code as a document, with marks from lines to nodes."""

from __future__ import annotations

import inspect
from collections import defaultdict
from typing import Any

from ..core.source import Position, lines_of
from .positions import CellOf, no_cell


MAX_LINES = 400


def source_document(
    defined: Position | None, graph: dict[str, Any], cell_of: CellOf = no_cell
) -> dict[str, Any] | None:
    """The source document of a function defined at `defined`; `graph` is its graph document. None without source."""
    if defined is None:
        return None
    lines = [line.rstrip("\n") for line in block_at(defined.file, defined.line)]
    if not lines:
        return None
    label, cell_id = cell_of(defined.file) or (None, None)
    file = cell_id or defined.file
    return {
        "kind": "source",
        "version": 1,
        "label": label or defined.file.rpartition("/")[2],
        "file": file,
        "first_line": defined.line,
        "lines": lines,
        "marks": _marks(graph, file),
    }


def block_at(file: str, line: int) -> list[str]:
    """The lines of the definition that starts at a line of a file."""
    lines = lines_of(file)[line - 1 :]
    try:
        return inspect.getblock(lines)[:MAX_LINES]
    except (IndentationError, SyntaxError):  # a lambda inside an expression
        return lines[:1]


def _marks(graph: dict[str, Any], file: str) -> list[dict[str, Any]]:
    nodes: dict[int, list[str]] = defaultdict(list)
    for node in graph["nodes"]:
        for position in node["positions"]:
            if position["file"] == file:
                nodes[position["line"]].append(node["id"])
    return [{"line": line, "nodes": ids} for line, ids in sorted(nodes.items())]
